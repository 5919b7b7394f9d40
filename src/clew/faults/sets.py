"""Sets of faults in canonical order, and the failure specification that says which of them a search tries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations
from math import prod
from typing import Generic, TypeVar

from clew.faults.base import AnyFault, Span
from clew.faults.kinds import KINDS, Crash, Delay, Fault, Loss
from clew.faults.limits import Limits, NodeName, SentMessage


def by_message(faults: Iterable[Fault]) -> dict[SentMessage, list[Fault]]:
    """Group the faults that hit a single message by that message: of each group at most one can happen."""
    groups: dict[SentMessage, list[Fault]] = {}
    for fault in faults:
        if (message := fault.message) is not None:
            groups.setdefault(message, []).append(fault)
    return groups


def exclusive_pairs(faults: Iterable[Fault]) -> Iterator[tuple[Fault, Fault]]:
    """Yield the faults of which not both can happen: of one message, or of one node at the same time."""
    # Nodes first: the order of the clauses is what the SAT solver branches by, and with it the candidates that the
    # lineage search runs.
    spans: dict[NodeName, list[tuple[Span, Fault]]] = {}
    messages: dict[SentMessage, list[Fault]] = {}
    for fault in faults:
        if fault.span is not None:
            spans.setdefault(fault.span.node, []).append((fault.span, fault))
        elif fault.message is not None:
            messages.setdefault(fault.message, []).append(fault)
    for of_node in spans.values():
        yield from ((f, g) for (span, f), (other, g) in combinations(of_node, 2) if span.overlaps(other))
    for of_message in messages.values():
        yield from combinations(of_message, 2)


def _count(number: int, name: str) -> str:
    return f"{number} {name}" if number == 1 else f"{number} {name}s"


F = TypeVar("F", bound=AnyFault)
G = TypeVar("G", bound=AnyFault)


@dataclass(frozen=True)
class FaultSet(Generic[F]):
    """A set of faults of a model, or of code, with one canonical order.

    A tuple, not a frozenset: what is printed, saved and searched first must not depend on hashing.
    """

    faults: tuple[F, ...] = ()

    @staticmethod
    def of(faults: Iterable[F]) -> FaultSet[F]:
        return FaultSet(tuple(sorted(set(faults), key=_order_key)))

    @property
    def losses(self) -> tuple[Loss, ...]:
        return tuple(f for f in self.faults if isinstance(f, Loss))

    @property
    def crashes(self) -> tuple[Crash, ...]:
        return tuple(f for f in self.faults if isinstance(f, Crash))

    @property
    def delays(self) -> tuple[Delay, ...]:
        return tuple(f for f in self.faults if isinstance(f, Delay))

    @property
    def failures(self) -> tuple[F, ...]:
        """Return what fails: neither inputs nor what is chosen."""
        return tuple(f for f in self.faults if f.kind.is_failure)

    @property
    def given(self) -> FaultSet[F]:
        """Return what does not fail: inputs, and what is chosen."""
        return FaultSet(tuple(f for f in self.faults if not f.kind.is_failure))

    @property
    def weight(self) -> tuple[int, int]:
        """Return how much it takes: first the number of failures counts, then that of inputs and choices."""
        failures = len(self.failures)
        return failures, len(self.faults) - failures

    def count_text(self) -> str:
        """Say how many faults there are, and how much is given beside them."""
        failures, given = _count(len(self.failures), "fault"), []
        for kind in KINDS:
            number = 0 if kind.kind.is_failure else len(self.of_kind(kind))
            given += [_count(number, kind.kind.counted)] if number else []
        if not given:
            return failures
        if not self.failures:
            return f"{', '.join(given)} and no fault"
        return f"{failures} with {' and '.join(given)}"

    def of_kind(self, kind: type[G]) -> tuple[G, ...]:
        return tuple(f for f in self.faults if isinstance(f, kind))

    def __iter__(self) -> Iterator[F]:
        return iter(self.faults)

    def __len__(self) -> int:
        return len(self.faults)

    def __contains__(self, fault: object) -> bool:
        return fault in self.faults

    def sort_key(self) -> tuple[object, ...]:
        """Return a key that puts fewest faults first, then follows the order of the faults."""
        return (*self.weight, tuple(f.order_key() for f in self.faults))

    def __str__(self) -> str:
        return " ".join(map(str, self.faults)) if self.faults else "no fault"


def _order_key(fault: AnyFault) -> tuple[object, ...]:
    return fault.order_key()


# Without the decorator: it adds no field, and to make the methods anew takes half a millisecond of a cold start.
class FailureSpec(Limits):
    """The bounds of a search.

    ``eot`` is the last time of an execution, losses happen at times ``< eff``, at most ``crashes`` nodes
    crash, each at a time ``< eot``, and a delivered message takes at most ``delays`` extra steps.  At most so many
    ``duplicates``, ``restarts``, ``pauses`` and ``partitions`` happen, and they are over by ``eff``.  At most
    ``stops`` nodes stop, each at a time ``< eot``.  At most so many ``inputs`` are given; None: all that the
    program offers may be.
    """

    def possible_faults(self) -> Iterator[Fault]:
        """Yield every single fault that these bounds admit, kind by kind; the program says what may be given."""
        for kind in KINDS:
            yield from kind.possible(self)

    def admits(self, faults: FaultSet[Fault]) -> bool:
        """Tell whether this set of faults stays within the bounds."""
        return (
            all(fault.is_within(self) for fault in faults)
            and next(exclusive_pairs(faults), None) is None
            and all(self._are_few_enough(kind, faults) for kind in KINDS)
        )

    def _are_few_enough(self, kind: type[Fault], faults: FaultSet[Fault]) -> bool:
        most = kind.most(self)
        return most is None or len(faults.of_kind(kind)) <= most

    def exclusive_pairs(self, faults: Iterable[Fault]) -> Iterator[tuple[Fault, Fault]]:
        """Yield the faults of which not both can happen."""
        return exclusive_pairs(faults)

    def limited_groups(self, faults: Iterable[Fault]) -> Iterator[tuple[list[Fault], int]]:
        """Yield the faults of each kind that is limited in number, with how many of them there may be."""
        # It is gone through once for each kind, and may be a generator.
        known = list(faults)
        for kind in KINDS:
            most = kind.most(self)
            if most is not None:
                yield [fault for fault in known if isinstance(fault, kind)], most

    def combinations(self) -> int:
        """Return the paper's bound on the number of failure combinations (the Combinations column).

        A factor for the arrival of every message is added when messages may be delayed.
        """
        return prod(kind.combinations(self) for kind in KINDS)
