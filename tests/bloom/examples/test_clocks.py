"""Clocks respect causes: what is received is later than what was sent, and vectors say what led to what."""

from __future__ import annotations

from typing import Any

import pytest
from clocks import LamportClock, VectorClock, WaitingClock

from random_network import RandomNetwork


def test_a_message_from_the_future_waits() -> None:
    """The sender is in its sixth step; the receiver keeps the message from its first until it is past that."""
    sender, receiver = WaitingClock("a"), WaitingClock("b")
    for _ in range(5):
        sender.tick()
    sender.say.insert(("b", "hello"))
    ((channel, row),) = sender.tick().sent
    assert row == ("b", "a", "hello", 5)
    receiver.machine.deliver(channel, row)
    steps = 0
    while not receiver.heard:
        receiver.tick()
        steps += 1
    assert list(receiver.heard) == [("a", "hello", 5, 7)]
    assert steps == 8, "the steps are numbered from 0"


def test_a_message_from_the_past_does_not_wait() -> None:
    receiver = WaitingClock("b")
    for _ in range(5):
        receiver.tick()
    receiver.machine.deliver("message", ("b", "a", "hello", 2))
    receiver.tick()
    receiver.tick()
    assert list(receiver.heard) == [("a", "hello", 2, 6)]


def _chat(kind: Any, seed: int) -> RandomNetwork:
    cluster = RandomNetwork({name: kind(name) for name in "abc"}, seed)
    for k in range(12):
        source, target = "abc"[k % 3], "abc"[(k * k + 1) % 3]
        cluster.nodes[source].say.insert((target, f"m{k}"))
        cluster.run(1 + k % 2)
    cluster.run(30)
    return cluster


@pytest.mark.parametrize("kind", [WaitingClock, LamportClock])
@pytest.mark.parametrize("seed", range(10))
def test_what_is_received_is_later_than_what_was_sent(kind: Any, seed: int) -> None:
    heard = [row for node in _chat(kind, seed).nodes.values() for row in node.heard]
    assert len(heard) == 12
    assert all(row.received > row.sent for row in heard)


def test_a_lamport_clock_is_put_forward() -> None:
    node = LamportClock("b")
    node.tick()
    node.machine.deliver("message", ("b", "a", "hello", 40))
    node.tick()
    assert list(node.heard) == [("a", "hello", 40, 41)]
    node.say.insert(("c", "bye"))
    assert node.tick().sent == (("message", ("c", "b", "bye", 42)),)


def _at_most(one: Any, other: Any) -> bool:
    entries = dict(other)
    return all(time <= entries.get(node, 0) for node, time in one)


def test_an_answer_is_after_the_question_and_what_nobody_heard_is_beside_it() -> None:
    nodes: Any = {name: VectorClock(name) for name in "abc"}
    nodes["a"].say.insert(("b", "question"))
    nodes["c"].say.insert(("b", "else"))
    ((_, question),) = nodes["a"].tick().sent
    nodes["c"].tick()
    nodes["b"].machine.deliver("message", question)
    nodes["b"].tick()
    nodes["b"].say.insert(("a", "answer"))
    nodes["b"].tick()
    asked, beside, answered = (next(iter(nodes[name].said)).stamp for name in "acb")
    assert (asked, beside) == (frozenset({("a", 1)}), frozenset({("c", 1)}))
    assert answered == frozenset({("a", 1), ("b", 2)})
    assert _at_most(asked, answered) and not _at_most(answered, asked)
    assert not _at_most(beside, answered) and not _at_most(answered, beside)


@pytest.mark.parametrize("seed", range(5))
def test_a_receiver_knows_at_least_what_the_sender_knew(seed: int) -> None:
    cluster = _chat(VectorClock, seed)
    for node in cluster.nodes.values():
        clock = node.clock.value.elements()
        assert all(_at_most(row.stamp, clock) for row in node.heard)
        assert {src for src, _ in clock} >= {row.src for row in node.heard}
