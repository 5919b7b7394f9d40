"""What tells two situations apart: each scenario here has two that differ in one thing only, which shows later.

Were that not looked at, the second would be taken for the first, and what follows from it would be missed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from clew.simulation import (
    Broken,
    CodeBlock,
    Context,
    Elapse,
    Heal,
    Network,
    Node,
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
        if _first(world) == X.letter:
            world.inject(Restart("a"))

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


def _by_the_number_of_events() -> Scenario:
    """A copy that arrives changes nothing but the number of events, at which a code block looks."""

    def count(world: World) -> None:
        node = world.nodes["a"]
        assert isinstance(node, Listener)
        node.got = (world.events,)

    class Deaf(Listener):
        def on_message(self, ctx: Context, sender: str, message: Note) -> None:
            pass

    return _scenario(
        Send("a", X), WaitQuiescence(), CodeBlock("count", count),
        nodes={"a": Deaf}, duplication=0.5, loss=0.5, time=VirtualTime(latency=0.1, until=1),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("make", "grid"),
    [
        (_after_what_was_dropped, Grid()),
        (_behind_a_partition, Grid()),
        (_in_storage, Grid()),
        (_in_the_order_of_nodes, Grid()),
        (_since_when_it_waits, Grid()),
        (_by_the_number_of_events, Grid(losses=1, duplicates=1)),
    ],
)
def test_what_differs_in_one_thing_only_is_explored_twice(make: Callable[[], Scenario], grid: Grid) -> None:
    assert agree(make(), grid)
