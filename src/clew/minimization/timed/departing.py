"""Shorter executions away from the best one: silences, and at random walks and departures.

A *silence* follows the best execution for a while; from then on everything gets lost.  What breaks because
messages get lost mostly breaks then, too, and much earlier.  A *walk* changes wishes as long as the violation
stays.  A *departure* follows the best execution for a while; from then on messages take what is drawn, and what
comes from outside comes earlier.  Walks and departures may change the speed of clocks.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import NamedTuple

from clew.minimization.searching.search import TrialResult
from clew.minimization.timed.schedule import (
    EnvelopeName,
    Happening,
    TimedSchedule,
    TimedTarget,
    find_earliest,
    keep_apart,
    weigh,
)
from clew.minimization.timed.trial import LosingAll, RandomImprovisation, attempt
from clew.simulation.execution.steps import Do

#: How many executions make a walk or a departure, and how many changes are made at once.
LENGTH = 50
_CHANGES = (1, 1, 2, 3)
#: By how much an execution may be longer than the best on the way to a shorter one.
_DETOURS = (0, 0, 1, 3)
#: One of so many departures leaves at the beginning.
_AFRESH = 3


class _Draft:
    """A schedule that is being changed."""

    def __init__(self, target: TimedTarget, schedule: TimedSchedule, random: Random) -> None:
        self.target = target
        self.random = random
        self.items = list(schedule.items)
        self.speeds = list(schedule.speeds)

    def schedule(self) -> TimedSchedule:
        return TimedSchedule(tuple(keep_apart(self.target, self.items)), tuple(self.speeds))

    def places(self, *, outside: bool) -> list[int]:
        """Return the places of what comes from outside, or of messages."""
        return [
            place
            for place, item in enumerate(self.items)
            if (outside if isinstance(item.name, int) else not outside and not item.name.timer)
        ]


def _change_latency(draft: _Draft) -> None:
    places = draft.places(outside=False)
    if places:
        place = draft.random.choice(places)
        name = draft.items[place].name
        assert isinstance(name, EnvelopeName)
        draft.items[place] = draft.items[place]._replace(latency=_draw_latency(draft, name))


def _change_latencies(draft: _Draft) -> None:
    """Change all from some event on, or until one."""
    places = draft.places(outside=False)
    if not places:
        return
    border = draft.random.choice(places)
    later = draft.random.random() < 0.5
    for place in places:
        name = draft.items[place].name
        assert isinstance(name, EnvelopeName)
        if (place >= border) is later:
            draft.items[place] = draft.items[place]._replace(latency=_draw_latency(draft, name))


def _draw_latency(draft: _Draft, name: EnvelopeName) -> int:
    least, most = draft.target.find_window(name)
    kind = draft.random.randrange(4)
    # One of the bounds, half of the time: there the order of events turns.
    return least if kind == 0 else most if kind == 1 else draft.random.randint(least, most)


def _change_speed(draft: _Draft) -> None:
    free = [k for k, node in enumerate(draft.target.scenario.nodes) if draft.target.is_free(node)]
    if free:
        draft.speeds[draft.random.choice(free)] = draw_speed(draft.target, draft.random)


def draw_speed(target: TimedTarget, random: Random) -> float:
    """Draw how fast a clock runs: right, as far off as may be, or anything between."""
    assert target.scenario.time is not None
    drift = target.scenario.time.drift
    # Often the ends of the range: what a little drift breaks, they break as well.
    return random.choice((1.0, 1.0 - drift, 1.0 + drift, random.uniform(1.0 - drift, 1.0 + drift)))


def _leave_out_external(draft: _Draft) -> None:
    places = draft.places(outside=True)
    if places:
        del draft.items[draft.random.choice(places)]


def _change_fate(draft: _Draft) -> None:
    """Let something arrive that got lost or was copied, or the other way round if the scenario has that."""
    places, scenario = draft.places(outside=False), draft.target.scenario
    if not places:
        return
    place = draft.random.choice(places)
    item = draft.items[place]
    if item.do is not Do.DELIVER:
        draft.items[place] = item._replace(do=Do.DELIVER)
    elif scenario.loss and not isinstance(item.name, int) and item.name.source != item.name.target:
        draft.items[place] = item._replace(do=Do.LOSE)


def _bring_forward(draft: _Draft) -> None:
    """Let something from outside come earlier, mostly with all that comes after it."""
    places = draft.places(outside=True)
    if not places:
        return
    place = draft.random.choice(places)
    item = draft.items[place]
    assert isinstance(item.name, int)
    earliest = find_earliest(draft.target, item.name, draft.items[:place])
    if earliest >= item.time:
        return
    sooner = item.time - draft.random.choice((earliest, draft.random.randint(earliest, item.time)))
    later = draft.random.random() < 0.5
    for k in places:
        if k == place or (later and k > place):
            draft.items[k] = draft.items[k]._replace(time=draft.items[k].time - sooner)


def _exchange_external(draft: _Draft) -> None:
    """Put an event from outside that was left out in the place of another of its kind."""
    places = draft.places(outside=True)
    if not places:
        return
    place = draft.random.choice(places)
    item = draft.items[place]
    assert isinstance(item.name, int)
    used = {draft.items[k].name for k in places}
    externals = draft.target.externals
    # Of its kind only: a crash in the place of a write hardly ever keeps the violation.
    alike = [k for k, event in enumerate(externals) if k not in used and type(event) is type(externals[item.name])]
    if alike:
        new = draft.random.choice(alike)
        draft.items[place] = item._replace(name=new, time=min(item.time, draft.target.times[new]))


_MOVES: tuple[Callable[[_Draft], None], ...] = (
    _change_latency,
    _change_latency,
    _change_latencies,
    _change_speed,
    _leave_out_external,
    _change_fate,
    _bring_forward,
    _exchange_external,
)


class Walk(NamedTuple):
    """Changes after changes, as long as the violation stays and the execution does not get much longer."""

    schedule: TimedSchedule
    seed: str

    def evaluate(self, target: TimedTarget) -> TrialResult[TimedSchedule]:
        random = Random(self.seed)
        current, best = self.schedule, weigh(target, self.schedule)[:2]
        longest = len(current.items) + random.choice(_DETOURS)
        for executed in range(1, LENGTH + 1):
            draft = _Draft(target, current, random)
            for _ in range(random.choice(_CHANGES)):
                random.choice(_MOVES)(draft)
            taken = attempt(target, draft.schedule(), longest)
            if taken is not None:
                current = taken
                if weigh(target, current)[:2] < best:
                    return TrialResult(current, executed)
        return TrialResult(None, LENGTH)


class Silence(NamedTuple):
    """The same up to a place, and nothing arrives any more from there on."""

    schedule: TimedSchedule
    place: int

    def evaluate(self, target: TimedTarget) -> TrialResult[TimedSchedule]:
        items = self.schedule.items
        outside = [item for item in items[self.place :] if isinstance(item.name, int)]
        draft = self.schedule._replace(items=(*items[: self.place], *outside))
        taken = attempt(target, draft, len(items), LosingAll())
        if taken is not None and weigh(target, taken)[:2] < weigh(target, self.schedule)[:2]:
            return TrialResult(taken, 1)
        return TrialResult(None, 1)


class Departure(NamedTuple):
    """Departures from one execution, until one comes to a shorter one."""

    schedule: TimedSchedule
    seed: str

    def evaluate(self, target: TimedTarget) -> TrialResult[TimedSchedule]:
        random = Random(self.seed)
        best = weigh(target, self.schedule)[:2]
        for executed in range(1, LENGTH + 1):
            draft = self._depart(target, random)
            improvisation = RandomImprovisation(target, random)
            taken = attempt(target, draft, len(self.schedule.items), improvisation)
            if taken is not None and weigh(target, taken)[:2] < best:
                return TrialResult(taken, executed)
        return TrialResult(None, LENGTH)

    def _depart(self, target: TimedTarget, random: Random) -> TimedSchedule:
        items = self.schedule.items
        place = random.randrange(len(items)) if items and random.randrange(_AFRESH) else 0
        since = items[place - 1].time if place else 0
        outside = [item for item in items[place:] if isinstance(item.name, int)]
        pace = random.choice((0.0, 0.5, 1.0, random.random()))
        draft = _Draft(target, self.schedule, random)
        draft.items = [*items[:place], *(_bring_near(item, since, pace) for item in outside)]
        for _ in range(random.randrange(3)):
            _change_speed(draft)
        return draft.schedule()


def _bring_near(item: Happening, since: int, pace: float) -> Happening:
    return item._replace(time=since + int((item.time - since) * pace))
