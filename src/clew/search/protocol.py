"""What a strategy needs to know of the system it searches, and nothing more.

A system is run under a set of faults and says which violations that shows; an execution can carry the
lineage of what went right.  Nothing here knows of Dedalus: a model, simulated code and a recorded
service look alike.  A test holds the strategies to that.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from clew.faults import AnyFault, FailureSpec, Fault, FaultSet, FaultsOf, NodeName
from clew.lineage.circuit import CircuitOf
from clew.violation import Violation

F = TypeVar("F", bound=AnyFault)


@dataclass(frozen=True)
class RunOf(Generic[F]):
    """What one execution showed."""

    faults: FaultsOf[F]
    violations: tuple[Violation, ...]


@dataclass(frozen=True)
class TracedRunOf(RunOf[F]):
    """An execution with lineage: for each goal that was met a gate of the system's circuit.

    While a goal's gate holds, that goal's violation cannot happen.  With ``complete`` lineage, a goal that is
    not mentioned here cannot be violated by any faults.  ``barren``: sets of faults of which more are not worth
    running; a system may say so whose lineage is incomplete.
    """

    supports: Mapping[Violation, int]
    complete: bool
    barren: tuple[FaultsOf[F], ...] = ()


class AdmissionOf(Protocol[F]):
    """Which sets of single faults are within the bounds."""

    def exclusive_pairs(self, faults: Iterable[F], /) -> Iterator[tuple[F, F]]:
        """Yield the faults of which not both can happen."""

    def limited_groups(self, faults: Iterable[F], /) -> Iterator[tuple[list[F], int]]:
        """Yield faults of which no more than so many can happen."""


class System(Protocol):
    """A model that can be executed under faults."""

    @property
    def spec(self) -> FailureSpec: ...

    @property
    def faults(self) -> Sequence[Fault]:
        """Return the single faults that can make a difference."""

    def run(self, faults: FaultSet) -> Run: ...


class TracedSystemOf(Protocol[F]):
    """A system whose executions carry lineage: a model, or code."""

    @property
    def spec(self) -> AdmissionOf[F]: ...

    @property
    def faults(self) -> Sequence[F]:
        """Return the single faults that can make a difference: all of a model, of code those that are known."""

    @property
    def circuit(self) -> CircuitOf[F]: ...

    @property
    def hazards(self) -> Mapping[Violation, int]:
        """Return for a goal a gate without which its violation is impossible (nothing said: always possible)."""

    def trace(self, faults: FaultsOf[F]) -> TracedRunOf[F]: ...


class TracedSystem(TracedSystemOf[Fault], Protocol):
    """A model whose executions carry lineage."""

    @property
    def spec(self) -> FailureSpec: ...

    def run(self, faults: FaultSet) -> Run: ...


#: What an execution of a model showed.
Run = RunOf[Fault]
TracedRun = TracedRunOf[Fault]


class SymmetricSystemOf(Protocol[F]):
    """A system in which some nodes can trade places."""

    def symmetries(self) -> Sequence[Mapping[NodeName, NodeName]]:
        """Return the renamings of nodes that change nothing, without the identity."""

    def rename_goal(self, goal: Violation, renaming: Mapping[NodeName, NodeName]) -> Violation: ...

    def rename_fault(self, fault: F, renaming: Mapping[NodeName, NodeName]) -> F: ...


class SymmetricSystem(System, SymmetricSystemOf[Fault], Protocol):
    """A model in which some nodes can trade places."""


class SolvableSystem(System, Protocol):
    """A system whose every execution can be asked about at once."""

    def ever_fewer_faults(self, promise: str | None = None) -> Iterable[FaultSet]:
        """Yield violating fault sets, each smaller than the one before; end when no smaller one exists.

        ``promise``: only what violates this relation, one of several that are told apart.
        """

    def minimal_faults(self, promise: str | None = None) -> Iterable[FaultSet]:
        """Yield every subset-minimal violating fault set."""
