"""How an execution came about: for every atom that holds, the ground rules that fired for it."""

from __future__ import annotations

from clew.engine.atoms import GroundRule
from clew.lineage.graph import RuleGoalGraph


class Derivations:
    """The rules that fired in one execution, told from those that only confirm each other."""

    def __init__(self, graph: RuleGoalGraph, true: frozenset[int]) -> None:
        self.graph = graph
        self.true = true
        self._ranks: dict[int, int] = {}

    def holds(self, literal: int) -> bool:
        return (abs(literal) in self.true) == (literal > 0)

    def of(self, atom: int) -> list[GroundRule]:
        """The rules that fired for an atom that holds."""
        fired = [r for r in self.graph.rules_for(atom) if self._fired(r)]
        if atom in self.graph.cycles:
            fired = [r for r in fired if self._derived_before(r, atom)]
        return fired

    def against(self, atom: int) -> list[GroundRule]:
        """The rules that would have fired for an atom that does not hold, and did not.

        Atoms that could only support each other have one answer together: what could bring in any of them.
        """
        if atom not in self.graph.cycles:
            return list(self.graph.rules_for(atom))
        return self.bringing_in(self.graph.cycles[atom] - self.true)

    def bringing_in(self, atoms: frozenset[int]) -> list[GroundRule]:
        """Rules that could derive one of the atoms without another of them."""
        return [r for a in sorted(atoms) for r in self.graph.rules_for(a) if atoms.isdisjoint(r.body)]

    def _fired(self, rule: GroundRule) -> bool:
        if rule.bound is None:
            return all(map(self.holds, rule.body))
        held = sum(w for b, w in zip(rule.body, rule.weights, strict=True) if self.holds(b))
        return held >= rule.bound

    def _derived_before(self, rule: GroundRule, atom: int) -> bool:
        """No goal may support itself: within a cycle only premises derived earlier count."""
        cycle = self.graph.cycles[atom]
        if atom not in self._ranks:
            self._rank(cycle)
        return all(self._ranks[b] < self._ranks[atom] for b in rule.body if b in cycle)

    def _rank(self, cycle: frozenset[int]) -> None:
        waiting = sorted(cycle & self.true)
        round_number = 0
        while waiting:
            derived = [a for a in waiting if any(self._derivable(r, cycle) for r in self.graph.rules_for(a))]
            self._ranks.update(dict.fromkeys(derived, round_number))
            waiting = [a for a in waiting if a not in self._ranks]
            round_number += 1

    def _derivable(self, rule: GroundRule, cycle: frozenset[int]) -> bool:
        return self._fired(rule) and all(b in self._ranks for b in rule.body if b in cycle)
