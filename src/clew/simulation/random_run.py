"""Random executions: what happens next is drawn, from one seed.

Events from outside are spread evenly over the execution.  A timer goes off with the scenario's probability, and
whenever no message is left; otherwise one of the messages that can be delivered is.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from clew.simulation.events import External, Wait, WaitCondition, WaitQuiescence
from clew.simulation.pool import Envelope
from clew.simulation.scenario import Broken, Scenario
from clew.simulation.steps import Do, Step, act_of, perform
from clew.simulation.user_code import ask, name_of
from clew.simulation.world import World


@dataclass(frozen=True)
class Run:
    """What an execution came to; ``steps`` are kept only when they are asked for."""

    world: World
    steps: Sequence[Step]
    broken: Broken | None
    deliveries: int


def random_run(scenario: Scenario, seed: int, *, recording: bool = False) -> Run:
    """The execution that belongs to a seed: always the same, recorded or not."""
    return RandomRun(scenario, seed, recording=recording).finish()


class RandomRun:
    """An execution that is made as it goes; ``advance`` is for whoever wants to look between events."""

    def __init__(self, scenario: Scenario, seed: int, *, recording: bool = False) -> None:
        self.world = scenario.world(seed, recording=recording)
        self.steps: list[Step] = []
        self.deliveries = 0
        self.broken: Broken | None = None
        #: The types of the messages that were delivered, and the node that the latest event inside happened at.
        self.kinds: set[type] = set()
        self.touched = ""
        self._scenario = scenario
        self._recording = recording
        self._random = Random(seed)
        self._draw = self._random.random
        self._before = deque(scenario.before)
        self._after = deque(scenario.after)
        self._left = scenario.count
        self._weights = [weight for weight, _ in scenario.events]
        self._makers = [maker for _, maker in scenario.events]
        self._waiting: External | None = None
        self._steps_left = scenario.steps

    def finish(self) -> Run:
        while self.go_on(self._scenario.steps):
            pass
        return self.result()

    def result(self) -> Run:
        return Run(self.world, self.steps, self.broken, self.deliveries)

    def go_on(self, events: int) -> bool:
        """At most so many more events; False when it is over, with what is ``broken`` then."""
        every, look, world, advance = self._scenario.check_every, self._scenario.look, self.world, self.advance
        for _ in range(events):
            if not advance():
                self.broken = look(world)
                return False
            if world.failure is not None or world.events % every == 0:
                self.broken = look(world)
                if self.broken is not None:
                    return False
        return True

    def advance(self) -> bool:
        """One more event; False when everything is over."""
        if self._steps_left <= 0 or self.world.failure is not None:
            return False
        self._steps_left -= 1
        if self._waiting is not None or self._before or self._left or self._after:
            event = self._external()
            if event is not None:
                if self._recording:
                    self.steps.append(event)
                self.world.inject(event)
                return True
        return self._internal()

    # -- from outside --------------------------------------------------------------------------------------------

    def _external(self) -> External | None:
        more = self._before or self._left or self._after
        if self._waiting is not None:
            if not more or not self._is_over(self._waiting):
                return None
            self._waiting = None
        event = self._next()
        if isinstance(event, Wait):
            self._waiting = event
            if self._recording:
                self.steps.append(event)
            return None
        return event

    def _next(self) -> External | None:
        if self._before:
            return self._before.popleft()
        if self._left:
            # With as many events still to come as steps, every one of them is due.
            if self._draw() * self._steps_left >= self._left:
                return None
            self._left -= 1
            (maker,) = self._random.choices(self._makers, self._weights)
            what = f"the maker of events {name_of(maker)}"
            return ask(what, maker, self._random, self.world, remedy="it must cope with every state of the world")
        return self._after.popleft() if self._after else None

    def _is_over(self, waiting: External) -> bool:
        if isinstance(waiting, WaitCondition):
            what = f"the condition '{waiting.name}'"
            return ask(what, waiting.condition, self.world, remedy="it must cope with every state of the world")
        return not self.world.pool.messages

    # -- inside --------------------------------------------------------------------------------------------------

    def _internal(self) -> bool:
        pool, draw, scenario = self.world.pool, self._draw, self._scenario
        messages, timers = pool.messages, pool.timers
        do = Do.DELIVER
        envelope: Envelope | None = None
        if timers and (not messages or draw() < scenario.timers):
            envelope = timers[int(draw() * len(timers))]
            if messages and scenario.rare and draw() >= scenario.rare.get(envelope.payload, 1.0):
                envelope = None
        if not messages and self._ends_here():
            return False
        if envelope is None:
            if not messages:
                return bool(self._before or self._left or self._after)
            envelope = messages[int(draw() * len(messages))]
            do = self._fate()
        if self._recording:
            self.steps.append(act_of(scenario, envelope, do))
        if do is Do.DELIVER:
            self.deliveries += 1
            self.touched = envelope.target
            if not envelope.timer:
                self.kinds.add(type(envelope.payload))
        perform(self.world, envelope, do)
        return True

    def _ends_here(self) -> bool:
        """Nothing is left to come but timers, and the last thing to wait for was that no message is left."""
        over = not (self._before or self._left or self._after)
        return over and isinstance(self._waiting, WaitQuiescence)

    def _fate(self) -> Do:
        scenario = self._scenario
        if scenario.loss and self._draw() < scenario.loss:
            return Do.LOSE
        if scenario.duplication and self._draw() < scenario.duplication:
            return Do.DUPLICATE
        return Do.DELIVER
