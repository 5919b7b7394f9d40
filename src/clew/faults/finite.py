"""Faults of messages that pass: second arrivals and partitions; those of nodes are in ``clew.faults.halting``.

They begin before EFF and are over by EFF, so that what a program does after them is what it does in peace.  Each
counts as one fault, however many messages it touches.  The paper leaves them out: it knows losses before EFF and
crashes for good.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import comb
from typing import ClassVar, Literal

from clew.faults.base import (
    Kind,
    L,
    MessageFault,
    PassingFault,
    count_selections,
    intervals,
    least_eff,
    notation,
    steps_text,
    times_text,
)
from clew.faults.limits import Limits, NodeName, SentMessage, node_key
from clew.names import show


@dataclass(frozen=True)
class Duplicate(MessageFault, PassingFault):
    """What ``source`` sends to ``target`` at ``time`` arrives as usual, and again ``lag`` steps later."""

    name: ClassVar[Literal["duplicate"]] = "duplicate"
    kind: ClassVar[Kind] = Kind(
        letter="U",
        plural="duplicates",
        limit="duplicates up to",
        flag="--duplicate",
        metavar="FROM,TO,T,LAG",
        help="Let it arrive, and again LAG steps later.",
        nodes=("from", "to"),
        numbers=("time", "lag"),
    )
    #: Programs cannot see it happen.
    observable: ClassVar[bool] = False
    halts: ClassVar[bool] = False

    source: NodeName
    target: NodeName
    time: int
    lag: int

    @property
    def parts(self) -> tuple[NodeName, NodeName, int, int]:
        return self.source, self.target, self.time, self.lag

    @property
    def numbers(self) -> tuple[int, ...]:
        return self.time, self.lag

    @property
    def lateness(self) -> int:
        return self.lag

    @property
    def last(self) -> int:
        return self.time + 1 + self.lag

    def order_key(self) -> tuple[object, ...]:
        return (3, self.time, node_key(self.source), node_key(self.target), self.lag)

    def prevents(self, message: SentMessage) -> bool:
        return False

    def rename(self, rename: Callable[[NodeName], NodeName]) -> Duplicate:
        return Duplicate(rename(self.source), rename(self.target), self.time, self.lag)

    # -- words ---------------------------------------------------------------------------------------

    @property
    def sentence(self) -> str:
        return f"{self._link()} arrives again {steps_text(self.lag)} later"

    def effect(self, target: NodeName) -> str:
        return f"arrives at {self.time + 1}, and again at {self.last}"

    def undone(self, target: NodeName, arrival: str) -> str:
        return f"arrives only once, at {self.time + 1}"

    @staticmethod
    def possible_words(spec: Limits) -> str:
        return f"messages between different nodes arrive again one or more steps later, by {spec.eot}"

    @classmethod
    def allowance(cls, spec: Limits) -> str:
        number = spec.duplicates
        return f"up to {number} {'message' if number == 1 else 'messages'} duplicated" if number else ""

    # -- bounds --------------------------------------------------------------------------------------

    @staticmethod
    def possible(spec: Limits) -> Iterator[Duplicate]:
        if spec.duplicates == 0:
            return iter(())
        return (
            Duplicate(a, b, t, lag)
            for t in range(1, spec.all_over)
            for a, b in spec.links()
            for lag in range(1, spec.all_over - t)
        )

    def is_within(self, spec: Limits) -> bool:
        within = self.time >= 1 and self.lag >= 1 and self.last <= spec.all_over
        return within and spec.has_link(self.source, self.target)

    def widen(self, spec: L) -> L:
        return replace(spec, eff=least_eff(spec, self.last), duplicates=spec.duplicates + 1)

    @staticmethod
    def combinations(spec: Limits) -> int:
        return count_selections(Duplicate.possible(spec), spec.duplicates)

    def __str__(self) -> str:
        return notation(self.kind.letter, self.parts)


@dataclass(frozen=True)
class Partition(PassingFault):
    """What is sent from ``time`` on and before ``until`` between the ``group`` and the other nodes is lost.

    The other nodes as a group are the same partition; ``among`` chooses which of the two names it.
    """

    name: ClassVar[Literal["partition"]] = "partition"
    kind: ClassVar[Kind] = Kind(
        letter="P",
        plural="partitions",
        limit="partitions up to",
        flag="--partition",
        metavar="NODES:T,U",
        help="Lose what passes between NODES (a,b) and the others from time T on, until U.",
        nodes=("group",),
        numbers=("time", "until"),
        group=True,
    )
    #: Programs cannot see it happen.
    observable: ClassVar[bool] = False
    halts: ClassVar[bool] = False

    group: tuple[NodeName, ...]
    time: int
    until: int

    @property
    def parts(self) -> tuple[tuple[NodeName, ...], int, int]:
        return self.group, self.time, self.until

    @property
    def numbers(self) -> tuple[int, ...]:
        return self.time, self.until

    @property
    def message(self) -> None:
        """Return None: it hits no single message."""
        return None

    @property
    def span(self) -> None:
        """Return None: all nodes run."""
        return None

    @property
    def nodes(self) -> tuple[NodeName, ...]:
        return self.group

    @property
    def lateness(self) -> int:
        return 0

    @property
    def last(self) -> int:
        return self.until

    def order_key(self) -> tuple[object, ...]:
        return (6, self.time, len(self.group), tuple(map(node_key, self.group)), self.until)

    def strikes(self, time: int) -> bool:
        return self.time <= time < self.until

    def prevents(self, message: SentMessage) -> bool:
        source, target, time = message
        return self.strikes(time) and (source in self.group) != (target in self.group)

    def among(self, nodes: Sequence[NodeName]) -> Partition:
        # Of two sides that are equally large, the other one may have been renamed to the one that names both.
        return Partition(name_group(self.group, nodes), self.time, self.until)

    def rename(self, rename: Callable[[NodeName], NodeName]) -> Partition:
        return Partition(tuple(sorted(map(rename, self.group), key=node_key)), self.time, self.until)

    # -- words ---------------------------------------------------------------------------------------

    @property
    def sentence(self) -> str:
        names = ", ".join(map(show, self.group))
        are = "is" if len(self.group) == 1 else "are"
        return f"{names} {are} cut off from the others at {times_text(self.time, self.until)}"

    @property
    def phases(self) -> tuple[tuple[int, str], ...]:
        names = f"{', '.join(map(show, self.group))} {'is' if len(self.group) == 1 else 'are'}"
        return (self.time, f"{names} cut off"), (self.until, f"{names} no longer cut off")

    def effect(self, target: NodeName) -> str:
        return "is lost"

    def undone(self, target: NodeName, arrival: str) -> str:
        return "arrives"

    @staticmethod
    def possible_words(spec: Limits) -> str:
        return f"some but not all nodes are cut off at times 1 to {spec.eot - 1}, and joined later, by {spec.eot}"

    # -- bounds --------------------------------------------------------------------------------------

    @staticmethod
    def possible(spec: Limits) -> Iterator[Partition]:
        if spec.partitions == 0:
            return iter(())
        return (Partition(group, t, u) for t, u in intervals(spec) for group in groups_of(spec.nodes))

    def is_within(self, spec: Limits) -> bool:
        within = 1 <= self.time < self.until <= spec.all_over and all(map(spec.has_node, self.group))
        return within and self.among(spec.nodes) == self and _names_partition(self.group, _in_order(spec.nodes))

    def widen(self, spec: L) -> L:
        return replace(spec, eff=least_eff(spec, self.until), partitions=spec.partitions + 1)

    @staticmethod
    def combinations(spec: Limits) -> int:
        intervals = comb(spec.all_over, 2)
        sides = max(0, 2 ** (len(spec.nodes) - 1) - 1)
        return sum(comb(intervals * sides, k) for k in range(spec.partitions + 1))

    def __str__(self) -> str:
        return notation(self.kind.letter, self.parts)


def groups_of(nodes: Sequence[NodeName]) -> Iterator[tuple[NodeName, ...]]:
    """Yield the groups that name a partition: each the smaller side, of two equal ones that of the first node."""
    ordered = _in_order(nodes)
    for size in range(1, len(ordered) // 2 + 1):
        yield from (group for group in combinations(ordered, size) if _names_partition(group, ordered))


def _names_partition(group: Sequence[NodeName], ordered: Sequence[NodeName]) -> bool:
    """Tell whether a group of these nodes, in order, names its partition."""
    # Not whether it is among ``groups_of``, which are too many for a run of thirty nodes.
    half = len(ordered) / 2
    return 0 < len(group) < half or (len(group) == half and group[0] == ordered[0])


def name_group(group: Sequence[NodeName], nodes: Sequence[NodeName]) -> tuple[NodeName, ...]:
    """Return the group that names the partition of these nodes from the others."""
    ordered = _in_order(nodes)
    inside = tuple(sorted(set(group), key=node_key))
    outside = tuple(node for node in ordered if node not in inside)
    if not set(inside) <= set(ordered) or _names_partition(inside, ordered):
        return inside
    return outside if _names_partition(outside, ordered) else inside


def _in_order(nodes: Sequence[NodeName]) -> list[NodeName]:
    return sorted(nodes, key=node_key)
