"""An execution in full: every event with what it rests on, and the state of its node before and after it.

This is what recordings are compared with and what people look at.  Searches, which execute thousands of schedules,
use the world directly.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from clew.errors import UsageError
from clew.simulation.events import CodeBlock, Wait
from clew.simulation.node import Node
from clew.simulation.pool import Envelope
from clew.simulation.scenario import Broken, Scenario
from clew.simulation.steps import Act, Step, describe, perform
from clew.simulation.values import NoValueError, to_json
from clew.simulation.world import Happened, World

#: The attributes of a node, as JSON; None where there is no such process.
State = Mapping[str, Any] | None


class Moment(NamedTuple):
    """One event, the state of the node where it happened (None while it is down), a digest of what it did.

    ``sent`` is what ``happened.sent`` contained then, as JSON: the node that gets a message may change it.
    """

    step: Step
    happened: Happened
    before: State
    after: State
    digest: str
    sent: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Execution:
    """What came of a schedule.  ``identity`` is that of the violation; ``trace`` that of an exception."""

    moments: tuple[Moment, ...]
    broken: Broken | None
    identity: str | None
    trace: str | None

    @property
    def deliveries(self) -> int:
        return sum(moment.happened.fate == "deliver" for moment in self.moments)


class AbsentError(UsageError):
    """A step that cannot be taken, because what it is about is not on its way.

    ``index`` is its place, ``moments`` are the events before it.
    """

    def __init__(self, index: int, step: Step) -> None:
        super().__init__(
            f"step {index + 1} cannot be taken: {describe(step)}, and nothing of that kind is on its way",
            remedy="the code behaves differently from when this was recorded",
        )
        self.index = index
        self.step = step
        self.moments: tuple[Moment, ...] = ()


def execute(scenario: Scenario, seed: int, steps: Iterable[Step]) -> Execution:
    """Take exactly these steps; it ends where an invariant breaks."""
    world = scenario.world(seed, recording=True)
    assert world.history is not None
    states = _States(world)
    moments: list[Moment] = []
    # Like a random run, it looks at what the invariants say after events, not before the first.
    broken = scenario.look(world) if world.failure is not None else None
    for index, step in enumerate(steps):
        if broken is not None:
            break
        if isinstance(step, Wait):
            continue  # the schedule says already what comes next
        try:
            _take(world, index, step)
        except AbsentError as error:
            error.moments = tuple(moments)
            raise
        moments.append(_moment(step, world.history[-1], states))
        if isinstance(step, CodeBlock):  # it may have changed any node
            states = _States(world)
        broken = scenario.look(world)
    if not moments and broken is None:
        broken = scenario.look(world)
    identity = None if broken is None else scenario.same(broken, world)
    return Execution(tuple(moments), broken, identity, world.failure.trace if world.failure else None)


def _take(world: World, index: int, step: Step) -> None:
    if not isinstance(step, Act):
        world.inject(step)
        return
    envelope = find(world, step)
    if envelope is None:
        raise AbsentError(index, step)
    perform(world, envelope, step.do)


def find(world: World, act: Act) -> Envelope | None:
    """The very envelope that an act names, if it can be delivered and is what the act says."""
    if act.timer:
        timer = world.pool.timer(act.target, act.kind)
        return timer if timer is not None and timer.nth == act.nth else None
    for envelope in world.pool.ready(act.source, act.target):
        if envelope.nth == act.nth and envelope.kind == act.kind:
            return envelope
    return None


def state_of(node: Node) -> dict[str, Any]:
    """The attributes of a node, as JSON that is the same for equal states."""
    return {name: _shown(node, name, value) for name, value in sorted(vars(node).items())}


def _shown(node: Node, name: str, value: Any) -> Any:
    try:
        return to_json(value, strict=False)
    except NoValueError as error:
        where = f"the attribute {name} of a {type(node).__qualname__} cannot be shown"
        raise UsageError(f"{where}: {error.message}", remedy=error.remedy) from error


class _States:
    """The state of every node as it was last seen, and a digest of each attribute.

    What did not change is kept as it is: an event changes little of a state, and a state can be large.
    """

    def __init__(self, world: World) -> None:
        self._nodes = world.nodes
        self._states: dict[str, dict[str, Any]] = {}
        self._digests: dict[str, dict[str, str]] = {}
        for name in world.nodes:
            self.look(name)

    def look(self, name: str) -> tuple[State, State, Mapping[str, str]]:
        """The state of a node as it was and as it is, and the digests of its attributes now."""
        before, known = self._states.pop(name, None), self._digests.pop(name, {})
        if name not in self._nodes:
            return before, None, {}
        after = state_of(self._nodes[name])
        digests: dict[str, str] = {}
        for attribute, value in after.items():
            if before is not None and attribute in before and before[attribute] == value:
                after[attribute] = before[attribute]
                digests[attribute] = known[attribute]
            else:
                digests[attribute] = digest_of(value, 12)
        self._states[name], self._digests[name] = after, digests
        return before, after, digests


def _moment(step: Step, happened: Happened, states: _States) -> Moment:
    before, after, attributes = states.look(happened.node)
    sent = tuple(to_json(envelope.payload, strict=False) for envelope in happened.sent)
    names = [[e.source, e.nth, e.target, e.timer] for e in happened.sent]
    up = after is not None
    digest = digest_of([names, sent, happened.depends, happened.remarks, up, attributes], 12)
    return Moment(step, happened, before, after, digest, sent)


def digest_of(document: Any, length: int) -> str:
    """The beginning of a digest of JSON; equal JSON has equal digests whatever the order of its objects."""
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:length]
