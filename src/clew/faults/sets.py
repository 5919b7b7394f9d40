"""Sets of faults, in canonical order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from clew.faults.kinds import Crash, Delay, Fault, Loss, fault_key
from clew.faults.limits import NodeName, SentMessage


def by_message(faults: Iterable[Fault]) -> dict[SentMessage, list[Fault]]:
    """Group the faults that hit a single message by that message: of each group at most one can happen."""
    groups: dict[SentMessage, list[Fault]] = {}
    for fault in faults:
        if (message := fault.message) is not None:
            groups.setdefault(message, []).append(fault)
    return groups


def exclusive_groups(faults: Iterable[Fault]) -> list[list[Fault]]:
    """Group faults by what they hit, faults of nodes first: of each group at most one can happen."""
    nodes: dict[SentMessage | NodeName, list[Fault]] = {}
    messages: dict[SentMessage | NodeName, list[Fault]] = {}
    for fault in faults:
        (nodes if fault.message is None else messages).setdefault(fault.hits, []).append(fault)
    return [*nodes.values(), *messages.values()]


@dataclass(frozen=True)
class FaultSet:
    """A set of faults with one canonical order.

    A tuple, not a frozenset: what is printed, saved and searched first must not depend on hashing.
    """

    faults: tuple[Fault, ...] = ()

    @staticmethod
    def of(faults: Iterable[Fault]) -> FaultSet:
        return FaultSet(tuple(sorted(set(faults), key=fault_key)))

    @property
    def losses(self) -> tuple[Loss, ...]:
        return tuple(f for f in self.faults if isinstance(f, Loss))

    @property
    def crashes(self) -> tuple[Crash, ...]:
        return tuple(f for f in self.faults if isinstance(f, Crash))

    @property
    def delays(self) -> tuple[Delay, ...]:
        return tuple(f for f in self.faults if isinstance(f, Delay))

    def of_kind(self, kind: type[Fault]) -> tuple[Fault, ...]:
        return tuple(f for f in self.faults if isinstance(f, kind))

    def __iter__(self) -> Iterator[Fault]:
        return iter(self.faults)

    def __len__(self) -> int:
        return len(self.faults)

    def __contains__(self, fault: object) -> bool:
        return fault in self.faults

    def sort_key(self) -> tuple[object, ...]:
        """Return a key that puts fewest faults first, then follows the order of the faults."""
        return (len(self.faults), tuple(fault_key(f) for f in self.faults))

    def __str__(self) -> str:
        return " ".join(map(str, self.faults)) if self.faults else "no fault"
