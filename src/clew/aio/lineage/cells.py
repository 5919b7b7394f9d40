"""The state that tasks of a host share: variables, attributes and containers, and which event wrote each last.

A cell is compared with what it was when it was last touched; only what has changed was written.  So a list of
peers that everybody reads connects nobody with anybody.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any

#: Whoever touches one of these may have been woken by it, or wakes others: all that do are connected.
_MEETING_POINTS = (
    asyncio.Queue,
    asyncio.Event,
    asyncio.Lock,
    asyncio.Condition,
    asyncio.Semaphore,
    asyncio.Future,
)
_ATOMS = (int, float, str, bytes, bool, complex, type(None), frozenset)
_DEEPEST, _MOST = 6, 2000

Key = tuple[str, int, str]


class Cells:
    """``writers``: by cell, the number of the event that wrote it last."""

    def __init__(self) -> None:
        self._writers: dict[Key, int] = {}
        self._known: dict[Key, Any] = {}
        self._owners: dict[Key, Any] = {}  # referred to: an identity is one's own only as long as one lives
        self._touched: dict[Key, Callable[[], Any]] = {}
        self._bound: set[Key] = set()

    def touch(self, kind: str, owner: Any, name: str, look: Callable[[], Any], *, binds: bool = False) -> None:
        """Note that an event reads a cell, or binds it; ``look`` returns what is in it."""
        key = (kind, id(owner), name)
        if binds and key not in self._touched:
            self._bound.add(key)
        if key in self._touched:
            return
        self._touched[key] = look
        if key not in self._known:
            self._owners[key] = owner
            self._known[key] = take_snapshot(look())

    def settle(self, number: int) -> set[int]:
        """Return the events that wrote what this event has read, and note what it has written itself."""
        read: set[int] = set()
        for key, look in self._touched.items():
            now = take_snapshot(look())
            is_bound = key in self._bound
            if not is_bound and key in self._writers:
                read.add(self._writers[key])
            if is_bound or now is _ALWAYS_NEW or now != self._known[key]:
                self._writers[key] = number
                self._known[key] = now
        self._touched.clear()
        self._bound.clear()
        read.discard(number)
        return read


_ALWAYS_NEW = object()


def take_snapshot(value: Any) -> Any:
    """Return something that compares equal as long as a value does not change."""
    if isinstance(value, _MEETING_POINTS):
        return _ALWAYS_NEW
    budget = [_MOST]
    return _snapshot(value, 0, budget)


def _snapshot(value: Any, depth: int, budget: list[int]) -> Any:
    budget[0] -= 1
    if isinstance(value, _ATOMS):
        return (type(value), value)
    if depth > _DEEPEST or budget[0] < 0:
        return (type(value), id(value))
    if isinstance(value, dict):
        return (
            dict,
            [(_snapshot(k, depth + 1, budget), _snapshot(v, depth + 1, budget)) for k, v in value.items()],
        )
    if isinstance(value, list | tuple | deque):
        return (type(value), [_snapshot(each, depth + 1, budget) for each in value])
    if isinstance(value, set):
        return (set, frozenset(map(id, value)), len(value))
    if isinstance(value, bytearray):
        return (bytearray, bytes(value))
    return (type(value), id(value))
