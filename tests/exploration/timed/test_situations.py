"""What tells two situations apart: each scenario here has two that differ in one thing only, which shows later.

Were that not looked at, the second would be taken for the first, and what follows from it would be missed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from clew.exploration import explore
from clew.simulation import (
    Broken,
    CodeBlock,
    Context,
    Elapse,
    Heal,
    Network,
    Node,
    Partition,
    Restart,
    Scenario,
    Send,
    VirtualTime,
    WaitCondition,
    WaitQuiescence,
    World,
)
from exploration.programs import Note
from exploration.timed.brute import Grid
from exploration.timed.test_against_brute import agree

X, Y, LATE = Note(0, 0), Note(1, 0), Note(2, 0)


class Listener(Node):
    """Notes what it gets."""

    def on_start(self, ctx: Context) -> None:
        self.got: tuple[int, ...] = ()

    def on_message(self, ctx: Context, sender: str, message: Note) -> None:
        self.got = (*self.got, message.letter)


class Relay(Listener):
    """Passes on what it gets to a."""

    def on_message(self, ctx: Context, sender: str, message: Note) -> None:
        ctx.send("a", message)


def _first(world: World) -> int | None:
    """Say what a got first, and let it forget that."""
    node = world.nodes["a"]
    assert isinstance(node, Listener)
    got, node.got = node.got, ()
    return got[0] if got else None


def _scenario(*before: Any, time: VirtualTime, **options: Any) -> Scenario:
    nodes: dict[str, Callable[[], Node]] = {"a": Listener, "b": Relay, **options.pop("nodes", {})}
    return Scenario(nodes=nodes, running=list(nodes), before=before, time=time, **options)


def _after_what_was_dropped() -> Scenario:
    """Over FIFO, something sent later waits for what was to arrive at a node that has restarted since."""
    time = VirtualTime(latency=(0.1, 0.2), links={("", "b"): 0.0}, until=1)
    return _scenario(
        Send("b", X), Elapse(0.05), Restart("a"), Elapse(0.01), Send("b", Y), network=Network.FIFO, time=time
    )


def _behind_a_partition() -> Scenario:
    """Which link is blocked follows from what comes from outside, but for what code blocks do."""

    def block(world: World) -> None:
        if _first(world) == X.letter:
            world.pool.hold(("b", "a"))

    both = (Send("a", X), Send("a", Y), WaitQuiescence(), CodeBlock("block", block))
    return _scenario(*both, Send("b", LATE), time=VirtualTime(latency=0.1, until=1))


class Storing(Node):
    """Remembers nothing but what it stored first."""

    def on_start(self, ctx: Context) -> None:
        self.stored = tuple(ctx.durable.items())

    def on_message(self, ctx: Context, sender: str, message: Note) -> None:
        ctx.durable[message.letter] = True


def _in_storage() -> Scenario:
    """In which order keys were stored shows to who lists them."""
    both = (Send("a", X), Send("a", Y), Elapse(0.5), Restart("a"))
    return _scenario(*both, nodes={"a": Storing}, time=VirtualTime(latency=0.1, until=1))


def _in_the_order_of_nodes() -> Scenario:
    """Invariants see in which order nodes came up, which code blocks decide."""

    def shuffle(world: World) -> None:
        for name in ("a", "b") if _first(world) == X.letter else ("b", "a"):
            world.inject(Restart(name))

    def is_last(nodes: Mapping[str, Any]) -> Broken | None:
        return Broken(f"{[*nodes][-1]} is the last", "") if nodes["b"].got else None

    both = (Send("a", X), Send("a", Y), WaitQuiescence(), CodeBlock("shuffle", shuffle))
    return _scenario(
        *both, Send("b", LATE), nodes={"b": Listener}, invariants=[is_last], time=VirtualTime(latency=0.1)
    )


class Waking(Listener):
    """Has a timer, at which there is something to be seen."""

    def on_start(self, ctx: Context) -> None:
        super().on_start(ctx)
        ctx.set_timer("wake", after=0.2)


def _since_when_it_waits() -> Scenario:
    """Half a second begins when something arrived, early or late."""
    arrived = WaitCondition("arrived", lambda world: bool(getattr(world.nodes["a"], "got", ())))
    time = VirtualTime(latency=(0.1, 0.2), links={("", "b"): 0.0}, until=1)
    return _scenario(Send("a", X), arrived, Heal(), Elapse(0.5), Send("b", Y), nodes={"b": Waking}, time=time)


class Deaf(Listener):
    def on_message(self, ctx: Context, sender: str, message: Note) -> None:
        if message != X:
            super().on_message(ctx, sender, message)


def _by_the_number_of_events() -> Scenario:
    """Where x comes first, there is one message more, of which only a number is left: a code block sees it."""

    class Forgetful(Listener):
        def on_message(self, ctx: Context, sender: str, message: Note) -> None:
            if not self.got and message == X:
                ctx.send("b", X)
            self.got = (0,)

    def count(world: World) -> None:
        node = world.nodes["a"]
        assert isinstance(node, Forgetful)
        node.got = (world.events,)

    time = VirtualTime(latency=0.1, links={("a", "b"): 0.0}, until=1)
    both = (Send("a", X), Send("a", Y), WaitQuiescence(), CodeBlock("count", count))
    return _scenario(*both, nodes={"a": Forgetful, "b": Deaf}, time=time)


def _in_a_queue() -> Scenario:
    """Two messages that arrive at one time over FIFO are in the order in which they were sent."""
    return _scenario(Send("b", X), Send("b", Y), network=Network.FIFO, time=VirtualTime(latency=0.1, until=1))


def _by_the_speed_of_a_clock() -> Scenario:
    """A clock that was looked at when it said 0 shows its speed only later."""

    class Looking(Listener):
        def on_start(self, ctx: Context) -> None:
            super().on_start(ctx)
            self.begun = ctx.now

        def on_message(self, ctx: Context, sender: str, message: Note) -> None:
            ctx.set_timer("soon", after=0.1)

    return _scenario(Send("a", X), nodes={"a": Looking}, time=VirtualTime(drift=0.5, until=1))


def _held_up_for_long() -> Scenario:
    """Not apart: when it was due before a partition healed makes no difference afterwards."""
    time = VirtualTime(latency=(0.1, 0.2), links={("", "b"): 0.0}, until=1)
    return _scenario(
        Send("b", X), Elapse(0.05), Partition("a", "b"), Elapse(0.3), Heal(), Elapse(0.2), Restart("b"), time=time
    )


@pytest.mark.parametrize(
    "make",
    [
        _after_what_was_dropped,
        _behind_a_partition,
        _in_storage,
        _in_the_order_of_nodes,
        _since_when_it_waits,
        _by_the_number_of_events,
        _in_a_queue,
        _by_the_speed_of_a_clock,
        _held_up_for_long,
    ],
)
def test_what_differs_in_one_thing_only_is_explored_twice(make: Callable[[], Scenario]) -> None:
    assert agree(make(), Grid())


def test_a_bound_that_is_spent_is_spent() -> None:
    """Whether the first message was lost shows only in whether the second can be."""
    scenario = _scenario(
        Send("a", X), Elapse(0.5), Send("a", Y), nodes={"a": Deaf}, loss=0.5, time=VirtualTime(until=1)
    )
    assert agree(scenario, Grid(losses=1))


def test_what_raises_is_found_where_the_situation_is_known_from_elsewhere() -> None:
    """The message takes the timer away and comes again: that is what there is after the timer has raised, too."""

    class Raising(Listener):
        def on_start(self, ctx: Context) -> None:
            super().on_start(ctx)
            ctx.send("a", X)
            ctx.set_timer("raise", after=0)

        def on_message(self, ctx: Context, sender: str, message: Note) -> None:
            ctx.cancel_timer("raise")
            ctx.send("a", X)

        def on_timer(self, ctx: Context, name: str) -> None:
            raise ValueError("too late")

    scenario = Scenario(nodes={"a": Raising}, running=["a"], time=VirtualTime())
    explored = explore(scenario, stop_at_first=False, in_process=True)
    assert [found.broken.what for found in explored.found] == ["ValueError: too late (in " + _PLACE + ")"]
    assert (explored.schedules, explored.states) == (0, 3)


_PLACE = "test_what_raises_is_found_where_the_situation_is_known_from_elsewhere.<locals>.Raising.on_timer"
