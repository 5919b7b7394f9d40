"""How an execution came about: for every atom that holds, the ground rules that fired for it.

The paper queries "firings" relations for this, which its rewrite adds to the program (sections 4.1.2 and 4.2).
Here the ground rules are known beforehand, and a rule fired if its body holds.  That is not quite enough: two
atoms of one time step can derive each other, and each would then look like the reason for the other.  Within such
a cycle only rules count whose premises could be derived earlier than their conclusion.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator

from clew.engine.atoms import GroundRule
from clew.lineage.graph import RuleGoalGraph


class Derivations:
    """The rules that fired in one execution, told from those that only confirm each other."""

    def __init__(self, graph: RuleGoalGraph, true: frozenset[int]) -> None:
        self.graph = graph
        self.true = true
        self._ranks: dict[int, int] = {}  # only of atoms on cycles that were asked about; most programs have none

    def holds(self, literal: int) -> bool:
        """Tell whether a literal of a rule's body is true in this execution."""
        return (abs(literal) in self.true) == (literal > 0)

    def of(self, atom: int) -> list[GroundRule]:
        """Return the rules that fired for an atom that holds."""
        rules = self.graph.rules_for(atom)
        if atom in self.graph.cycles:
            if atom not in self._ranks:
                self._rank(self.graph.cycles[atom])
            # Not only the atom itself: a companion of the same round was not needed for it, and might need it.
            later = {a for a in self.graph.cycles[atom] if self._ranks.get(a, _NEVER) >= self._ranks[atom]}
            rules = list(_without(rules, later))
        return [r for r in rules if r.fires(self.true)]

    def against(self, atom: int) -> list[GroundRule]:
        """Return the rules that would have fired for an atom that does not hold, and did not.

        Atoms that could only support each other have one answer together: what could bring in any of them.
        """
        if atom not in self.graph.cycles:
            return list(self.graph.rules_for(atom))
        return self.bringing_in(self.graph.cycles[atom] - self.true)

    def bringing_in(self, atoms: frozenset[int]) -> list[GroundRule]:
        """Return the rules that could derive one of the atoms without another of them."""
        return [r for a in sorted(atoms) for r in _without(self.graph.rules_for(a), atoms)]

    def _rank(self, cycle: frozenset[int]) -> None:
        """Rank the atoms of a cycle by the round in which they can have been derived: no goal supports itself."""
        waiting = cycle & self.true
        round_number = 0
        while waiting:
            derived = {
                a for a in waiting if any(r.fires(self.true) for r in _without(self.graph.rules_for(a), waiting))
            }
            assert derived, "what holds has been derived from something"
            self._ranks.update(dict.fromkeys(derived, round_number))
            waiting -= derived
            round_number += 1


#: Later than any rank.
_NEVER = 1 << 60


def _without(rules: Iterable[GroundRule], atoms: Container[int]) -> Iterator[GroundRule]:
    """Yield the rules that can fire although none of these atoms holds; a sum may do without them."""
    for rule in rules:
        if not any(b in atoms for b in rule.body):
            yield rule
        elif rule.bound is not None:
            rest = [(b, w) for b, w in zip(rule.body, rule.weights, strict=True) if b not in atoms]
            # What is left of a sum must still be able to fire on its own; the others are then no part of it.
            if sum(w for _, w in rest) >= rule.bound:
                yield rule._replace(body=tuple(b for b, _ in rest), weights=tuple(w for _, w in rest))
