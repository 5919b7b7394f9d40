"""What Raft promises, as invariants over the nodes that are up; that no handler raises is checked anyway.

They look at the present state only, and are meant to be checked after every event: a leader is compared with the
others in the event in which it is elected.  A promise is one among the members of a cluster: nodes that were told
different members are different clusters.  In the good case none takes more than a few comparisons for each pair of
nodes, and parts of logs are compared as slices; entries that came from the same leader are the same object.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

from raft import LEADER, Raft

from clew.simulation import Broken

Nodes = Mapping[str, Raft]

ELECTION_SAFETY = "election safety"
LOG_MATCHING = "log matching"
LEADER_COMPLETENESS = "leader completeness"
STATE_MACHINE_SAFETY = "state-machine safety"


def election_safety(nodes: Nodes) -> Broken | None:
    """At most one node is elected in a term."""
    for name, node in nodes.items():
        if node.role == LEADER:
            for other, rival in nodes.items():
                if node.term in rival.won and other != name and rival.members == node.members:
                    pair = sorted((name, other))
                    return Broken(ELECTION_SAFETY, f"{' and '.join(pair)} won term {node.term}", tuple(pair))
    return None


def log_matching(nodes: Nodes) -> Broken | None:
    """Logs that have an entry of the same index and term are the same up to there."""
    for (name, node), (other, peer) in combinations(nodes.items(), 2):
        a, b = node.log, peer.log
        index = min(len(a), len(b)) - 1
        # The beginning is of the same term in all logs.
        while a[index][0] != b[index][0]:
            index -= 1
        if a[: index + 1] != b[: index + 1] and node.members == peer.members:
            differ = next(i for i in range(index + 1) if a[i] != b[i])
            return Broken(
                LOG_MATCHING,
                f"{name} and {other} have an entry {index} of term {a[index][0]}, but differ at {differ}: "
                f"{a[differ]} and {b[differ]}",
                (name, other),
            )
    return None


def leader_completeness(nodes: Nodes) -> Broken | None:
    """A leader has all entries that were committed in earlier terms.

    It is enough to look at the last of them: that those before it are the same is what log matching says.
    """
    for name, leader in nodes.items():
        if leader.role != LEADER:
            continue
        for other, node in nodes.items():
            last = node.commit_index
            if leader.term <= node.commit_term or (
                last < len(leader.log) and leader.log[last] == node.applied[last]
            ):
                continue
            if leader.members == node.members:
                return Broken(
                    LEADER_COMPLETENESS,
                    f"{name} leads in term {leader.term} without entry {last}, {node.applied[last]}, "
                    f"which {other} knew to be committed in term {node.commit_term}",
                    (name, other) if name != other else (name,),
                )
    return None


def state_machine_safety(nodes: Nodes) -> Broken | None:
    """What nodes have applied is the same, as far as both have come."""
    longest, most = "", None
    for name, node in nodes.items():
        if most is None or len(node.applied) > len(most.applied):
            longest, most = name, node
    for name, node in nodes.items():
        if most is None or node is most or most.applied[: len(node.applied)] == node.applied:
            continue
        if node.members == most.members:
            index = next(i for i, entry in enumerate(node.applied) if entry != most.applied[i])
            return Broken(
                STATE_MACHINE_SAFETY,
                f"entry {index} is {node.applied[index]} at {name} and {most.applied[index]} at {longest}",
                (name, longest),
            )
    return None


ALL = (election_safety, log_matching, leader_completeness, state_machine_safety)
