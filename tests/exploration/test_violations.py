"""What breaks is found in whatever global state it shows, with a schedule that leads there."""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping
from typing import Any

import pytest

from clew.errors import BudgetExhaustedError, UsageError
from clew.exploration import Bounds, ExplorationAnswer, explore
from clew.simulation import (
    Broken,
    Context,
    External,
    Heal,
    Node,
    Partition,
    Restart,
    Scenario,
    Send,
    Start,
    Stop,
    WaitQuiescence,
)
from clew.simulation.execution.steps import Step, describe
from clew.simulation.execution.trace import execute
from exploration.quiet import Quiet


def only(first: str, second: str) -> Any:
    """Broken when the first node has got something and the second has not."""

    def invariant(nodes: Mapping[str, Any]) -> Broken | None:
        if first in nodes and second in nodes and nodes[first].got and not nodes[second].got:
            return Broken(f"only {first}", "", (first,))
        return None

    return invariant


def words(steps: tuple[Step, ...]) -> list[str]:
    return [describe(step) for step in steps]


UNRELATED = Scenario(
    nodes={"a": Quiet, "b": Quiet, "c": Quiet},
    running=["a", "b", "c"],
    before=[Send("a", 1), Send("b", 1), Send("c", 1)],
    invariants=[only("a", "b"), only("b", "a"), only("c", "a")],
)


def test_every_global_state_is_looked_at_though_there_is_one_class() -> None:
    explored = explore(UNRELATED, stop_at_first=False)
    assert (explored.answer, explored.schedules, explored.states) == (ExplorationAnswer.VIOLATION, 1, 8)
    assert [found.identity for found in explored.found] == ["only a at a", "only b at b", "only c at c"]
    assert words(explored.found[1].steps) == [
        "send int to a",
        "send int to b",
        "deliver int from outside to b",
    ]
    for found in explored.found:
        execution = execute(UNRELATED, 0, found.steps)
        assert (execution.identity, execution.broken) == (found.identity, found.broken)


def test_it_stops_at_the_first_violation_and_gives_the_shortest_schedule_of_that_execution() -> None:
    explored = explore(UNRELATED)
    assert [found.identity for found in explored.found] == ["only a at a"]
    assert words(explored.found[0].steps) == ["send int to a", "deliver int from outside to a"]
    assert explored.reason is None


class Dies(Quiet):
    def on_message(self, ctx: Context, sender: str, message: Any) -> None:
        super().on_message(ctx, sender, message)
        if len(self.got) == 2 and message == "first":
            ctx.send("b", "too late")
            raise ValueError("overtaken")


def test_an_exception_is_given_with_what_led_to_it_and_nothing_else() -> None:
    scenario = Scenario(
        nodes={"a": Dies, "b": Dies},
        running=["a", "b"],
        before=[Send("b", "x"), Send("a", "first"), Send("b", "y"), Send("a", "second"), Send("b", "z")],
    )
    explored = explore(scenario)
    (found,) = explored.found
    assert found.identity == "no uncaught exception at a: ValueError in Dies.on_message"
    assert words(found.steps) == [
        "send str to b",
        "send str to a",
        "send str to b",
        "send str to a",
        "deliver str from outside to a",
        "deliver str from outside to a",
    ]
    assert execute(scenario, 0, found.steps).identity == found.identity


def test_what_follows_from_an_exception_is_no_violation_of_its_own() -> None:
    class Victim(Quiet):
        def on_message(self, ctx: Context, sender: str, message: Any) -> None:
            if message == "too late":
                raise KeyError(message)

    scenario = Scenario(
        nodes={"a": Dies, "b": Victim}, running=["a", "b"], before=[Send("a", "second"), Send("a", "first")]
    )
    explored = explore(scenario, stop_at_first=False)
    assert [found.identity for found in explored.found] == [
        "no uncaught exception at a: ValueError in Dies.on_message"
    ]


def test_an_exception_before_the_first_event() -> None:
    class Stillborn(Node):
        def on_start(self, ctx: Context) -> None:
            raise ValueError("no")

    explored = explore(Scenario(nodes={"a": Stillborn}, running=["a"]), stop_at_first=False)
    (found,) = explored.found
    assert (found.steps, found.broken.nodes) == ((), ("a",))


def test_invariants_see_the_nodes_that_are_up_in_the_order_in_which_they_started() -> None:
    seen = set()

    def look(nodes: Mapping[str, Any]) -> None:
        seen.add(tuple(nodes))

    before: list[External] = [Start("b"), Start("a"), Stop("b"), Start("b"), Restart("a")]
    explore(Scenario(nodes={"a": Quiet, "b": Quiet}, before=before, invariants=[look]), in_process=True)
    assert seen == {(), ("b",), ("b", "a"), ("a",), ("a", "b")}


