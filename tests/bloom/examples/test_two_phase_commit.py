"""Two-phase commit: all peers do the same, whatever the network does (thesis, listings 2.1 and 2.2)."""

from __future__ import annotations

from typing import Any

import pytest
from two_phase_commit import PATIENCE, Coordinator, Peer, TimeoutCoordinator

from random_network import RandomNetwork

_PEERS = ("p", "q", "r")


def _system(kind: Any, seed: int = 0, *, peers: tuple[str, ...] = _PEERS, **network: float) -> RandomNetwork:
    cluster = RandomNetwork({"c": kind("c")} | {name: Peer(name) for name in peers}, seed, **network)
    cluster.nodes["c"].peers.insert(*((name,) for name in _PEERS))
    cluster.nodes["c"].begin.insert(("t",))
    return cluster


def _states(cluster: RandomNetwork) -> dict[str, list[Any]]:
    found = {name: list(cluster.nodes[name].outcome) for name in cluster.nodes if name != "c"}
    return {"c": list(cluster.nodes["c"].transaction)} | found


@pytest.mark.parametrize("seed", range(10))
def test_all_commit_if_all_vote_yes(seed: int) -> None:
    cluster = _system(Coordinator, seed, duplication=0.3)
    cluster.settle()
    assert _states(cluster) == {name: [("t", "commit")] for name in ("c", *_PEERS)}


@pytest.mark.parametrize("seed", range(10))
def test_all_abort_if_one_votes_no(seed: int) -> None:
    cluster = _system(Coordinator, seed, duplication=0.3)
    cluster.nodes["q"].refused.insert(("t",))
    cluster.settle()
    assert _states(cluster) == {name: [("t", "abort")] for name in ("c", *_PEERS)}


def test_without_a_timeout_a_peer_that_is_away_blocks() -> None:
    cluster = _system(Coordinator, peers=("p", "q"))
    cluster.settle()
    assert _states(cluster) == {"c": [("t", "prepare")], "p": [], "q": []}


def test_after_more_than_ten_ticks_the_coordinator_aborts() -> None:
    cluster = _system(TimeoutCoordinator, peers=("p", "q"))
    cluster.settle()
    for _ in range(PATIENCE):
        cluster.fire("c", "ticker")
        cluster.settle()
    assert _states(cluster)["c"] == [("t", "prepare")]
    cluster.fire("c", "ticker")
    cluster.settle()
    assert _states(cluster) == {name: [("t", "abort")] for name in ("c", "p", "q")}
    cluster.fire("c", "ticker")
    cluster.settle()
    assert list(cluster.nodes["c"].tick_cnt) == []


@pytest.mark.parametrize("seed", range(30))
def test_on_a_bad_network_all_end_alike(seed: int) -> None:
    cluster = _system(TimeoutCoordinator, seed, loss=0.4, duplication=0.3)
    for _ in range(40):
        cluster.fire("c", "ticker")
        cluster.run(2)
        ends = {row for states in _states(cluster).values() for row in states} - {("t", "prepare")}
        assert len(ends) <= 1
    states = _states(cluster)
    assert states == dict.fromkeys(states, states["c"])
    assert states["c"] in ([("t", "commit")], [("t", "abort")])
    assert cluster.refused == []
