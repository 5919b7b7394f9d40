"""The rule/goal graph of all executions (section 4.2), indexed for walking backwards.

Goals are the ground atoms, rules the ground rules that clingo handed over.  The graph is fixed for a
failure spec; an execution only says which atoms hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, cached_property
from typing import NamedTuple

from clew.engine.atoms import GroundRule
from clew.engine.ground import GroundProgram
from clew.faults import Fault
from clew.program.graph import components
from clew.violation import Violation


class RowPlace(NamedTuple):
    """The place of a row in the program: its relation and its time."""

    relation: str
    time: int


class RuleGoalGraph:
    """Every way in which any atom could come about."""

    def __init__(self, ground: GroundProgram) -> None:
        self.faults: dict[int, Fault] = {atom: fault for fault, atom in ground.fault_atoms.items()}
        self.goals: dict[Violation, int] = dict(ground.violation_atoms)
        self.rows: dict[int, RowPlace] = {
            atom.literal: RowPlace(atom.relation, atom.time) for atom in ground.row_atoms
        }
        self._messages = frozenset(atom.literal for atom in ground.sent_atoms)
        self._rules: dict[int, list[GroundRule]] = {}
        for rule in ground.rules:
            self._rules.setdefault(rule.head, []).append(rule)
        self.atoms: tuple[int, ...] = tuple(self._all_atoms())
        self._successors = {
            atom: [abs(literal) for rule in self.rules_for(atom) for literal in rule.body] for atom in self.atoms
        }
        self._components = components(self.atoms, self._successors.__getitem__)
        self.cycles = self._find_cycles()
        self.given_with = cache(self._find_given)  # asked for every goal in every run, like the next
        self.resting_on_given = cache(self._find_resting_on_given)

    def rules_for(self, atom: int) -> Sequence[GroundRule]:
        return self._rules.get(atom, ())

    def is_row(self, atom: int) -> bool:
        """Whether the atom is a row or message of the program, not a helper of the encoding."""
        return atom in self.rows or atom in self._messages

    def _all_atoms(self) -> dict[int, None]:
        found: dict[int, None] = {}
        for head, rules in self._rules.items():
            found[head] = None
            for rule in rules:
                for literal in rule.body:
                    found[abs(literal)] = None
        found.update(dict.fromkeys(self.goals.values()))
        return found

    def _find_cycles(self) -> dict[int, frozenset[int]]:
        """Atoms that can support each other within one time step, with their companions."""
        found = {}
        for component in self._components:
            if len(component) > 1 or component[0] in self._successors[component[0]]:
                found.update(dict.fromkeys(component, frozenset(component)))
        return found

    @cached_property
    def fault_determined(self) -> frozenset[int]:
        """Atoms that depend on faults alone, not on any row: links, crashes as they are seen."""
        resting_on_rows = {atom for atom in self.atoms if self.is_row(atom)}
        for component in self._components:
            if any(s in resting_on_rows for atom in component for s in self._successors[atom]):
                resting_on_rows.update(component)
        return frozenset(self.atoms) - resting_on_rows

    def _find_given(self, goal: int) -> dict[int, bool]:
        """What is certain once the goal's ``pre`` holds: its only way to come about, followed back.

        A violation needs ``pre``; faults that undo one of these would only make it vacuous.
        """
        given: dict[int, bool] = {}
        work = [b for rule in self._only_rule(goal) for b in rule.body if b > 0]
        while work:
            literal = work.pop()
            atom = abs(literal)
            if atom in given or atom in self.cycles:
                continue
            given[atom] = literal > 0
            if literal > 0:
                work.extend(b for rule in self._only_rule(atom) for b in rule.body)
        return given

    def _find_resting_on_given(self, goal: int) -> frozenset[int]:
        """Return what is given with the goal, and every atom whose lineage can lead there.

        What faults alone determine is explained by the faults, whatever is given, so the lineage ends there.
        """
        found = set(self.given_with(goal))
        work = list(found)
        while work:
            for atom in self._predecessors[work.pop()]:
                if atom not in found and atom not in self.fault_determined:
                    found.add(atom)
                    work.append(atom)
        return frozenset(found)

    @cached_property
    def _predecessors(self) -> dict[int, list[int]]:
        """The heads of the rules in whose bodies an atom stands."""
        found: dict[int, list[int]] = {atom: [] for atom in self.atoms}
        for atom, successors in self._successors.items():
            for successor in successors:
                found[successor].append(atom)
        return found

    def _only_rule(self, atom: int) -> Sequence[GroundRule]:
        rules = self.rules_for(atom)
        return rules if len(rules) == 1 and rules[0].bound is None else ()
