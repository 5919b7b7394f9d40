"""Exploration in virtual time: what is tried, what the answer says of it, and what keeps it from a certificate."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

import clew
from clew.errors import UsageError
from clew.exploration import Exploration, ExplorationAnswer, TimedBounds, explore
from clew.exploration.repetition import NotRepeatableError
from clew.simulation import (
    Broken,
    CodeBlock,
    Context,
    Elapse,
    External,
    Network,
    Node,
    Partition,
    Restart,
    Scenario,
    Send,
    VirtualTime,
    WaitCondition,
    WaitQuiescence,
)
from clew.simulation.execution.steps import Ended, Step
from clew.simulation.execution.trace import execute


@dataclass(frozen=True)
class Note:
    text: str


class Listener(Node):
    """Notes what it gets."""

    def on_start(self, ctx: Context) -> None:
        self.got: tuple[str, ...] = ()

    def on_message(self, ctx: Context, sender: str, message: Any) -> None:
        self.got = (*self.got, message.text)

    def on_timer(self, ctx: Context, name: str) -> None:
        self.got = (*self.got, f"timer {name}")


def _scenario(*before: External, node: Callable[[], Node] = Listener, **options: Any) -> Scenario:
    time = options.pop("time", VirtualTime(latency=(0.1, 0.2), until=1))
    return Scenario(nodes={"a": node, "b": Listener}, running=["a", "b"], before=before, time=time, **options)


def _explore(scenario: Scenario, **options: Any) -> Exploration:
    return explore(scenario, **{"in_process": True, "stop_at_first": False, **options})


def _orders(scenario: Scenario, **options: Any) -> set[tuple[str, ...]]:
    """Return in which orders a gets what it gets."""
    found: set[tuple[str, ...]] = set()

    def note(steps: tuple[Step, ...]) -> None:
        assert isinstance(steps[-1], Ended)
        after = execute(scenario, 0, steps).moments[-1].after
        assert after is not None
        found.add(tuple(after["got"]["$tuple"]))

    assert _explore(scenario, visit=note, **options).answer is ExplorationAnswer.ALL_EXPLORED
    return found


X, Y = Send("a", Note("x")), Send("a", Note("y"))


# -- what is tried -----------------------------------------------------------------------------------------------


def test_what_is_due_at_one_time_comes_in_every_order_and_everything_else_in_its_own() -> None:
    three = [Send("a", Note(text)) for text in "xyz"]
    assert _orders(_scenario(*three, time=VirtualTime(latency=0.1))) == set(itertools.permutations("xyz"))
    apart = (X, Elapse(0.05), Y)
    assert _orders(_scenario(*apart, time=VirtualTime(latency=0.1))) == {("x", "y")}
    # The second overtakes the first where that takes long, and can be there with it.
    assert _orders(_scenario(*apart)) == {("x", "y"), ("y", "x")}
    assert _orders(_scenario(X, Elapse(0.1), Y)) == {("x", "y"), ("y", "x")}
    assert _orders(_scenario(X, Elapse(0.101), Y)) == {("x", "y")}


def test_latencies_in_between_are_tried_when_asked_for() -> None:
    """Only a message that takes 0.15 s arrives between two timers."""

    class Timed(Listener):
        def on_start(self, ctx: Context) -> None:
            super().on_start(ctx)
            ctx.set_timer("1", after=0.14)
            ctx.set_timer("2", after=0.16)

    scenario = _scenario(X, node=Timed)
    between = ("timer 1", "x", "timer 2")
    ends = {("x", "timer 1", "timer 2"), ("timer 1", "timer 2", "x")}
    assert _orders(scenario) == ends
    assert _orders(scenario, latencies=3) == {*ends, between}
    assert _explore(scenario, latencies=3).schedules == 3


def test_over_fifo_nothing_overtakes() -> None:
    class Sender(Listener):
        def on_start(self, ctx: Context) -> None:
            super().on_start(ctx)
            ctx.send("a", Note("x"))
            ctx.send("a", Note("y"))

    nodes: dict[str, Callable[[], Node]] = {"b": Sender, "a": Listener}
    for network, orders in ((Network.FIFO, {("x", "y")}), (Network.REORDERING, {("x", "y"), ("y", "x")})):
        scenario = Scenario(
            nodes=nodes, running=["a", "b"], network=network, time=VirtualTime(latency=(0.1, 0.2), until=1)
        )
        assert _orders(scenario) == orders


class Waker(Listener):
    """Says after half a second by its own clock what the time is by that."""

    def on_start(self, ctx: Context) -> None:
        super().on_start(ctx)
        ctx.set_timer("late", after=0.5)


def test_clocks_run_at_their_slowest_and_fastest_where_somebody_asks_them() -> None:
    def at_once(nodes: Mapping[str, Any]) -> Broken | None:
        both = [name for name, node in nodes.items() if node.got]
        return Broken(f"only {both[0]}", "") if len(both) == 1 else None

    drifting = VirtualTime(latency=0.1, drift=0.5, until=2)
    scenario = Scenario(
        nodes={"a": Waker, "b": Waker, "c": Listener}, running=["a", "b", "c"], invariants=[at_once], time=drifting
    )
    explored = _explore(scenario)
    assert {found.identity for found in explored.found} == {"only a", "only b"}
    assert dict(explored.found[0].clocks).keys() == {"a", "b"}  # nobody asks the clock of c
    # Half a second takes 1/3 s by a fast clock, and 1 s by a slow one: both at a time, or one of them first.
    assert [f.deliveries for f in explored.found] == [1, 1]
    three = _explore(Scenario(nodes={"a": Waker}, running=["a"], time=drifting), clocks=3)
    assert (three.schedules, three.states) == (3, 6)
    drawn = _explore(Scenario(nodes={"a": Waker}, running=["a"], time=drifting), clocks=0, seed=5)
    assert drawn.schedules == 1
    assert str(drawn.bounds).startswith("messages take 0.1 s, clocks as drawn from seed 5 (a ")


def test_losses_and_copies() -> None:
    lossy = _scenario(X, time=VirtualTime(latency=0.1), loss=0.5, duplication=0.5)
    assert _explore(lossy, losses=1).schedules == 2
    assert _orders(_scenario(X, time=VirtualTime(latency=0.1), duplication=0.5), duplicates=2) == {
        ("x",) * number for number in (1, 2, 3)
    }

    class Reminding(Listener):
        """Tells itself: that neither gets lost nor comes twice."""

        def on_start(self, ctx: Context) -> None:
            super().on_start(ctx)
            ctx.send("a", Note("x"))

    own = Scenario(nodes={"a": Reminding}, running=["a"], loss=0.5, duplication=0.5, time=VirtualTime())
    assert _orders(own, losses=1, duplicates=1) == {("x",)}
    for bound in ("losses", "duplicates"):
        with pytest.raises(UsageError, match=f"{bound} is 1, but in the scenario"):
            _explore(_scenario(X), **{bound: 1})


def test_all_states_between_what_happens_at_one_time_are_looked_at() -> None:
    def one_only(nodes: Mapping[str, Any]) -> Broken | None:
        having = [name for name, node in nodes.items() if node.got]
        return Broken(f"only {having[0]}", "") if len(having) == 1 else None

    scenario = _scenario(X, Send("b", Note("x")), invariants=[one_only], time=VirtualTime(latency=0.1))
    assert {found.identity for found in _explore(scenario).found} == {"only a", "only b"}


def test_events_at_different_nodes_at_one_time_lead_to_one_situation() -> None:
    events = [Send(node, Note("x")) for node in ("a", "b")]
    explored = _explore(_scenario(*events, time=VirtualTime(latency=0.1)))
    # One after each event from outside, two between the deliveries, and one after both.
    assert (explored.schedules, explored.states, explored.blocked) == (1, 6, 1)


# -- recordings --------------------------------------------------------------------------------------------------


def test_a_violation_is_replayed_and_minimized() -> None:
    def told(nodes: Mapping[str, Any]) -> Broken | None:
        return Broken("told", "", ("a",)) if nodes["a"].got[-2:] == ("y", "x") else None

    scenario = _scenario(X, Elapse(0.05), Partition("a", "b"), Y, invariants=[told], steps=20)
    explored = _explore(scenario)
    (found,) = explored.found
    assert explored.recording is not None and explored.recording.identity == found.identity
    assert clew.replay(explored.recording, scenario, in_process=True).outcome.value == "same"
    small = clew.minimize(explored.recording, scenario, in_process=True)
    assert (small.answer.value, small.size.deliveries) == ("minimized", 2)


def _got_x_last(nodes: Mapping[str, Any]) -> str | None:
    return "x is the last" if nodes["a"].got[-1] == "x" else None


def test_promises_are_asked_at_the_end_and_recorded_with_it() -> None:
    explored = _explore(_scenario(X, Y, promises=[_got_x_last]))
    (found,) = explored.found
    assert (found.broken.invariant, found.steps[-1]) == ("_got_x_last", Ended())
    assert explored.recording is not None and explored.invariants == ("_got_x_last",)
    scenario = _scenario(X, Y, promises=[_got_x_last])
    assert clew.replay(explored.recording, scenario, in_process=True).outcome.value == "same"


def test_promises_are_not_looked_at_without_virtual_time() -> None:
    explored = explore(_scenario(X, promises=[_got_x_last], time=None), in_process=True)
    assert explored.answer is ExplorationAnswer.INCOMPLETE
    assert explored.reasons == ("what the scenario promises at the end is not looked at without virtual time",)


def test_a_node_that_ends_its_process_is_found() -> None:
    class Deadly(Listener):
        def on_message(self, ctx: Context, sender: str, message: Any) -> None:
            if self.got == ("y",):
                os._exit(7)
            super().on_message(ctx, sender, message)

    explored = explore(_scenario(X, Y, node=Deadly))
    assert explored.answer is ExplorationAnswer.VIOLATION
    assert explored.found[0].broken.what.startswith("the process ended by itself (exit code 7)")
    assert explored.recording is not None and explored.recording.ends_process


# -- what is no certificate --------------------------------------------------------------------------------------


class Dice(Listener):
    def on_message(self, ctx: Context, sender: str, message: Any) -> None:
        self.got = (*self.got, str(ctx.random.randrange(6)))


class Ticking(Listener):
    def on_start(self, ctx: Context) -> None:
        super().on_start(ctx)
        ctx.set_timer("tick", after=0.1)

    def on_timer(self, ctx: Context, name: str) -> None:
        ctx.set_timer("tick", after=0.1)


class Keeper(Listener):
    """Keeps its context, so that an invariant can read its clock."""

    def on_start(self, ctx: Context) -> None:
        super().on_start(ctx)
        self.ctx = ctx


def _reads_clock(nodes: Mapping[str, Any]) -> str | None:
    return "late" if nodes["a"].ctx.now > 10 else None


@pytest.mark.parametrize(
    ("scenario", "reason"),
    [
        (_scenario(X, node=Dice), "a draws random numbers, and only those of seed 0 are tried"),
        (_scenario(node=Ticking, steps=5), "executions were cut short at 5 steps"),
        (_scenario(), "no handler runs: no message arrives, no timer goes off, no node starts"),
        (
            _scenario(X, Elapse(2), Restart("a")),
            "'let 2 s pass' never ends, so what follows never happens: restart a",
        ),
        (
            _scenario(X, WaitCondition("never", lambda world: False)),
            "'wait for never' at the end never ends: it holds in no state after all events",
        ),
        (
            _scenario(X, promises=[_got_x_last], assume=lambda nodes: False),
            "nothing is promised at the end of any execution: what the scenario assumes holds at none",
        ),
        (
            _scenario(X, node=Keeper, invariants=[_reads_clock], time=VirtualTime(drift=0.1)),
            "who looks on reads clocks that no handler has read (a), and one speed of them is tried",
        ),
    ],
)
def test_what_limits_an_exploration_is_said(scenario: Scenario, reason: str) -> None:
    explored = _explore(scenario)
    assert (explored.answer, explored.reasons) == (ExplorationAnswer.INCOMPLETE, (reason,))


def test_a_wait_that_ends_in_some_executions_only() -> None:
    first = WaitCondition("y first", lambda world: world.nodes["a"].got[:1] == ("y",))  # type: ignore[attr-defined]
    explored = _explore(_scenario(X, Y, first, Send("a", Note("z"))))
    assert explored.answer is ExplorationAnswer.ALL_EXPLORED
    # Where x came first, it ends with y at 0.1 s or at 0.2 s.
    assert (explored.waiting, explored.undone) == (2, ())


def test_a_time_limit() -> None:
    explored = _explore(_scenario(*[Send("a", Note(str(n))) for n in range(12)]), time_limit=0.05)
    assert explored.reasons == ("the time limit of 0.05 s ran out",)
    assert explored.answer is ExplorationAnswer.INCOMPLETE


# -- code that is not deterministic, or that cannot be seen ------------------------------------------------------


def test_code_that_does_something_else_each_time_is_refused() -> None:
    numbers = itertools.count()

    class Counting(Listener):
        def on_message(self, ctx: Context, sender: str, message: Any) -> None:
            self.got = (*self.got, str(next(numbers)))

    with pytest.raises(NotRepeatableError, match="'deliver Note from outside to a' leaves another state"):
        _explore(_scenario(X, node=Counting))


def test_nodes_whose_state_cannot_be_written_are_told_apart_by_what_happened_to_them() -> None:
    class Secretive(Listener):
        """What it got last is in a function, into which nobody sees."""

        def on_start(self, ctx: Context) -> None:
            super().on_start(ctx)
            self.last: Callable[[], str] = lambda: ""

        def on_message(self, ctx: Context, sender: str, message: Any) -> None:
            self.last = lambda: message.text

    def last_is_x(nodes: Mapping[str, Any]) -> Broken | None:
        return Broken(f"last is {nodes['a'].last()}", "") if nodes["b"].got else None

    at_one_time = VirtualTime(latency=0.1, until=1)
    scenario = _scenario(
        X, Y, Elapse(0.2), Send("b", Note("now")), node=Secretive, invariants=[last_is_x], time=at_one_time
    )
    assert {found.identity for found in _explore(scenario).found} == {"last is x", "last is y"}


def test_numbers_of_events_tell_situations_apart_only_where_somebody_may_look_at_them() -> None:
    """Two orders of one message each are one situation; not before a code block, which sees more."""

    class Forgetful(Listener):
        def on_message(self, ctx: Context, sender: str, message: Any) -> None:
            if message.text == "x" and len(self.got) < 1:
                self.got = ("x",)
                ctx.send("b", Note("late"))
            self.got = ("x",)

    def poke(world: Any) -> None:
        world.nodes["b"].got = (*world.nodes["b"].got, str(world.events))

    plain = _explore(_scenario(X, Y, node=Forgetful, time=VirtualTime(latency=(0.1, 0.1))))
    poked = _explore(
        _scenario(
            X, Y, WaitQuiescence(), CodeBlock("poke", poke), node=Forgetful, time=VirtualTime(latency=(0.1, 0.1))
        )
    )
    assert plain.answer is poked.answer is ExplorationAnswer.ALL_EXPLORED
    assert (plain.schedules, poked.schedules) == (2, 2)


# -- bounds ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"timers": 2},
            "timers is 2, and the scenario has virtual time, in which timers go off when they are due",
        ),
        ({"latencies": 1}, "latencies is 1"),
        ({"latencies": 1001}, "latencies is 1001"),
        ({"clocks": 1}, "clocks is 1"),
        ({"clocks": -1}, "clocks is -1"),
        ({"losses": -1}, "losses is -1"),
    ],
)
def test_bounds_that_make_no_sense_are_refused(options: dict[str, int], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        _explore(_scenario(X, loss=0.5), **options)


@pytest.mark.parametrize("option", ["latencies", "clocks"])
def test_bounds_of_virtual_time_are_refused_without(option: str) -> None:
    with pytest.raises(UsageError, match=f"{option} is 2, and the scenario has no virtual time"):
        _explore(_scenario(X, time=None), **{option: 2})


@pytest.mark.parametrize(
    ("time", "text", "left_out"),
    [
        (VirtualTime(latency=0.1, until=5), "messages take 0.1 s, clocks that are right, ", ""),
        (
            VirtualTime(latency=(0.1, 0.2), links={("a", "b"): 1}, clocks={"a": 2.0}),
            "messages take 0.1 or 0.2 s, from a to b take 1 s, clocks of a at the speed 2, ",
            "other latencies between these",
        ),
        (
            VirtualTime(latency=0, drift=0.25, clocks={"b": 1.0}),
            "messages take 0 s, clocks of a at the speed 0.75 or 1.25, ",
            "other speeds of clocks",
        ),
    ],
)
def test_bounds_say_what_was_tried(time: VirtualTime, text: str, left_out: str) -> None:
    bounds = _explore(_scenario(time=time)).bounds
    assert isinstance(bounds, TimedBounds)
    assert str(bounds).startswith(text)
    assert str(bounds).endswith("s, every order of what is due at one time")
    assert bounds.leaves_out == left_out
