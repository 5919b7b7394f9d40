"""Large sets and maps inside of lattice values, which never change: one that has a few more shares all the rest.

To copy a set of 100,000 for each new element takes 0.3 ms, and a dictionary 1 ms.  Up to ``LARGE`` it takes less
than to share, so that a small set is a frozenset and a small map a dictionary.  Which of the two it is follows
from the size alone: equal values have equal representations.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from typing import Any, Self

from immutables import Map

#: The most elements of a set or map that is copied.
LARGE = 256


class LargeSet(Set[Any]):
    """A set that shares what it has with the one that it grew from."""

    __slots__ = ("_map",)

    def __init__(self, made: Map[Any, None]) -> None:
        self._map = made

    @classmethod
    def _from_iterable(cls, it: Iterable[Any]) -> frozenset[Any]:
        # What comes of an operation may be small; whoever makes a value of it knows what to do with it.
        return frozenset(it)

    def __contains__(self, element: object) -> bool:
        return element in self._map

    def __iter__(self) -> Iterator[Any]:
        return iter(self._map)

    def __len__(self) -> int:
        return len(self._map)

    def __eq__(self, other: object) -> bool:
        return self._map == other._map if isinstance(other, LargeSet) else NotImplemented

    def __hash__(self) -> int:
        return hash(frozenset(self._map))

    def with_all(self, fresh: Iterable[Any]) -> Self:
        """Return a set with these elements, too."""
        return type(self)(self._map.update(dict.fromkeys(fresh)))


def hold_set(elements: Set[Any]) -> Set[Any]:
    """Return a set as values hold it."""
    if len(elements) <= LARGE or isinstance(elements, LargeSet):
        return elements
    return LargeSet(Map(dict.fromkeys(elements)))


def hold_map(entries: Mapping[Any, Any]) -> Mapping[Any, Any]:
    """Return a map as values hold it."""
    return entries if len(entries) <= LARGE or isinstance(entries, Map) else Map(entries)


def add_to_set(elements: Set[Any], fresh: Set[Any] | list[Any]) -> Set[Any]:
    """Return a set with more elements."""
    return elements.with_all(fresh) if isinstance(elements, LargeSet) else elements | frozenset(fresh)


def put_in_map(entries: Mapping[Any, Any], changed: Mapping[Any, Any]) -> Mapping[Any, Any]:
    """Return a map in which some keys have other values."""
    return entries.update(changed) if isinstance(entries, Map) else {**entries, **changed}
