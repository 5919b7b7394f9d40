"""A certificate says no more than what was explored: the rest is named, and makes the answer incomplete."""

from __future__ import annotations

import itertools
import random
import time
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from clew.errors import UsageError
from clew.exploration import ExplorationAnswer, explore
from clew.simulation import (
    CodeBlock,
    Context,
    External,
    Network,
    Node,
    Partition,
    Restart,
    Scenario,
    Send,
    Start,
    Stop,
    WaitCondition,
    WaitQuiescence,
)
from clew.simulation.execution.trace import execute
from exploration.quiet import Quiet


def one(node: Callable[[], Node], *before: External, **options: Any) -> Scenario:
    """Return a scenario with a node a, and b beside it."""
    return Scenario(nodes={"a": node, "b": Quiet}, running=["a", "b"], before=before, **options)


# -- duplicates --------------------------------------------------------------------------------------------------


def times(number: int) -> Callable[[Mapping[str, Any]], str | None]:
    return lambda nodes: f"{number} times" if len(nodes["a"].got) == number else None


@pytest.mark.parametrize("network", Network)
def test_one_message_is_duplicated_as_often_as_its_link_may(network: Network) -> None:
    scenario = one(Quiet, Send("a", 1), duplication=0.5, network=network, invariants=[times(3)])
    (found,) = explore(scenario, duplicates=2).found
    assert execute(scenario, 0, found.steps).broken == found.broken
    assert explore(scenario, duplicates=1).answer is ExplorationAnswer.ALL_EXPLORED


def test_links_do_not_share_their_bound() -> None:
    def both(nodes: Mapping[str, Any]) -> str | None:
        return "both" if all(len(node.got) == 2 for node in nodes.values()) else None

    scenario = one(Quiet, Send("a", 1), Send("b", 1), duplication=0.5, invariants=[both, times(3)])
    (found,) = explore(scenario, duplicates=1, stop_at_first=False).found
    assert found.broken.what == "both"


# -- random numbers ----------------------------------------------------------------------------------------------


class Drawing(Quiet):
    def on_message(self, ctx: Context, sender: str, message: Any) -> None:
        self.got.append(ctx.random.randrange(1000))


def test_what_nodes_draw_is_explored_for_one_seed_only() -> None:
    explored = explore(one(Drawing, Send("a", 1), Send("b", 1)), seed=7)
    assert (explored.answer, explored.drew, explored.schedules) == (ExplorationAnswer.INCOMPLETE, ("a",), 1)
    assert explored.reasons == ("a draws random numbers, and only those of seed 7 are tried",)


def test_several_that_draw() -> None:
    scenario = Scenario(
        nodes={"b": Drawing, "a": Drawing}, running=["a", "b"], before=[Send("a", 1), Send("b", 1)]
    )
    assert explore(scenario).reason == "b, a draw random numbers, and only those of seed 0 are tried"


@pytest.mark.parametrize("before", [[Start("a")], [Start("a"), Stop("a")], [Start("a"), Restart("a")]], ids=str)
def test_a_node_that_draws_when_it_starts_and_is_gone_later(before: list[External]) -> None:
    class Early(Quiet):
        def on_start(self, ctx: Context) -> None:
            super().on_start(ctx)
            self.random = ctx.random

    assert explore(Scenario(nodes={"a": Early}, before=before)).drew == ("a",)
    assert explore(Scenario(nodes={"a": Early}, running=["a"], before=[Send("a", 1)])).drew == ("a",)


def test_a_violation_stands_whatever_is_drawn() -> None:
    scenario = one(Drawing, Send("a", 1), invariants=[times(1)])
    explored = explore(scenario)
    assert (explored.answer, explored.reasons) == (ExplorationAnswer.VIOLATION, ())
    explored = explore(scenario, stop_at_first=False)
    assert (explored.answer, len(explored.reasons)) == (ExplorationAnswer.VIOLATION, 1)


# -- waiting for ever --------------------------------------------------------------------------------------------

