"""Paxos agrees: under loss, repetition, any order and competing leaders; and gets somewhere without them."""

from __future__ import annotations

import random
from functools import cache
from typing import Any

import pytest
from heartbeat import PATIENCE
from paxos import NO_VIEW, ElectedMultipaxos, Multipaxos, Synod

from clew.bloom import bloom
from coordination.schedules import again
from random_network import RandomNetwork

_NAMES = "abc"


@cache
def _made(kind: Any, name: str) -> Any:
    return kind(name)


def _parliament(kind: Any, seed: int = 0, **network: float) -> RandomNetwork:
    cluster = RandomNetwork({name: again(_made(kind, name)) for name in _NAMES}, seed, **network)
    for node in cluster.nodes.values():
        node.parliament.insert(*((name,) for name in _NAMES))
    cluster.run(1)
    return cluster


def _retry(cluster: RandomNetwork, rounds: int) -> None:
    for name in cluster.nodes:
        cluster.fire(name, "retry")
    cluster.run(rounds)


# -- parts -------------------------------------------------------------------------------------------------------


def test_an_agent_that_has_voted_says_so_in_its_promise() -> None:
    """Listing 2.3; and without a vote the promise is unconstrained."""
    agent = Synod("a")
    agent.machine.deliver("prepare", ("a", "b", (1, "b")))
    assert agent.tick().sent == (("promise", ("b", "a", (1, "b"), NO_VIEW, None)),)
    agent.machine.deliver("vote", ("a", "b", (1, "b"), "x"))
    assert agent.tick().sent == (("accept", ("b", "a", (1, "b"), "x")),)
    agent.machine.deliver("prepare", ("a", "c", (2, "c")))
    assert agent.tick().sent == (("promise", ("c", "a", (2, "c"), (1, "b"), "x")),)


def test_an_agent_keeps_its_promise() -> None:
    agent = Synod("a")
    agent.machine.deliver("prepare", ("a", "c", (2, "c")))
    agent.tick()
    agent.machine.deliver("prepare", ("a", "b", (1, "b")))
    agent.machine.deliver("vote", ("a", "b", (1, "b"), "x"))
    assert agent.tick().sent == ()
    assert list(agent.prev_vote) == []


def test_a_view_has_a_quorum_with_more_than_half_of_the_agents() -> None:
    """Listing 2.4, with four agents: two promises are not enough."""
    leader = Synod("a")
    leader.parliament.insert(*((name,) for name in "abcd"))
    leader.tick()
    leader.start_view.insert(("now",))
    leader.tick()
    leader.tick()
    quorums = []
    for agent in "bcd":
        leader.machine.deliver("promise", ("a", agent, (1, "a"), NO_VIEW, None))
        leader.tick()
        quorums.append(list(leader.quorum))
    assert quorums == [[], [], [((1, "a"),)]]


def test_a_leader_proposes_the_vote_of_the_latest_view_that_it_hears_of() -> None:
    leader = Synod("a")
    leader.parliament.insert(*((name,) for name in "abc"))
    leader.request.insert((1, "mine"))
    leader.machine.deliver("prepare", ("a", "c", (4, "c")))
    leader.tick()
    leader.start_view.insert(("now",))
    leader.tick()
    leader.tick()
    leader.machine.deliver("promise", ("a", "b", (5, "a"), (2, "b"), "older"))
    leader.machine.deliver("promise", ("a", "c", (5, "a"), (3, "c"), "later"))
    leader.tick()
    assert list(leader.proposal) == [((5, "a"), "later")]


# -- the whole ---------------------------------------------------------------------------------------------------


def _start(cluster: RandomNetwork, name: str) -> None:
    cluster.nodes[name].start_view.insert(("now",))


def test_one_leader_gets_its_update_chosen() -> None:
    cluster = _parliament(Synod)
    cluster.nodes["a"].request.insert((1, "x"))
    _start(cluster, "a")
    cluster.run(40)
    assert [list(node.chosen) for node in cluster.nodes.values()] == [[("x",)]] * 3


def _chosen(cluster: RandomNetwork) -> set[Any]:
    return {row.update for node in cluster.nodes.values() for row in node.chosen}


def _compete(cluster: RandomNetwork, seed: int) -> None:
    """Leaders start views at any time; some messages are lost and some arrive twice."""
    chance = random.Random(seed)
    for _ in range(8):
        for name in _NAMES:
            if chance.random() < 0.25:
                _start(cluster, name)
            if chance.random() < 0.5:
                cluster.fire(name, "retry")
        cluster.run(chance.randint(1, 4))


@pytest.fixture
def schedules(thorough: bool) -> int:
    return 400 if thorough else 50


