"""Which rows and faults could, by the program text alone, make a missing row appear.

The static half of the conservative treatment of negation (appendix B of the paper): a row can only be
the reason for an absence if its relation reaches the absent one through an odd number of negations, and
if it is not later.  Within one time step only rules without ``@next`` and ``@async`` connect.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from clew.faults import Crash, Delay, Fault
from clew.lineage.graph import RuleGoalGraph
from clew.program.ir import CRASH, Program, Timing

#: (relation, whether the number of negations on the way is odd)
_Signed = tuple[str, bool]

#: Not a relation of the program: the moment at which a message arrives.
_LAG = "\0lag"


class Reach:
    def __init__(self, program: Program, graph: RuleGoalGraph, faults: Sequence[Fault]) -> None:
        self._faults = faults
        self._now = _edges(program, same_step_only=True)
        self._ever = _edges(program, same_step_only=False)
        self._by_relation: dict[str, list[tuple[int, int]]] = {}
        for atom, row in graph.rows.items():
            self._by_relation.setdefault(row.relation, []).append((row.time, atom))
        self._cached_causes = cache(self._possible_causes)
        self._cached_faults = cache(self._harmful_faults)

    def possible_causes(self, relation: str, time: int) -> tuple[int, ...]:
        """Rows whose disappearance could make a row of the relation appear at the time."""
        return self._cached_causes(relation, time)

    def harmful_faults(self, relation: str) -> tuple[Fault, ...]:
        """Faults whose mere presence, not the loss of rows, could make a row of the relation appear."""
        return self._cached_faults(relation)

    def _possible_causes(self, relation: str, time: int) -> tuple[int, ...]:
        now = {name for name, odd in _backwards(relation, self._now) if odd}
        ever = {name for name, odd in _backwards(relation, self._ever) if odd}
        return tuple(
            atom
            for name in sorted(ever)
            for t, atom in sorted(self._by_relation.get(name, ()))
            if t < time or (t == time and name in now)
        )

    def _harmful_faults(self, relation: str) -> tuple[Fault, ...]:
        reached = _backwards(relation, self._ever)
        kinds: set[type[Fault]] = set()
        if (CRASH, False) in reached:
            kinds.add(Crash)
        if (_LAG, False) in reached:
            kinds.add(Delay)
        return tuple(f for f in self._faults if type(f) in kinds)


def _edges(program: Program, *, same_step_only: bool) -> dict[str, set[_Signed]]:
    """For each relation what it is concluded from directly, and with which sign."""
    edges: dict[str, set[_Signed]] = {}
    for rule in program.rules:
        if same_step_only and rule.timing is not Timing.SAME:
            continue
        sources = edges.setdefault(rule.relation, set())
        for premise in rule.premises:
            sources.add((premise.relation, premise.negated))
            if rule.aggregates:  # an aggregate can change either way when a row goes
                sources.add((premise.relation, not premise.negated))
        if rule.timing is Timing.ASYNC:
            sources.add((_LAG, False))
    return edges


def _backwards(relation: str, edges: dict[str, set[_Signed]]) -> set[_Signed]:
    """Everything that reaches the relation, with the parity of negations on the way."""
    found: set[_Signed] = {(relation, False)}
    work: list[_Signed] = [(relation, False)]
    while work:
        name, odd = work.pop()
        for source, negated in sorted(edges.get(name, ())):
            signed = (source, odd != negated)
            if signed not in found:
                found.add(signed)
                work.append(signed)
    return found
