"""Which single faults can change a run, and when each of them would.

A run under one more fault is the same up to the moment at which that fault strikes.  So every set of faults that
all take effect is found by adding them in the order in which they strike, each one seen in the run under those
before it; and every such set is found once.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

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
    units: set[MessageName] = set()
    for occurrence in course.occurrences:
        message = course.message_of(occurrence)
        if (
            message is None
            or message in units
            or occurrence.fate != "deliver"
            or not isinstance(occurrence.what, Envelope)
        ):
            continue
        if course.world.sent_at(occurrence.what) > bounds.within:
            continue
        if message in course.world.units:
            # Several messages have this name: its loss strikes at the first of them, and is more than that one.
            units.add(message)
            if bounds.losses:
                yield _at(occurrence.number, 0, MessageLoss(message))
            continue
        if bounds.losses and occurrence.number not in course.idle:
            yield _at(occurrence.number, 0, MessageLoss(message))
        if bounds.duplicates:
            yield _at(occurrence.number, 0, MessageCopy(message))


def _of_nodes(course: Course, bounds: InjectionBounds) -> Iterator[Possible]:
    for moment in course.moments:
        if moment.time > bounds.within:
            continue
        if bounds.crashes and not moment.is_idle:
            yield _at(moment.number, 1, NodeCrash(moment.node, moment.nth))
        if bounds.restarts:
            # Also after an idle event: when it comes back depends on when it went down.
            for length in bounds.outages:
                yield _at(moment.number, 1, NodeRestart(moment.node, moment.nth, length))


class _Crossing(NamedTuple):
    """A message that was sent: when, and which event its arrival was, if it arrived; -1 if a fault has hit it."""

    name: MessageName
    sent_at: int
    number: int | None


def _partitions(course: Course, bounds: InjectionBounds) -> Iterator[Possible]:
    """Yield the partitions that begin when a message crosses them; each strikes where the first is missing."""
    crossing = list(_crossing(course))
    # Those of this run: there may be nodes that come to be only under faults.
    for group in groups_of(tuple(course.world.known_names)):
        sides = set(group)
        cut = [each for each in crossing if (each.name.source in sides) != (each.name.target in sides)]
        # Also when a message is sent that goes to a node that is down: others may follow until the end of it.
        for first in sorted({each.sent_at for each in cut if each.sent_at <= bounds.within}):
            for length in bounds.outages:
                lost = [each for each in cut if first <= each.sent_at < first + length]
                numbers = [each.number for each in lost if each.number is not None]
                # What one of the faults so far hits, it would lose before: then that fault is one too many.
                if numbers and min(numbers) >= 0:
                    yield _at(min(numbers), 0, NetworkPartition(group, first, first + length))


def _crossing(course: Course) -> Iterator[_Crossing]:
    world = course.world
    hit = {fault.message for fault in course.faults if isinstance(fault, MessageLoss | MessageCopy)}
    numbers = {
        o.what: o.number for o in course.occurrences if o.fate == "deliver" and isinstance(o.what, Envelope)
    }
    for envelope, sent_at in world.sent.items():
        name = world.name_of(envelope)
        if name is not None:
            # Of several messages with one name, a partition loses some, and the fault still hits the others.
            is_hit = name in hit and name not in world.units
            yield _Crossing(name, sent_at, -1 if is_hit else numbers.get(envelope))


def _at(number: int, part: int, fault: CodeFault) -> Possible:
    return Possible((number, part, fault.order_key()), fault)
