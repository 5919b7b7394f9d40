"""Faults that keep one node from running: restarts and pauses, which pass, and stops, which do not.

What a node keeps, and what becomes of what arrives meanwhile, is said in ``clew.engine.encode``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, Self

from clew.faults.base import (
    CountedFault,
    Kind,
    L,
    PassingFault,
    Span,
    count_selections,
    intervals,
    least_eff,
    notation,
    times_text,
)
from clew.faults.limits import Limits, NodeName, SentMessage, node_key
from clew.names import show


class NodeSpan(PassingFault):
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
    #: The node executes nothing meanwhile.
    halts: ClassVar[bool] = True

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

    # -- bounds --------------------------------------------------------------------------------------

    @staticmethod
    def possible(spec: Limits) -> Iterator[Restart]:
        if spec.restarts == 0:
            return iter(())
        return (Restart(n, t, u) for t, u in intervals(spec) for n in spec.nodes)

    def widen(self, spec: L) -> L:
        return replace(spec, eff=least_eff(spec, self.until), restarts=spec.restarts + 1)

    @staticmethod
    def combinations(spec: Limits) -> int:
        return count_selections(Restart.possible(spec), spec.restarts)

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
    #: The node executes nothing meanwhile.
    halts: ClassVar[bool] = True

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

    # -- bounds --------------------------------------------------------------------------------------

    @staticmethod
    def possible(spec: Limits) -> Iterator[Pause]:
        if spec.pauses == 0:
            return iter(())
        return (Pause(n, t, u) for t, u in intervals(spec) for n in spec.nodes)

    def widen(self, spec: L) -> L:
        return replace(spec, eff=least_eff(spec, self.until), pauses=spec.pauses + 1)

    @staticmethod
    def combinations(spec: Limits) -> int:
        return count_selections(Pause.possible(spec), spec.pauses)

    def __str__(self) -> str:
        return notation(self.kind.letter, self.parts)


@dataclass(frozen=True)
class Stop(CountedFault):
    """``node`` executes nothing from ``time`` on, for good: it receives and sends nothing, and its rows stay.

    The paper's text has crashes like this; ``Crash`` is what its tool, and the published numbers, have.
    """

    name: ClassVar[Literal["stop"]] = "stop"
    kind: ClassVar[Kind] = Kind(
        letter="S",
        plural="stops",
        limit="stops up to",
        flag="--stop",
        metavar="NODE,T",
        help="Crash NODE at time T so that it executes and receives nothing either.",
        nodes=("node",),
        numbers=("time",),
    )
    #: Programs see it as they see a crash.
    observable: ClassVar[bool] = True
    #: The node executes nothing meanwhile.
    halts: ClassVar[bool] = True

    node: NodeName
    time: int

    @property
    def parts(self) -> tuple[NodeName, int]:
        return self.node, self.time

    @property
    def numbers(self) -> tuple[int, ...]:
        return (self.time,)

    @property
    def message(self) -> None:
        """Return None: it hits no single message."""
        return None

    @property
    def span(self) -> Span:
        return Span(self.node, self.time, None)

    @property
    def nodes(self) -> tuple[NodeName, ...]:
        return (self.node,)

    @property
    def lateness(self) -> int:
        return 0

    @property
    def last(self) -> int:
        return self.time

    def order_key(self) -> tuple[object, ...]:
        return (7, self.time, node_key(self.node))

    def among(self, nodes: Sequence[NodeName]) -> Stop:
        return self

    def strikes(self, time: int) -> bool:
        return True  # also what arrives after it, however early it was sent

    def prevents(self, message: SentMessage) -> bool:
        source, target, time = message
        return (self.node == source and self.time <= time) or (self.node == target and self.time <= time + 1)

    def rename(self, rename: Callable[[NodeName], NodeName]) -> Stop:
        return Stop(rename(self.node), self.time)

    # -- words ---------------------------------------------------------------------------------------

    @property
    def sentence(self) -> str:
        return f"{show(self.node)} stops at time {self.time}, for good"

    @property
    def phases(self) -> tuple[tuple[int, str], ...]:
        return ((self.time, f"{show(self.node)} stops"),)

    def effect(self, target: NodeName) -> str:
        return "is lost" if target == self.node else "is not sent"

    def undone(self, target: NodeName, arrival: str) -> str:
        return "arrives" if target == self.node else f"is sent{arrival}"

    @staticmethod
    def possible_words(spec: Limits) -> str:
        return f"a node stops at times 1 to {spec.eot - 1}"

    @classmethod
    def beyond(cls, spec: Limits) -> str:
        return f"stops beyond {spec.stops}" if spec.stops else ""

    # -- bounds --------------------------------------------------------------------------------------

    @staticmethod
    def possible(spec: Limits) -> Iterator[Stop]:
        if spec.stops == 0:
            return iter(())
        return (Stop(n, t) for t in range(1, spec.eot) for n in spec.nodes)

    def is_within(self, spec: Limits) -> bool:
        return spec.has_node(self.node) and 1 <= self.time < spec.eot

    def widen(self, spec: L) -> L:
        return replace(spec, stops=spec.stops + 1)

    @staticmethod
    def combinations(spec: Limits) -> int:
        return count_selections(Stop.possible(spec), spec.stops)

    def __str__(self) -> str:
        return notation(self.kind.letter, self.parts)
