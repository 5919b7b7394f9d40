"""Random executions: what happens next is drawn, from one seed.

Events from outside are spread evenly over the execution.  A timer goes off with the scenario's probability, and
whenever no message is left; otherwise one of the messages that can be delivered is.  With virtual time what is due
first happens first, and drawn is only how long messages take, and the order of what is due at the same time.

An execution is over when everything from outside has happened and what it waits for last has come; when nothing
can happen any more; or after its steps.  In the last two cases it may have come less far than the scenario says,
and says so (``describe_unfinished``): that is no violation, but nobody should believe that the rest was tried.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from clew.simulation.events import Elapse, WaitQuiescence
from clew.simulation.execution.steps import At, Do, Ended, Step, act_of, perform
from clew.simulation.execution.trace import is_over
from clew.simulation.pool import Envelope, TimedPool
from clew.simulation.scenario import Broken, Scenario
from clew.simulation.timing import show_time, to_ticks
from clew.simulation.user_code import name_of
from clew.simulation.world import External, Wait, WaitCondition, World


@dataclass(frozen=True)
class Run:
    """What an execution came to; ``steps`` are kept only when they are asked for."""

    world: World
    steps: Sequence[Step]
    broken: Broken | None
    deliveries: int


def random_run(scenario: Scenario, seed: int, *, recording: bool = False) -> Run:
    """Make the execution that belongs to a seed: always the same, recorded or not."""
    return RandomRun(scenario, seed, recording=recording).finish()


class RandomRun:
    """An execution that is made as it goes; ``advance`` is for whoever wants to look between events."""

    def __init__(self, scenario: Scenario, seed: int, *, recording: bool = False) -> None:
        self.world = scenario.world(seed, recording=recording)
        self.steps: list[Step] = []
        self.deliveries = 0
        self.broken: Broken | None
        #: The types of the messages that were delivered, and the node that the latest event inside happened at.
        self.kinds: set[type] = set()
        self.touched = ""
        self._scenario = scenario
        self._recording = recording
        self._random = Random(seed)
        # Bound once: two or three numbers are drawn for each event.
        self._draw = self._random.random
        self._before = deque(scenario.before)
        self._after = deque(scenario.after)
        self._left = scenario.count
        self._weights = [weight for weight, _ in scenario.events]
        self._makers = [maker for _, maker in scenario.events]
        self._waiting: Wait | None = None
        self._since = 0  # the virtual time at which it began to wait
        self._told = 0  # the virtual time that the steps say it is
        self._steps_left = scenario.steps
        #: Whether there was nothing to wait for but timers, so that it goes on for all its steps.
        self.driven_by_timers = False
        self.broken = scenario.look(self.world)

    def finish(self) -> Run:
        while self.go_on(self._scenario.steps):
            pass
        return self.result()

    def result(self) -> Run:
        return Run(self.world, self.steps, self.broken, self.deliveries)

    def go_on(self, events: int) -> bool:
        """Go on for at most so many more events; False when it is over, with what is ``broken`` then."""
        if self.broken is not None:
            return False
        every, look, world, advance = self._scenario.check_every, self._scenario.look, self.world, self.advance
        for _ in range(events):
            if not advance():
                self.broken = look(world) or self._look_at_end()
                return False
            if world.failure is not None or world.events % every == 0:
                self.broken = look(world)
                if self.broken is not None:
                    return False
        return True

    def _look_at_end(self) -> Broken | None:
        """Return which promise is not kept, if the execution came to its end: before that, none has to be."""
        if not self._scenario.promises or not is_over(self.world) or self._describe_rest() is not None:
            return None
        if self._recording:
            self.steps.append(Ended())
        return self._scenario.look_at_end(self.world)

    def advance(self) -> bool:
        """Perform one more event; False when everything is over."""
        if self._steps_left <= 0 or self.world.failure is not None:
            return False
        # Counted even if no event comes of it: a maker that returns none would otherwise be asked for ever.
        self._steps_left -= 1
        if self._waiting is not None or self._before or self._left or self._after:
            event = self._external()
            if event is not None:
                if self._recording:
                    self._record(event, self.world.ticks)
                self.world.inject(event)
                return True
            if self._waiting is not None and not self._is_more() and self._is_over(self._waiting):
                return False
        return self._internal()

    def describe_unfinished(self) -> str | None:
        """Return what an execution that is over did not get to; None if it did all that the scenario says."""
        unfinished = self._describe_rest()
        if unfinished is None and self.broken is None and not self._scenario.promises_anything(self.world):
            unfinished = f"nothing was promised ({self._scenario.explain_vacuity(self.world)})"
        return unfinished

    def _describe_rest(self) -> str | None:
        if self.driven_by_timers:
            return None
        rest: list[External | None] = [self._waiting, *self._before]
        rest += [None] * self._left  # drawn when their time comes
        rest += self._after
        for place, event in enumerate(rest):
            if isinstance(event, Wait):
                if not self._is_over(event):
                    return self._not_over(event, rest[place + 1 :])
            elif place:
                return f"events from outside were still to come after {self._all_steps()}"
        return None

    def _not_over(self, wait: Wait, rest: Sequence[External | None]) -> str | None:
        in_vain = any(not isinstance(event, Wait) for event in rest)
        if not in_vain and isinstance(wait, WaitQuiescence) and self._is_out_of_time:
            return None  # the scenario says when it ends
        missing = ", so that what comes after that did not happen" if in_vain else ""
        if isinstance(wait, WaitCondition):
            return f"'{wait.name}' did not hold at the end{missing}"
        if isinstance(wait, Elapse):
            return f"{self._all_steps()} were over before {wait.seconds:g} s had passed{missing}"
        return f"messages were still under way after {self._all_steps()}{missing}"

    @property
    def _is_out_of_time(self) -> bool:
        return self.world.clock is not None and self.world.ticks >= self.world.clock.until

    def _all_steps(self) -> str:
        steps, clock = self._scenario.steps, self.world.clock
        if clock is not None and self._is_out_of_time:
            return show_time(clock.until)
        return f"{steps} step{'' if steps == 1 else 's'}"

    # -- from outside --------------------------------------------------------------------------------------------

    def _is_more(self) -> bool:
        """Tell whether something is still to come from outside."""
        return bool(self._before or self._left or self._after)

    def _external(self) -> External | None:
        """Return the next event from outside, if it is due; what it has to wait for is asked at once."""
        while self._waiting is None or (self._is_more() and self._is_over(self._waiting)):
            event = self._next()
            self._waiting = event if isinstance(event, Wait) else None
            if not isinstance(event, Wait):
                return event
            self._begin_to_wait(event)
        return None

    def _begin_to_wait(self, wait: Wait) -> None:
        if self._recording:
            self.steps.append(wait)
        self._since = self.world.ticks
        pool = self.world.pool
        if isinstance(pool, TimedPool):
            return  # timers have their times, and the execution its end
        if isinstance(wait, WaitQuiescence) and not self._is_more():
            # Timers never run out, so waiting for them would be for ever; but a cluster of heartbeats only would
            # end at once.
            self.driven_by_timers = not self.deliveries and not pool.messages and bool(pool.timers)

    def _next(self) -> External | None:
        if self._before:
            return self._before.popleft()
        if self._left:
            # With as many events still to come as steps, every one of them is due.
            if self._draw() * self._steps_left >= self._left:
                return None
            self._left -= 1
            (maker,) = self._random.choices(self._makers, self._weights)
            return self.world.consult(f"the maker of events {name_of(maker)}", maker, self._random, self.world)
        return self._after.popleft() if self._after else None

    def _is_over(self, wait: Wait) -> bool:
        if isinstance(wait, WaitCondition):
            return bool(self.world.consult(f"the condition '{wait.name}'", wait.condition, self.world))
        if isinstance(wait, Elapse):
            return self._has_elapsed(self._since + to_ticks(wait.seconds))
        pool = self.world.pool
        if isinstance(pool, TimedPool):
            return pool.next_due is None
        return not pool.messages and not self.driven_by_timers

    def _has_elapsed(self, time: int) -> bool:
        """Tell whether nothing is due any more before this time; then it has come."""
        pool, clock = self.world.pool, self.world.clock
        assert isinstance(pool, TimedPool) and clock is not None
        due = pool.next_due
        if time > clock.until or (due is not None and due <= time):
            return False
        self.world.elapse(time)
        return True

    # -- inside --------------------------------------------------------------------------------------------------

    def _internal(self) -> bool:
        pool, draw, scenario = self.world.pool, self._draw, self._scenario
        if isinstance(pool, TimedPool):
            return self._next_due(pool)
        messages, timers = pool.messages, pool.timers
        do = Do.DELIVER
        envelope: Envelope | None = None
        if timers and (not messages or draw() < scenario.timers):
            envelope = timers[int(draw() * len(timers))]
            if messages and scenario.rare and draw() >= scenario.rare.get(envelope.payload, 1.0):
                envelope = None
        if envelope is None:
            if not messages:
                # Nothing can happen: what is drawn comes in time, but what is waited for never does.
                return self._waiting is None and self._is_more()
            envelope = messages[int(draw() * len(messages))]
            do = self._fate(envelope)
        self._perform(envelope, do)
        return True

    def _next_due(self, pool: TimedPool) -> bool:
        """Let happen what is due first; False at the end of the time, or if nothing can happen any more."""
        clock, due = self.world.clock, pool.next_due
        assert clock is not None
        if due is None:
            return self._waiting is None and self._is_more()
        if due > clock.until:
            self.world.elapse(clock.until)
            return False
        together = pool.list_due(self.world.ticks)
        envelope = together[int(self._draw() * len(together))] if len(together) > 1 else together[0]
        self._perform(envelope, self._fate(envelope))
        return True

    def _perform(self, envelope: Envelope, do: Do) -> None:
        if self._recording:
            time = 0 if self.world.clock is None else max(envelope.due, self.world.ticks)
            self._record(act_of(self._scenario, envelope, do), time)
        if do is Do.DELIVER:
            self.deliveries += 1
            self.touched = envelope.target
            if not envelope.timer:
                self.kinds.add(type(envelope.payload))
        perform(self.world, envelope, do)

    def _record(self, step: Step, time: int) -> None:
        """Write down what happens, and when, so that nothing has to be drawn when it is done again."""
        if time != self._told:
            self.steps.append(At(time))
            self._told = time
        self.steps.append(step)

    def _fate(self, envelope: Envelope) -> Do:
        scenario = self._scenario
        # Timers, and what a node sends itself, are neither lost nor duplicated: they are inside of a node.
        if envelope.source == envelope.target:
            return Do.DELIVER
        if scenario.loss and self._draw() < scenario.loss:
            return Do.LOSE
        if scenario.duplication and self._draw() < scenario.duplication:
            return Do.DUPLICATE
        return Do.DELIVER
