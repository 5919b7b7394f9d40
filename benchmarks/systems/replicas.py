"""Replicated writes: how large the cluster is decides how long a run is, and the smallest cluster is not the best.

A node that gets a write stores it, sends copies to the other members, and calls it committed when half of the
members have it.  Bug: where their number is even, half is no majority.  A pair is careful: both must have it.

Smallest: four members, of which two are up; one copy and its acknowledgement.  In clusters of an odd size and in
pairs there is no violation, so that members can only leave two at a time, down to four.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

from clew.simulation import Broken, Context, External, Node, Scenario, Send, Start, World

NAMES = tuple(f"n{number}" for number in range(1, 9))


@dataclass(frozen=True)
class Members:
    """From outside: who is in the cluster."""

    names: tuple[str, ...]


@dataclass(frozen=True)
class Write:
    """From outside."""

    value: int


@dataclass(frozen=True)
class Copy:
    value: int


@dataclass(frozen=True)
class Copied:
    value: int


class Replica(Node):
    def __init__(self) -> None:
        self.members: tuple[str, ...] = ()
        self.values: set[int] = set()
        self.known: dict[int, set[str]] = {}
        self.committed: set[int] = set()

    def on_message(self, ctx: Context, sender: str, message: Any) -> None:
        match message:
            case Members(names) if ctx.me in names:
                self.members = names
            case Write(value) if self.members:
                self.values.add(value)
                self._learn(value, ctx.me)
                for peer in self.members:
                    if peer != ctx.me:
                        ctx.send(peer, Copy(value))
            case Copy(value) if self.members:
                self.values.add(value)
                ctx.send(sender, Copied(value))
            case Copied(value):
                self._learn(value, sender)

    def _learn(self, value: int, name: str) -> None:
        known = self.known.setdefault(value, set())
        known.add(name)
        # Bug: of an even number of members, half is enough.
        enough = 2 if len(self.members) == 2 else (len(self.members) + 1) // 2
        if len(known) >= enough:
            self.committed.add(value)


def at_a_majority(nodes: Mapping[str, Any]) -> Broken | None:
    for name, node in nodes.items():
        for value in sorted(node.committed):
            having = sum(value in other.values for other in nodes.values())
            if 2 * having <= len(node.members):
                return Broken("majority", f"{name} calls {value} committed, which {having} have")
    return None


def write(random: Random, world: World) -> External | None:
    up = sorted(world.nodes)
    return Send(random.choice(up), Write(world.events)) if up else None


even = Scenario(
    nodes=dict.fromkeys(NAMES, Replica),
    before=[*map(Start, NAMES), *(Send(name, Members(NAMES)) for name in NAMES)],
    events=[(1, write)],
    count=40,
    steps=1000,
    invariants=[at_a_majority],
)
