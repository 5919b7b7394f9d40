"""Within which bounds faults are injected into code."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from clew.injection.faults import CODE_KINDS, CodeFault, exclusive_code_pairs


@dataclass(frozen=True)
class InjectionBounds:
    """At most so many faults of each kind, and ``faults`` in all; they begin ``within`` a time.

    ``outages``: how long restarts and partitions last, one of these.  ``until``: when executions end.  Times are
    in microseconds.
    """

    nodes: tuple[str, ...]
    until: int
    within: int
    losses: int = 0
    crashes: int = 0
    restarts: int = 0
    partitions: int = 0
    duplicates: int = 0
    faults: int | None = None
    outages: tuple[int, ...] = (1_000_000,)

    def most(self, kind: type[CodeFault]) -> int:
        """Return how many faults of a kind there may be."""
        number: int = getattr(self, kind.kind.plural)
        return number

    def has_room(self, faults: Iterable[CodeFault]) -> bool:
        """Tell whether one more fault can be added to these."""
        known = list(faults)
        if self.faults is not None and len(known) >= self.faults:
            return False
        return any(sum(isinstance(f, kind) for f in known) < self.most(kind) for kind in CODE_KINDS)

    def exclusive_pairs(self, faults: Iterable[CodeFault]) -> Iterator[tuple[CodeFault, CodeFault]]:
        """Yield the faults of which not both can happen."""
        return exclusive_code_pairs(faults)

    def limited_groups(self, faults: Iterable[CodeFault]) -> Iterator[tuple[list[CodeFault], int]]:
        """Yield the faults of each kind, with how many of them there may be, and all of them."""
        known = list(faults)
        for kind in CODE_KINDS:
            yield [fault for fault in known if isinstance(fault, kind)], self.most(kind)
        if self.faults is not None:
            yield known, self.faults

    def admits(self, faults: Iterable[CodeFault]) -> bool:
        """Tell whether there are no more of these faults than there may be, and none excludes another."""
        known = list(faults)
        return next(self.exclusive_pairs(known), None) is None and all(
            len(group) <= most for group, most in self.limited_groups(known)
        )
