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
from clew.simulation.events import Send
from clew.simulation.execution.effects import Effect, Observer, State, effect_of
from clew.simulation.execution.steps import Act, At, Ended, Size, Step, act_of, describe, perform, size_of
from clew.simulation.labels import label_of
from clew.simulation.pool import Envelope, TimedPool
from clew.simulation.scenario import Broken, Scenario
from clew.simulation.timing import PatientClock, show_time
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
    def deliveries(self) -> int:
        return self.size.deliveries


class AbsentError(UsageError):
    """A step that cannot be taken: what it is about is not on its way, or it is not the time for it.

    ``index`` is its place, ``why`` it cannot be taken, ``execution`` what came of the steps before it.
    """

    def __init__(self, index: int, step: Step, why: str, execution: Execution) -> None:
        super().__init__(
            f"step {index + 1} cannot be taken: {describe(step)}, and {why}",
            remedy="the code behaves differently from when this was recorded",
        )
        self.index = index
        self.step = step
        self.why = why
        self.execution = execution

    @property
    def moments(self) -> tuple[Moment, ...]:
        return self.execution.moments


def execute(scenario: Scenario, seed: int, steps: Iterable[Step]) -> Execution:
    """Take exactly these steps; it ends where an invariant breaks, which may be before the first."""
    executor = _Executor(scenario, seed)
    index = 0
    for step in steps:
        if executor.broken is not None:
            break
        try:
            executor.take(step)
        except _ImpossibleError as error:
            raise AbsentError(index, step, error.why, executor.result()) from None
        # When a step is taken is not counted: in a recording that is a part of the step.
        index += not isinstance(step, At)
    return executor.result()


class _ImpossibleError(Exception):
    """A step cannot be taken, and ``why``."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


class _Executor:
    """An execution that is being made."""

    def __init__(self, scenario: Scenario, seed: int) -> None:
        self._scenario = scenario
        # The schedule says when things happen; what is drawn from the seed is one of many possibilities.
        clock = None if scenario.time is None else PatientClock(scenario.time, seed)
        self._world = scenario.world(seed, recording=True, clock=clock)
        self._observer = Observer(self._world, scenario.nodes)
        self._moments: list[Moment] = []
        self._waits: list[int | None] = []
        self._asked: WaitCondition | None = None
        self._since = 0
        # Nodes that are up from the beginning act before the first event; a replay must notice if that changed.
        sent, remarks = self._world.beginning
        self._beginning = effect_of(self._observer.look_at_all(), sent, _contents(sent), remarks)
        self.broken: Broken | None = scenario.look(self._world)

    def take(self, step: Step) -> None:
        """Do what a step says."""
        if isinstance(step, At):
            self._pass_time(step.time)
        elif isinstance(step, Ended):
            self._end()
        elif isinstance(step, Wait):
            self._wait(step)
        elif isinstance(step, Act):
            self._act(step)
        else:
            self._asked = None  # what comes from outside has waited until now
            label = label_of(self._scenario, step.message) if isinstance(step, Send) else ""
            self._world.inject(step)
            self._look(step, label)

    def _pass_time(self, time: int) -> None:
        why = find_hindrance(self._world, time)
        if why is not None:
            raise _ImpossibleError(why)
        self._world.elapse(time)

    def _end(self) -> None:
        """See whether what was promised is kept, if nothing is left that would happen."""
        if not is_over(self._world):
            raise _ImpossibleError("there are still messages under way")
        self.broken = self._scenario.look_at_end(self._world)

    def _wait(self, wait: Wait) -> None:
        """Note when a condition holds; it decides nothing here, for the schedule says what comes next."""
        self._asked = None
        if isinstance(wait, WaitCondition):
            self._waits.append(None)
            self._asked, self._since = wait, len(self._moments)
            self._ask()

    def _act(self, act: Act) -> None:
        world = self._world
        envelope = find_envelope(world, act)
        if envelope is None:
            raise _ImpossibleError(_explain_absence(world, act))
        # As it is now: a fingerprint that differs from the recorded one is a difference like others.
        act = act_of(self._scenario, envelope, act.do)
        # Before it is delivered: its receiver may change it.
        label = "" if envelope.timer else label_of(self._scenario, envelope.payload)
        perform(world, envelope, act.do)
        self._look(act, label)

    def _look(self, step: Step, label: str) -> None:
        """Write down what an event did, and see what is broken after it."""
        assert self._world.history is not None
        self._moments.append(self._moment(step, self._world.history[-1], label))
        self.broken = self._scenario.look(self._world)
        if self.broken is None:
            self._ask()

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


def is_over(world: World) -> bool:
    """Tell whether an execution has come to its end: nothing more arrives in its time, or at all."""
    if isinstance(world.pool, TimedPool) and world.clock is not None:
        due = world.pool.next_due
        return due is None or due > world.clock.until
    return not world.pool.messages


def find_envelope(world: World, act: Act) -> Envelope | None:
    """Find the very envelope that an act names, if it can be delivered now and is what the act says."""
    found = _find_named(world, act)
    return found if found is None or _find_earliest(world, found) <= world.ticks else None


def _find_earliest(world: World, envelope: Envelope) -> int:
    """Return from when on it can be delivered."""
    if world.clock is None:
        return 0
    return envelope.due if envelope.timer or not world.clock.is_patient else envelope.earliest


def _explain_absence(world: World, act: Act) -> str:
    found = _find_named(world, act)
    if found is None:
        return "what it is about is not on its way"
    return f"that comes at {show_time(_find_earliest(world, found))} at the earliest"


def find_hindrance(world: World, time: int) -> str | None:
    """Return why the virtual time cannot come to this, if it cannot: nothing is passed over that is due."""
    if world.clock is None or not isinstance(world.pool, TimedPool):
        return "the scenario has no virtual time"
    if time > world.clock.until:
        return f"an execution ends after {show_time(world.clock.until)}"
    due = world.pool.next_due
    if due is not None and world.ticks < time and due < time:
        late = world.pool.list_due(world.ticks)[0]
        what = f"the timer {late.kind} at" if late.timer else f"the {late.kind} from {late.source or 'outside'} to"
        return f"{what} {late.target} is due at {show_time(max(due, world.ticks))}"
    return None


def _find_named(world: World, act: Act) -> Envelope | None:
    if act.timer:
        timer = world.pool.timer(act.target, act.kind)
        return timer if timer is not None and timer.nth == act.nth else None
    for envelope in world.pool.ready(act.source, act.target):
        # Also by kind: after a change of the code, the same number may be something else.
        if envelope.nth == act.nth and envelope.kind == act.kind:
            return envelope
    return None
