"""Rows that meet only if they are there in the same step, and arrive when they like.

A channel holds its rows for one step.  If it is joined with what another channel brought, the outcome depends on
which came first, unless both were stored before.  What arrives is followed from collection to collection: from
where it comes, and whether it is still there in the next step.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

from clew.consistency.ends import Source
from clew.consistency.graph import Dataflow, Leaf, Meet, NodeKind, Reading, Statement, leaves

#: From the collection in which rows appeared to whether they are gone after a step.
Arrivals = Mapping[str, bool]


@dataclass(frozen=True)
class Race:
    """In statement number ``statement``, rows that came by ``first`` and by ``second`` must meet in one step.

    They are the same where rows of one channel must.  ``edges``: the collections that the rule reads them from.
    """

    statement: int
    first: str
    second: str
    edges: tuple[str, ...]


def races_of(flow: Dataflow, sources: tuple[Source, ...]) -> tuple[Race, ...]:
    """In the order of the text."""
    following = _Following(flow, sources)
    following.settle()
    found: dict[tuple[int, str, str], set[str]] = {}
    for number, statement in enumerate(flow.statements):
        for (first, second), read in following.meetings(statement):
            found.setdefault((number, first, second), set()).update(read)
    return tuple(
        Race(number, first, second, tuple(n for n in dict.fromkeys(_reads(flow, number)) if n in read))
        for (number, first, second), read in found.items()
    )


def _reads(flow: Dataflow, statement: int) -> Iterator[str]:
    return leaves(flow.statements[statement].reading)


class _Following:
    def __init__(self, flow: Dataflow, sources: tuple[Source, ...]) -> None:
        self._flow = flow
        self._order = {node.name: k for k, node in enumerate(flow.nodes)}
        self._arrivals: dict[str, dict[str, bool]] = {node.name: {} for node in flow.nodes}
        receiving = {s.target for s in flow.statements if s.sends}
        clocks = {n.name for n in flow.nodes if n.kind is NodeKind.PERIODIC}
        self._asynchronous = receiving | clocks | {s.name for s in sources if s.arrives}
        for node in flow.nodes:
            given = any(s.name == node.name and not s.fixed for s in sources)
            if given or node.name in self._asynchronous:
                self._arrivals[node.name] = {node.name: not node.kind.stored}

        known = flow.reached([s.name for s in sources if not s.fixed])
        #: Rows that are always the same are deleted in every step: what they take out was there for one.
        self._losing = {
            s.target
            for number, s in enumerate(flow.statements)
            if s.deletes and not any(e.source in known for e in flow.edges if e.statement == number)
        }

    def settle(self) -> None:
        changed = True
        while changed:
            changed = any(self._derive(s) for s in self._flow.statements if not s.sends)

    def _derive(self, statement: Statement) -> bool:
        if statement.reading is None:
            return False
        into = self._arrivals[statement.target]
        stored = self._flow.by_name[statement.target].kind.stored and statement.target not in self._losing
        before = dict(into)
        for origin, passing in self._of(statement.reading).items():
            into[origin] = not stored and (passing or statement.passing or into.get(origin, False))
        return into != before

    def _of(self, reading: Reading) -> Arrivals:
        if isinstance(reading, Leaf):
            # A clock goes on: what stays is there when it ticks again, and what passes must be there when it does.
            return {reading.node: False} if reading.ticks else self._arrivals[reading.node]
        sides = [self._of(side) for side in reading.sides]
        passing = any(any(side.values()) for side in sides)
        return {origin: passing for side in sides for origin in side}

    def meetings(self, statement: Statement) -> Iterator[tuple[tuple[str, str], frozenset[str]]]:
        """Pairs of origins that race in a statement, with the collections that their rows are read from."""
        pending = [statement.reading]
        while pending:
            reading = pending.pop()
            if not isinstance(reading, Meet):
                continue
            pending.extend(reversed(reading.sides))
            for left, right in combinations(reading.sides, 2):
                for a, b in self._pairs(self._of(left), self._of(right), reading.matched):
                    read = frozenset((*self._carrying(left, a), *self._carrying(right, b)))
                    yield (a, b) if self._order[a] <= self._order[b] else (b, a), read

    def _pairs(self, left: Arrivals, right: Arrivals, matched: bool) -> Iterator[tuple[str, str]]:
        """One is there for a step only, and the other may come before or after it.

        Rows of one channel that are equal in something are taken to stem from one message, which meets itself.
        """
        for a, a_passes in left.items():
            for b, b_passes in right.items():
                races = (a_passes and b in self._asynchronous) or (b_passes and a in self._asynchronous)
                if races and not (a == b and matched):
                    yield a, b

    def _carrying(self, side: Reading, origin: str) -> Iterator[str]:
        return (name for name in leaves(side) if origin in self._arrivals[name])
