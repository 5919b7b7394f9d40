"""Which single faults can change a run, and when each of them would.

A run under one more fault is the same up to the moment at which that fault strikes.  So every set of faults that
all take effect is found by adding them in the order in which they strike, each one seen in the run under those
before it; and every such set is found once.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from clew.injection.bounds import InjectionBounds
from clew.injection.execution.run import Course
from clew.injection.faults import (
    CodeFault,
    MessageCopy,
    MessageLoss,
    NetworkPartition,
    NodeCrash,
    NodeRestart,
)
from clew.injection.lineage.cutting import groups_of
from clew.simulation.pool import Envelope

#: When a fault strikes, to be compared: at an event or right after it; then in the canonical order of faults.
Moment = tuple[int, int, tuple[object, ...]]

#: Before everything else.
BEGINNING: Moment = (-2, 0, ())


class Possible(NamedTuple):
    """A fault that would change a run, and when."""

    moment: Moment
    fault: CodeFault


def possible_faults(course: Course, bounds: InjectionBounds, after: Moment = BEGINNING) -> list[Possible]:
    """Return the faults within the bounds that would strike a run after a moment, in this order.

    With ``course.idle`` (see ``InjectedRun``) faults are left out that change nothing that matters: the loss of a
    message whose arrival did nothing, and a crash after an event that did nothing, which is the same as one before
    it.
    """
    found = [*_of_messages(course, bounds), *_of_nodes(course, bounds)]
    if bounds.partitions:
        found += _partitions(course, bounds)
    return sorted({each for each in found if each.moment > after})


def _of_messages(course: Course, bounds: InjectionBounds) -> Iterator[Possible]:
    if not (bounds.losses or bounds.duplicates):
        return
    for occurrence in course.occurrences:
        message = course.message_of(occurrence)
        if message is None or occurrence.fate != "deliver" or not isinstance(occurrence.what, Envelope):
            continue
        if course.world.sent_at(occurrence.what) > bounds.within:
            continue
        if bounds.losses and occurrence.number not in course.idle:
            yield _at(occurrence.number, 0, MessageLoss(message))
        if bounds.duplicates:
            yield _at(occurrence.number, 0, MessageCopy(message))


def _of_nodes(course: Course, bounds: InjectionBounds) -> Iterator[Possible]:
    for node in course.running:
        yield from _halting(-1, node, 0, bounds)
    for occurrence in course.occurrences:
        if occurrence.nth and occurrence.time <= bounds.within:
            idle = occurrence.number in course.idle
            yield from _halting(occurrence.number, occurrence.node, occurrence.nth, bounds, idle=idle)


def _halting(
    number: int, node: str, nth: int, bounds: InjectionBounds, *, idle: bool = False
) -> Iterator[Possible]:
    if bounds.crashes and not idle:
        yield _at(number, 1, NodeCrash(node, nth))
    if bounds.restarts:
        # Also after an idle event: when it comes back depends on when it went down.
        yield from (_at(number, 1, NodeRestart(node, nth, length)) for length in bounds.outages)


def _partitions(course: Course, bounds: InjectionBounds) -> Iterator[Possible]:
    """Yield the partitions that begin with a message that they lose; each strikes where the first is missing."""
    crossing = [
        (occurrence.number, occurrence.what, course.world.sent_at(occurrence.what))
        for occurrence in course.occurrences
        if occurrence.fate == "deliver"
        and isinstance(occurrence.what, Envelope)
        and course.message_of(occurrence) is not None
    ]
    for group in groups_of(bounds.nodes):
        sides = set(group)
        cut = [
            (number, sent_at)
            for number, what, sent_at in crossing
            if (what.source in sides) != (what.target in sides)
        ]
        for first in sorted({sent_at for _, sent_at in cut if sent_at <= bounds.within}):
            for length in bounds.outages:
                struck = min(number for number, sent_at in cut if first <= sent_at < first + length)
                yield _at(struck, 0, NetworkPartition(group, first, first + length))


def _at(number: int, part: int, fault: CodeFault) -> Possible:
    return Possible((number, part, fault.order_key()), fault)
