"""Joins of stores by hash indexes.

A join is driven by the rows of one side, those that are new or the smallest store, and looks the others up.
``finish`` is applied to every row while it is made, which saves a pass over them.

Of what changes on several sides, each combination counts once: the sides before the one that drives are looked up
as they are, those after it as they were.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter
from typing import Any

from clew.bloom.ir.expressions import Match, Take
from clew.bloom.runtime.calls import RowMap
from clew.bloom.runtime.operators.differences import (
    Difference,
    Lookup,
    find_key_changes,
    look_up,
    look_up_before,
    rows_by_key,
)
from clew.bloom.runtime.storage import Store, key_getter
from clew.bloom.values import Row

#: Makes a lookup by some columns of a store, of its rows now or before.
_Looking = Callable[[Store, tuple[int, ...]], Lookup]


class _InnerJoin:
    """A join that can be driven by any of its sides."""

    def __init__(self, stores: Sequence[Store]) -> None:
        self._stores = stores

    def full(self) -> Iterable[Row]:
        sizes = [len(store.rows) for store in self._stores]
        # An empty side is common, in steps in which nothing arrived.
        if not all(sizes):
            return ()
        smallest = sizes.index(min(sizes))
        return self._drive(smallest, self._stores[smallest].rows)

    def delta(self) -> Iterable[Row]:
        # New rows also meet each other here, once from each side: what is derived twice is the same row.
        changed = [side for side, store in enumerate(self._stores) if store.delta]
        found = [self._drive(side, self._stores[side].delta) for side in changed]
        # One changed side is the common case, and needs no copy.
        return found[0] if len(found) == 1 else list(chain.from_iterable(found))

    def changes(self) -> Difference:
        plus: list[Row] = []
        minus: list[Row] = []
        for side, store in enumerate(self._stores):
            if store.added or store.removed:
                drive = self._prepare(side, look_up_before)
                plus += drive(store.added)
                minus += drive(store.removed)
        return Difference(plus, minus)

    def _drive(self, side: int, rows: Iterable[Row]) -> Iterable[Row]:
        return self._prepare(side, look_up)(rows)

    def _prepare(self, side: int, later: _Looking) -> Callable[[Iterable[Row]], Iterable[Row]]:
        """Return what joins rows of one side with the others; those after it are looked up in another way."""
        raise NotImplementedError


class Pairs(_InnerJoin):
    """Two sides; the rows of both, one after the other."""

    def __init__(self, stores: Sequence[Store], matches: Sequence[Match], finish: RowMap | None) -> None:
        super().__init__(stores)
        self._columns = tuple(m.left for m in matches), tuple(m.right for m in matches)
        self._keys = key_getter(self._columns[0]), key_getter(self._columns[1])
        self._finish = finish

    def _prepare(self, side: int, later: _Looking) -> Callable[[Iterable[Row]], Iterable[Row]]:
        # Four comprehensions instead of one with conditions inside: this is the innermost loop of evaluation.
        finish, key, nothing = self._finish, self._keys[side], ()
        found = (look_up if side else later)(self._stores[1 - side], self._columns[1 - side])
        if side == 0:
            if finish is None:
                return lambda rows: [left + right for left in rows for right in found(key(left), nothing)]
            return lambda rows: [finish(left + right) for left in rows for right in found(key(left), nothing)]
        if finish is None:
            return lambda rows: [left + right for right in rows for left in found(key(right), nothing)]
        return lambda rows: [finish(left + right) for right in rows for left in found(key(right), nothing)]


class SemiJoin(_InnerJoin):
    """Two sides; the rows of one that have a match in the other: ``lefts`` and ``rights``."""

    def __init__(self, stores: Sequence[Store], matches: Sequence[Match], kept: int) -> None:
        super().__init__(stores)
        self._columns = tuple(m.left for m in matches), tuple(m.right for m in matches)
        self._keys = key_getter(self._columns[0]), key_getter(self._columns[1])
        self._kept = kept

    def changes(self) -> Difference:
        kept, other = self._stores[self._kept], self._stores[1 - self._kept]
        key, columns = self._keys[self._kept], self._columns[1 - self._kept]
        changed = find_key_changes(other, columns)
        before = look_up_before(kept, self._columns[self._kept])
        index = other.index(columns)
        plus = [row for value in changed.appeared for row in before(value, ())]
        minus = [row for value in changed.vanished for row in before(value, ())]
        plus += [row for row in kept.added if key(row) in index]
        minus += [row for row in kept.removed if key(row) in index]
        return Difference(plus, minus)

    def _drive(self, side: int, rows: Iterable[Row]) -> Iterable[Row]:
        key = self._keys[side]
        index = self._stores[1 - side].index(self._columns[1 - side])
        if side == self._kept:
            return [row for row in rows if key(row) in index]
        keys = dict.fromkeys(map(key, rows))  # each once, or rows of the other side would be found several times
        return [row for value in keys for row in index.get(value, ())]


class CountedSemiJoin(_InnerJoin):
    """A semi-join that gives a row once for each match.

    In a recursion it must be known when a row has lost one of several matches: the others may rest on the row.
    """

    def __init__(self, stores: Sequence[Store], matches: Sequence[Match], kept: int) -> None:
        super().__init__(stores)
        self._columns = tuple(m.left for m in matches), tuple(m.right for m in matches)
        self._keys = key_getter(self._columns[0]), key_getter(self._columns[1])
        self._kept = kept

    def _prepare(self, side: int, later: _Looking) -> Callable[[Iterable[Row]], Iterable[Row]]:
        key, nothing = self._keys[side], ()
        found = (look_up if side else later)(self._stores[1 - side], self._columns[1 - side])
        if side == self._kept:
            return lambda rows: [row for row in rows for _ in found(key(row), nothing)]
        return lambda rows: [kept for row in rows for kept in found(key(row), nothing)]


# Not driven by the right side: a row that appears there would take back rows with None, so it must be complete
# first, see strata.
class OuterJoin:
    """Two sides, of which the right one is complete; left rows without a match get None."""

    def __init__(self, stores: Sequence[Store], matches: Sequence[Match], missing: int) -> None:
        self._left, self._right = stores
        self._left_columns = tuple(m.left for m in matches)
        self._key = key_getter(self._left_columns)
        self._columns = tuple(m.right for m in matches)
        self._missing = ((None,) * missing,)

    def full(self) -> Iterable[Row]:
        return self._join(self._left.rows)

    def delta(self) -> Iterable[Row]:
        return self._join(self._left.delta)

    def changes(self) -> Difference:
        plus, minus = self._changes_on_the_right()
        plus += self._join(self._left.added)
        minus += self._join(self._left.removed)
        return Difference(plus, minus)

    def _changes_on_the_right(self) -> tuple[list[Row], list[Row]]:
        """Return what is new and what is gone for the left rows that were there before."""
        right, (missing,) = self._right, self._missing
        before = look_up_before(self._left, self._left_columns)
        added, removed = (rows_by_key(rows, self._columns) for rows in (right.added, right.removed))
        plus = [left + row for key, rows in added.items() for left in before(key, ()) for row in rows]
        minus = [left + row for key, rows in removed.items() for left in before(key, ()) for row in rows]
        changed = find_key_changes(right, self._columns)
        minus += [left + missing for key in changed.appeared for left in before(key, ())]
        plus += [left + missing for key in changed.vanished for left in before(key, ())]
        return plus, minus

    def _join(self, rows: Iterable[Row]) -> Iterable[Row]:
        key, index, missing = self._key, self._right.index(self._columns), self._missing
        return [left + right for left in rows for right in index.get(key(left), missing)]


@dataclass(frozen=True)
class _Lookup:
    """The next side: its columns, and the value to look up, from the rows of the sides before it."""

    side: int
    columns: tuple[int, ...]
    key: Callable[[Sequence[Row]], Any]


@dataclass(frozen=True)
class _Plan:
    lookups: tuple[_Lookup, ...]
    in_order: Callable[[Sequence[Row]], Iterable[Row]]


class MultiJoin(_InnerJoin):
    """Any number of sides."""

    def __init__(self, stores: Sequence[Store], matches: Sequence[Match], finish: RowMap | None) -> None:
        super().__init__(stores)
        self._plans = [_plan(side, len(stores), matches) for side in range(len(stores))]
        self._finish = finish

    def _prepare(self, side: int, later: _Looking) -> Callable[[Iterable[Row]], Iterable[Row]]:
        plan = self._plans[side]
        found = [
            (look_up if lookup.side < side else later)(self._stores[lookup.side], lookup.columns)
            for lookup in plan.lookups
        ]
        return lambda rows: self._combine(plan, found, rows)

    def _combine(self, plan: _Plan, found: Sequence[Lookup], rows: Iterable[Row]) -> Iterable[Row]:
        # Tuples of rows and not joined rows: later lookups need the columns of each side by number.
        bound: list[tuple[Row, ...]] = [(row,) for row in rows]
        for lookup, find in zip(plan.lookups, found, strict=True):
            if not bound:
                return ()
            key = lookup.key
            bound = [(*before, row) for before in bound for row in find(key(before), ())]
        finish = self._finish
        joined = (tuple(chain.from_iterable(plan.in_order(combined))) for combined in bound)
        return list(joined) if finish is None else [finish(row) for row in joined]


def _plan(first: int, sides: int, matches: Sequence[Match]) -> _Plan:
    """Plan a join: after the first side always the one with the most columns to look up by."""
    order, lookups = [first], []
    while len(order) < sides:
        waiting = [side for side in range(sides) if side not in order]
        known = {side: _lookup_columns(side, order, matches) for side in waiting}
        side = max(waiting, key=lambda s: (len(known[s]), -s))  # of equals the leftmost: one plan in every run
        columns = tuple(mine for mine, _ in known[side])
        lookups.append(_Lookup(side, columns, _make_key([theirs for _, theirs in known[side]])))
        order.append(side)
    places = [order.index(side) for side in range(sides)]
    return _Plan(tuple(lookups), itemgetter(*places))


def _lookup_columns(side: int, order: list[int], matches: Sequence[Match]) -> list[tuple[int, tuple[int, int]]]:
    """Return columns of a side with the place, in the rows that are bound, of what they must be equal to."""
    found = []
    for m in matches:
        if m.right_source == side and m.left_source in order:
            found.append((m.right, (order.index(m.left_source), m.left)))
        elif m.left_source == side and m.right_source in order:
            found.append((m.left, (order.index(m.right_source), m.right)))
    return found


def _make_key(places: list[tuple[int, int]]) -> Callable[[Sequence[Row]], Any]:
    if len(places) == 1:
        ((number, column),) = places
        return lambda bound: bound[number][column]
    return lambda bound: tuple([bound[number][column] for number, column in places])


def make_inner_join(
    stores: Sequence[Store], matches: Sequence[Match], take: Take, finish: RowMap | None, *, counted: bool
) -> Pairs | MultiJoin | SemiJoin | CountedSemiJoin:
    """Choose the join for the number of sides and for what it yields.

    ``counted``: each row must be given as often as there are ways to derive it.
    """
    if len(stores) == 2:
        _index_what_lasts(stores, matches)
    if take in (Take.LEFTS, Take.RIGHTS):
        assert finish is None
        kind = CountedSemiJoin if counted else SemiJoin
        return kind(stores, matches, 0 if take is Take.LEFTS else 1)
    return Pairs(stores, matches, finish) if len(stores) == 2 else MultiJoin(stores, matches, finish)


def _index_what_lasts(stores: Sequence[Store], matches: Sequence[Match]) -> None:
    """Make the index that messages will be looked up in: the first of them should not have to wait for it."""
    columns = tuple(m.left for m in matches), tuple(m.right for m in matches)
    for side, store in enumerate(stores):
        if store.lasts and not stores[1 - side].lasts:
            store.index(columns[side])
