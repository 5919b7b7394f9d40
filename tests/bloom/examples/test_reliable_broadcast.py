"""Reliable broadcast: when it is over, all nodes that did not fail have the message, or none (section 3.1)."""

from __future__ import annotations

from typing import Any

import pytest
from reliable_broadcast import ReliableBroadcast, SimpleBroadcast

from clew.bloom import bloom, table
from random_network import RandomNetwork


class _Simple(SimpleBroadcast):
    """Keeps what it delivered."""

    rdeliver = table("sender", "message")

    @bloom
    def keep(self) -> None:
        self.rdeliver <= self.sdeliver


def _sender_stops_after_one_message(kind: Any, seed: int = 0) -> dict[str, list[Any]]:
    """Of the messages of ``a`` only that to ``b`` leaves."""
    cluster = RandomNetwork({name: kind(name) for name in "bcd"}, seed)
    for node in cluster.nodes.values():
        node.members.insert(*((name,) for name in "abcd"))
    cluster.settle()
    cluster.send("b", "sbcast", ("b", "a", "hello"))
    cluster.settle()
    return {name: list(node.rdeliver) for name, node in cluster.nodes.items()}


def test_a_simple_broadcast_that_is_cut_short_reaches_only_some() -> None:
    assert _sender_stops_after_one_message(_Simple) == {"b": [("a", "hello")], "c": [], "d": []}


@pytest.mark.parametrize("seed", range(10))
def test_a_reliable_broadcast_that_is_cut_short_reaches_all_others(seed: int) -> None:
    assert _sender_stops_after_one_message(ReliableBroadcast, seed) == {name: [("a", "hello")] for name in "bcd"}


@pytest.mark.parametrize("kind", [_Simple, ReliableBroadcast])
def test_without_failures_all_deliver(kind: Any) -> None:
    cluster = RandomNetwork({name: kind(name) for name in "abc"})
    for node in cluster.nodes.values():
        node.members.insert(*((name,) for name in "abc"))
    message = cluster.nodes["a"].smessage if kind is _Simple else cluster.nodes["a"].rmessage
    message.insert(("a", "hello"))
    cluster.settle()
    assert [list(node.rdeliver) for node in cluster.nodes.values()] == [[("a", "hello")]] * 3


def test_a_message_is_passed_on_before_it_is_delivered() -> None:
    node = ReliableBroadcast("b")
    node.members.insert(("c",))
    node.machine.deliver("sbcast", ("b", "a", "hello"))
    assert node.tick().sent == (("sbcast", ("c", "a", "hello")),)
    assert list(node.rdeliver) == []
    node.machine.deliver("sbcast", ("b", "a", "hello"))
    assert node.tick().sent == ()
    assert list(node.rdeliver) == [("a", "hello")]
