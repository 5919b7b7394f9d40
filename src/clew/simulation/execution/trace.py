"""An execution in full: every event with what it rests on, and the state of its node before and after it.

This is what recordings are compared with and what people look at.  Searches, which execute thousands of schedules,
use the world directly.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from clew.errors import UsageError
from clew.names import harmless
from clew.simulation.events import Elapse, Send
from clew.simulation.execution.effects import Effect, Observer, State, effect_of
from clew.simulation.execution.steps import Act, Size, Step, act_of, describe, perform, size_of
from clew.simulation.labels import label_of
from clew.simulation.pool import Envelope, TimedPool
from clew.simulation.scenario import Broken, Scenario
from clew.simulation.timing import to_ticks
from clew.simulation.values import to_json
from clew.simulation.world import CodeBlock, Happened, Wait, WaitCondition, World


class Moment(NamedTuple):
    """One event, the state of the node where it happened (None while it is down), and what it did.

    ``step`` is what was done, which is more than what was asked for: it has the fingerprint that a message has
    now.  Of a code block, the states are those of the whole cluster.  ``sent`` is what ``happened.sent``
    contained then, as JSON: the node that gets a message may change it.  ``label`` is what the message is called
    that the event is about, ``sent_labels`` what those are called that it sent; "" where the type says it all.
    """

    step: Step
    happened: Happened
    before: State
    after: State
    effect: Effect
    sent: tuple[Any, ...] = ()
    label: str = ""
    sent_labels: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        return self.effect.all


@dataclass(frozen=True)
class Execution:
    """What came of a schedule.  ``identity`` is that of the violation; ``trace`` that of an exception.

    ``beginning``: what the nodes did that are up from the beginning.  ``waits``: of each condition that was waited
    for, after how many events it held; None if it did not until the next event from outside, or the end.
    ``also``: what else is broken where ``broken`` is.
    """

    # Not in the repr: thousands of events, which a failing assertion would print.
    moments: tuple[Moment, ...] = field(repr=False)
    broken: Broken | None
    identity: str | None
    trace: str | None = field(repr=False)
    beginning: Effect = field(repr=False)
    waits: tuple[int | None, ...] = field(default=(), repr=False)
    also: tuple[Broken, ...] = ()

    def __str__(self) -> str:
        return harmless(f"{self.size}; {'nothing is broken' if self.broken is None else f'broken: {self.broken}'}")

    @property
    def labels(self) -> tuple[str, ...]:
        """Return what the message of each event is called; "" where there is none, or its type says it all."""
        return tuple(moment.label for moment in self.moments)

    @property
    def size(self) -> Size:
        return size_of(moment.step for moment in self.moments)

    @property
    def is_timed(self) -> bool:
        """Tell whether its events have times, in virtual time."""
        return any(moment.happened.time is not None for moment in self.moments)

    @property
    def deliveries(self) -> int:
        return self.size.deliveries


class AbsentError(UsageError):
    """A step that cannot be taken, because what it is about is not on its way.

    ``index`` is its place, ``execution`` what came of the steps before it.
    """

    def __init__(self, index: int, step: Step, execution: Execution) -> None:
        super().__init__(
            f"step {index + 1} cannot be taken: {describe(step)}, and nothing of that kind is on its way",
            remedy="the code behaves differently from when this was recorded",
        )
        self.index = index
        self.step = step
        self.execution = execution

    @property
    def moments(self) -> tuple[Moment, ...]:
        return self.execution.moments


def execute(scenario: Scenario, seed: int, steps: Iterable[Step]) -> Execution:
    """Take exactly these steps; it ends where an invariant breaks, which may be before the first."""
    executor = _Executor(scenario, seed)
    for index, step in enumerate(steps):
        if executor.broken is not None:
            break
        if isinstance(step, Wait):
            executor.wait(step)
        elif not executor.take(step):
            raise AbsentError(index, step, executor.result())
    return executor.result()


class _Executor:
    """An execution that is being made."""

    def __init__(self, scenario: Scenario, seed: int) -> None:
        self._scenario = scenario
        self._world = scenario.world(seed, recording=True)
        self._observer = Observer(self._world, scenario.nodes)
        self._moments: list[Moment] = []
        self._waits: list[int | None] = []
        self._asked: WaitCondition | None = None
        self._since = 0
        self._until: int | None = None  # the virtual time that is waited for
        # Nodes that are up from the beginning act before the first event; a replay must notice if that changed.
        sent, remarks = self._world.beginning
        self._beginning = effect_of(self._observer.look_at_all(), sent, _contents(sent), remarks)
        self.broken: Broken | None = scenario.look(self._world)

    def wait(self, wait: Wait) -> None:
        """Note when a condition holds; it decides nothing here, for the schedule says what comes next."""
        self._stop_waiting()
        if isinstance(wait, Elapse):
            self._until = self._world.time + to_ticks(wait.seconds)
        if isinstance(wait, WaitCondition):
            self._waits.append(None)
            self._asked, self._since = wait, len(self._moments)
            self._ask()

    def _stop_waiting(self) -> None:
        self._asked = None
        if self._until is not None:
            self._world.elapse(self._until)
            self._until = None

    def take(self, step: Step) -> bool:
        """Do what a step says; False if what it is about is not on its way."""
        world, label = self._world, ""
        if isinstance(step, Act):
            envelope = find_envelope(world, step)
            if envelope is None:
                return False
            # As it is now: a fingerprint that differs from the recorded one is a difference like others.
            step = act_of(self._scenario, envelope, step.do)
            # Before it is delivered: its receiver may change it.
            label = "" if envelope.timer else label_of(self._scenario, envelope.payload)
            perform(world, envelope, step.do)
        else:
            self._stop_waiting()  # what comes from outside has waited until now
            label = label_of(self._scenario, step.message) if isinstance(step, Send) else ""
            world.inject(step)
        assert world.history is not None
        self._moments.append(self._moment(step, world.history[-1], label))
        self.broken = self._scenario.look(world)
        if self.broken is None:
            self._ask()
        return True

    def result(self) -> Execution:
        world, broken = self._world, self.broken
        return Execution(
            tuple(self._moments),
            broken,
            None if broken is None else self._scenario.same(broken, world),
            "".join(one.trace for one in world.failure.all) if world.failure else None,
            self._beginning,
            tuple(self._waits),
            () if broken is None else self._scenario.find_further_violations(world),
        )

    def _ask(self) -> None:
        if self._asked is not None:
            what = f"the condition '{self._asked.name}'"
            if self._world.consult(what, self._asked.condition, self._world):
                self._waits[-1] = len(self._moments) - self._since
                self._asked = None

    def _moment(self, step: Step, happened: Happened, label: str) -> Moment:
        observer = self._observer
        sight = observer.look_at_all() if isinstance(step, CodeBlock) else observer.look_at(happened.node)
        sent = _contents(happened.sent)
        effect = effect_of(sight, happened.sent, sent, happened.remarks, happened.depends, happened.time)
        labels = tuple("" if e.timer else label_of(self._scenario, e.payload) for e in happened.sent)
        return Moment(step, happened, sight.before, sight.after, effect, sent, label, labels)


def _contents(sent: Sequence[Envelope]) -> tuple[Any, ...]:
    return tuple(to_json(envelope.payload, strict=False) for envelope in sent)


def find_envelope(world: World, act: Act) -> Envelope | None:
    """Find the very envelope that an act names, if it can be delivered and is what the act says."""
    found = _find_named(world, act)
    if found is not None and isinstance(world.pool, TimedPool) and not world.pool.is_due(found):
        return None  # nothing arrives, and no timer goes off, before its time
    return found


def _find_named(world: World, act: Act) -> Envelope | None:
    if act.timer:
        timer = world.pool.timer(act.target, act.kind)
        return timer if timer is not None and timer.nth == act.nth else None
    for envelope in world.pool.ready(act.source, act.target):
        # Also by kind: after a change of the code, the same number may be something else.
        if envelope.nth == act.nth and envelope.kind == act.kind:
            return envelope
    return None