def test_a_schedule_with_a_wait_says_so() -> None:
    def empty(nodes: Mapping[str, Any]) -> str | None:
        return "two" if len(nodes["a"].got) == 2 else None

    before: list[External] = [Send("a", 1), WaitQuiescence(), Send("a", 2)]
    scenario = Scenario(nodes={"a": Quiet}, running=["a"], before=before, invariants=[empty])
    (found,) = explore(scenario).found
    assert words(found.steps) == [
        "send int to a",
        "deliver int from outside to a",
        "wait until no message is left",
        "send int to a",
        "deliver int from outside to a",
    ]


def test_a_node_may_keep_its_context() -> None:
    class Keeper(Quiet):
        def on_start(self, ctx: Context) -> None:
            super().on_start(ctx)
            self.ctx = ctx

    scenario = Scenario(nodes={"a": Keeper}, running=["a"], before=[Send("a", 1)], invariants=[lambda nodes: None])
    assert explore(scenario).answer is ExplorationAnswer.ALL_EXPLORED


def test_what_a_heal_freed_is_also_tried_before_the_partition() -> None:
    """The message gets to c only if it is at b before either partition."""

    class Passing(Quiet):
        def on_message(self, ctx: Context, sender: str, message: Any) -> None:
            super().on_message(ctx, sender, message)
            if ctx.me == "c":
                raise ValueError("here")
            ctx.send({"a": "b", "b": "c"}[ctx.me], message)

    before: list[External] = [Send("a", 1), Partition("a", "b"), Partition("b", "c"), Heal("a", "b")]
    nodes = {"a": Passing, "b": Passing, "c": Passing}
    (found,) = explore(Scenario(nodes=nodes, running=[*nodes], before=before)).found
    assert found.identity == "no uncaught exception at c: ValueError in " + Passing.on_message.__qualname__
    assert words(found.steps) == [
        "send int to a",
        "deliver int from outside to a",
        "deliver int from a to b",
        "deliver int from b to c",
    ]


def test_two_nodes_in_a_state_that_is_only_there_before_the_partition() -> None:
    class Passing(Quiet):
        def on_message(self, ctx: Context, sender: str, message: Any) -> None:
            super().on_message(ctx, sender, message)
            if ctx.me == "a":
                ctx.send("b", message)

    def apart(nodes: Mapping[str, Any]) -> str | None:
        return "b has it while c is up" if nodes["b"].got and "c" in nodes else None

    before: list[External] = [Send("a", 1), Partition("a", "b"), Stop("c"), Heal("a", "b")]
    nodes = {"a": Passing, "b": Passing, "c": Passing}
    (found,) = explore(Scenario(nodes=nodes, running=[*nodes], before=before, invariants=[apart])).found
    assert words(found.steps) == ["send int to a", "deliver int from outside to a", "deliver int from a to b"]


def test_an_invariant_sees_the_context_that_a_node_keeps_as_it_was_then() -> None:
    class Keeper(Quiet):
        def on_start(self, ctx: Context) -> None:
            super().on_start(ctx)
            self.ctx = ctx

        def on_message(self, ctx: Context, sender: str, message: Any) -> None:
            super().on_message(ctx, sender, message)
            ctx.durable["got"] = len(self.got)

    seen = set()

    def look(nodes: Mapping[str, Any]) -> None:
        keeper = nodes["a"]
        assert keeper.ctx.node is keeper
        seen.add((len(keeper.got), keeper.ctx.durable.get("got", 0), keeper.ctx.now))

    before = [Send("a", 1), Send("a", 2)]
    explore(Scenario(nodes={"a": Keeper}, running=["a"], before=before, invariants=[look]), in_process=True)
    assert seen == {(0, 0, 0), (1, 1, 1), (2, 2, 2)}


def test_a_violation_comes_with_its_own_deliveries_and_trace_whatever_breaks_before_it() -> None:
    class Dying(Quiet):
        def on_message(self, ctx: Context, sender: str, message: Any) -> None:
            super().on_message(ctx, sender, message)
            if len(self.got) == 4:
                raise ValueError("four")

    def odd(nodes: Mapping[str, Any]) -> Broken | None:
        number = len(nodes["a"].got)
        return Broken(f"odd {number}", "", ("a",)) if number % 2 else None

    before = [Send("a", number) for number in range(4)]
    scenario = Scenario(nodes={"a": Dying}, running=["a"], before=before, invariants=[odd])
    found = explore(scenario, stop_at_first=False).found
    assert [(f.broken.invariant, f.deliveries, f.trace is not None) for f in found] == [
        ("odd 1", 1, False),
        ("odd 3", 3, False),
        ("no uncaught exception", 4, True),
    ]
    assert [len([w for w in words(f.steps) if w.startswith("deliver")]) for f in found] == [1, 3, 4]


# -- bounds and budgets ------------------------------------------------------------------------------------------


class Restless(Quiet):
    def on_message(self, ctx: Context, sender: str, message: Any) -> None:
        ctx.send(ctx.me, message)


ENDLESS = Scenario(nodes={"a": Restless}, running=["a"], before=[Send("a", 1)], steps=10)