def test_synod_agrees_under_many_schedules_with_competing_leaders(schedules: int) -> None:
    decided_early, winners = 0, set()
    for seed in range(schedules):
        cluster = _parliament(Synod, seed, loss=0.2, duplication=0.2)
        for k, name in enumerate(_NAMES):
            cluster.nodes[name].request.insert((k, f"of {name}"))
        _compete(cluster, seed)
        assert len(_chosen(cluster)) <= 1, seed
        decided_early += bool(_chosen(cluster))
        _start(cluster, _NAMES[seed % 3])
        for _ in range(30):
            _retry(cluster, 3)
            if all(node.chosen for node in cluster.nodes.values()):
                break
        assert [len(node.chosen) for node in cluster.nodes.values()] == [1, 1, 1], seed
        assert len(_chosen(cluster)) == 1, seed
        assert cluster.refused == [], seed
        winners |= _chosen(cluster)
    assert winners == {"of a", "of b", "of c"}
    assert 0 < decided_early < schedules, "the schedules are neither too kind nor too harsh to say anything"


class _Forgetful(Synod):
    """Proposes what it likes, whatever the promises say."""

    @bloom
    def propose(self) -> None:
        self.temp.opened <= self.quorum.notin(self.proposed, view="view")
        self.proposal <= (self.temp.opened * self.top_of_queue).pairs(lambda v, r: (v.view, r.update))
        self.proposed <+ self.proposal


def test_a_leader_that_ignores_constraints_is_caught_by_these_schedules() -> None:
    disagreements = 0
    for seed in range(40):
        cluster = _parliament(_Forgetful, seed, loss=0.2, duplication=0.2)
        for k, name in enumerate(_NAMES):
            cluster.nodes[name].request.insert((k, f"of {name}"))
        _compete(cluster, seed)
        disagreements += len(_chosen(cluster)) > 1
    assert disagreements > 0


def _logs(cluster: RandomNetwork) -> list[dict[int, set[str]]]:
    logs: list[dict[int, set[str]]] = []
    for node in cluster.nodes.values():
        log: dict[int, set[str]] = {}
        for instance, update in node.log:
            log.setdefault(instance, set()).add(update)
        logs.append(log)
    return logs


def _agreed(cluster: RandomNetwork) -> dict[int, set[str]]:
    together: dict[int, set[str]] = {}
    for log in _logs(cluster):
        for instance, updates in log.items():
            together.setdefault(instance, set()).update(updates)
    return together


def test_a_leader_passes_updates_in_the_order_of_its_queue() -> None:
    cluster = _parliament(Multipaxos)
    cluster.nodes["b"].request.insert((3, "z"), (1, "x"), (2, "y"))
    _start(cluster, "b")
    cluster.run(100)
    assert [list(node.log) for node in cluster.nodes.values()] == [[(0, "x"), (1, "y"), (2, "z")]] * 3
    assert list(cluster.nodes["b"].requests) == []


def test_a_view_is_prepared_once_for_many_instances() -> None:
    cluster = _parliament(Multipaxos)
    cluster.nodes["b"].request.insert((1, "x"), (2, "y"))
    _start(cluster, "b")
    cluster.run(100)
    assert {view for node in cluster.nodes.values() for view, _, _ in node.prev_vote} == {(1, "b")}


def test_multipaxos_agrees_under_many_schedules_with_competing_leaders(schedules: int) -> None:
    for seed in range(schedules):
        cluster = _parliament(Multipaxos, seed, loss=0.15, duplication=0.2)
        for k, name in enumerate(_NAMES):
            cluster.nodes[name].request.insert((k, f"{name}1"), (k + 3, f"{name}2"))
        _compete(cluster, seed)
        assert all(len(updates) == 1 for updates in _agreed(cluster).values()), seed
        leader = _NAMES[seed % 3]
        wanted = {f"{leader}1", f"{leader}2"}
        for _ in range(60):
            if not cluster.nodes[leader].mine:  # a view of another leader was still under way
                _start(cluster, leader)
            _retry(cluster, 3)
            if all(wanted <= {update for _, update in node.log} for node in cluster.nodes.values()):
                break
        assert all(len(updates) == 1 for updates in _agreed(cluster).values()), seed
        assert all(wanted <= {update for _, update in node.log} for node in cluster.nodes.values()), seed
        assert cluster.refused == [], seed


def _elected(seed: int) -> RandomNetwork:
    cluster = _parliament(ElectedMultipaxos, seed)
    for node in cluster.nodes.values():
        node.peers.insert(*((name,) for name in _NAMES))
    cluster.run(1)
    return cluster


def _time_passes(cluster: RandomNetwork, ticks: int) -> None:
    for _ in range(ticks):
        for name in cluster.nodes:
            cluster.fire(name, "beat_timer")
            cluster.fire(name, "retry")
        cluster.run(10)


@pytest.mark.parametrize("seed", range(5))
def test_when_the_leader_stops_another_one_goes_on(seed: int) -> None:
    cluster = _elected(seed)
    cluster.nodes["c"].request.insert((1, "x"))
    _time_passes(cluster, 6)
    assert [list(node.log) for node in cluster.nodes.values()] == [[(0, "x")]] * 3
    assert {view[1] for node in cluster.nodes.values() for view, _, _ in node.prev_vote} == {"a"}
    del cluster.nodes["a"]
    cluster.nodes["c"].request.insert((2, "y"))
    _time_passes(cluster, PATIENCE + 6)
    assert [list(node.log) for node in cluster.nodes.values()] == [[(0, "x"), (1, "y")]] * 2
    assert cluster.refused == []
