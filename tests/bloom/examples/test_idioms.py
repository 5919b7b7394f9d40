"""The idioms of chapters 2 and 3: each does what its text describes."""

from __future__ import annotations

from typing import Any

import pytest
from idioms import (
    AtomicDequeue,
    Barrier,
    Counter,
    CounterClient,
    GlobalQueue,
    Persistence,
    PriorityQueue,
    RollCall,
    Sequence,
    Voting,
)

from random_network import RandomNetwork


def test_a_fact_persists_until_the_step_after_its_retraction() -> None:
    """Example 3 of section 3.1."""
    node = Persistence()
    node.given.insert((1, 2))
    node.tick()
    node.given.insert((1, 3))
    node.tick()
    node.tick()
    assert list(node.p) == [(1, 2), (1, 3)]
    node.retracted.insert((1, 2))
    node.tick()
    assert list(node.p) == [(1, 2), (1, 3)]
    node.tick()
    assert list(node.p) == [(1, 3)]
    node.tick()
    assert list(node.p) == [(1, 3)]


def test_a_sequence_has_one_value_that_grows_with_events() -> None:
    node = Sequence()
    values = []
    for events in ([], ["x"], [], ["y"], ["z"], []):
        node.event.insert(*((event,) for event in events))
        node.tick()
        values.append(list(node.seq))
    assert values == [[(0,)], [(0,)], [(1,)], [(1,)], [(2,)], [(3,)]]


def test_the_counter_answers_with_the_value_before_the_increment() -> None:
    cluster = RandomNetwork({"server": Counter("server"), "client": CounterClient("client")})
    for ident in range(3):
        cluster.send("server", "request", ("server", "client", ident))
        cluster.settle()
    assert list(cluster.nodes["client"].answers) == [(0, 0), (1, 1), (2, 2)]
    assert list(cluster.nodes["server"].counter) == [(3,)]


def test_the_very_first_request_is_answered_with_zero() -> None:
    node = Counter("server")
    node.machine.deliver("request", ("server", "client", 7))
    assert node.tick().sent == (("response", ("client", 7, 0)),)


def test_requests_of_one_step_are_one() -> None:
    node = Counter("server")
    node.machine.deliver("request", ("server", "p", 1))
    node.machine.deliver("request", ("server", "q", 2))
    assert sorted(node.tick().sent) == [("response", ("p", 1, 0)), ("response", ("q", 2, 0))]
    node.tick()
    assert list(node.counter) == [(1,)]


_JOBS = [("bob", "bash", 200), ("eve", "ls", 1), ("alice", "ssh", 204), ("bob", "ssh", 205)]


def _served(kind: Any) -> list[list[Any]]:
    node = kind()
    node.submitted.insert(*_JOBS)
    node.tick()
    served = []
    for _ in range(5):
        node.tick()
        served.append(list(node.priority_queue))
    return served


def test_a_queue_gives_out_one_job_of_each_user_a_step() -> None:
    assert _served(PriorityQueue) == [
        [("alice", "ssh", 204), ("bob", "bash", 200), ("eve", "ls", 1)],
        [("bob", "ssh", 205)],
        [],
        [],
        [],
    ]


def test_a_global_queue_gives_out_one_job_a_step() -> None:
    assert _served(GlobalQueue) == [
        [("eve", "ls", 1)],
        [("bob", "bash", 200)],
        [("alice", "ssh", 204)],
        [("bob", "ssh", 205)],
        [],
    ]


def test_the_next_request_comes_when_the_first_has_passed() -> None:
    """Listing 2.5."""
    node = AtomicDequeue()
    node.update_request.insert(("x", "client", 2), ("y", "client", 1))
    seen = []
    for passed in ([], [], [("y", 1)], [], [("x", 2)], []):
        node.update_passed.insert(*passed)
        node.tick()
        seen.append([row.update for row in node.begin_prepare])
    assert seen == [["y"], ["y"], ["y"], ["x"], ["x"], []]


def _round(kind: Any, alive: str) -> RandomNetwork:
    cluster = RandomNetwork({name: kind(name) for name in "a" + alive})
    cluster.nodes["a"].members.insert(("b",), ("c",), ("d",))
    cluster.nodes["a"].begin.insert((1,))
    return cluster


def test_a_roll_call_finds_who_is_there() -> None:
    cluster = _round(RollCall, "bd")
    cluster.settle()
    assert list(cluster.nodes["a"].present) == [(1, "b"), (1, "d")]


@pytest.mark.parametrize(("alive", "passed"), [("bd", []), ("bcd", [(1,)])])
def test_a_barrier_is_passed_when_all_are_there(alive: str, passed: list[Any]) -> None:
    cluster = _round(Barrier, alive)
    cluster.settle()
    assert list(cluster.nodes["a"].passed) == passed


@pytest.mark.parametrize(
    ("alive", "favour", "count"), [("bcd", "bd", [(1, 2)]), ("bcd", "", [(1, 0)]), ("bd", "bd", [])]
)
def test_votes_are_counted_when_all_have_voted(alive: str, favour: str, count: list[Any]) -> None:
    cluster = _round(Voting, alive)
    for name in favour:
        cluster.nodes[name].favoured.insert((1,))
    cluster.settle()
    assert list(cluster.nodes["a"].yes_cnt) == count
