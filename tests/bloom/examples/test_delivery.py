"""Delivery and multicast: what arrives, what the sender is told, and when (listing 3.1, figures 3.2, 3.3)."""

from __future__ import annotations

from typing import Any

import pytest
from delivery import BestEffortDelivery, DeliveryProtocol, DurableDelivery, OnceDelivery, ReliableDelivery
from multicast import ReliableMulticast, SimpleMulticast

from clew.bloom import bloom, table
from random_network import RandomNetwork


class _Recording(DeliveryProtocol):
    """Keeps what the outputs showed, and how often something new arrived."""

    arrived = table("dst", "src", "ident", val=["payload"])
    settled_here = table("dst", "src", "ident", val=["payload"])

    @bloom
    def keep_outputs(self) -> None:
        self.arrived <= self.pipe_out
        self.settled_here <= self.pipe_sent


class _BestEffort(BestEffortDelivery, _Recording): ...


class _Reliable(ReliableDelivery, _Recording): ...


class _Once(OnceDelivery, _Recording): ...


class _Durable(DurableDelivery, _Recording): ...


_MESSAGE = ("b", "a", 1, "hello")


def test_best_effort_is_settled_at_once_even_if_nothing_arrives() -> None:
    cluster = RandomNetwork({"a": _BestEffort("a"), "b": _BestEffort("b")}, loss=1.0)
    cluster.nodes["a"].pipe_in.insert(_MESSAGE)
    cluster.settle()
    assert list(cluster.nodes["a"].settled_here) == [_MESSAGE]
    assert list(cluster.nodes["b"].arrived) == []


@pytest.mark.parametrize("promise", [_BestEffort, _Reliable, _Once, _Durable])
def test_without_loss_a_message_arrives_and_is_settled(promise: Any) -> None:
    cluster = RandomNetwork({"a": promise("a"), "b": promise("b")})
    cluster.nodes["a"].pipe_in.insert(_MESSAGE)
    cluster.settle()
    assert list(cluster.nodes["a"].settled_here) == [_MESSAGE]
    assert list(cluster.nodes["b"].arrived) == [_MESSAGE]


@pytest.mark.parametrize("promise", [_Reliable, _Once, _Durable])
def test_reliable_delivery_is_settled_only_when_confirmed(promise: Any) -> None:
    """The first message is lost; nothing happens until the timer; then it arrives and is forgotten."""
    cluster = RandomNetwork({"a": promise("a")})
    a = cluster.nodes["a"]
    a.pipe_in.insert(_MESSAGE)
    cluster.settle()
    assert cluster.unreachable == [("data_chan", _MESSAGE)]
    assert (list(a.settled_here), list(a.send_buf)) == ([], [_MESSAGE])
    cluster.nodes["b"] = promise("b")
    cluster.fire("a", "timer")
    cluster.settle()
    assert (list(a.settled_here), list(a.send_buf)) == ([_MESSAGE], [])
    assert list(cluster.nodes["b"].arrived) == [_MESSAGE]


@pytest.mark.parametrize("seed", range(20))
def test_reliable_delivery_gets_through_a_bad_network(seed: int) -> None:
    cluster = RandomNetwork({"a": _Once("a"), "b": _Once("b")}, seed, loss=0.5, duplication=0.3)
    messages = [("b", "a", k, f"m{k}") for k in range(5)]
    for message in messages:
        cluster.nodes["a"].pipe_in.insert(message)
    while cluster.nodes["a"].send_buf or not cluster.nodes["a"].settled_here:
        cluster.fire("a", "timer")
        cluster.settle()
    assert sorted(cluster.nodes["b"].arrived) == messages == sorted(cluster.nodes["a"].settled_here)
    assert cluster.refused == []


@pytest.mark.parametrize(("promise", "times"), [(_Reliable, 2), (_Once, 1)])
def test_a_message_that_is_sent_again_is_given_out_again_or_not(promise: Any, times: int) -> None:
    b = promise("b")
    given_out = 0
    for _ in range(2):
        b.machine.deliver("data_chan", _MESSAGE)
        assert ("ack_chan", ("a", "b", 1)) in b.tick().sent
        given_out += len(b.pipe_out)
    assert given_out == times


class _Simple(SimpleMulticast, _Reliable): ...


class _All(ReliableMulticast, _Reliable): ...


@pytest.mark.parametrize(("group", "done_after_one"), [(_Simple, True), (_All, False)])
def test_a_multicast_is_done_after_one_confirmation_or_after_all(group: Any, done_after_one: bool) -> None:
    a = group("a")
    a.members.insert(("b",), ("c",))
    a.send_mcast.insert((1, "hello"))
    sent = a.tick().sent
    assert sorted(row for _, row in sent) == [("b", "a", 1, "hello"), ("c", "a", 1, "hello")]
    a.machine.deliver("ack_chan", ("a", "b", 1))
    a.tick()
    assert (list(a.mcast_done) == [(1, "hello")]) is done_after_one
    a.machine.deliver("ack_chan", ("a", "c", 1))
    a.tick()
    assert list(a.mcast_done) == [(1, "hello")]
    a.tick()
    assert list(a.mcast_done) == []
