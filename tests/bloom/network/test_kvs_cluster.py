"""The replicated key-value store: three processes of which one is killed, and three nodes on a bad network.

With CLEW_LONG=1 the clients put 10,000 values instead of some hundred.
"""

from __future__ import annotations

import os
import queue
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from benchmarks.bloom_kvs import EXAMPLES, Plan, ReplicaProcess, measure, replicas, settle

from long_mode import first_of

sys.path.insert(0, str(EXAMPLES))  # the examples import each other by name, as scripts in one folder do

import kvs_cluster
from kvs_cluster import Replica, State, StoreClient

from random_network import RandomNetwork

PUTS = 10_000 if os.environ.get("CLEW_LONG") == "1" else 600


# -- processes ---------------------------------------------------------------------------------------------------


@pytest.fixture
def three(tmp_path: Path) -> Iterator[list[ReplicaProcess]]:
    with replicas(tmp_path) as running:
        yield running


def _client(cluster: list[ReplicaProcess]) -> StoreClient:
    return StoreClient([replica.address for replica in cluster])


@pytest.mark.parametrize("killed", [0, 2], ids=["home of a client", "home of nobody"])
def test_no_acknowledged_put_is_lost_when_a_replica_is_killed(killed: int, tmp_path: Path) -> None:
    run = measure(Plan(PUTS, killed=killed), tmp_path)
    assert (run.acknowledged, run.lost, run.exact, run.errors) == (PUTS, 0, True, "")


def test_a_majority_is_enough_to_put_and_to_get(three: list[ReplicaProcess]) -> None:
    with _client(three) as client:
        client.connect()
        assert client.put_all([("x", 1), ("y", 2)]) == 2
        three[0].end(signal.SIGKILL)
        assert client.put_all([("x", 3)]) == 1
        assert [client.fetch(key) for key in ("x", "y", "z")] == [3, 2, None]


def test_without_a_majority_nothing_is_acknowledged(three: list[ReplicaProcess]) -> None:
    with _client(three) as client:
        client.connect()
        for replica in three[1:]:
            replica.end(signal.SIGKILL)
        told: queue.SimpleQueue[Any] = queue.SimpleQueue()
        client.on(client.acknowledged, told.put)
        with pytest.raises(TimeoutError, match=r"1 puts are not acknowledged after 0\.7 seconds"):
            client.put_all([("x", 1)], timeout=0.7)
        assert told.empty()
        three[2].start()
        assert told.get(timeout=30) == [(1,)]
        assert client.fetch("x") == 1


def test_what_one_replica_missed_outlives_the_one_that_has_to_send_it(three: list[ReplicaProcess]) -> None:
    with _client(three) as client:
        client.connect()
        three[2].end(signal.SIGKILL)
        assert client.put_all([("x", 1)]) == 1
        three[0].end(signal.SIGKILL)
        for replica in (three[0], three[2]):
            replica.start()
        settle(client)
        assert client.states() == {replica.address: State(number=1, behind=0) for replica in three}
    for replica in three:
        replica.end(signal.SIGTERM)
        assert [(key, value) for key, _, value in replica.rows()] == [("x", 1)]


def test_a_client_that_comes_later_overwrites(three: list[ReplicaProcess]) -> None:
    for value in ("first", "second"):
        with _client(three) as client:
            client.connect()
            assert client.put_all(("x", f"{value} {k}") for k in range(20)) == 20
            assert client.fetch("x") == f"{value} 19"
            number, _ = client.last_stamp
    assert number == 40


def test_no_client_connects_where_nobody_is() -> None:
    with (
        StoreClient(["127.0.0.1:9", "127.0.0.1:10"]) as client,
        pytest.raises(TimeoutError, match=r"0 of 2 replicas answered within 0\.1 seconds"),
    ):
        client.connect(timeout=0.1)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_replica_cleanly(number: int, tmp_path: Path) -> None:
    with replicas(tmp_path, 1) as (replica,):
        with _client([replica]) as client:
            client.connect()
            assert client.put_all([("x", 1)]) == 1
        assert replica.end(number) == (0, "ended\n", "")
        assert [(key, value) for key, _, value in replica.rows()] == [("x", 1)]


def test_an_address_that_is_taken_is_an_error_with_a_remedy(tmp_path: Path) -> None:
    with replicas(tmp_path, 1) as (replica,):
        second = ReplicaProcess(replica.address, [], tmp_path / "second")
        with pytest.raises(RuntimeError, match=f"cannot listen at {replica.address}.*remedy: give it an address"):
            second.start()


