"""Messages per decree and per view, as the literature counts them: exactly, steady and under churn.

With n agents, the leader one of them, and what a node tells itself not counted: a decree costs n - 1 proposals,
n - 1 votes, and n - 1 notices that it is chosen, since the leader is the distinguished learner; a view costs n - 1
times asking and n - 1 promises, whatever number of decrees follows.  A promise is a message that says how many
votes come with it, and one message for each of these, and one that stands for all instances before.
"""

from __future__ import annotations

import pytest

from multipaxos.ledger import WholeDecrees
from multipaxos.quiet_cluster import call, quiet_cluster, sent, submit, tick

NAMES = "abcdefg"


class Wide(WholeDecrees):
    """With decrees as large as they may be, and all of them kept."""

    most_requests = 256
    remembered = 64
    keep = 1000


def _per_decree(others: int, decrees: int = 1) -> dict[str, int]:
    return {"accept": others * decrees, "commit": others * decrees, "vote": others * decrees}


@pytest.mark.parametrize("size", [3, 5, 7])
def test_a_decree_costs_three_messages_for_each_other_node(size: int) -> None:
    cluster = quiet_cluster(Wide, NAMES[:size])
    sent(cluster)
    for number in range(1, 4):
        submit(cluster, "a", ("ann", number))
        assert sent(cluster) == _per_decree(size - 1)


def test_the_number_of_messages_does_not_grow_with_the_log() -> None:
    cluster = quiet_cluster(Wide)
    sent(cluster)
    for number in range(1, 41):
        submit(cluster, "a", ("ann", number))
    assert sent(cluster) == _per_decree(2, 40)


def test_requests_that_wait_together_are_one_decree() -> None:
    cluster = quiet_cluster(Wide)
    sent(cluster)
    submit(cluster, "a", *((client, number) for client in ("ann", "bob") for number in range(1, 21)))
    assert sent(cluster) == _per_decree(2)


def test_a_request_elsewhere_is_passed_on_with_one_message() -> None:
    cluster = quiet_cluster(Wide)
    sent(cluster)
    submit(cluster, "b", ("ann", 1))
    assert sent(cluster) == _per_decree(2) | {"forward": 1}


@pytest.mark.parametrize("size", [3, 5])
def test_a_view_is_prepared_once_however_long_the_log_is(size: int) -> None:
    cluster = quiet_cluster(Wide, NAMES[:size])
    for number in range(1, 11):
        submit(cluster, "a", ("ann", number))
    sent(cluster)
    call(cluster, "b")
    others = size - 1
    assert sent(cluster) == {"prepare": others, "promise": others, "vouch": others}


def test_under_churn_each_view_costs_what_one_costs_and_each_decree_what_one_costs() -> None:
    cluster = quiet_cluster(Wide)
    sent(cluster)
    for number, leader in enumerate("bcab", 1):
        call(cluster, leader)
        submit(cluster, leader, ("ann", number))
        submit(cluster, leader, ("bob", number))
    views = {"prepare": 8, "promise": 8, "vouch": 8}
    assert sent(cluster) == _per_decree(2, 8) | views


def test_a_vote_that_is_not_certain_costs_a_message_in_each_promise_and_a_decree() -> None:
    """The leader and another one voted, and then the leader is gone: the next one has it chosen."""
    cluster = quiet_cluster(Wide)
    cluster.up["a"].machine.insert("submit", [("ann", 1, ("ann", 1))])
    while sum(channel == "vote" for _, _, channel, _ in cluster.messages) < 2:
        cluster.advance()
    cluster.deliver(next(k for k, m in enumerate(cluster.messages) if (m[1], m[2]) == ("b", "vote")))
    cluster.crash("a")
    cluster.settle()
    sent(cluster)
    call(cluster, "c")
    assert sent(cluster) == {
        # To and from a, which is not there, and b.
        "prepare": 2,
        "promise": 1,
        "vouch": 2,
        "vote": 2,
        "accept": 1,
        "commit": 2,
    }
    assert {tuple(cluster.disks[name].rows("trace")) for name in "bc"} == {((1, ("ann", 1)),)}


def test_while_nothing_is_under_way_only_the_leader_is_heard() -> None:
    cluster = quiet_cluster(Wide)
    submit(cluster, "a", ("ann", 1))
    sent(cluster)
    tick(cluster, 10)
    assert sent(cluster) == {"beat": 20}


def test_repeating_a_request_costs_nothing_once_it_is_done() -> None:
    cluster = quiet_cluster(Wide)
    submit(cluster, "a", ("ann", 1))
    sent(cluster)
    for name in "abc":
        submit(cluster, name, ("ann", 1))
    assert sent(cluster) == {}
