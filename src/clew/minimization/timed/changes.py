"""Smaller schedules in virtual time, tried one after the other until none is better.

- *Left out* is what comes from outside, and what the network does of itself: losses and copies.
- *Cut out* is a stretch of the execution with all that happens in it: what comes from outside later comes earlier
  by as much, and what was wished for the messages of later is wished for those that take their place.
- *Simplified* are times: a message takes the least that it may, clocks are right, what is left has few digits.

Nothing counts but what happens then: fewer events, or as many with simpler times.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from clew.minimization.searching.search import Search, TrialResult
from clew.minimization.timed.schedule import (
    EnvelopeName,
    Happening,
    TimedSchedule,
    TimedTarget,
    count_digits,
    find_earliest,
    keep_apart,
    weigh,
)
from clew.minimization.timed.trial import attempt
from clew.simulation.execution.steps import Do

TimedSearch = Search[TimedTarget, TimedSchedule]


class Variation(NamedTuple):
    """A schedule that counts if what comes of it is better than the ``best``."""

    schedule: TimedSchedule
    best: TimedSchedule

    def evaluate(self, target: TimedTarget) -> TrialResult[TimedSchedule]:
        taken = attempt(target, self.schedule, len(self.best.items))
        # What came of the wishes is weighed, not the wishes: without one of them, more may happen.
        if taken is not None and weigh(target, taken) < weigh(target, self.best):
            return TrialResult(taken, 1)
        return TrialResult(None, 1)


# -- leaving out, and cutting out --------------------------------------------------------------------------------


def leave_out(target: TimedTarget, schedule: TimedSchedule, places: Sequence[int]) -> TimedSchedule:
    """Return the schedule without some of its wishes."""
    out = set(places)
    return schedule._replace(items=tuple(item for k, item in enumerate(schedule.items) if k not in out))


def cut_out(target: TimedTarget, schedule: TimedSchedule, places: Sequence[int]) -> TimedSchedule:
    """Return the schedule as if the time from the first to the last of these places had not been."""
    items = schedule.items
    first, end = places[0], places[-1] + 1
    since = items[first - 1].time if first else 0
    gone = items[end - 1].time - since
    missing: dict[tuple[object, ...], list[int]] = {}
    for item in items[first:end]:
        if isinstance(item.name, EnvelopeName):
            missing.setdefault(item.name[:4], []).append(item.name.nth)
    moved = [_move_up(item, gone, missing) for item in items[end:]]
    return schedule._replace(items=tuple(keep_apart(target, [*items[:first], *moved])))


def _move_up(item: Happening, gone: int, missing: dict[tuple[object, ...], list[int]]) -> Happening:
    if isinstance(item.name, int):
        return item._replace(time=item.time - gone)
    # A name counts messages on a link: where earlier ones are gone, later ones have smaller numbers.
    fewer = sum(nth < item.name.nth for nth in missing.get(item.name[:4], ()))
    return item._replace(name=item.name._replace(nth=item.name.nth - fewer)) if fewer else item


#: Which places of a schedule can go, and what it is without some of them.
Places = Callable[[TimedSchedule], list[int]]
Without = Callable[[TimedTarget, TimedSchedule, Sequence[int]], TimedSchedule]


class _Runs(NamedTuple):
    """The schedule without each run of ``chunk`` places, but for the last ``done`` ones, the latest first."""

    target: TimedTarget
    best: TimedSchedule
    places: list[int]
    without: Without
    chunk: int
    done: int

    def __len__(self) -> int:
        return -(-max(0, len(self.places) - self.done) // self.chunk)

    def at(self, place: int) -> Variation:
        end = len(self.places) - self.done - place * self.chunk
        return Variation(
            self.without(self.target, self.best, self.places[max(0, end - self.chunk) : end]), self.best
        )


def remove_runs(
    search: TimedSearch, target: TimedTarget, schedule: TimedSchedule, places: Places, without: Without
) -> TimedSchedule:
    """Leave out runs of places, half of them first and single ones last, until none can be spared."""
    best = schedule
    # As in delta debugging: where much can be spared, it goes in a few trials.
    chunk = max(1, len(places(best)) // 2)
    while True:
        before, best = best, _pass(search, target, best, places, without, chunk)
        if chunk == 1 and len(best.items) == len(before.items):
            return best
        chunk = 1 if chunk == 1 else max(1, min(chunk // 2, len(places(best)) // 2))


def _pass(
    search: TimedSearch,
    target: TimedTarget,
    schedule: TimedSchedule,
    places: Places,
    without: Without,
    chunk: int,
) -> TimedSchedule:
    best, done = schedule, 0
    while True:
        family = _Runs(target, best, places(best), without, chunk, done)
        success = search.first(family)
        if success is None:
            return best
        # What comes after the cut was tried already.
        done += success.place * chunk
        best = success.schedule


def list_removable(schedule: TimedSchedule) -> list[int]:
    """Return the places of what comes from outside, and of what the network does of itself."""
    return [
        place
        for place, item in enumerate(schedule.items)
        if isinstance(item.name, int) or item.do is not Do.DELIVER
    ]


def list_all(schedule: TimedSchedule) -> list[int]:
    return list(range(len(schedule.items)))


# -- simpler times -----------------------------------------------------------------------------------------------


def list_odd(target: TimedTarget, schedule: TimedSchedule) -> list[int]:
    """Return the places of messages that take longer than they must."""
    return [
        place
        for place, item in enumerate(schedule.items)
        if isinstance(item.name, EnvelopeName)
        and not item.name.timer
        and item.latency != target.find_window(item.name)[0]
    ]


def hurry(target: TimedTarget, schedule: TimedSchedule, places: Sequence[int]) -> TimedSchedule:
    """Return the schedule with the messages at these places as fast as they may be."""
    out, items = set(places), list(schedule.items)
    for place in out:
        name = items[place].name
        assert isinstance(name, EnvelopeName)
        items[place] = items[place]._replace(latency=target.find_window(name)[0])
    return schedule._replace(items=tuple(items))


class _Simplifications(NamedTuple):
    best: TimedSchedule
    changed: list[TimedSchedule]

    def __len__(self) -> int:
        return len(self.changed)

    def at(self, place: int) -> Variation:
        return Variation(self.changed[place], self.best)


def simplify_times(search: TimedSearch, target: TimedTarget, schedule: TimedSchedule) -> TimedSchedule:
    """Give the execution the simplest times that it can have."""
    best = remove_runs(search, target, schedule, lambda made: list_odd(target, made), hurry)
    while True:
        success = search.first(_Simplifications(best, list(_list_simpler(target, best))))
        if success is None:
            return best
        best = success.schedule


def _list_simpler(target: TimedTarget, best: TimedSchedule) -> Iterator[TimedSchedule]:
    """Yield the schedule with one of its times simpler: clocks first, for they bear on everything."""
    for place, node in enumerate(target.scenario.nodes):
        if target.is_free(node):
            for speed in _list_speeds(target, best.speeds[place]):
                yield best._replace(speeds=(*best.speeds[:place], speed, *best.speeds[place + 1 :]))
    for place, item in enumerate(best.items):
        for simpler in _list_simpler_items(target, best, item):
            items = (*best.items[:place], simpler, *best.items[place + 1 :])
            yield best._replace(items=tuple(keep_apart(target, items)))


def _list_speeds(target: TimedTarget, speed: float) -> Iterator[float]:
    """Yield simpler speeds: right, as far off as may be, and with fewer digits."""
    assert target.scenario.time is not None
    drift = target.scenario.time.drift
    # Nothing is simpler than a clock that is right.
    if speed == 1.0:
        return
    yield 1.0
    for digits in range(1, 6):
        # Rounded up and down as well: nobody knows on which side the violation is.
        half = 0.5 / 10**digits
        for simpler in dict.fromkeys(round(near, digits) for near in (speed, speed - half, speed + half)):
            if len(repr(simpler)) < len(repr(speed)) and abs(simpler - 1.0) <= drift:
                yield simpler


def _list_simpler_items(target: TimedTarget, best: TimedSchedule, item: Happening) -> Iterator[Happening]:
    if isinstance(item.name, int):
        others = [other for other in best.items if other.name != item.name]
        earliest = find_earliest(target, item.name, others)
        for time in _list_round(item.time, earliest, target.times[item.name]):
            yield item._replace(time=time)
    elif not item.name.timer:
        for latency in _list_round(item.latency, *target.find_window(item.name)):
            yield item._replace(latency=latency)


def _list_round(ticks: int, least: int, most: int) -> Iterator[int]:
    """Yield times within bounds that have fewer digits than this one, the simplest first."""
    if ticks > least:
        yield least
    for digits in range(count_digits(ticks)):
        unit = 10 ** (6 - digits)
        for rounded in dict.fromkeys((ticks // unit * unit, -(-ticks // unit) * unit)):
            if least < rounded <= most:
                yield rounded