# -- nodes on a bad network --------------------------------------------------------------------------------------


def _nodes() -> dict[str, Any]:
    names = ["r0", "r1", "r2"]
    nodes: dict[str, Any] = {name: Replica(name, [n for n in names if n != name]) for name in names}
    return nodes | {name: StoreClient(names, name, name=name) for name in ("c0", "c1")}


def _fire_all(cluster: RandomNetwork) -> None:
    for name in cluster.nodes:
        cluster.fire(name, "beat" if name.startswith("r") else "again")


@pytest.mark.parametrize("seed", first_of(range(20), 6))
def test_replicas_agree_whatever_is_lost_repeated_or_late(seed: int) -> None:
    nodes = _nodes()
    cluster = RandomNetwork(nodes, seed, loss=0.3, duplication=0.3)
    puts = {}
    for number in range(1, 9):
        for name in ("c0", "c1"):
            puts[number, name] = (f"k{number % 3}", f"{name} {number}")
            nodes[name].put.insert((number, *puts[number, name]))
        cluster.run(2)
    for _ in range(60):
        _fire_all(cluster)
        cluster.run(3)
    wanted = {}
    for stamp in sorted(puts):
        key, value = puts[stamp]
        wanted[key] = (key, stamp, value)
    for name in ("r0", "r1", "r2"):
        assert list(nodes[name].kept) == sorted(wanted.values())
        assert [len(nodes[name].unconfirmed), len(nodes[name].unanswered), len(nodes[name].holders)] == [0, 0, 0]
    for name in ("c0", "c1"):
        assert list(nodes[name].open_puts) == []
    assert cluster.refused == []


def test_an_old_put_that_comes_again_changes_nothing() -> None:
    replica = Replica("r0", ["r1"])
    for number, value in ((1, "old"), (2, "new"), (1, "old")):
        replica.machine.deliver("put_msg", ("r0", "c0", (number, "me"), "x", value))
        replica.until_quiet()
    assert list(replica.kept) == [("x", (2, "me"), "new")]


def test_a_put_waits_for_a_peer_and_is_answered_once() -> None:
    replica = Replica("r0", ["r1", "r2"])
    replica.machine.deliver("put_msg", ("r0", "c0", (1, "me"), "x", "v"))
    assert [name for step in replica.until_quiet() for name, _ in step.sent] == ["store_msg", "store_msg"]
    answers = []
    for peer in ("r1", "r2"):
        replica.machine.deliver("stored", ("r0", peer, (1, "me")))
        answers.append([message for step in replica.until_quiet() for message in step.sent])
    assert answers == [[("put_done", ("c0", "r0", (1, "me")))], []]
    assert len(replica.unconfirmed) == 0


def test_a_peer_that_comes_back_gets_what_it_missed_in_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kvs_cluster, "CATCH_UP", 3)
    replica = Replica("r0", ["r1"])
    for number in range(1, 6):
        replica.machine.deliver("put_msg", ("r0", "c0", (number, "me"), f"k{number}", number))
    replica.until_quiet()
    sent = []
    for number in range(1, 4):
        replica.machine.deliver("beat", (number, 0))
        replica.until_quiet()
        replica.machine.deliver("pong", ("r0", "r1", number))
        again = [row for step in replica.until_quiet() for _, row in step.sent]
        sent.append([stamp[0] for _, _, stamp, _, _ in again])
        for _, _, stamp, _, _ in again:
            replica.machine.deliver("stored", ("r0", "r1", stamp))
        replica.until_quiet()
    assert sent == [[1, 2, 3], [4, 5], []]


def test_a_busy_peer_gets_nothing_twice() -> None:
    replica = Replica("r0", ["r1"])
    replica.machine.deliver("put_msg", ("r0", "c0", (1, "me"), "x", "v"))
    for number in range(1, 9):
        replica.machine.deliver("beat", (number, 0))
        replica.machine.deliver("put_msg", ("r0", "c0", (1, "me"), "x", "v"))
    sent = [name for step in replica.until_quiet() for name, _ in step.sent]
    for number in range(9, 12):
        replica.machine.deliver("beat", (number, 0))
        sent += [name for step in replica.until_quiet() for name, _ in step.sent]
    assert sent.count("store_msg") == 1
