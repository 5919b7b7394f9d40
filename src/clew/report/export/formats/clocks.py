"""Clocks of the events of an execution: vector clocks, and one time line that no effect precedes its cause on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from clew.report.export.events import NOWHERE, Trace, Unit

#: Of each event, how many events of each node it knows of.
VectorClock = Mapping[str, int]


def vector_clocks(trace: Trace) -> Iterator[VectorClock]:
    """Yield the clock of each event; what happens at no node counts nowhere, and passes on what it rests on."""
    clocks: list[dict[str, int]] = []
    latest: dict[str, dict[str, int]] = {}
    for event in trace.events:
        # Outside, nothing is in an order: what is sent from there rests on nothing.
        clock = dict(latest.get(event.node, {})) if event.node != NOWHERE else {}
        for cause in event.causes:
            for node, count in clocks[cause].items():
                if count > clock.get(node, 0):
                    clock[node] = count
        if event.node != NOWHERE:
            clock[event.node] = clock.get(event.node, 0) + 1
            latest[event.node] = clock
        clocks.append(clock)
        yield clock


class Span(NamedTuple):
    """When an event is drawn, in nanoseconds."""

    start: int
    end: int


class _Scale(NamedTuple):
    """Nanoseconds: in a unit of time, between what must not be at the same time, and how wide events are drawn."""

    unit: int
    apart: int
    width: int


#: Nothing that happens takes time here, and much happens at once.  So that an order can be seen, events are drawn
#: a little apart: by nanoseconds where times are microseconds that mean something, by more where they only count.
SCALES = {
    Unit.MICROSECOND: _Scale(1_000, 1, 100_000),
    Unit.EVENT: _Scale(1_000_000, 10_000, 200_000),
    Unit.STEP: _Scale(1_000_000, 10_000, 200_000),
}


def time_line(trace: Trace) -> list[Span]:
    """Place every event: not before its time, after its causes, and after the event before it at its node."""
    scale = SCALES[trace.unit]
    starts: list[int] = []
    latest: dict[str, int] = {}
    for event in trace.events:
        after = [starts[cause] for cause in event.causes]
        if event.node in latest:
            after.append(latest[event.node])
        start = max([event.time * scale.unit, *(time + scale.apart for time in after)])
        latest[event.node] = start
        starts.append(start)
    return _with_ends(trace, starts, scale)


def _with_ends(trace: Trace, starts: list[int], scale: _Scale) -> list[Span]:
    """Let every event last until the next one at its node, but not for long."""
    # Backwards: viewers draw events of one node that overlap as parts of each other.
    following: dict[str, int] = {}
    spans: list[Span] = []
    for event, start in zip(reversed(trace.events), reversed(starts), strict=True):
        end = start + scale.width
        spans.append(Span(start, min(end, following.get(event.node, end))))
        following[event.node] = start
    return spans[::-1]
