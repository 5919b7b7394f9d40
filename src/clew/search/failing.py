"""Which fault sets are known to fail, so that larger ones need not be tried."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Generic, TypeVar

from clew.faults import AnyFault, FaultsOf
from clew.search.protocol import RunOf

F = TypeVar("F", bound=AnyFault)


class Failing(Generic[F]):
    """Fault sets that fail, by the promises that they break if these are told apart.

    What breaks one promise may be a part of what it takes to break another, and is then no reason to leave that
    out.
    """

    def __init__(self, promises: Sequence[str]) -> None:
        self._promises = promises
        self._known: dict[str | None, list[frozenset[F]]] = {p: [] for p in promises or (None,)}

    def cover(self, faults: FaultsOf[F]) -> bool:
        """Tell whether a part of these faults is known to break whatever they could break."""
        present = set(faults)
        return all(any(known <= present for known in sets) for sets in self._known.values())

    def broken_anew(self, run: RunOf[F]) -> tuple[str | None, ...]:
        """Return the promises that a run breaks and that no known part of its faults does."""
        present = set(run.faults)
        broken = dict.fromkeys(v.relation if self._promises else None for v in run.violations)
        return tuple(p for p in broken if not any(known <= present for known in self._known[p]))

    def add(self, faults: FaultsOf[F], promises: Iterable[str | None]) -> None:
        for promise in promises:
            self._known[promise].append(frozenset(faults))
