"""What a strategy needs to know of the system it searches, and nothing more.

A system is run under a set of faults and says which violations that shows; an execution can carry the
lineage of what went right.  Nothing here knows of Dedalus: a model, simulated code and a recorded
service look alike.  A test holds the strategies to that.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from clew.faults import FailureSpec, Fault, FaultSet, NodeName
from clew.lineage.circuit import Circuit
from clew.violation import Violation


@dataclass(frozen=True)
class Run:
    """What one execution showed."""

    faults: FaultSet
    violations: tuple[Violation, ...]


@dataclass(frozen=True)
class TracedRun(Run):
    """An execution with lineage: for each goal that was met a gate of the system's circuit.

    While a goal's gate holds, that goal's violation cannot happen.  With ``complete`` lineage, a goal that is
    not mentioned here cannot be violated by any faults.
    """

    supports: Mapping[Violation, int]
    complete: bool


class System(Protocol):
    """Something that can be executed under faults."""

    @property
    def spec(self) -> FailureSpec: ...

    @property
    def faults(self) -> Sequence[Fault]:
        """Return the single faults that can make a difference."""

    def run(self, faults: FaultSet) -> Run: ...


class TracedSystem(System, Protocol):
    """A system whose executions carry lineage."""

    @property
    def circuit(self) -> Circuit: ...

    @property
    def hazards(self) -> Mapping[Violation, int]:
        """Return for a goal a gate without which its violation is impossible (nothing said: always possible)."""

    def trace(self, faults: FaultSet) -> TracedRun: ...


class SymmetricSystem(System, Protocol):
    """A system in which some nodes can trade places."""

    def symmetries(self) -> Sequence[Mapping[NodeName, NodeName]]:
        """Return the renamings of nodes that change nothing, without the identity."""

    def rename_goal(self, goal: Violation, renaming: Mapping[NodeName, NodeName]) -> Violation: ...


class SolvableSystem(System, Protocol):
    """A system whose every execution can be asked about at once."""

    def ever_fewer_faults(self, promise: str | None = None) -> Iterable[FaultSet]:
        """Yield violating fault sets, each smaller than the one before; end when no smaller one exists.

        ``promise``: only what violates this relation, one of several that are told apart.
        """

    def minimal_faults(self, promise: str | None = None) -> Iterable[FaultSet]:
        """Yield every subset-minimal violating fault set."""
