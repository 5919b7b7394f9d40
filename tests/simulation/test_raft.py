"""The Raft example: the protocol driven by hand, and its seven bugs."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from clew.simulation import Broken, Restart, Scenario, Send, Start, World
from clew.simulation.fuzzing.random_run import random_run
from clew.simulation.loading import load_scenario

_FILE = Path(__file__).parents[2] / "examples" / "raft" / "raft_bugs.py"


def _scenario(name: str) -> Scenario:
    return load_scenario(f"{_FILE}:{name}").scenario


_scenario("correct")
raft: Any = sys.modules["raft"]

FOUR = ("a", "b", "c", "d")


class Cluster:
    """A world of four nodes that is driven by hand."""

    def __init__(self, scenario: str, bootstrapped: tuple[str, ...] = FOUR) -> None:
        self.scenario = _scenario(scenario)
        self.world: World = self.scenario.world()
        for name in FOUR:
            self.world.inject(Start(name))
        for name in bootstrapped:
            self.outside(name, raft.Bootstrap(frozenset(FOUR)))

    def __getitem__(self, name: str) -> Any:
        return self.world.nodes[name]

    def outside(self, target: str, message: Any) -> None:
        self.world.inject(Send(target, message))
        (envelope,) = self.world.pool.ready("", target)
        self.world.deliver(envelope)

    def command(self, target: str, *values: str) -> None:
        for value in values:
            self.outside(target, raft.ClientCommand(value))

    def timer(self, name: str, *nodes: str) -> None:
        for node in nodes:
            envelope = self.world.pool.timer(node, name)
            assert envelope is not None, f"{name} is not set at {node}"
            self.world.deliver(envelope)

    def pass_on(self, source: str, *targets: str, nth: int = 0) -> list[Any]:
        """Deliver what is on its way from the source to each of these, and say what it was."""
        messages = []
        for target in targets:
            envelope = list(self.world.pool.ready(source, target))[nth]
            messages.append(envelope.payload)
            self.world.deliver(envelope)
        return messages

    def answers(self, target: str, *sources: str) -> list[Any]:
        return [message for source in sources for message in self.pass_on(source, target)]

    def elect(self, leader: str, *voters: str) -> None:
        self.timer("election", leader)
        self.pass_on(leader, *voters)
        self.answers(leader, *voters)

    def broken(self) -> Broken | None:
        return self.scenario.look(self.world)

    def set_timers(self, node: str) -> list[str]:
        return sorted(t.payload for t in self.world.pool.timers if t.target == node)


# -- the protocol ------------------------------------------------------------------------------------------------


def test_a_node_is_silent_until_it_is_told_the_members() -> None:
    cluster = Cluster("correct", bootstrapped=())
    cluster.command("a", "x")
    assert list(cluster.world.pool) == []
    cluster.outside("a", raft.Bootstrap(frozenset(FOUR)))
    assert cluster.set_timers("a") == ["election"]
    assert (cluster["a"].peers, cluster["a"].quorum) == (("b", "c", "d"), 3)
    cluster.outside("a", raft.Bootstrap(frozenset("ab")))
    assert cluster["a"].peers == ("b", "c", "d"), "the first one counts"
    cluster.outside("b", raft.Bootstrap(frozenset("cd")))
    assert cluster["b"].members == frozenset(), "it is not a member"


def test_messages_of_nodes_that_are_no_members_are_ignored() -> None:
    cluster = Cluster("correct", bootstrapped=("a",))
    cluster.outside("b", raft.Bootstrap(frozenset("bcd")))
    cluster.timer("election", "a")
    cluster.pass_on("a", "b")
    assert (cluster["b"].term, cluster["b"].vote) == (0, "")


def test_a_majority_elects_a_leader() -> None:
    cluster = Cluster("correct")
    cluster.timer("election", "a")
    assert cluster.pass_on("a", "b", "c") == [raft.RequestVote(1, 0, 0)] * 2
    assert cluster.answers("a", "b") == [raft.Vote(1, True)]
    assert (cluster["a"].role, cluster.set_timers("a")) == ("candidate", ["election", "retry"])
    cluster.answers("a", "c")
    assert (cluster["a"].role, cluster["a"].won, cluster.set_timers("a")) == ("leader", {1}, ["retry"])
    assert cluster["a"].log == [(0, ""), (1, "")], "it begins with an empty entry"


def test_a_cluster_of_one_elects_and_commits_by_itself() -> None:
    cluster = Cluster("correct", bootstrapped=())
    cluster.outside("a", raft.Bootstrap(frozenset("a")))
    cluster.timer("election", "a")
    cluster.command("a", "x")
    assert cluster["a"].applied == [(0, ""), (1, ""), (1, "x")]


def test_a_vote_is_given_once_a_term_but_said_as_often_as_it_is_asked_for() -> None:
    cluster = Cluster("correct")
    cluster.timer("election", "a", "b")
    cluster.timer("retry", "a")
    cluster.pass_on("a", "c", "c")
    assert cluster.answers("a", "c", "c") == [raft.Vote(1, True)] * 2
    assert (cluster["a"].role, cluster["a"].votes) == ("candidate", ["a", "c"])
    cluster.pass_on("b", "c")
    assert cluster.answers("b", "c") == [raft.Vote(1, False)]


def test_a_candidate_asks_only_those_again_who_have_not_answered() -> None:
    cluster = Cluster("correct")
    cluster.timer("election", "a")
    cluster.pass_on("a", "b", "c", "d")
    cluster.answers("a", "b")
    cluster.timer("retry", "a")
    assert [list(cluster.world.pool.ready("a", peer)) != [] for peer in "bcd"] == [False, True, True]


def test_a_candidate_with_an_older_log_gets_no_vote() -> None:
    cluster = Cluster("correct")
    cluster.elect("a", "b", "c")
    cluster.pass_on("a", "b")
    cluster.timer("election", "d", "d")
    cluster.pass_on("d", "b", "b")
    assert cluster.answers("d", "b") == [raft.Vote(1, False)]
    assert cluster.answers("d", "b") == [raft.Vote(2, False)]
    assert (cluster["b"].term, cluster["b"].vote) == (2, "")


def test_commands_are_replicated_and_committed_by_a_majority() -> None:
    cluster = Cluster("correct")
    cluster.elect("a", "b", "c")
    cluster.command("a", "x", "y")
    cluster.pass_on("a", "b", "b", "c", "c")
    cluster.answers("a", "b", "b", "c")
    assert cluster["a"].commit_index == 1
    cluster.answers("a", "c")
    assert cluster["a"].applied == [(0, ""), (1, ""), (1, "x")]
    assert cluster.pass_on("a", "b")[0].entries == ((1, ""), (1, "x"), (1, "y")), "all that is not acknowledged"
    assert cluster["b"].commit_index == 0
    cluster.timer("retry", "a")
    cluster.pass_on("a", "b")
    assert cluster["b"].applied == cluster["a"].applied


def test_a_follower_passes_commands_on_and_a_node_that_knows_no_leader_drops_them() -> None:
    cluster = Cluster("correct")
    cluster.elect("a", "b", "c")
    cluster.pass_on("a", "b")
    cluster.answers("a", "b")
    cluster.command("b", "x")
    assert cluster.answers("a", "b") == [raft.ClientCommand("x")]
    assert cluster["a"].log[2:] == [(1, "x")]
    cluster.command("c", "y")
    assert list(cluster.world.pool.ready("c", "a")) == []


def test_a_leader_steps_down_for_a_later_term_and_its_entries_are_replaced() -> None:
    cluster = Cluster("correct")
    cluster.elect("a", "b", "c")
    cluster.command("a", "lost")
    cluster.timer("election", "d", "d")
    cluster.pass_on("d", "b", "b", "c", "c")
    cluster.answers("d", "b", "b", "c", "c")
    assert (cluster["d"].role, cluster["d"].term) == ("leader", 2)
    cluster.pass_on("d", "a", "a")
    assert (cluster["a"].role, cluster["a"].term, cluster.set_timers("a")) == ("follower", 2, ["election"])
    cluster.pass_on("d", "a")
    assert cluster["a"].log == cluster["d"].log == [(0, ""), (2, "")]
    assert cluster.broken() is None


def test_a_leader_goes_back_to_where_a_follower_is() -> None:
    cluster = Cluster("correct")
    cluster.elect("a", "b", "c")
    cluster.command("a", "x")
    cluster.pass_on("a", "b", "b")
    cluster.timer("election", "b")
    cluster.pass_on("b", "c", "d")
    cluster.answers("b", "c", "d")
    cluster.pass_on("b", "d")
    assert cluster.answers("b", "d") == [raft.AppendReply(2, False, 0)]
    (again,) = cluster.pass_on("b", "d")
    assert (again.prev_index, again.entries) == (0, ((1, ""), (1, "x"), (2, "")))
    assert cluster["d"].log == cluster["b"].log


def test_entries_of_earlier_terms_are_not_committed_by_counting() -> None:
    cluster = Cluster("correct")
    cluster.elect("a", "b", "c")
    cluster.pass_on("a", "b", "c")
    cluster.timer("election", "b")
    leader = cluster["b"]
    leader.role, leader.match_index = "leader", {"a": 1, "c": 1, "d": 0}
    leader._advance_commit()
    assert (leader.term, leader.commit_index) == (2, 0)


@pytest.mark.parametrize("name", FOUR[:2])
def test_a_restart_keeps_term_vote_log_and_members(name: str) -> None:
    cluster = Cluster("correct")
    cluster.elect("a", "b", "c")
    cluster.command("a", "x")
    cluster.pass_on("a", "b", "b")
    cluster.world.inject(Restart(name))
    node = cluster[name]
    assert (node.term, node.vote, node.log) == (1, "a", [(0, ""), (1, ""), (1, "x")])
    assert (node.role, node.commit_index, node.peers) == ("follower", 0, tuple(n for n in FOUR if n != name))
    assert cluster.set_timers(name) == ["election"]


def test_a_restart_knows_nothing_of_entries_that_were_replaced() -> None:
    cluster = Cluster("correct")
    cluster.elect("a", "b", "c")
    cluster.command("a", "lost", "lost too")
    cluster.timer("election", "d", "d")
    cluster.pass_on("d", "b", "b", "c", "c", "a", "a")
    cluster.answers("d", "b", "b", "c", "c")
    cluster.pass_on("d", "a")
    cluster.world.inject(Restart("a"))
    assert cluster["a"].log == [(0, ""), (2, "")]


# -- the bugs ----------------------------------------------------------------------------------------------------


def test_bug_45() -> None:
    cluster = Cluster("raft45")
    for candidate, voter in (("a", "c"), ("b", "d")):
        cluster.timer("election", candidate)
        cluster.timer("retry", candidate)
        cluster.pass_on(candidate, voter, voter)
        cluster.answers(candidate, voter, voter)
    assert cluster.broken() == Broken("election safety", "a and b won term 1", ("a", "b"))


def test_bug_46() -> None:
    cluster = Cluster("raft46")
    cluster.timer("election", "a")
    cluster.pass_on("a", "b", "c")
    cluster.timer("election", "a")
    cluster.answers("a", "b", "c")
    cluster.elect("b", "c", "d")
    assert cluster.broken() == Broken("election safety", "a and b won term 2", ("a", "b"))


def test_bug_56() -> None:
    cluster = Cluster("raft56")
    cluster.timer("election", "c", "d")
    cluster.pass_on("c", "a")
    cluster.pass_on("d", "b")
    cluster.timer("election", "a", "b")
    cluster.pass_on("a", "c", "c", "d")
    assert (cluster["c"].term, cluster["c"].vote, cluster["d"].vote) == (2, "", "")
    cluster.pass_on("b", "c", "d", "d")
    cluster.answers("a", "c", "d", "d")
    cluster.answers("b", "c", "c", "d")
    assert cluster.broken() == Broken("election safety", "a and b won term 2", ("a", "b"))


def test_bug_58a() -> None:
    cluster = Cluster("raft58a")
    cluster.elect("a", "b", "c")
    cluster.command("a", "x")
    cluster.pass_on("a", "b", "c")
    cluster.answers("a", "b", "c")
    assert cluster["a"].commit_index == 1
    assert cluster.pass_on("a", "a") == [raft.TakeOffice(1)]
    broken = cluster.broken()
    assert broken is not None and (broken.invariant, broken.nodes) == ("no uncaught exception", ("a",))
    assert cluster.world.failure is not None and cluster.world.failure.error.startswith("AssertionError")


def test_bug_58b() -> None:
    cluster = Cluster("raft58b")
    cluster.elect("a", "b", "c")
    cluster.pass_on("a", "b")
    cluster.elect("b", "c", "d")
    cluster.pass_on("b", "c")
    assert cluster["c"].log == [(0, ""), (2, "")], "it is the second entry"
    assert cluster.broken() is None
    cluster.timer("retry", "b")
    cluster.pass_on("b", "c")
    what = "b and c have an entry 2 of term 2, but differ at 1: (1, '') and (2, '')"
    assert cluster.broken() == Broken("log matching", what, ("b", "c"))


def test_bug_42() -> None:
    cluster = Cluster("raft42")
    cluster.elect("a", "b", "c")
    cluster.command("a", "x", "y")
    cluster.pass_on("a", "b", "b", "c")
    cluster.answers("a", "c", "b", "b")
    assert (cluster["a"].match_index, cluster["a"].commit_index) == ({"b": 2, "c": 1, "d": 0}, 3)
    cluster.elect("b", "c", "d")
    what = "b leads in term 2 without entry 3, (1, 'y'), which a knew to be committed in term 1"
    assert cluster.broken() == Broken("leader completeness", what, ("b", "a"))


def test_bug_66() -> None:
    cluster = Cluster("raft66")
    cluster.elect("a", "b", "c")
    cluster.command("a", "x")
    for follower in ("b", "c"):
        cluster.pass_on("a", follower, nth=1)
        cluster.pass_on("a", follower)
        cluster.pass_on(follower, "a")
        assert cluster[follower].log == [(0, ""), (1, "")]
    cluster.elect("b", "c", "d")
    what = "b leads in term 2 without entry 2, (1, 'x'), which a knew to be committed in term 1"
    assert cluster.broken() == Broken("leader completeness", what, ("b", "a"))


@pytest.mark.parametrize(
    ("name", "seed", "deliveries", "invariant"),
    [
        ("raft45", 38, 1286, "election safety"),
        ("raft45_nine", 37, 363, "election safety"),
        ("raft46", 3, 1948, "election safety"),
        ("raft56", 4, 1428, "election safety"),
        ("raft58a", 3, 2303, "no uncaught exception"),
        ("raft58b", 3, 1023, "log matching"),
        ("raft42", 3, 2241, "leader completeness"),
        ("raft66", 23, 2379, "leader completeness"),
    ],
)
def test_random_executions_find_the_bug(name: str, seed: int, deliveries: int, invariant: str) -> None:
    run = random_run(_scenario(name), seed)
    assert run.broken is not None
    assert (run.broken.invariant, run.deliveries) == (invariant, deliveries)


@pytest.mark.parametrize("name", ["correct", "correct_lossy"])
def test_without_a_bug_nothing_is_found(name: str) -> None:
    scenario = replace(_scenario(name), count=70, steps=800)
    committed = 0
    for seed in range(30):
        run = random_run(scenario, seed)
        assert run.broken is None, f"seed {seed}"
        nodes: list[Any] = list(run.world.nodes.values())
        committed += max(node.commit_index for node in nodes)
    assert committed >= 30 * 10, "there was something to find"
