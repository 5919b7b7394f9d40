"""Which events of a recorded execution can trade places."""

from __future__ import annotations

from typing import Any

from clew.exploration import commute
from clew.simulation import (
    CodeBlock,
    Context,
    External,
    Heal,
    Network,
    Node,
    Partition,
    Restart,
    Scenario,
    Send,
    World,
)
from clew.simulation.world import Happened


class Forwarder(Node):
    def on_message(self, ctx: Context, sender: str, message: str) -> None:
        if message:
            ctx.send(message[0], message[1:])


def _world(*before: External) -> World:
    scenario = Scenario(nodes=dict.fromkeys("abc", Forwarder), running=["a", "b", "c"], network=Network.REORDERING)
    world = scenario.world(recording=True)
    for event in before:
        world.inject(event)
    return world


def _deliver(world: World, target: str, message: str) -> Happened:
    world.deliver(next(e for e in world.pool.messages if (e.target, e.payload) == (target, message)))
    return _last(world)


def _do(world: World, event: External) -> Happened:
    world.inject(event)
    return _last(world)


def _last(world: World) -> Happened:
    assert world.history is not None
    return world.history[-1]


def test_deliveries_at_one_node_keep_their_order_and_others_do_not() -> None:
    world = _world(Send("a", ""), Send("a", "b"), Send("b", ""))
    first, second, third = _deliver(world, "a", ""), _deliver(world, "a", "b"), _deliver(world, "b", "")
    assert not commute(first, second)
    assert commute(first, third)
    assert commute(second, third)  # it sends to b, which takes nothing away from it


def test_a_message_comes_after_what_sent_it() -> None:
    world = _world(Send("a", "b"))
    assert not commute(_deliver(world, "a", "b"), _deliver(world, "b", ""))


def test_what_sends_to_a_node_and_what_restarts_it_keep_their_order() -> None:
    world = _world(Send("a", "b"), Send("c", ""))
    sends, other = _deliver(world, "a", "b"), _deliver(world, "c", "")
    restart = _do(world, Restart("b"))
    assert not commute(sends, restart)
    assert commute(other, restart)


def test_partitions_concern_the_links_they_name() -> None:
    world = _world(Send("a", "b"), Send("c", "b"))
    sends = _deliver(world, "a", "b")
    _deliver(world, "c", "b")
    (message,) = [e for e in world.pool.messages if e.source == "c"]
    world.deliver(message)
    from_c = _last(world)
    from_a = _deliver(world, "b", "")
    partition, heal = _do(world, Partition("b", "a")), _do(world, Heal("a", "b"))
    one_way, all_healed = _do(world, Partition("b", "a", one_way=True)), _do(world, Heal())
    assert commute(sends, partition)
    assert commute(from_c, partition)
    assert commute(from_c, heal)
    assert not commute(from_a, partition)
    assert not commute(from_a, heal)
    assert commute(from_a, one_way)
    assert not commute(from_c, all_healed)


def test_events_from_outside_and_code_keep_their_order() -> None:
    def nothing(world: Any) -> None:
        pass

    world = _world(Send("b", ""))
    delivery = _deliver(world, "b", "")
    first, second = _do(world, Send("a", "")), _do(world, Send("b", ""))
    code = _do(world, CodeBlock("nothing", nothing))
    assert not commute(first, second)
    assert not commute(delivery, code)
    assert commute(delivery, first)
    assert commute(delivery, second)


def test_losses_and_duplicates_concern_their_link() -> None:
    world = _world(Send("a", "b"), Send("c", "b"), Send("a", ""))
    for target, message in (("a", "b"), ("c", "b")):
        _deliver(world, target, message)
    to_b = {e.source: e for e in world.pool.messages if e.target == "b"}
    world.duplicate(to_b["a"])
    copy = _last(world)
    world.lose(to_b["a"])
    loss = _last(world)
    world.deliver(to_b["c"])
    other = _last(world)
    at_sender = _deliver(world, "a", "")
    assert not commute(copy, loss)
    assert commute(loss, other)
    assert commute(copy, other)
    assert not commute(copy, at_sender)  # a copy takes the next number of its sender
    assert commute(loss, at_sender)
