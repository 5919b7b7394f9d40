"""What the collections of a node hold: rows with indexes, and the values of lattices.

Rows are kept as the keys of dictionaries, never in sets: the order in which they are gone through is the order in
which they came, whatever the hashes are.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import filterfalse
from operator import itemgetter
from typing import Any

from clew.bloom.ir.schema import Schema
from clew.bloom.lattices.containers import LATTICES
from clew.bloom.runtime.calls import row_type
from clew.bloom.values import BadValueError, Row, find_spelling, freeze_row, sort_rows
from clew.errors import UsageError

Index = Mapping[Hashable, Collection[Row]]
#: By columns, what makes a key of a row, and the rows by that.
Indexes = dict[tuple[int, ...], tuple[Callable[[Row], Any], dict[Hashable, dict[Row, None]]]]


@dataclass(frozen=True)
class Change:
    """What is different in a table since the last step."""

    added: tuple[Row, ...] = ()
    removed: tuple[Row, ...] = ()


def key_getter(columns: Sequence[int]) -> Callable[[Row], Any]:
    """Return what makes one value of columns of a row, to look up by: the value itself if it is one column."""
    if not columns:
        return lambda row: ()
    return itemgetter(*columns)


class Store:
    """The rows of a collection; with ``keys`` (how many columns) at most one row for each value of those.

    ``delta`` is what is new in the round of an evaluation.  ``added`` and ``removed`` are the difference to the
    end of the last step.  They are noted with each change of a store that ``lasts``: a table, which ``persists``,
    or what is derived from lasting rows and kept.  Any other is empty when a step begins, and compared with what
    it was before, where somebody asks for the difference.

    Rows that are equal may be spelled in different ways, as ``(1,)`` and ``(1.0,)``.  A row keeps its spelling
    until it goes, and goes in that spelling: functions may give other rows for another spelling, and what was
    added must be what is taken back.
    """

    __slots__ = (
        *("added", "before", "by_key", "delta", "indexes", "is_compared", "key_of", "lasts", "persists"),
        *("removed", "rows"),
    )

    def __init__(self, keys: int | None = None, *, persists: bool = False, lasts: bool = False) -> None:
        self.rows: dict[Row, None] = {}
        # Only filled if there can be conflicts; without values every row is its own key.
        self.by_key: dict[Any, Row] = {}
        self.key_of = None if keys is None else key_getter(range(keys))
        self.persists = persists
        self.lasts = persists or lasts
        self.delta: Collection[Row] = ()
        # By the columns that a join looks up by; several rules that join by the same columns share one.
        self.indexes: Indexes = {}
        self.added: dict[Row, None] = {}
        self.removed: dict[Row, None] = {}
        self.before: dict[Row, None] = {}
        self.is_compared = True

    @property
    def is_kept(self) -> bool:
        """Tell whether its rows are derived, and stay as long as they are."""
        return self.lasts and not self.persists

    def extend(self, fresh: Sequence[Row]) -> None:
        """Add rows that are not there, and whose keys are not there."""
        if self.removed:
            # Those that have just gone have never gone.
            fresh = respell(fresh, self.removed)
        self.rows.update(dict.fromkeys(fresh))
        if self.key_of is not None:
            self.by_key.update(zip(map(self.key_of, fresh), fresh, strict=True))
        for key_of, buckets in self.indexes.values():
            fill(buckets, key_of, fresh)
        if self.lasts:
            note_changes(fresh, self.removed, self.added)

    def spelling(self, row: Row) -> Row:
        """Return a row that is there as it is spelled here."""
        return find_spelling(self.rows, row) if self.key_of is None else self.by_key[self.key_of(row)]

    def remove(self, row: Row) -> None:
        row = self.spelling(row)
        del self.rows[row]
        if self.key_of is not None:
            del self.by_key[self.key_of(row)]
        for key_of, buckets in self.indexes.values():
            key = key_of(row)
            del buckets[key][row]
            # An empty bucket would make notin believe that there is a row.
            if not buckets[key]:
                del buckets[key]
        note_changes([row], self.added, self.removed)

    def has_changed(self) -> bool:
        """Tell whether its rows are others than at the end of the last step."""
        if not self.is_compared:
            self.is_compared = True
            self.compare_with(self.before)
        return bool(self.added or self.removed)

    def compare_with(self, before: Mapping[Row, None]) -> None:
        """Find the difference to what its rows were."""
        self.added = dict.fromkeys(filterfalse(before.__contains__, self.rows))
        self.removed = dict.fromkeys(filterfalse(self.rows.__contains__, before))
        if len(self.added) < len(self.rows):
            self._respell(before)

    def _respell(self, before: Mapping[Row, None]) -> None:
        """Spell rows as they were before, whatever derived them this time."""
        self.rows = dict.fromkeys(filter(self.rows.__contains__, before)) | self.added
        self.indexes = self._empty_indexes()
        for key_of, buckets in self.indexes.values():
            fill(buckets, key_of, self.rows)
        if self.key_of is not None:
            self.by_key = {self.key_of(row): row for row in self.rows}

    def forget_changes(self) -> None:
        if self.added or self.removed:
            self.added, self.removed = {}, {}

    def change(self) -> Change:
        return Change(tuple(sort_rows(self.added)), tuple(sort_rows(self.removed)))

    def clear(self) -> None:
        # Another dictionary also if it is empty: the old one is what the new rows are compared with.
        self.before, self.rows, self.is_compared = self.rows, {}, False
        if self.before:
            self.by_key, self.indexes = {}, self._empty_indexes()

    def _empty_indexes(self) -> Indexes:
        # Of what lasts, those that were used will be used again, and a request should not have to wait for them.
        return {columns: (key_of, {}) for columns, (key_of, _) in self.indexes.items()} if self.lasts else {}

    def reset(self) -> None:
        """Hold no rows, as if there had never been any."""
        self.rows, self.by_key, self.indexes, self.before = {}, {}, {}, {}
        self.is_compared = True
        self.forget_changes()

    def index(self, columns: tuple[int, ...]) -> Index:
        """Return rows by the values of some columns; made on first use, and kept up to date from then on."""
        if not columns:
            # A join without conditions: all rows have the same key.
            return {(): self.rows} if self.rows else {}
        known = self.indexes.get(columns)
        if known is None:
            known = self.indexes[columns] = key_getter(columns), {}
            fill(known[1], known[0], self.rows)
        return known[1]


def respell(fresh: Sequence[Row], rows: Mapping[Row, None]) -> Sequence[Row]:
    """Return rows as they are spelled among others, where they are there."""
    return [find_spelling(rows, row) if row in rows else row for row in fresh]


def note_changes(rows: Iterable[Row], undone: dict[Row, None], done: dict[Row, None]) -> None:
    """Note rows that were added or removed, where the other was done before or not."""
    if not undone:
        done.update(dict.fromkeys(rows))
        return
    for row in rows:
        # Deleted and inserted again in one step is no change: nothing is written to disk for it.
        if row in undone:
            del undone[row]
        else:
            done[row] = None


def fill(buckets: dict[Hashable, dict[Row, None]], key_of: Callable[[Row], Any], rows: Iterable[Row]) -> None:
    """Add rows to the buckets of their keys."""
    for row in rows:
        key = key_of(row)
        bucket = buckets.get(key)
        if bucket is None:
            buckets[key] = {row: None}
        else:
            bucket[row] = None


class Cell:
    """The value of a lattice; ``changed``: in the last round of an evaluation.

    ``before``: the value at the end of the last step, and ``merged`` what made it grow since then.
    """

    __slots__ = ("before", "changed", "lattice", "merged", "value")

    def __init__(self, lattice: str) -> None:
        self.lattice = LATTICES[lattice]
        self.value = self.before = self.lattice.bottom()
        self.changed = False
        self.merged: list[Any] = []

    def has_changed(self) -> bool:
        """Tell whether the value is another one than at the end of the last step."""
        return bool(self.merged)

    def forget_changes(self) -> None:
        if self.merged:
            self.before, self.merged = self.value, []

    def would_change(self, other: Any) -> bool:
        """Tell whether merging it changes something."""
        return self.value.grow(other) is not self.value

    def merge(self, other: Any) -> bool:
        """Merge a value, and tell whether that changed something."""
        grown = self.value.grow(other)
        if grown is self.value:
            return False
        self.value = grown
        self.merged.append(other)
        return True


# -- what a node shows of them -----------------------------------------------------------------------------------


class RowsView:
    """The rows of a collection, in order; columns have names."""

    def __init__(self, store: Store, schema: Schema) -> None:
        self._store = store
        self._schema = schema
        self._named = row_type(schema.columns)

    def __iter__(self) -> Iterator[Any]:
        # In canonical order: a test that prints a collection is the same with every hash seed.
        return map(self._named, sort_rows(self._store.rows))

    def __len__(self) -> int:
        return len(self._store.rows)

    def __contains__(self, row: object) -> bool:
        if not isinstance(row, tuple | list):
            return False
        try:
            return freeze_row(row) in self._store.rows
        except BadValueError:
            return False

    def row(self, key: Any) -> Any:
        """Return the row with this key, or None.  The key is a tuple if it has several columns."""
        wanted = freeze_key(self._schema, key)
        if self._store.key_of is None:
            return self._named(wanted) if wanted in self._store.rows else None
        found = self._store.by_key.get(wanted[0] if len(wanted) == 1 else wanted)
        return None if found is None else self._named(found)


def freeze_key(schema: Schema, key: Any) -> Row:
    """Return a key as rows begin with it; one of several columns is given as a tuple."""
    try:
        return freeze_row((key,) if len(schema.keys) == 1 else key)
    except BadValueError as error:
        raise UsageError(
            f"{key!r} is not a key: {error}",
            remedy=f"give the values of {', '.join(schema.keys)} as a tuple",
        ) from None


class LatticeView:
    """The value of a lattice; also as rows, in order."""

    def __init__(self, cell: Cell) -> None:
        self._cell = cell

    @property
    def value(self) -> Any:
        return self._cell.value

    def __iter__(self) -> Iterator[Any]:
        return iter(self._cell.value.elements())

    def __len__(self) -> int:
        count: int = self._cell.value.count_elements()
        return count

    def __contains__(self, row: object) -> bool:
        return row in self._cell.value.elements()
