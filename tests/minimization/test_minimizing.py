"""Laws of ``minimize``: whatever the cluster, the result is smaller, fails in the same way, and replays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from unittest import mock

import pytest
from hypothesis import given, settings

from clew.errors import UsageError
from clew.minimization import pipeline, shortening
from clew.minimization.minimizing import Minimized, minimize
from clew.simulation import (
    Broken,
    CodeBlock,
    Context,
    External,
    Node,
    Send,
    Start,
    WaitQuiescence,
    World,
)
from clew.simulation.execution.steps import describe
from clew.simulation.execution.trace import execute
from clew.simulation.fuzzing.fuzz import fuzz, record
from clew.simulation.recordings.recording import Recording
from clew.simulation.recordings.replaying import ReplayOutcome, replay
from clew.simulation.scenario import Scenario
from minimization.scenarios import Failing, aimed, failing, failures, one_minimal


def quickly(recording: Recording, scenario: Scenario, **how: object) -> Minimized:
    """With little patience, so that hundreds of clusters can be tried; the laws are the same."""
    with mock.patch.multiple(pipeline, _PATIENCE=1, _BACKTRACKS=3), mock.patch.object(shortening, "LENGTH", 20):
        return minimize(recording, scenario, **how)  # type: ignore[arg-type]


def check_laws(failure: Failing) -> None:
    scenario, recording = failure
    found = quickly(recording, scenario)
    assert (found.reason, found.problem) == (None, None)
    execution = execute(replace(scenario, check_every=1), recording.seed, found.recording.steps)
    assert execution.identity == recording.identity == found.recording.identity
    assert len(execution.moments) == len(found.recording.steps) <= len(recording.steps)
    assert replay(found.recording, scenario).outcome is ReplayOutcome.SAME
    deliveries = [stage.size.deliveries for stage in found.stages]
    assert deliveries == sorted(deliveries, reverse=True)
    assert (deliveries[0], deliveries[-1]) == (recording.deliveries, found.recording.deliveries)
    assert found.size == found.stages[-1].size
    assert one_minimal(*aimed(scenario, found.recording.steps, recording.seed))


@given(failures)
@settings(max_examples=settings().max_examples // 4)
def test_laws(failure: Failing) -> None:
    check_laws(failure)


@pytest.mark.parametrize("seed", [63, 87, 152])
def test_nothing_can_be_left_out_of_a_tidy_order_either(seed: int) -> None:
    """Once something could: telling the events in another order came last."""
    failure = failing(seed)
    assert failure is not None
    check_laws(failure)


@given(failures)
@settings(max_examples=settings().max_examples // 20)
def test_the_result_is_the_same_however_many_workers(failure: Failing) -> None:
    scenario, recording = failure
    found = [quickly(recording, scenario, workers=workers) for workers in (1, 2, 3)]
    said = [(one.recording, one.pace, [(s.name, s.size, s.schedules) for s in one.stages]) for one in found]
    assert said[0] == said[1] == said[2]


# -- recordings that were refused, or worse ----------------------------------------------------------------------


class Counter(Node):
    def __init__(self) -> None:
        self.count = 0

    def on_message(self, ctx: Context, sender: str, message: Any) -> None:
        self.count += 1


def few(nodes: Mapping[str, Any]) -> Broken | None:
    return next((Broken("few", "two", (name,)) for name, node in nodes.items() if node.count == 2), None)


def somebody(nodes: Mapping[str, Any]) -> str | None:
    return None if nodes else "nobody is up"


def minimized(scenario: Scenario) -> tuple[Recording, Minimized]:
    recording = fuzz(scenario).recording
    assert recording is not None
    found = quickly(recording, scenario)
    assert (found.reason, found.problem) == (None, None)
    assert replay(found.recording, scenario).outcome is ReplayOutcome.SAME
    assert found.recording.identity == recording.identity
    return recording, found


def test_an_invariant_that_does_not_hold_at_the_beginning() -> None:
    """Once fuzz did not look there, and what it recorded was refused."""
    scenario = Scenario(
        nodes={"a": Counter}, before=[Start("a"), Send("a", 1), Send("a", 2)], invariants=[few, somebody]
    )
    recording, found = minimized(scenario)
    assert (recording.identity, recording.steps, found.recording.steps) == ("somebody", (), ())


def inject_two(world: World) -> None:
    world.inject(Send("a", 1))
    world.inject(Send("a", 2))


def test_a_code_block_that_injects() -> None:
    """Once the numbers of events were those of other events, or of none: an IndexError."""
    block = CodeBlock("two", inject_two)
    scenario = Scenario(nodes={"a": Counter}, running=["a"], before=[block, block, block], invariants=[few])
    recording, found = minimized(scenario)
    assert (recording.identity, len(recording.steps)) == ("few at a", 6)
    assert [describe(step) for step in found.recording.steps] == [
        "code block two",
        "deliver int from outside to a",
        "deliver int from outside to a",
    ]


def test_a_code_block_that_delivers_what_others_need() -> None:
    def deliver(world: World) -> None:
        if world.pool.messages:
            world.deliver(world.pool.messages[0])

    block = CodeBlock("deliver", deliver)
    before: list[External] = [Send("b", 0), WaitQuiescence(), Send("a", 1), block, Send("a", 2), block]
    scenario = Scenario(nodes={"a": Counter, "b": Counter}, running=["a", "b"], before=before, invariants=[few])
    for seed in range(5):
        recording = record(scenario, seed)
        found = quickly(recording, scenario)
        assert replay(found.recording, scenario).outcome is ReplayOutcome.SAME
        # Two messages, delivered by a block or otherwise.
        assert (found.recording.identity, len(found.recording.steps)) == ("few at a", 4)


def test_several_nodes_that_cannot_start() -> None:
    class Raising(Node):
        def on_start(self, ctx: Context) -> None:
            raise ValueError(ctx.me)

    scenario = Scenario(nodes=dict.fromkeys("ab", Raising), running=["a", "b"], before=[Send("a", 1)])
    recording, found = minimized(scenario)
    assert recording.broken is not None and recording.broken.nodes == ("a", "b")
    assert (recording.steps, found.recording.steps) == ((), ())


def test_what_is_asked_for_is_looked_at() -> None:
    found = failing(0)
    assert found is not None
    with pytest.raises(UsageError, match="workers is 0"):
        minimize(found.recording, found.scenario, workers=0)
    with pytest.raises(UsageError, match="the time limit is 0 s"):
        minimize(found.recording, found.scenario, time_limit=0)
    with pytest.raises(UsageError, match="ends in no violation"):
        minimize(replace(found.recording, broken=None, identity=None), found.scenario)
    with pytest.raises(UsageError, match="this is a recording of other code"):
        minimize(replace(found.recording, code="0" * 64), found.scenario)