NEVER = WaitCondition("never", lambda world: False)


def has_got(number: int) -> WaitCondition:
    return WaitCondition(f"{number} messages", lambda world: len(world.nodes["a"].got) == number)  # type: ignore[attr-defined]


def test_what_waits_for_ever_is_never_done() -> None:
    explored = explore(one(Quiet, Send("a", 1), NEVER, Send("b", 1), WaitQuiescence(), Stop("a")))
    assert explored.answer is ExplorationAnswer.INCOMPLETE
    assert explored.undone == (Send("b", 1), Stop("a"))
    assert explored.reasons == (
        "'wait for never' never ends, so what follows never happens: send int to b, stop a",
    )
    assert explored.waiting == 1


def test_the_second_of_two_waits_is_the_one_that_is_never_over() -> None:
    explored = explore(one(Quiet, Send("a", 1), has_got(1), has_got(2), Send("b", 1)))
    assert explored.reason == "'wait for 2 messages' never ends, so what follows never happens: send int to b"


def test_a_wait_that_is_over_in_some_schedules_is_counted() -> None:
    """The timer goes off before the message, when the wait is over, or in between: then the wait is never over."""

    class Clearing(Quiet):
        def on_start(self, ctx: Context) -> None:
            super().on_start(ctx)
            ctx.set_timer()

        def on_timer(self, ctx: Context, name: str) -> None:
            self.got = []

    explored = explore(one(Clearing, Send("a", 1), has_got(1), Send("b", 1)))
    assert (explored.answer, explored.undone) == (ExplorationAnswer.ALL_EXPLORED, ())
    assert (explored.schedules, explored.waiting) == (3, 1)


def test_a_wait_at_the_end_that_never_ends_is_no_certificate() -> None:
    explored = explore(one(Quiet, Send("a", 1), NEVER))
    assert (explored.answer, explored.undone, explored.waiting) == (ExplorationAnswer.INCOMPLETE, (), 0)
    assert explored.reasons == ("'wait for never' at the end never ends: it holds in no state after all events",)


@pytest.mark.parametrize("invariants", [[], [lambda nodes: None]], ids=["no invariant", "an invariant"])
def test_a_wait_at_the_end_is_over_where_it_holds_in_any_state_after_all_events(invariants: list[Any]) -> None:
    """Not only in the last state: a run is over as soon as it holds."""
    passing = WaitCondition("one of two", lambda world: len(world.nodes["a"].got) == 1)  # type: ignore[attr-defined]
    sends = (Send("a", 1), Send("a", 2))
    assert explore(one(Quiet, *sends, passing, invariants=invariants)).answer is ExplorationAnswer.ALL_EXPLORED
    late = explore(one(Quiet, *sends, WaitQuiescence(), Send("b", 1), passing, invariants=invariants))
    assert late.reasons == ("'wait for one of two' at the end never ends: it holds in no state after all events",)


def test_each_of_several_waits_at_the_end_is_asked() -> None:
    explored = explore(one(Quiet, Send("a", 1), after=[has_got(1), WaitQuiescence(), has_got(2)]))
    assert explored.reasons == (
        "'wait for 2 messages' at the end never ends: it holds in no state after all events",
    )


