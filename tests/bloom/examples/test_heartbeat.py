"""The failure detector and the leader election on top of it."""

from __future__ import annotations

from typing import Any

from heartbeat import PATIENCE, Heartbeat, LeaderElection

from random_network import RandomNetwork


def _group(kind: Any) -> RandomNetwork:
    cluster = RandomNetwork({name: kind(name) for name in "abc"})
    for node in cluster.nodes.values():
        node.peers.insert(("a",), ("b",), ("c",))
    cluster.settle()
    return cluster


def _beats(cluster: RandomNetwork, times: int) -> None:
    for _ in range(times):
        for name in cluster.nodes:
            cluster.fire(name, "beat_timer")
        cluster.settle()


def _suspected(cluster: RandomNetwork) -> dict[str, list[str]]:
    return {name: [row.peer for row in node.suspected] for name, node in cluster.nodes.items()}


def test_nobody_who_beats_is_suspected() -> None:
    cluster = _group(Heartbeat)
    _beats(cluster, 3 * PATIENCE)
    assert _suspected(cluster) == {"a": [], "b": [], "c": []}


def test_who_stops_is_suspected_after_a_while_and_not_before() -> None:
    cluster = _group(Heartbeat)
    _beats(cluster, 1)
    gone = cluster.nodes.pop("c")
    _beats(cluster, PATIENCE)
    assert _suspected(cluster) == {"a": [], "b": []}
    _beats(cluster, 1)
    assert _suspected(cluster) == {"a": ["c"], "b": ["c"]}
    cluster.nodes["c"] = gone
    _beats(cluster, 1)
    assert _suspected(cluster) == {"a": [], "b": [], "c": []}, "it is heard again"


def test_the_smallest_that_is_not_suspected_leads() -> None:
    cluster = _group(LeaderElection)
    _beats(cluster, 2)
    assert {name: [row.peer for row in node.leader] for name, node in cluster.nodes.items()} == {
        name: ["a"] for name in "abc"
    }
    del cluster.nodes["a"]
    _beats(cluster, PATIENCE + 1)
    assert {name: [row.peer for row in node.leader] for name, node in cluster.nodes.items()} == {
        name: ["b"] for name in "bc"
    }
