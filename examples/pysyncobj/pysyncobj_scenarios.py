"""Scenarios for PySyncObj: what is done to the cluster, and what must hold whatever is done.

``cluster`` is the library as it comes, with its journal on disk.  In ``compaction`` the log is cut after 8 entries
instead of 5,000, so that it happens within an execution; ``uncrashed`` is the same without restarts, and ``dump``
the same with one more invariant.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
from random import Random
from typing import Any

from pysyncobj_cluster import MESSAGES, Command, Entry, Replica

from clew.simulation import Broken, Heal, Network, Partition, Restart, Scenario, Send, World

# -- invariants --------------------------------------------------------------------------------------------------


def election_safety(nodes: Mapping[str, Replica]) -> Broken | None:
    """No term has two leaders."""
    leader_of: dict[int, str] = {}
    for name, node in nodes.items():
        for term in node.won:
            other = leader_of.setdefault(term, name)
            if other != name:
                return Broken("election safety", f"{other} and {name} both led term {term}", (other, name))
    return None


def log_matching(nodes: Mapping[str, Replica]) -> Broken | None:
    """Two logs with an entry of the same index and term are the same up to there."""
    logs = [(name, node.log) for name, node in nodes.items()]
    for (one, first), (other, second) in combinations(logs, 2):
        start = max(first[0][1], second[0][1])  # compaction cuts a log at its beginning
        index = _mismatch(first[start - first[0][1] :], second[start - second[0][1] :])
        if index is not None:
            what = f"{one} and {other} differ at index {index}, and agree on the term of an entry after it"
            return Broken("log matching", what, (one, other))
    return None


def _mismatch(first: Sequence[Entry], second: Sequence[Entry]) -> int | None:
    """The index at which two logs differ although they have the same term there or later."""
    differs = None
    for (command, index, term), (other_command, _, other_term) in zip(first, second, strict=False):
        if differs is None and (command, term) != (other_command, other_term):
            differs = index
        if differs is not None and term == other_term:
            return differs
    return None


def state_machine_safety(nodes: Mapping[str, Replica]) -> Broken | None:
    """No two nodes, nor two lives of a node, apply different values in the same place."""
    for name, node in nodes.items():
        if node.revised:
            place, then, now = node.revised
            what = f"{name} applied {then} in place {place}, and later {now}"
            return Broken("state-machine safety", what, (name,))
    for (one, first), (other, second) in combinations(nodes.items(), 2):
        if first.applied[: len(second.applied)] != second.applied[: len(first.applied)]:
            pairs = enumerate(zip(first.applied, second.applied, strict=False))
            place, (a, b) = next((place, pair) for place, pair in pairs if pair[0] != pair[1])
            what = f"in place {place}, {one} applied {a} and {other} {b}"
            return Broken("state-machine safety", what, (one, other))
    return None


def durability(nodes: Mapping[str, Replica]) -> Broken | None:
    """No node loses entries off the end of its log by itself; only a new leader may make it drop some."""
    for name, node in nodes.items():
        if node.forgot:
            before, after = node.forgot
            return Broken("durability", f"{name} had entries up to {before}, and then up to {after}", (name,))
    return None


# -- what is done to the cluster ---------------------------------------------------------------------------------


def command(random: Random, world: World) -> Send:
    """A client asks some node to append a number that nobody used before."""
    return Send(random.choice(list(world.nodes)), Command(world.events))


def restart(random: Random, world: World) -> Restart:
    return Restart(random.choice(list(world.nodes)))


def partition(random: Random, world: World) -> Partition:
    one, other = random.sample(list(world.nodes), 2)
    return Partition(one, other)


def heal(random: Random, world: World) -> Heal:
    return Heal()


def cluster_of(*more_invariants: Any, **settings: Any) -> Scenario:
    """Four nodes; ``settings`` are the library's own."""
    names = ("a", "b", "c", "d")
    return Scenario(
        nodes={name: partial(Replica, names, **settings) for name in names},
        running=names,
        events=[(4, command), (3, restart), (2, partition), (2, heal)],
        count=120,
        invariants=[election_safety, log_matching, state_machine_safety, *more_invariants],
        network=Network.FIFO,
        timers=0.3,
        steps=1500,
        messages=MESSAGES,
    )


cluster = cluster_of()
compaction = cluster_of(logCompactionMinEntries=8)
uncrashed = replace(compaction, events=[(4, command), (4, partition), (2, heal)], count=100)
dump = cluster_of(durability, logCompactionMinEntries=8)
