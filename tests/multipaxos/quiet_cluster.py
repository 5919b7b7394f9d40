"""Replicas among which nothing goes wrong but what a test does to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from multipaxos.faulty_cluster import Chances, Cluster

TIMERS = ("beat_timer", "retry", "sweep")


def quiet_cluster(kind: Any, addresses: Sequence[str] = ("a", "b", "c"), *, leader: str = "a") -> Cluster:
    """Return a cluster in which one leads, and everybody knows."""
    cluster = Cluster(kind, 0, Chances(), addresses)
    call(cluster, leader)
    assert leads(cluster, leader)
    return cluster


def call(cluster: Cluster, address: str) -> None:
    """Let a node begin a view."""
    cluster.insert(address, "campaign", ("a test wants it",))
    cluster.settle()


def leads(cluster: Cluster, address: str) -> bool:
    return bool(rows(cluster, address, "leading"))


def rows(cluster: Cluster, address: str, collection: str) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in cluster.up[address].machine.rows(collection)]


def submit(cluster: Cluster, address: str, *requests: tuple[str, int]) -> None:
    """Give a replica requests, all in one step."""
    for client, number in requests:
        cluster.told.submitted.setdefault((client, number), cluster.time)
    cluster.up[address].machine.insert("submit", [(c, n, (c, n)) for c, n in requests])
    cluster.settle()


def tick(cluster: Cluster, times: int = 1, only: Sequence[str] | None = None) -> None:
    """Let timers go off everywhere."""
    for _ in range(times):
        for timer in TIMERS:
            for address in cluster.up if only is None else only:
                cluster.fire(address, timer)
        cluster.settle()


def log(cluster: Cluster, address: str) -> list[Any]:
    """Return what is on the disk of a replica: what was done, in its order."""
    return [token for _, token in sorted(cluster.disks[address].rows("trace"))]


def answers(cluster: Cluster, client: str, number: int) -> list[Any]:
    return [row[3] for row in cluster.told.acknowledged if row[1:3] == (client, number)]


def sent(cluster: Cluster) -> dict[str, int]:
    """Return what was sent to others since it was asked last, by channel."""
    since = {channel: count for channel, count in sorted(cluster.sent.items()) if count}
    cluster.sent.clear()
    return since