def test_an_execution_that_does_not_end_makes_the_answer_incomplete() -> None:
    explored = explore(ENDLESS)
    assert (explored.answer, explored.schedules) == (ExplorationAnswer.INCOMPLETE, 0)
    assert explored.reason == "executions were cut short at 10 steps"


def test_the_time_limit_makes_the_answer_incomplete() -> None:
    nodes = {"a": Quiet}
    before = [Send("a", number) for number in range(12)]
    explored = explore(Scenario(nodes=nodes, running=["a"], before=before), time_limit=0.01)
    assert (explored.answer, explored.reason) == (ExplorationAnswer.INCOMPLETE, "the time limit of 0.01 s ran out")


def test_ctrl_c_makes_the_answer_incomplete() -> None:
    before = [Send("a", number) for number in range(12)]
    scenario = Scenario(nodes={"a": Quiet}, running=["a"], before=before)
    handler = signal.getsignal(signal.SIGINT)
    explored = explore(scenario, visit=lambda steps: os.kill(os.getpid(), signal.SIGINT))
    assert (explored.answer, explored.reasons, explored.schedules) == (
        ExplorationAnswer.INCOMPLETE,
        ("interrupted",),
        1,
    )
    assert signal.getsignal(signal.SIGINT) is handler


def test_after_an_interruption_nothing_else_breaks_on_the_way_to_the_first_violation() -> None:
    """States are looked at from the last to the first, so an interruption can come before the early ones."""

    def both(nodes: Mapping[str, Any]) -> str | None:
        return "both" if nodes["a"].got and nodes["b"].got else None

    def either(nodes: Mapping[str, Any]) -> str | None:
        return "either" if nodes["a"].got or nodes["b"].got else None

    def interrupt(schedules: int, stage: str) -> None:
        if stage.endswith(" 1 violations"):
            raise BudgetExhaustedError("interrupted")

    scenario = Scenario(
        nodes={"a": Quiet, "b": Quiet},
        running=["a", "b"],
        before=[Send("a", 1), Send("b", 1)],
        invariants=[both, either],
    )
    explored = explore(scenario, progress=interrupt, in_process=True)
    (found,) = explored.found
    assert (found.identity, words(found.steps)[-1]) == ("either", "deliver int from outside to a")
    assert execute(scenario, 0, found.steps).identity == found.identity
    explored = explore(scenario, progress=interrupt, stop_at_first=False, in_process=True)
    assert [found.identity for found in explored.found] == ["either", "both"]
    assert explored.reason == "interrupted"


def test_progress_counts_schedules() -> None:
    said = []
    explore(UNRELATED, stop_at_first=False, progress=lambda schedules, stage: said.append((schedules, stage)))
    assert said[0] == (0, "0 states, 0 violations")
    assert said[-1] == (1, "8 states, 3 violations")


def test_bounds_in_words() -> None:
    assert str(Bounds()) == "at most 2 timers a node, no losses, no duplicates"
    assert str(Bounds(0, 1, 3)) == "no timers, at most 1 loss a link, at most 3 duplicates a link"


# -- bad input ---------------------------------------------------------------------------------------------------


def _refusal(scenario: Scenario, **options: Any) -> str:
    with pytest.raises(UsageError) as refused:
        explore(scenario, **options)
    return str(refused.value)


def test_events_drawn_at_random_are_refused() -> None:
    scenario = Scenario(nodes={"a": Quiet}, events=[(1.0, lambda random, world: None)], count=3)
    assert _refusal(scenario) == (
        "error: the scenario draws 3 events at random (count), and these cannot be explored\n"
        "  remedy: list the events in 'before' and leave 'count' out"
    )


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"timers": -1}, "error: timers is -1\n  remedy: give a number that is at least 0"),
        ({"time_limit": 0.0}, "error: --time-limit is 0\n  remedy: give a number larger than 0"),
        (
            {"losses": 1},
            "error: losses is 1, but in the scenario loss is 0\n"
            "  remedy: give the scenario a loss larger than 0, or leave losses out",
        ),
        (
            {"duplicates": 2},
            "error: duplicates is 2, but in the scenario duplication is 0\n"
            "  remedy: give the scenario a duplication larger than 0, or leave duplicates out",
        ),
    ],
)
def test_bounds_that_make_no_sense_are_refused(options: dict[str, Any], expected: str) -> None:
    assert _refusal(UNRELATED, **options) == expected


def test_a_state_that_cannot_be_copied_is_refused() -> None:
    class Unfinished(Quiet):
        def on_start(self, ctx: Context) -> None:
            super().on_start(ctx)
            self.numbers = (number for number in range(3))

    scenario = Scenario(nodes={"a": Unfinished}, running=["a"], invariants=[lambda nodes: None])
    assert _refusal(scenario) == (
        "error: the state of the node 'a' cannot be copied: TypeError: cannot pickle 'generator' object\n"
        "  remedy: keep in nodes only what copy.deepcopy can copy"
    )
