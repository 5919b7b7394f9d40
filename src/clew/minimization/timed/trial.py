"""Trying a schedule in virtual time: does it still end in the same violation, and in how many events?

A schedule is a list of wishes.  What it says of a message decides when that arrives, within the bounds of the
scenario, or whether it gets lost; of messages that it does not mention, nothing is decided but that they arrive as
soon as they can, unless somebody improvises.  Of what is due at the same time, that which comes first in the
schedule happens first.  So every schedule is an execution that the scenario allows, and what comes out is again a
schedule: what happened, item by item.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from random import Random
from typing import NamedTuple, Protocol

from clew.minimization.timed.schedule import (
    EnvelopeName,
    Happening,
    TimedSchedule,
    TimedTarget,
)
from clew.minimization.trial import not_repeatable_error
from clew.simulation.events import Elapse
from clew.simulation.execution.steps import Act, At, Do, Ended, Pause, Step, act_of, perform
from clew.simulation.execution.trace import find_envelope
from clew.simulation.pool import Envelope, TimedPool
from clew.simulation.scenario import Broken
from clew.simulation.timing import Clock, to_seconds

#: Comes after everything that a schedule mentions.
_LAST = 1 << 60


class _Names:
    """What the messages of an execution are called, and when they were sent."""

    def __init__(self) -> None:
        self._counts: dict[tuple[str, str, str], int] = {}
        self._fired: dict[tuple[str, str], int] = {}
        self._known: dict[Envelope, tuple[EnvelopeName, int]] = {}

    def add(self, envelope: Envelope, now: int) -> EnvelopeName:
        """Name a message that is sent now."""
        kind = type(envelope.payload).__qualname__
        key = (envelope.source, envelope.target, kind)
        nth = self._counts[key] = self._counts.get(key, 0) + 1
        name = EnvelopeName(envelope.source, envelope.target, kind, False, nth)
        self._known[envelope] = (name, now)
        return name

    def find(self, envelope: Envelope, now: int) -> tuple[EnvelopeName, int]:
        """Return what it is called, and how long it has taken till now; a timer takes no time."""
        if envelope.timer:
            key = (envelope.target, envelope.payload)
            return EnvelopeName(
                envelope.target, envelope.target, envelope.payload, True, self._fired.get(key, 0) + 1
            ), 0
        name, sent = self._known[envelope]
        return name, now - sent

    def fire(self, timer: Envelope) -> None:
        """Count a timer that goes off."""
        key = (timer.target, timer.payload)
        self._fired[key] = self._fired.get(key, 0) + 1


class Improvisation(Protocol):
    """Decides about messages that a schedule does not mention."""

    def choose_latency(self, least: int, most: int) -> int: ...

    def choose_fate(self) -> Do: ...


class _Wish(NamedTuple):
    rank: int
    do: Do
    latency: int


class _WishClock(Clock):
    """Lets messages take as long as a schedule wishes; ``names`` is what they are called."""

    def __init__(
        self,
        target: TimedTarget,
        speeds: Sequence[float],
        wishes: dict[EnvelopeName, list[_Wish]],
        improvisation: Improvisation | None,
    ) -> None:
        assert target.scenario.time is not None
        super().__init__(target.scenario.time, target.seed)
        self._speeds = dict(zip(target.scenario.nodes, speeds, strict=True))
        self.names = _Names()
        self._wishes = wishes
        self._improvisation = improvisation

    def post(self, envelope: Envelope, now: int) -> None:
        name = self.names.add(envelope, now)
        least, most = self.window(envelope.source, envelope.target)
        wish = self._wishes.get(name)
        if wish:
            envelope.due = now + min(max(wish[0].latency, least), most)
        elif self._improvisation is not None:
            envelope.due = now + self._improvisation.choose_latency(least, most)
        else:
            envelope.due = now + least


class TimedRun:
    """One execution that follows a schedule; it ends where an invariant breaks, or after ``limit`` events."""

    def __init__(
        self,
        target: TimedTarget,
        schedule: TimedSchedule,
        limit: int,
        improvisation: Improvisation | None = None,
    ) -> None:
        self.items: list[Happening] = []
        self._target = target
        self._limit = limit
        self._improvisation = improvisation
        self._wishes: dict[EnvelopeName, list[_Wish]] = {}
        #: What comes from outside: when, its rank, and which; the next one last.
        self._outside: list[tuple[int, int, int]] = []
        for rank, item in enumerate(schedule.items):
            if isinstance(item.name, int):
                self._outside.append((item.time, rank, item.name))
            else:
                self._wishes.setdefault(item.name, []).append(_Wish(rank, item.do, item.latency))
        self._outside.sort(reverse=True)
        clock = _WishClock(target, schedule.speeds, self._wishes, improvisation)
        self._names, self._until = clock.names, clock.until
        self.world = target.scenario.world(target.seed, clock=clock)
        self.broken: Broken | None = target.scenario.look(self.world)

    def finish(self) -> bool:
        """Go on to the end; tell whether it ended in the violation."""
        is_over = False
        while self.broken is None and not is_over and len(self.items) <= self._limit:
            is_over = self.advance() is None
        if is_over:
            self.broken = self._target.scenario.look_at_end(self.world)
        # One event more than allowed was needed to see that there is none.
        if len(self.items) > self._limit:
            return False
        target, broken = self._target, self.broken
        return broken is not None and target.scenario.same(broken, self.world) == target.identity

    def advance(self) -> Step | None:
        """Let the next thing happen, and return it; None at the end of the time, or if there is nothing."""
        world, pool = self.world, self.world.pool
        assert isinstance(pool, TimedPool)
        due = pool.next_due
        inside = _LAST if due is None else max(due, world.ticks)
        outside = max(self._outside[-1][0], world.ticks) if self._outside else _LAST
        time = min(inside, outside)
        if time > self._until:
            return None
        together = pool.list_due(world.ticks) if inside == time else []
        envelope = together[0] if len(together) == 1 else min(together, key=self._rank, default=None)
        if outside == time and (envelope is None or self._outside[-1][1] < self._rank(envelope)):
            return self._take_external(time)
        assert envelope is not None
        return self._take_envelope(envelope, time)

    def _take_external(self, time: int) -> Step:
        number = self._outside.pop()[2]
        self.world.elapse(time)
        event = self._target.externals[number]
        self.items.append(Happening(number, Do.DELIVER, time))
        self.world.inject(event)
        self.broken = self._target.scenario.look(self.world)
        return event

    def _take_envelope(self, envelope: Envelope, time: int) -> Step:
        name, latency = self._names.find(envelope, time)
        do = self._choose_fate(envelope, name)
        act = self._describe(envelope, do)
        self.items.append(Happening(name, do, time, latency))
        if envelope.timer:
            self._names.fire(envelope)
        perform(self.world, envelope, do)
        if do is Do.DUPLICATE:
            self._put_off(envelope, name, time - latency)
        self.broken = self._target.scenario.look(self.world)
        return act

    def _describe(self, envelope: Envelope, do: Do) -> Act:
        # Nobody reads the fingerprint while schedules are tried, and it would be a call into the user's code.
        return Act(do, envelope.source, envelope.nth, envelope.target, envelope.timer, "", "")

    def _rank(self, envelope: Envelope) -> int:
        wish = self._wishes.get(self._names.find(envelope, 0)[0])
        return wish[0].rank if wish else _LAST

    def _choose_fate(self, envelope: Envelope, name: EnvelopeName) -> Do:
        wish = self._wishes.get(name)
        if wish:
            return wish.pop(0).do
        # Timers, and what a node sends itself, do not leave it.
        if self._improvisation is not None and envelope.source != envelope.target:
            return self._improvisation.choose_fate()
        return Do.DELIVER

    def _put_off(self, envelope: Envelope, name: EnvelopeName, sent: int) -> None:
        """Let the original of a copy arrive when the schedule says so; else it does at once."""
        wish = self._wishes.get(name)
        if wish:
            least, most = self._target.find_window(name)
            pool = self.world.pool
            assert isinstance(pool, TimedPool)
            pool.put_off(envelope, max(self.world.ticks, sent + min(max(wish[0].latency, least), most)))


def attempt(
    target: TimedTarget, schedule: TimedSchedule, limit: int, improvisation: Improvisation | None = None
) -> TimedSchedule | None:
    """Return what happened if it ends in the violation after at most so many events; None if it does not."""
    run = TimedRun(target, schedule, limit, improvisation)
    if not run.finish():
        return None
    made = TimedSchedule(tuple(run.items), schedule.speeds)
    again = TimedRun(target, made, limit)
    if not again.finish() or tuple(again.items) != made.items:
        raise not_repeatable_error(())
    return made


class _StepRun(TimedRun):
    """An execution that is written down as steps, too."""

    def _describe(self, envelope: Envelope, do: Do) -> Act:
        return act_of(self._target.scenario, envelope, do)


def write_steps(target: TimedTarget, schedule: TimedSchedule) -> tuple[Step, ...]:
    """Return the steps of an execution that ends in the violation, with the time of each.

    What the scenario lets pass between two events from outside stands before the second, as in the recording.
    """
    run = _StepRun(target, schedule, len(schedule.items))
    steps: list[Step] = []
    time = waited = 0
    while run.broken is None and len(run.items) < len(schedule.items):
        step = run.advance()
        if step is None:
            break
        item = run.items[-1]
        if isinstance(item.name, int) and target.waits[item.name] > waited:
            steps.append(Elapse(to_seconds(target.waits[item.name] - waited)))
            waited = target.waits[item.name]
        if item.time != time:
            steps.append(At(item.time))
            time = item.time
        steps.append(step)
    return tuple(steps) if run.broken is not None else (*steps, Ended())


# -- recordings --------------------------------------------------------------------------------------------------


class _PatientNames(Clock):
    """Names messages, and leaves open when they arrive: the recording says it."""

    is_patient = True

    def __init__(self, target: TimedTarget, speeds: Sequence[float]) -> None:
        assert target.scenario.time is not None
        super().__init__(target.scenario.time, target.seed)
        self._speeds = dict(zip(target.scenario.nodes, speeds, strict=True))
        self.names = _Names()

    def post(self, envelope: Envelope, now: int) -> None:
        self.names.add(envelope, now)
        least, most = self.window(envelope.source, envelope.target)
        envelope.earliest, envelope.due = now + least, now + most


def complete_recorded(target: TimedTarget, steps: Iterable[Step], speeds: Sequence[float]) -> TimedSchedule | None:
    """Return a recording as a schedule; None if it does not end in the violation."""
    scenario = target.scenario
    clock = _PatientNames(target, speeds)
    world = scenario.world(target.seed, clock=clock)
    items: list[Happening] = []
    numbers = iter(range(len(target.externals)))
    broken = scenario.look(world)
    for step in steps:
        if broken is not None:
            break
        if isinstance(step, At):
            world.elapse(step.time)
        elif isinstance(step, Act):
            envelope = find_envelope(world, step)
            if envelope is None:
                return None
            name, latency = clock.names.find(envelope, world.ticks)
            items.append(Happening(name, step.do, world.ticks, latency))
            if envelope.timer:
                clock.names.fire(envelope)
            perform(world, envelope, step.do)
            broken = scenario.look(world)
        elif not isinstance(step, Pause):
            items.append(Happening(next(numbers), Do.DELIVER, world.ticks))
            world.inject(step)
            broken = scenario.look(world)
    schedule = TimedSchedule(tuple(items), tuple(speeds))
    return attempt(target, schedule, len(items))


class LosingAll:
    """Lets everything get lost that a schedule does not mention."""

    def choose_latency(self, least: int, most: int) -> int:
        return least

    def choose_fate(self) -> Do:
        return Do.LOSE


class RandomImprovisation:
    """Lets messages that a schedule does not mention take what is drawn, and get lost as in the scenario."""

    def __init__(self, target: TimedTarget, random: Random) -> None:
        self._random = random
        self._loss = target.scenario.loss
        self._duplication = target.scenario.duplication
        # All the same now and then: where only the extremes break anything, drawing each by itself never does.
        self._mode = random.randrange(4)

    def choose_latency(self, least: int, most: int) -> int:
        if self._mode == 0:
            return least
        if self._mode == 1:
            return most
        if self._mode == 2:
            return self._random.choice((least, most))
        return self._random.randint(least, most)

    def choose_fate(self) -> Do:
        if self._loss and self._random.random() < self._loss:
            return Do.LOSE
        if self._duplication and self._random.random() < self._duplication:
            return Do.DUPLICATE
        return Do.DELIVER
