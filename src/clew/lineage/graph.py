"""The rule/goal graph (section 4.2 and appendix B of the paper), of all executions at once.

Goals are the ground atoms, rules the ground rules that clingo handed over; an edge leads from a goal to each rule
that could derive it, and from a rule to its premises.  The paper builds one graph per execution, from the rules
that fired there.  This one is built once for a failure spec (3PC at EOT 9: 2,312 ground rules in 11 ms); an
execution only says which atoms hold.  So it also has the rules that did *not* fire, which is what explains an
absence exactly.

Everything here depends on the failure spec alone and is computed once; what depends on an execution is in
``clew.lineage.derivations`` and ``clew.lineage.support``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from typing import NamedTuple, Protocol

from clew.engine.atoms import GroundRule, RowAtom, SentAtom
from clew.faults import Fault
from clew.program.graph import components
from clew.violation import Violation


class GroundAtomsAndRules(Protocol):
    """What the graph needs of a ground program: ``clew.engine.ground`` has it, and tests write it by hand.

    Atoms are positive numbers.  Faults have atoms, too, and no rules: whether they hold is open.
    """

    @property
    def rules(self) -> Sequence[GroundRule]: ...

    @property
    def fault_atoms(self) -> Mapping[Fault, int]: ...

    @property
    def violation_atoms(self) -> Mapping[Violation, int]: ...

    @property
    def row_atoms(self) -> Sequence[RowAtom]: ...

    @property
    def sent_atoms(self) -> Sequence[SentAtom]: ...


class RowPlace(NamedTuple):
    """The place of a row in the program: its relation and its time."""

    relation: str
    time: int


class RuleGoalGraph:
    """Every way in which any atom could come about."""

    def __init__(self, ground: GroundAtomsAndRules) -> None:
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
        # Asked for every goal in every run, and always with the same answer.
        self.implied_by_pre = cache(self._find_implied_by_pre)
        self.depending_on_pre = cache(self._find_depending_on_pre)

    def rules_for(self, atom: int) -> Sequence[GroundRule]:
        """Return the rules that could derive an atom; none for a fault, or for what can never hold."""
        return self._rules.get(atom, ())

    def is_row(self, atom: int) -> bool:
        """Tell whether the atom is a row or message of the program, not a helper of the encoding."""
        return atom in self.rows or atom in self._messages

    def _all_atoms(self) -> dict[int, None]:
        # A dictionary, not a set: the order decides in which order gates are numbered, and so what is found first.
        found: dict[int, None] = {}
        for head, rules in self._rules.items():
            found[head] = None
            for rule in rules:
                for literal in rule.body:
                    found[abs(literal)] = None
        found.update(dict.fromkeys(self.goals.values()))
        return found

    def _find_cycles(self) -> dict[int, frozenset[int]]:
        """Return the atoms that can support each other, each with its companions.

        Time only grows, so a cycle lies within one time step; and since negation is stratified there, no edge of a
        cycle is negated.
        """
        found = {}
        for component in self._components:
            if len(component) > 1 or component[0] in self._successors[component[0]]:
                found.update(dict.fromkeys(component, frozenset(component)))
        return found

    @cached_property
    def fault_determined(self) -> frozenset[int]:
        """Return the atoms that depend on faults alone, not on any row: links, crashes as they are seen.

        Their gates are exact whatever a run has shown, see ``clew.lineage.unfolding``.
        """
        resting_on_rows = {atom for atom in self.atoms if self.is_row(atom)}
        for component in self._components:  # successors come first, so theirs is known already
            if any(s in resting_on_rows for atom in component for s in self._successors[atom]):
                resting_on_rows.update(component)
        return frozenset(self.atoms) - resting_on_rows

    def _find_implied_by_pre(self, goal: int) -> dict[int, bool]:
        """Return what is certain once the goal's ``pre`` holds, by following back its only way to come about.

        A violation needs ``pre``, and faults that undo one of these would only make it vacuous: section 4.3 of the
        paper does not explore such faults either, but finds out only after solving.  Where an atom has several
        rules, which of them fired is open, and nothing behind it is certain.
        """
        implied: dict[int, bool] = {}
        work = [b for rule in self._only_rule(goal) for b in rule.body if b > 0]
        while work:
            literal = work.pop()
            atom = abs(literal)
            # The only rule of an atom on a cycle need not be the last word: a companion may be the way in.
            if atom in implied or atom in self.cycles:
                continue
            implied[atom] = literal > 0
            if literal > 0:
                work.extend(b for rule in self._only_rule(atom) for b in rule.body)
        return implied

    def _find_depending_on_pre(self, goal: int) -> frozenset[int]:
        """Return what the goal's ``pre`` implies, and every atom whose lineage can lead there.

        What faults alone determine is explained by the faults, whatever is implied, so the lineage ends there.
        """
        found = set(self.implied_by_pre(goal))
        work = list(found)
        while work:
            for atom in self._predecessors[work.pop()]:
                if atom not in found and atom not in self.fault_determined:
                    found.add(atom)
                    work.append(atom)
        return frozenset(found)

    @cached_property
    def _predecessors(self) -> dict[int, list[int]]:
        """Return for each atom the heads of the rules in whose bodies it stands."""
        found: dict[int, list[int]] = {atom: [] for atom in self.atoms}
        for atom, successors in self._successors.items():
            for successor in successors:
                found[successor].append(atom)
        return found

    def _only_rule(self, atom: int) -> Sequence[GroundRule]:
        # A sum is never certain about its parts, even if it is the only rule: other parts may have been enough.
        rules = self.rules_for(atom)
        return rules if len(rules) == 1 and rules[0].bound is None else ()
