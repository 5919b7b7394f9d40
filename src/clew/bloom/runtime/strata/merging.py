"""Rows come into a collection, where no two of them may have one key."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import filterfalse
from typing import Any

from clew.bloom.runtime.rejections import Origin, Rejections
from clew.bloom.runtime.storage import Store
from clew.bloom.values import Row, sort_rows, spell

#: Rows, and what gives them.
Batch = tuple[Origin, Iterable[Row]]


def merge(store: Store, batches: Sequence[Batch], collection: str, rejections: Rejections) -> list[Row]:
    """Add rows and return the new ones.  Of two rows with one key the one that is there, or the smaller, stays.

    A conflict of keys is reported, and does not stop the node as it does in the Ruby version.
    """
    there = store.rows
    if store.key_of is None:  # no conflicts are possible, and nobody asks who derived a row: the fast way
        fresh = list(dict.fromkeys(row for _, rows in batches for row in filterfalse(there.__contains__, rows)))
    else:
        derived: dict[Row, Origin] = {}
        for origin, rows in batches:
            for row in filterfalse(there.__contains__, rows):
                # The first rule that derives a row is the one that a conflict is reported of.
                derived.setdefault(row, origin)
        fresh = list(_without_conflicts(store, derived, collection, rejections))
    if fresh:
        store.extend(fresh)
    return fresh


def _without_conflicts(
    store: Store, derived: Mapping[Row, Origin], collection: str, rejections: Rejections
) -> Iterator[Row]:
    assert store.key_of is not None
    by_key: dict[Any, list[Row]] = {}
    for row in derived:
        by_key.setdefault(store.key_of(row), []).append(row)
    for key, rows in by_key.items():
        # In canonical order, so that every node keeps the same one of two rows with the same key.
        if len(rows) > 1:
            rows = sort_rows(rows)
        kept = store.by_key.get(key)
        if kept is None:
            kept = rows.pop(0)
            yield kept
        for row in rows:
            report_conflict(rejections, collection, derived[row], row, kept)


def report_conflict(rejections: Rejections, collection: str, origin: Origin, row: Row, kept: Row) -> None:
    rejections.conflicts += 1
    rejections.add(collection, origin, f"{spell(row)} has the same key as {spell(kept)}, which is kept")
