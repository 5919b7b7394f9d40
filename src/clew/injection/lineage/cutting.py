"""Which faults would have kept what helped from happening.

A message of the past is lost, or cut off by a partition; a node of the past stops before its part is done, or a
witness does so at any time.  A node that restarts has forgotten what it had not stored, so that counts as well.
That a message arrives twice cuts nothing, but it disturbs what rests on it: it is tried for the same messages.

Of all moments at which a node can crash, those right after an event that matters stand for the others: between two
of them, a crash cuts the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations

from clew.injection.bounds import InjectionBounds
from clew.injection.execution.course import Course
from clew.injection.faults import (
    CodeFault,
    MessageCopy,
    MessageLoss,
    MessageName,
    NetworkPartition,
    NodeCrash,
    NodeRestart,
)
from clew.injection.lineage.ways import Way
from clew.simulation.pool import Envelope


class Cutter:
    """The faults of one run that can matter, within bounds; ``moments``: by node, after which of its events."""

    def __init__(self, course: Course, bounds: InjectionBounds, relevant: Iterable[int]) -> None:
        self._course = course
        self._bounds = bounds
        self._groups = list(groups_of(tuple(course.world.known_names)))
        # -1 is the number of the moment before a node's first event, when it can be stopped, too.
        numbers = {-1, *relevant}
        self.moments: dict[str, list[int]] = {}
        for moment in course.moments:
            if moment.number in numbers and moment.time <= bounds.within:
                self.moments.setdefault(moment.node, []).append(moment.nth)

    def cut(self, way: Way, events: frozenset[int]) -> list[CodeFault]:
        """Return the faults that cut a way which rests on these events."""
        found: dict[CodeFault, None] = {}
        for message, sent_at, arrives_at in self._messages(events):
            found.update(dict.fromkeys(self._of_message(message, sent_at, arrives_at)))
        found.update(dict.fromkeys(self._of_nodes(way, events)))
        # What has struck in this run has not cut what is there in spite of it: to try it again would never end.
        return [fault for fault in found if fault not in self._course.struck]

    def _messages(self, events: frozenset[int]) -> Iterator[tuple[MessageName, int, int]]:
        course = self._course
        # Sorted: their order decides which of several equally small sets is tried first.
        for number in sorted(events):
            occurrence = course.occurrences[number]
            message = course.message_of(occurrence)
            if message is not None and isinstance(occurrence.what, Envelope):
                yield message, course.world.sent_at(occurrence.what), occurrence.time

    def _of_message(self, message: MessageName, sent_at: int, arrives_at: int) -> Iterator[CodeFault]:
        bounds = self._bounds
        if sent_at > bounds.within:
            return
        if bounds.losses:
            yield MessageLoss(message)
        if bounds.partitions:
            for group in self._groups:
                if (message.source in group) != (message.target in group):
                    yield from (NetworkPartition(group, sent_at, sent_at + length) for length in bounds.outages)
        if bounds.duplicates and message not in self._course.world.units:
            yield MessageCopy(message)

    def _of_nodes(self, way: Way, events: frozenset[int]) -> Iterator[CodeFault]:
        last: dict[str, int] = {}
        for number in events:
            occurrence = self._course.occurrences[number]
            last[occurrence.node] = max(last.get(occurrence.node, 0), occurrence.nth)
        for node, moments in self.moments.items():
            for after in moments:
                if node in way.witnesses or after < last.get(node, 0):
                    if self._bounds.crashes:
                        yield NodeCrash(node, after)
                    if self._bounds.restarts:
                        yield from (NodeRestart(node, after, length) for length in self._bounds.outages)


def groups_of(names: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the groups that a partition can cut off, each of two halves once: the one without the last node."""
    for size in range(1, len(names)):
        yield from combinations(names[:-1], size)
