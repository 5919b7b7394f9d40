"""What is on its way, and what of it can be delivered next."""

from __future__ import annotations

from random import Random

import pytest

from clew.simulation.pool import OUTSIDE, Envelope, Pool


class Source:
    """Numbers the envelopes of each sender."""

    def __init__(self) -> None:
        self._sent: dict[str, int] = {}

    def message(self, source: str, target: str) -> Envelope:
        return Envelope(source, self._next(source), target, "m", False, -1, 0)

    def timer(self, node: str, name: str) -> Envelope:
        return Envelope(node, self._next(node), node, name, True, -1, 0)

    def _next(self, source: str) -> int:
        self._sent[source] = self._sent.get(source, 0) + 1
        return self._sent[source]


def numbers(pool: Pool, source: str = "a", target: str = "b") -> list[int]:
    return [envelope.nth for envelope in pool.ready(source, target)]


def filled(fifo: bool, count: int = 3, source: str = "a") -> Pool:
    pool, sender = Pool(fifo), Source()
    for _ in range(count):
        pool.add(sender.message(source, "b"))
    return pool


def test_fifo_gives_the_oldest_of_a_pair_only() -> None:
    pool = filled(fifo=True)
    taken = []
    while pool.messages:
        assert len(pool.messages) == 1 and numbers(pool) == [pool.messages[0].nth]
        taken.append(pool.messages[0].nth)
        pool.take(pool.messages[0])
    assert taken == [1, 2, 3] and list(pool) == []


def test_a_network_that_reorders_gives_any() -> None:
    pool = filled(fifo=False)
    assert numbers(pool) == [1, 2, 3]
    pool.take(pool.messages[1])
    assert numbers(pool) == [1, 3]


def test_messages_from_outside_are_in_no_order() -> None:
    assert numbers(filled(fifo=True, source=OUTSIDE), OUTSIDE) == [1, 2, 3]


def test_the_pairs_of_nodes_are_independent() -> None:
    pool, sender = Pool(fifo=True), Source()
    for source, target in (("a", "b"), ("b", "a"), ("a", "c"), ("a", "b")):
        pool.add(sender.message(source, target))
    assert [(e.source, e.target) for e in pool.messages] == [("a", "b"), ("b", "a"), ("a", "c")]


def test_a_timer_that_is_set_twice_is_one_timer() -> None:
    pool, sender = Pool(fifo=True), Source()
    pool.arm(sender.timer("a", "x"))
    pool.arm(sender.timer("a", "x"))
    pool.arm(sender.timer("a", "y"))
    assert [(e.payload, e.nth) for e in pool.timers] == [("x", 1), ("y", 3)]
    pool.cancel("a", "x")
    pool.cancel("a", "x")
    assert [e.payload for e in pool.timers] == ["y"] and pool.timer("a", "x") is None


@pytest.mark.parametrize("fifo", [True, False])
def test_a_partition_holds_what_is_there_and_what_comes(fifo: bool) -> None:
    pool, sender = Pool(fifo), Source()
    pool.add(sender.message("a", "b"))
    pool.add(sender.message("a", "b"))
    pool.hold(("a", "b"))
    pool.hold(("a", "b"))
    pool.add(sender.message("a", "b"))
    pool.add(sender.message("b", "a"))
    assert numbers(pool) == [] and numbers(pool, "b", "a") == [1] and len(list(pool)) == 4
    assert pool.is_held("a", "b") and not pool.is_held("b", "a")
    pool.release(("b", "a"))
    assert numbers(pool) == []
    pool.release()
    assert numbers(pool) == ([1] if fifo else [1, 2, 3]) and not pool.is_held("a", "b")


def test_what_is_on_its_way_to_a_node_that_is_gone_is_dropped() -> None:
    pool, sender = Pool(fifo=True), Source()
    for source, target in (("a", "b"), ("a", "b"), ("b", "a"), ("c", "b"), ("c", "b")):
        pool.add(sender.message(source, target))
    pool.arm(sender.timer("b", "x"))
    pool.arm(sender.timer("a", "x"))
    pool.hold(("c", "b"))
    pool.drop_for("b")
    assert [repr(e) for e in pool] == ["<str b#1 to a>", "<x a#3 to a>"]
    assert pool.is_held("c", "b")


def test_places_stay_right_under_random_use() -> None:
    random = Random(5)
    pool, sender = Pool(fifo=False), Source()
    for _ in range(2000):
        if pool.messages and random.random() < 0.5:
            pool.take(random.choice(pool.messages))
        else:
            pool.add(sender.message(*random.sample("abc", 2)))
        assert all(pool.messages[e.place] is e for e in pool.messages)
    for source in "abc":
        for target in "abc":
            ready = numbers(pool, source, target)
            assert ready == sorted(e.nth for e in pool.messages if (e.source, e.target) == (source, target))
