"""Executions and their oracle have the power to find mistakes: each of these is found.

Most are found in a random execution, which is named.  Some need so many things in a row that they get a script.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

import pytest

from multipaxos.faulty_cluster import Cluster, run_execution
from multipaxos.judging import judge
from multipaxos.ledger import Ledger
from multipaxos.mutants import (
    MUTANTS,
    AnswersBeforeVoting,
    LeadsOn,
    PromisesToTheIgnorant,
    SendsNoSessions,
)
from multipaxos.quiet_cluster import call, quiet_cluster, submit, tick

#: The first execution in which it shows.  There are many; one is enough, and costs a quarter of a second.
SEEDS = {
    "ForgetsPromises": 62,
    "ForgetsVotes": 20,
    "ForgetsLog": 16,
    "ForgetsSessions": 4,
    "SharesViews": 8,
    "IgnoresConstraints": 6,
    "TakesAnyConstraint": 12,
    "TrustsHalfPromises": 8,
    "VotesAgainstPromises": 14,
    "TakesAnyVote": 2,
    "CountsOneVote": 0,
    "DoesAllTwice": 0,
    "InstallsOldStates": 0,
    "InstallsHalfStates": 0,
    "MixesStates": 0,
    "ForgetsVotesOfOthers": 0,
    "VotesWithoutItsDisk": 4,
}
#: Nodes come back without their disks, too.
WITHOUT_DISKS = {"VotesWithoutItsDisk": 0.4}


def answer_and_crash(kind: type[Ledger]) -> Cluster:
    """Let a node answer that it voted, and crash before anything more is written."""
    cluster = quiet_cluster(kind)
    cluster.told.submitted["ann", 1] = cluster.time
    cluster.up["a"].machine.insert("submit", [("ann", 1, ("ann", 1))])
    while not any(channel == "vote" for _, _, channel, _ in cluster.messages):
        cluster.advance()
    (vote,) = (k for k, m in enumerate(cluster.messages) if (m[1], m[2]) == ("b", "vote"))
    cluster.deliver(vote)
    while not any(channel == "accept" for _, _, channel, _ in cluster.messages):
        cluster.settle_one("b")
    cluster.crash("b")
    cluster.cut = frozenset("c")
    cluster.settle()
    cluster.crash("a")
    cluster.cut = frozenset()
    cluster.start("b")
    call(cluster, "c")
    submit(cluster, "c", ("bob", 1))
    cluster.recover()
    return cluster


def lead_behind(kind: type[Ledger]) -> Cluster:
    """Let a node lead that has missed what the others have dropped already."""
    cluster = quiet_cluster(kind)
    cluster.crash("c")
    for number in range(1, 7):
        submit(cluster, "a", ("ann", number))
        tick(cluster, only=["a", "b"])
    cluster.start("c")
    call(cluster, "c")
    cluster.recover()
    return cluster


def lead_again(kind: type[Ledger]) -> Cluster:
    """Let a leader restart whose proposal is still under way, and propose something else."""
    cluster = quiet_cluster(kind)
    for client in ("ann", "bob"):
        cluster.told.submitted[client, 1] = cluster.time
    cluster.up["a"].machine.insert("submit", [("ann", 1, ("ann", 1))])
    while not any(channel == "vote" for _, _, channel, _ in cluster.messages):
        cluster.advance()
    late = [message for message in cluster.messages if message[2] == "vote"]
    cluster.messages.clear()
    cluster.crash("a")
    cluster.start("a")
    cluster.fire("a", "retry")
    cluster.settle()
    cluster.up["a"].machine.insert("submit", [("bob", 1, ("bob", 1))])
    cluster.cut = frozenset("c")
    cluster.settle()
    cluster.messages += [message for message in late if message[1] == "c"]
    cluster.crash("a")
    cluster.cut = frozenset()
    cluster.settle()
    cluster.recover()
    return cluster


def repeat_after_install(kind: type[Ledger]) -> Cluster:
    """Let a client repeat a request to a leader that has got the state of another replica."""
    cluster = quiet_cluster(kind)
    cluster.crash("c")
    for number in range(1, 7):
        submit(cluster, "a", ("ann", number))
        tick(cluster)
    cluster.start("c")
    tick(cluster, 2)
    call(cluster, "c")
    submit(cluster, "c", ("ann", 6))
    cluster.recover()
    return cluster


SCRIPTS: dict[type[Ledger], Callable[[type[Ledger]], Cluster]] = {
    AnswersBeforeVoting: answer_and_crash,
    PromisesToTheIgnorant: lead_behind,
    LeadsOn: lead_again,
    SendsNoSessions: repeat_after_install,
}


def test_all_mistakes_are_looked_for() -> None:
    assert {kind.__name__ for kind in MUTANTS} == SEEDS.keys() | {kind.__name__ for kind in SCRIPTS}


@pytest.mark.parametrize("kind", [kind for kind in MUTANTS if kind not in SCRIPTS])
def test_a_mistake_is_found_and_it_is_the_mistake(kind: type[Ledger]) -> None:
    lost_disk = WITHOUT_DISKS.get(kind.__name__, 0.0)
    seed = SEEDS[kind.__name__]
    assert _problem(partial(run_execution, kind, seed, lost_disk=lost_disk)) is not None
    assert _problem_without_mistake(seed, lost_disk) is None


@pytest.mark.parametrize("kind", SCRIPTS)
def test_a_mistake_is_found_by_its_script(kind: type[Ledger]) -> None:
    script = SCRIPTS[kind]
    assert _problem(partial(script, kind)) is not None
    assert _problem(partial(script, Ledger)) is None


@cache
def _problem_without_mistake(seed: int, lost_disk: float) -> str | None:
    return _problem(partial(run_execution, Ledger, seed, lost_disk=lost_disk))


def _problem(execution: Callable[[], Cluster]) -> str | None:
    try:
        problems = judge(execution())
    except AssertionError as error:  # a node refuses a row, or there is no end
        return str(error)
    return problems[0] if problems else None
