"""Faults that pass: second arrivals, restarts, pauses and partitions.

They begin before EFF and are over by EFF, so that what a program does after them is what it does in peace.  Each
counts as one fault, however many messages it touches.  The paper leaves them out: it knows losses before EFF and
crashes for good.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations
from math import comb
from typing import ClassVar, Literal, Self

from clew.faults.base import Kind, L, MessageFault, Span, notation, times_text
from clew.faults.limits import Limits, NodeName, SentMessage, node_key
from clew.names import show


@dataclass(frozen=True)
class Duplicate(MessageFault):
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
    #: The distance to failure moves the bounds of losses and crashes alone.
    at_will: ClassVar[str] = ""

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
        return f"{self._link()} arrives again {_steps(self.lag)} later"

    def effect(self, target: NodeName) -> str:
        return f"arrives at {self.time + 1}, and again at {self.last}"

    def undone(self, target: NodeName, arrival: str) -> str:
        return f"arrives only once, at {self.time + 1}"

    @staticmethod
    def possible_words(spec: Limits) -> str:
        return f"messages between different nodes arrive again one or more steps later, by {spec.eot}"

    @staticmethod
    def limit_words(spec: Limits) -> str:
        return _count(spec.duplicates, "duplicate")

    @staticmethod
    def allowance(spec: Limits) -> str:
        return f"up to {_count(spec.duplicates, 'message')} duplicated" if spec.duplicates else ""

    @staticmethod
    def none_of(spec: Limits) -> str:
        return "no duplicate" if spec.duplicates else ""

    @staticmethod
    def overlooked(spec: Limits) -> str:
        return ""

    @staticmethod
    def beyond(spec: Limits) -> str:
        return _beyond("duplicates", spec.duplicates, spec)

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

    @staticmethod
    def most(spec: Limits) -> int | None:
        return spec.duplicates

    def widen(self, spec: L) -> L:
        return replace(spec, eff=_eff(spec, self.last), duplicates=spec.duplicates + 1)

    @staticmethod
    def limit(spec: Limits) -> int:
        return spec.duplicates

    @staticmethod
    def combinations(spec: Limits) -> int:
        return _selections(Duplicate.possible(spec), spec.duplicates)

    def __str__(self) -> str:
        return notation(self.kind.letter, self.parts)


class NodeSpan:
    """What the faults that keep one node from running for some time have in common."""

    node: NodeName
    time: int
    until: int

    @property
    def parts(self) -> tuple[NodeName, int, int]:
        return self.node, self.time, self.until

    @property
    def numbers(self) -> tuple[int, ...]:
        return self.time, self.until

    @property
    def message(self) -> None:
        """Return None: it hits no single message."""
        return None

    @property
    def span(self) -> Span:
        return Span(self.node, self.time, self.until)

    @property
    def nodes(self) -> tuple[NodeName, ...]:
        return (self.node,)

    @property
    def last(self) -> int:
        return self.until

    def among(self, nodes: Sequence[NodeName]) -> Self:
        return self

    def strikes(self, time: int) -> bool:
        return time < self.until  # also what arrives while the node does not run, however early it was sent

    def prevents(self, message: SentMessage) -> bool:
        # Of what is sent to it, a late message may arrive when the node runs again.
        source, _, time = message
        return self.node == source and self.time <= time < self.until

    def is_within(self, spec: Limits) -> bool:
        return spec.has_node(self.node) and 1 <= self.time < self.until <= spec.all_over


@dataclass(frozen=True)
class Restart(NodeSpan):
    """``node`` is down from ``time`` on and runs again from ``until`` on, with its durable rows alone."""

    name: ClassVar[Literal["restart"]] = "restart"
    kind: ClassVar[Kind] = Kind(
        letter="R",
        plural="restarts",
        limit="restarts up to",
        flag="--restart",
        metavar="NODE,T,U",
        help="Let NODE be down from time T on, and run again from U on.",
        nodes=("node",),
        numbers=("time", "until"),
    )
    #: Programs see that a node is down in the relation ``down``.
    observable: ClassVar[bool] = True
    #: The distance to failure moves the bounds of losses and crashes alone.
    at_will: ClassVar[str] = ""

    node: NodeName
    time: int
    until: int

    @property
    def lateness(self) -> int:
        return 0

    def order_key(self) -> tuple[object, ...]:
        return (4, self.time, node_key(self.node), self.until)

    def rename(self, rename: Callable[[NodeName], NodeName]) -> Restart:
        return Restart(rename(self.node), self.time, self.until)

    # -- words ---------------------------------------------------------------------------------------

    @property
    def sentence(self) -> str:
        return f"{show(self.node)} is down at {times_text(self.time, self.until)} and restarts at {self.until}"

    @property
    def phases(self) -> tuple[tuple[int, str], ...]:
        return (self.time, f"{show(self.node)} goes down"), (self.until, f"{show(self.node)} restarts")

    def effect(self, target: NodeName) -> str:
        return "is lost" if target == self.node else "is not sent"

    def undone(self, target: NodeName, arrival: str) -> str:
        return "arrives" if target == self.node else f"is sent{arrival}"

    @staticmethod
    def possible_words(spec: Limits) -> str:
        return f"a node goes down at times 1 to {spec.eot - 1} and runs again later, by {spec.eot}"

    @staticmethod
    def limit_words(spec: Limits) -> str:
        return _count(spec.restarts, "restart")

    @staticmethod
    def allowance(spec: Limits) -> str:
        return f"up to {_count(spec.restarts, 'restart')}" if spec.restarts else ""

    @staticmethod
    def none_of(spec: Limits) -> str:
        return "no restart" if spec.restarts else ""

    @staticmethod
    def overlooked(spec: Limits) -> str:
        return ""

    @staticmethod
    def beyond(spec: Limits) -> str:
        return _beyond("restarts", spec.restarts, spec)

    # -- bounds --------------------------------------------------------------------------------------

    @staticmethod
    def possible(spec: Limits) -> Iterator[Restart]:
        if spec.restarts == 0:
            return iter(())
        return (Restart(n, t, u) for t, u in _intervals(spec) for n in spec.nodes)

    @staticmethod
    def most(spec: Limits) -> int | None:
        return spec.restarts

    def widen(self, spec: L) -> L:
        return replace(spec, eff=_eff(spec, self.until), restarts=spec.restarts + 1)

    @staticmethod
    def limit(spec: Limits) -> int:
        return spec.restarts

    @staticmethod
    def combinations(spec: Limits) -> int:
        return _selections(Restart.possible(spec), spec.restarts)

    def __str__(self) -> str:
        return notation(self.kind.letter, self.parts)


@dataclass(frozen=True)
class Pause(NodeSpan):
    """``node`` executes no step from ``time`` on, and goes on at ``until`` as if nothing had been."""

    name: ClassVar[Literal["pause"]] = "pause"
    kind: ClassVar[Kind] = Kind(
        letter="Z",
        plural="pauses",
        limit="pauses up to",
        flag="--pause",
        metavar="NODE,T,U",
        help="Let NODE execute nothing from time T on, until U.",
        nodes=("node",),
        numbers=("time", "until"),
    )
    #: Programs cannot see it happen.
    observable: ClassVar[bool] = False
    #: The distance to failure moves the bounds of losses and crashes alone.
    at_will: ClassVar[str] = ""

    node: NodeName
    time: int
    until: int

    @property
    def lateness(self) -> int:
        return self.until - self.time  # what arrives waits

    def order_key(self) -> tuple[object, ...]:
        return (5, self.time, node_key(self.node), self.until)

    def rename(self, rename: Callable[[NodeName], NodeName]) -> Pause:
        return Pause(rename(self.node), self.time, self.until)

    # -- words ---------------------------------------------------------------------------------------

    @property
    def sentence(self) -> str:
        return f"{show(self.node)} is paused at {times_text(self.time, self.until)} and goes on at {self.until}"

    @property
    def phases(self) -> tuple[tuple[int, str], ...]:
        return (self.time, f"{show(self.node)} pauses"), (self.until, f"{show(self.node)} goes on")

    def effect(self, target: NodeName) -> str:
        return f"waits until {self.until}" if target == self.node else "is not sent"

    def undone(self, target: NodeName, arrival: str) -> str:
        return f"does not wait until {self.until}" if target == self.node else f"is sent{arrival}"

    @staticmethod
    def possible_words(spec: Limits) -> str:
        return f"a node pauses at times 1 to {spec.eot - 1} and goes on later, by {spec.eot}"

    @staticmethod
    def limit_words(spec: Limits) -> str:
        return _count(spec.pauses, "pause")

    @staticmethod
    def allowance(spec: Limits) -> str:
        return f"up to {_count(spec.pauses, 'pause')}" if spec.pauses else ""

    @staticmethod
    def none_of(spec: Limits) -> str:
        return "no pause" if spec.pauses else ""

    @staticmethod
    def overlooked(spec: Limits) -> str:
        return ""

    @staticmethod
    def beyond(spec: Limits) -> str:
        return _beyond("pauses", spec.pauses, spec)

    # -- bounds --------------------------------------------------------------------------------------

    @staticmethod
    def possible(spec: Limits) -> Iterator[Pause]:
        if spec.pauses == 0:
            return iter(())
        return (Pause(n, t, u) for t, u in _intervals(spec) for n in spec.nodes)

    @staticmethod
    def most(spec: Limits) -> int | None:
        return spec.pauses

    def widen(self, spec: L) -> L:
        return replace(spec, eff=_eff(spec, self.until), pauses=spec.pauses + 1)

    @staticmethod
    def limit(spec: Limits) -> int:
        return spec.pauses

    @staticmethod
    def combinations(spec: Limits) -> int:
        return _selections(Pause.possible(spec), spec.pauses)

    def __str__(self) -> str:
        return notation(self.kind.letter, self.parts)


@dataclass(frozen=True)
class Partition:
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
    #: The distance to failure moves the bounds of losses and crashes alone.
    at_will: ClassVar[str] = ""

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

    @staticmethod
    def limit_words(spec: Limits) -> str:
        return _count(spec.partitions, "partition")

    @staticmethod
    def allowance(spec: Limits) -> str:
        return f"up to {_count(spec.partitions, 'partition')}" if spec.partitions else ""

    @staticmethod
    def none_of(spec: Limits) -> str:
        return "no partition" if spec.partitions else ""

    @staticmethod
    def overlooked(spec: Limits) -> str:
        return ""

    @staticmethod
    def beyond(spec: Limits) -> str:
        return _beyond("partitions", spec.partitions, spec)

    # -- bounds --------------------------------------------------------------------------------------

    @staticmethod
    def possible(spec: Limits) -> Iterator[Partition]:
        if spec.partitions == 0:
            return iter(())
        return (Partition(group, t, u) for t, u in _intervals(spec) for group in groups_of(spec.nodes))

    def is_within(self, spec: Limits) -> bool:
        return 1 <= self.time < self.until <= spec.all_over and self.group in groups_of(spec.nodes)

    @staticmethod
    def most(spec: Limits) -> int | None:
        return spec.partitions

    def widen(self, spec: L) -> L:
        return replace(spec, eff=_eff(spec, self.until), partitions=spec.partitions + 1)

    @staticmethod
    def limit(spec: Limits) -> int:
        return spec.partitions

    @staticmethod
    def combinations(spec: Limits) -> int:
        intervals = comb(spec.all_over, 2)
        sides = max(0, 2 ** (len(spec.nodes) - 1) - 1)
        return sum(comb(intervals * sides, k) for k in range(spec.partitions + 1))

    def __str__(self) -> str:
        return notation(self.kind.letter, self.parts)


@cache
def groups_of(nodes: tuple[NodeName, ...]) -> Sequence[tuple[NodeName, ...]]:
    """Return the groups that name a partition: each the smaller side, of two equal ones that of the first node."""
    ordered = sorted(nodes, key=node_key)
    half = len(ordered) / 2
    return tuple(
        group
        for size in range(1, len(ordered) // 2 + 1)
        for group in combinations(ordered, size)
        if size < half or group[0] == ordered[0]
    )


def name_group(group: Sequence[NodeName], nodes: Sequence[NodeName]) -> tuple[NodeName, ...]:
    """Return the group that names the partition of these nodes from the others."""
    inside = tuple(sorted(set(group), key=node_key))
    outside = tuple(sorted(set(nodes) - set(group), key=node_key))
    known = set(groups_of(tuple(nodes)))
    return outside if inside not in known and outside in known else inside


def _intervals(spec: Limits) -> Iterator[tuple[int, int]]:
    return combinations(range(1, spec.all_over + 1), 2)


def _selections(possible: Iterator[object], most: int) -> int:
    """Return in how many ways at most so many of these can happen."""
    number = sum(1 for _ in possible)
    return sum(comb(number, k) for k in range(most + 1))


def _eff(spec: Limits, over: int) -> int:
    return max(spec.eff, min(spec.eot, over))


def _beyond(plural: str, most: int, spec: Limits) -> str:
    return f"{plural} beyond {most} or after time {spec.all_over}" if most else ""


def _count(number: int, name: str) -> str:
    return f"{number} {name}{'' if number == 1 else 's'}" if number else ""


def _steps(number: int) -> str:
    return f"{number} {'step' if number == 1 else 'steps'}"
