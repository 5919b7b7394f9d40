"""What changes in the rows of an expression from one state of its sources to the next.

The state before is that of the sources without what was added to them, and with what was removed.  Rows are
counted: one that is derived in two ways is there until both are gone.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from clew.bloom.runtime.storage import Store, fill, key_getter
from clew.bloom.values import Row, find_spelling

#: Finds the rows with a key; the second argument is what it gives if there is none, as of a dictionary's ``get``.
Lookup = Callable[[Any, Collection[Row]], Iterable[Row]]


class Difference(NamedTuple):
    """Rows that are derived, and rows that no longer are, each as often as in different ways."""

    plus: Sequence[Row]
    minus: Sequence[Row]


NOTHING = Difference((), ())


def rows_before(store: Store, rows: Iterable[Row]) -> Iterator[Row]:
    """Yield those rows that were there before, as they were spelled there."""
    for row in rows:
        if row in store.removed:
            yield find_spelling(store.removed, row)
        elif row in store.rows and row not in store.added:
            yield store.spelling(row)


def look_up(store: Store, columns: tuple[int, ...]) -> Lookup:
    """Return what finds the rows with a key."""
    # The method itself and not a function around it: joins call it in their innermost loop.
    return store.index(columns).get


def look_up_before(store: Store, columns: tuple[int, ...]) -> Lookup:
    """Return what finds the rows that had a key before."""
    now, added = look_up(store, columns), store.added
    if not (added or store.removed):
        return now
    removed = rows_by_key(store.removed, columns)

    def find(key: Any, nothing: Collection[Row]) -> Iterable[Row]:
        return [*(row for row in now(key, nothing) if row not in added), *removed.get(key, nothing)]

    return find


def rows_by_key(rows: Iterable[Row], columns: tuple[int, ...]) -> dict[Hashable, dict[Row, None]]:
    """Return some rows by their keys."""
    found: dict[Hashable, dict[Row, None]] = {}
    fill(found, key_getter(columns), rows)
    return found


class KeyChanges(NamedTuple):
    """Keys that a row has now and none had before, and those of which it is the other way round."""

    appeared: Sequence[Any]
    vanished: Sequence[Any]


def find_key_changes(store: Store, columns: tuple[int, ...] | None) -> KeyChanges:
    """Find out which keys are there or not, because of what changed; without columns the row itself is the key."""
    if columns is None:
        return KeyChanges(list(store.added), list(store.removed))
    key_of = key_getter(columns)
    net: dict[Any, int] = {}
    for rows, sign in ((store.added, 1), (store.removed, -1)):
        for row in rows:
            key = key_of(row)
            net[key] = net.get(key, 0) + sign
    index = store.index(columns)
    appeared, vanished = [], []
    for key, change in net.items():
        now = len(index.get(key, ()))
        if now and now == change:
            appeared.append(key)
        elif not now and change:
            vanished.append(key)
    return KeyChanges(appeared, vanished)