def test_a_condition_at_the_end_that_raises_is_a_mistake() -> None:
    with pytest.raises(UsageError, match="the condition 'bad' raised ZeroDivisionError"):
        explore(one(Quiet, Send("a", 1), WaitCondition("bad", lambda world: 1 // 0 > 0)))


def test_a_condition_that_says_now_this_and_now_that_is_refused() -> None:
    fickle = WaitCondition("fickle", lambda world: next(_COUNT) % 2 > 0)
    with pytest.raises(UsageError, match="the condition 'fickle' holds and does not hold in the same state"):
        explore(one(Quiet, Send("a", 1), fickle, Send("a", 2)))


# -- nothing to explore ------------------------------------------------------------------------------------------

NOTHING = "no handler runs: no message arrives, no timer goes off, no node starts"


@pytest.mark.parametrize(
    "before",
    [[], [Send("a", 1), Send("b", 1)], [Stop("a")], [WaitQuiescence(), Send("a", 1)]],
    ids=["no events", "all lost", "a stop", "a wait"],
)
def test_a_scenario_in_which_nothing_happens_is_no_certificate(before: list[External]) -> None:
    explored = explore(Scenario(nodes={"a": Quiet, "b": Quiet}, before=before, invariants=[lambda nodes: None]))
    assert (explored.answer, explored.reasons) == (ExplorationAnswer.INCOMPLETE, (NOTHING,))


@pytest.mark.parametrize("event", [Start("a"), Restart("a"), CodeBlock("code", lambda world: None)], ids=str)
def test_whatever_executes_code_of_the_user_is_something(event: External) -> None:
    explored = explore(Scenario(nodes={"a": Quiet}, before=[event]))
    assert (explored.answer, explored.reason) == (ExplorationAnswer.ALL_EXPLORED, None)


def test_what_was_looked_at_is_named() -> None:
    def small(nodes: Mapping[str, Any]) -> None:
        pass

    assert explore(one(Quiet, Send("a", 1), invariants=[small])).invariants == ("small",)
    assert explore(one(Quiet, Send("a", 1))).invariants == ()


def test_an_exception_before_the_first_event_leaves_nothing_to_explore() -> None:
    class Stillborn(Node):
        def on_start(self, ctx: Context) -> None:
            raise ValueError("no")

    explored = explore(one(Stillborn, Send("a", 1)), stop_at_first=False)
    assert (explored.answer, explored.schedules) == (ExplorationAnswer.VIOLATION, 0)
    assert explored.reason == "a node raises before the first event, so no schedule is explored"


def test_events_that_come_too_late_are_named_beside_the_bound() -> None:
    explored = explore(one(Quiet, Send("a", 1), Send("b", 1), Stop("a"), steps=2))
    assert explored.reasons == ("executions were cut short at 2 steps", "what never happens: stop a")


# -- nodes that do not repeat ------------------------------------------------------------------------------------

_CLOCK = time.monotonic_ns
_COUNT = itertools.count()


class Clocked(Quiet):
    def on_message(self, ctx: Context, sender: str, message: Any) -> None:
        self.got.append(_CLOCK())


class StartsClocked(Quiet):
    def on_start(self, ctx: Context) -> None:
        super().on_start(ctx)
        self.started = _CLOCK()


class Sending(Quiet):
    def on_message(self, ctx: Context, sender: str, message: Any) -> None:
        ctx.send("b", next(_COUNT))


class Raising(Quiet):
    def on_message(self, ctx: Context, sender: str, message: Any) -> None:
        raise ValueError(next(_COUNT))


class Loose(Quiet):
    def on_timer(self, ctx: Context, name: str) -> None:
        self.got.append(random.random())

    def on_message(self, ctx: Context, sender: str, message: Any) -> None:
        ctx.set_timer("tick")


def _age(world: Any) -> None:
    world.nodes["a"].got.append(next(_COUNT))


@pytest.mark.parametrize(
    ("scenario", "expected"),
    [
        (one(Clocked, Send("a", 1)), "'deliver int from outside to a' leaves another state (got of a)"),
        (one(StartsClocked), "the beginning leaves another state (started of a)"),
        (
            Scenario(nodes={"a": StartsClocked}, before=[Start("a")]),
            "'start a' leaves another state (started of a)",
        ),
        (one(Sending, Send("a", 1)), "'deliver int from outside to a' sends something else"),
        (one(Raising, Send("a", 1)), "'deliver int from outside to a' raises something else"),
        (one(Loose, Send("a", 1)), "'timer tick at a' leaves another state (got of a)"),
        (one(Quiet, CodeBlock("age", _age)), "'code block age' leaves another state (got of a)"),
    ],
    ids=["state", "beginning", "start", "sent", "raised", "timer", "code"],
)
def test_what_does_not_do_the_same_twice_is_refused_even_with_one_schedule(
    scenario: Scenario, expected: str
) -> None:
    with pytest.raises(UsageError) as refused:
        explore(scenario, stop_at_first=False)
    first, *places, remedy = str(refused.value).splitlines()
    assert first == f"error: executed again, {expected}"
    assert all("perhaps because of " in place and __file__ in place for place in places)
    assert remedy == (
        "  remedy: nodes must not share anything, nor depend on anything but their state and their context"
    )


def _coin() -> bool:
    """Fall on the other side only now and then, so that two executions alone would not tell."""
    return next(_COUNT) % 7 == 0


def _cut_link(world: Any) -> None:
    if _coin():
        world.inject(Partition("a", "b"))


def _store(world: Any) -> None:
    world.processes["a"].durable["x"] = _coin()


def _stop(world: Any) -> None:
    if _coin():
        world.inject(Stop("b"))


def _lose(world: Any) -> None:
    if _coin():
        for envelope in list(world.pool.messages):
            world.lose(envelope)


def _arm(world: Any) -> None:
    if _coin():
        world.processes["a"].set_timer("t")


class Storing(Quiet):
    def on_message(self, ctx: Context, sender: str, message: Any) -> None:
        ctx.durable["x"] = _coin()


class Cancelling(Quiet):
    def on_start(self, ctx: Context) -> None:
        super().on_start(ctx)
        ctx.set_timer("t")

    def on_message(self, ctx: Context, sender: str, message: Any) -> None:
        if _coin():
            ctx.cancel_timer("t")


class Born(Quiet):
    def on_start(self, ctx: Context) -> None:
        super().on_start(ctx)
        self.lucky = _coin()


@pytest.mark.parametrize(
    "scenario",
    [
        *(one(Quiet, Send("a", 1), CodeBlock("code", act)) for act in (_cut_link, _store, _stop, _lose, _arm)),
        *(one(kind, Send("a", 1)) for kind in (Storing, Cancelling, Born)),
    ],
    ids=["partition", "storage", "stop", "loss", "timer", "handler stores", "handler cancels", "beginning"],
)
def test_whatever_differs_now_and_then_is_refused(scenario: Scenario) -> None:
    for _ in range(7):  # wherever the coin begins
        next(_COUNT)
        with pytest.raises(UsageError, match=r"executed again|had other effects|not sent again"):
            explore(scenario)


def test_who_draws_from_the_module_random_gets_no_certificate() -> None:
    """Even if everything that was drawn has come to the same by chance."""
    scenario = one(Quiet, Send("a", 1), CodeBlock("draw", lambda world: random.seed(random.random())))
    assert explore(scenario).reasons == (
        "something draws from the module random, and only what it drew this time is tried",
    )


def test_places_that_may_be_why_are_named() -> None:
    with pytest.raises(UsageError) as refused:
        explore(one(Loose, Send("a", 1)))
    assert "random.random(): random numbers" in str(refused.value)


def test_nodes_that_share_something_are_refused() -> None:
    shared: list[int] = []

    class Sharing(Quiet):
        def on_message(self, ctx: Context, sender: str, message: Any) -> None:
            super().on_message(ctx, sender, message)
            shared.append(message)
            if len(shared) == 1:
                ctx.send(ctx.me, "more")

    with pytest.raises(UsageError) as refused:
        explore(one(Sharing, Send("a", 1), Send("a", 2)))
    assert str(refused.value).startswith(
        "error: executed again, 'deliver int from outside to a' sends something else\n"
    )


def test_what_has_no_words_is_not_compared() -> None:
    class Wordless(Quiet):
        def on_start(self, ctx: Context) -> None:
            super().on_start(ctx)
            self.deep: list[Any] = []
            for _ in range(500):
                self.deep = [self.deep]

    assert explore(one(Wordless, Send("a", 1))).answer is ExplorationAnswer.ALL_EXPLORED
