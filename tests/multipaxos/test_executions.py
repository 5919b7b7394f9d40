"""Replicas among crashes, losses, repetitions, delays, partitions and jumps of clocks; an oracle judges."""

from __future__ import annotations

import pytest

from multipaxos.faulty_cluster import Cluster, run_execution
from multipaxos.judging import judge
from multipaxos.ledger import Ledger, WholeDecrees


@pytest.mark.parametrize("kind", [Ledger, WholeDecrees])
def test_what_is_acknowledged_is_done_once_everywhere_in_one_order(
    kind: type[Ledger], thorough: bool
) -> None:
    """A few are enough to see that nothing is wrong with everything; ``--thorough`` looks for what is rare."""
    ran = [run_execution(kind, seed) for seed in range(500 if thorough else 6)]
    assert {seed: judge(cluster) for seed, cluster in enumerate(ran) if judge(cluster)} == {}
    _assert_that_much_has_happened(ran)


def test_five_replicas_agree_as_well(thorough: bool) -> None:
    ran = [run_execution(Ledger, seed, addresses="abcde") for seed in range(100 if thorough else 2)]
    assert {seed: judge(cluster) for seed, cluster in enumerate(ran) if judge(cluster)} == {}


def test_a_node_that_comes_back_without_its_disk_denies_nothing(thorough: bool) -> None:
    """One disk at a time: more than half of the nodes have theirs."""
    ran = [run_execution(Ledger, seed, lost_disk=0.4) for seed in range(300 if thorough else 6)]
    assert {seed: judge(cluster) for seed, cluster in enumerate(ran) if judge(cluster)} == {}
    assert sum(cluster.told.lost_disks for cluster in ran) >= len(ran)


def _assert_that_much_has_happened(ran: list[Cluster]) -> None:
    """Executions in which nothing goes wrong would say nothing."""
    assert sum(cluster.told.crashes for cluster in ran) >= 2 * len(ran)
    assert sum(cluster.told.photographs for cluster in ran) >= len(ran)
    assert sum(len({row[1:3] for row in cluster.told.acknowledged}) for cluster in ran) >= 3 * len(ran)
    leaders = [{view[1] for _, _, _, view, _ in cluster.told.votes} for cluster in ran]
    assert sum(len(of_one) > 1 for of_one in leaders) >= len(ran) // 3


def test_an_execution_is_the_same_each_time() -> None:
    first, second = (run_execution(Ledger, 3) for _ in range(2))
    assert (first.told, first.sent, first.time) == (second.told, second.sent, second.time)
