"""Executions in full: what was random can be followed exactly."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from clew.errors import UsageError
from clew.simulation import (
    Broken,
    CodeBlock,
    Context,
    Node,
    Scenario,
    Send,
    Start,
    Stop,
    WaitCondition,
    WaitQuiescence,
    World,
)
from clew.simulation.execution.steps import Act, Do, Step
from clew.simulation.execution.trace import AbsentError, execute
from clew.simulation.fuzzing.random_run import random_run
from clew.simulation.loading import load_scenario
from scenario_files import TOKENS, scenario_file


class Changer(Node):
    """Changes what it is sent, and sends a list that its receiver changes."""

    def on_start(self, ctx: Context) -> None:
        self.last: Any = None
        self.count = 0

    def on_message(self, ctx: Context, sender: str, message: Any) -> None:
        self.count += 1
        if message == "go":
            ctx.send("a", [1])
        elif isinstance(message, list):
            message.append(2)
            self.last = message


def reset(world: World) -> None:
    for node in world.nodes.values():
        vars(node)["count"] = 0


def scenario(**more: Any) -> Scenario:
    return Scenario(nodes={"a": Changer}, before=[Start("a"), Send("a", "go")], **more)


def delivery(source: str, nth: int, kind: str) -> Act:
    return Act(Do.DELIVER, source, nth, "a", False, kind, kind)


STEPS: list[Step] = [
    Start("a"),
    Send("a", "go"),
    delivery("", 1, "str"),
    WaitQuiescence(),
    delivery("a", 1, "list"),
]


def test_a_random_run_is_followed_exactly(tmp_path: Path) -> None:
    scenario = load_scenario(scenario_file(tmp_path, TOKENS)).scenario
    for seed in range(8):
        run = random_run(scenario, seed, recording=True)
        execution = execute(scenario, seed, run.steps)
        assert (len(execution.moments), execution.deliveries) == (run.world.events, run.deliveries)
        assert execution.broken == run.broken
        assert [str(m.happened) for m in execution.moments] == list(map(str, run.world.history or ()))
        assert execute(scenario, seed, run.steps) != execution  # other objects, but
        again = execute(scenario, seed, run.steps)
        assert [m.digest for m in again.moments] == [m.digest for m in execution.moments]


def test_states_are_those_before_and_after() -> None:
    moments = execute(scenario(), 0, [*STEPS, Stop("a")]).moments
    assert [(m.before, m.after) for m in moments] == [
        (None, {"count": 0, "last": None}),
        (None, None),
        ({"count": 0, "last": None}, {"count": 1, "last": None}),
        ({"count": 1, "last": None}, {"count": 2, "last": [1, 2]}),
        ({"count": 2, "last": [1, 2]}, None),
    ]


def test_what_was_sent_is_kept_as_it_was() -> None:
    moments = execute(scenario(), 0, STEPS).moments
    assert [m.sent for m in moments] == [(), ("go",), ([1],), ()]


def test_what_a_code_block_changed_is_no_change_of_the_next_event() -> None:
    moments = execute(scenario(), 0, [*STEPS[:3], CodeBlock("reset", reset), delivery("a", 1, "list")]).moments
    assert (moments[-1].before, moments[-1].after) == ({"count": 0, "last": None}, {"count": 1, "last": [1, 2]})


def test_digests_tell_events_apart() -> None:
    digests = [m.digest for m in execute(scenario(), 0, STEPS).moments]
    assert len(set(digests)) == 4 and all(len(digest) == 12 for digest in digests)


def test_it_ends_where_an_invariant_breaks() -> None:
    def two(nodes: Mapping[str, Any]) -> str | None:
        return "two" if "a" in nodes and nodes["a"].count == 2 else None

    execution = execute(scenario(invariants=[two]), 0, STEPS * 2)
    assert (len(execution.moments), execution.identity, execution.trace) == (4, "two", None)


def always(nodes: Mapping[str, Any]) -> str | None:
    return "always"


def test_invariants_are_looked_at_before_the_first_step() -> None:
    execution = execute(scenario(invariants=[always]), 0, STEPS)
    assert (execution.moments, execution.broken) == ((), Broken("always", "always"))


def test_what_else_is_broken_is_told() -> None:
    def relies_on_the_first(nodes: Mapping[str, Any]) -> str | None:
        raise KeyError("a")

    def down(nodes: Mapping[str, Any]) -> Broken | None:
        return Broken("down", "a is down", ("a",)) if "a" not in nodes else None

    def fine(nodes: Mapping[str, Any]) -> str | None:
        return None

    made = scenario(invariants=[fine, always, relies_on_the_first, down])
    execution = execute(made, 0, STEPS)
    assert execution.broken == Broken("always", "always")
    assert execution.also == (Broken("down", "a is down", ("a",)),)
    assert execute(scenario(), 0, STEPS).also == ()


class Raising(Node):
    def on_start(self, ctx: Context) -> None:
        raise ValueError(ctx.me)


def test_all_that_raise_are_one_violation() -> None:
    made = Scenario(nodes=dict.fromkeys("abc", Raising), running=["c", "a"], invariants=[always])
    execution = execute(made, 0, STEPS)
    assert execution.broken == Broken(
        "no uncaught exception",
        "at c: ValueError: c (in Raising.on_start); at a: ValueError: a (in Raising.on_start)",
        ("c", "a"),
    )
    assert execution.identity == (
        "no uncaught exception at c, a: ValueError in Raising.on_start; ValueError in Raising.on_start"
    )
    assert execution.trace is not None and execution.trace.count("Traceback") == 2
    assert execution.also == ()


def test_when_conditions_hold_is_noted() -> None:
    def after(events: int) -> WaitCondition:
        return WaitCondition(f"{events} events", lambda world: world.events >= events)

    steps = [after(0), STEPS[0], after(3), STEPS[1], after(3), *STEPS[2:], after(9)]
    assert execute(scenario(), 0, steps).waits == (0, None, 1, None)


@pytest.mark.parametrize(
    ("steps", "index", "before", "says"),
    [
        ([delivery("", 1, "str")], 0, 0, "step 1 cannot be taken: deliver str from outside to a, and what"),
        ([*STEPS[:3], WaitQuiescence(), delivery("a", 2, "list")], 4, 3, "step 5 cannot be taken"),
        ([*STEPS[:2], delivery("", 1, "int")], 2, 2, "step 3 cannot be taken: deliver int from outside to a"),
        (
            [STEPS[0], Act(Do.DELIVER, "a", 1, "a", True, "tick", "tick")],
            1,
            1,
            "step 2 cannot be taken: timer tick at a",
        ),
    ],
)
def test_steps_that_cannot_be_taken(steps: list[Any], index: int, before: int, says: str) -> None:
    with pytest.raises(AbsentError) as caught:
        execute(scenario(), 0, steps)
    assert caught.value.message.startswith(says)
    assert (caught.value.index, len(caught.value.moments)) == (index, before)


class Hoarder(Node):
    """Keeps its context, and as many objects as it is told to."""

    class Thing:
        pass

    def on_start(self, ctx: Context) -> None:
        self.context = ctx
        self.things: list[Hoarder.Thing] = []

    def on_message(self, ctx: Context, sender: str, message: Any) -> None:
        self.things = [Hoarder.Thing() for _ in range(message)]


def test_the_context_is_no_part_of_a_state() -> None:
    moments = execute(Scenario(nodes={"a": Hoarder}), 0, [Start("a")]).moments
    assert moments[0].after == {"context": {"$object": "Process"}, "things": []}


def test_a_state_that_is_too_large_is_refused() -> None:
    steps: list[Step] = [Start("a"), Send("a", 10_001), delivery("", 1, "int")]
    says = "the attribute things of a Hoarder cannot be shown: it is made of more than 10000 objects"
    with pytest.raises(UsageError, match=says):
        execute(Scenario(nodes={"a": Hoarder}), 0, steps)
