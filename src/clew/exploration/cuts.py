"""The global states that the executions of a class pass through.

Executions of one class differ in the order of unrelated events, so they pass through different global states: one
for each set of events that contains, with an event, all that comes before it (a consistent cut).  Cuts are listed
from the largest down, so that those inside a cut that is known need not be looked at again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from clew.exploration.event import Event
from clew.exploration.system import System
from clew.simulation.pool import OUTSIDE


class Cut(NamedTuple):
    """``counts``: how many events of each chain are in it, ``outside``: how many from outside.

    ``local``: the history of each node.  ``failed``: how many events in it raised an exception.
    """

    counts: tuple[int, ...]
    outside: int
    local: tuple[int, ...]
    failed: int

    @property
    def size(self) -> int:
        return sum(self.counts)

    def events(self, execution: list[Event]) -> tuple[Event, ...]:
        """Return the cut as an execution."""
        return tuple(e for e in execution if e.nth <= self.counts[e.chain])


class Cuts:
    """The cuts of several executions that begin with the same events, ``base``; each is listed once."""

    def __init__(self, system: System, base: tuple[Event, ...]) -> None:
        self._system = system
        self._seen: set[tuple[int, ...]] = set()
        self._outside = system.chain(OUTSIDE)
        self._base = [0] * system.chains
        for event in base:
            self._base[event.chain] += 1

    def new(self, execution: list[Event], local: tuple[int, ...]) -> Iterator[Cut]:
        """Yield the cuts of an execution that were not listed yet; ``local``: its nodes' histories at its end."""
        chains: list[list[Event]] = [[] for _ in range(self._system.chains)]
        for event in execution:
            chains[event.chain].append(event)
        failed = sum(e.failure is not None for e in execution)
        counts = tuple(map(len, chains))
        pending = [Cut(counts, counts[self._outside], local, failed)]
        while pending:
            cut = pending.pop()
            last = [chain[n - 1] if n else None for chain, n in zip(chains, cut.counts, strict=True)]
            # By whole histories: equal ones are the same state in executions of different classes, too.
            key = tuple(e.whole if e else 0 for e in last)
            if key in self._seen:
                continue
            self._seen.add(key)
            yield cut
            for latest in last:
                # Not below the base: those cuts belong to the phase before.
                if latest is not None and latest.nth > self._base[latest.chain] and _is_last(latest, last):
                    pending.append(self._without(cut, latest))

    def _without(self, cut: Cut, event: Event) -> Cut:
        counts = list(cut.counts)
        counts[event.chain] -= 1
        local = cut.local
        if event.node:
            node = self._system.chain(event.node)
            local = (*local[:node], event.before, *local[node + 1 :])
        return Cut(tuple(counts), counts[self._outside], local, cut.failed - (event.failure is not None))


def _is_last(event: Event, others: list[Event | None]) -> bool:
    """Tell whether no other event of the cut comes after it."""
    return not any(e is not None and e is not event and e.is_after(event) for e in others)
