"""What the oracle says of an execution."""

from __future__ import annotations

from multipaxos.faulty_cluster import Cluster
from multipaxos.log_oracle import find_problems


def judge(cluster: Cluster) -> list[str]:
    """Return what is wrong with all that was written, acknowledged and kept."""
    told = cluster.told
    final = {address: cluster.disks[address].rows("trace") for address in cluster.addresses}
    return find_problems(told.submitted, told.acknowledged, told.chosen, told.traces, told.votes, final)
