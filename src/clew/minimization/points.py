"""Points that the search starts from: an execution, with the messages from outside that it is about."""

from __future__ import annotations

from typing import NamedTuple

from clew.minimization.trial import Schedule, Target, length_of, measure


class Point(NamedTuple):
    """A schedule means nothing without its target: smaller contents are another target."""

    target: Target
    schedule: Schedule


def weigh(point: Point) -> tuple[int, int]:
    """Return what makes one execution smaller than another: events, then deliveries."""
    return length_of(point.schedule), measure(*point).deliveries


def count_nodes(point: Point) -> int:
    """Return how many nodes something happens at: the size of the cluster that the execution needs."""
    target, schedule = point
    events = [target.externals[item] if isinstance(item, int) else item.act for item in schedule]
    return len({getattr(event, "target", "") or getattr(event, "node", "") for event in events} - {""})


class PointsBySize:
    """The smallest execution of each cluster size."""

    def __init__(self, first: Point) -> None:
        self._points = {count_nodes(first): first}

    def add(self, point: Point) -> None:
        size = count_nodes(point)
        # Of two alike, the later one: its contents are smaller.
        self._points[size] = min(point, self._points.get(size, point), key=weigh)

    def list_largest_first(self) -> list[Point]:
        return [self._points[size] for size in sorted(self._points, reverse=True)]
