"""Operators: expressions compiled to run over the stores of a node.

``full()`` is all rows of an expression; ``delta()`` those that need a row that is new in this round, which is all
that semi-naive evaluation looks at after the first round.  What an expression uses strictly does not change while
its stratum is evaluated, so it is part of no delta.  ``changes()`` is the difference to the last step, of rows
that last; strict uses are part of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from functools import partial
from typing import Any, Protocol

from clew.bloom.ir.expressions import Aggregate, Reduce
from clew.bloom.language.capture import position_of_error
from clew.bloom.runtime.calls import NoRowError, Report, RowMap, picker, require_row, row_type
from clew.bloom.runtime.operators.differences import (
    NOTHING,
    Difference,
    find_key_changes,
    look_up_before,
    rows_before,
)
from clew.bloom.runtime.storage import Cell, Store, key_getter
from clew.bloom.values import BadValueError, Row, freeze_row, sort_key, sort_rows
from clew.errors import describe_exception

Batch = Callable[[Iterable[Row]], Iterable[Row]]

#: From the rows of a group, with only the columns of the aggregate, to the value.  The rows are in canonical
#: order, so that a sum of floats is the same in every run.  ``choose`` is the minimum for the same reason.
AGGREGATES: dict[str, Callable[[Sequence[tuple[Any, ...]]], Any]] = {
    "count": lambda rows: len(set(rows)) if rows[0] else len(rows),
    "sum": lambda rows: sum(row[0] for row in rows),
    "avg": lambda rows: sum(row[0] for row in rows) / len(rows),
    "min": lambda rows: min((row[0] for row in rows), key=sort_key),
    "max": lambda rows: max((row[0] for row in rows), key=sort_key),
    "accum": lambda rows: frozenset(row[0] for row in rows),
    "accum_pair": lambda rows: frozenset((row[0], row[1]) for row in rows),
    "bool_and": lambda rows: all(row[0] for row in rows),
    "bool_or": lambda rows: any(row[0] for row in rows),
    "choose": lambda rows: min((row[0] for row in rows), key=sort_key),
}


class Operator(Protocol):
    def full(self) -> Iterable[Row]:
        """Return all rows; one may occur several times."""

    def delta(self) -> Iterable[Row]:
        """Return the rows that need a row that is new in this round, and maybe others."""

    def changes(self) -> Difference | None:
        """Return what is different since ``full`` or this was last called; None: only ``full`` can tell."""


class StoreRows:
    """``Ref``: the rows of a store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def full(self) -> Iterable[Row]:
        return self._store.rows

    def delta(self) -> Iterable[Row]:
        return self._store.delta

    def changes(self) -> Difference:
        return Difference(list(self._store.added), list(self._store.removed))


class LiteralRows:
    """``Rows``: rows that stand in the program."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self._rows = rows

    def full(self) -> Iterable[Row]:
        return self._rows

    def delta(self) -> Iterable[Row]:
        return ()

    def changes(self) -> Difference:
        return NOTHING


class BatchMap:
    """Rows through a function of a batch of rows: ``Transform``, ``Project`` and checks.

    ``undo`` is the same function for rows that are gone: it takes back what was reported of them.  ``looks_into``
    is what it may read besides the rows.
    """

    def __init__(
        self, source: Operator, batch: Batch, undo: Batch | None = None, looks_into: Sequence[Store | Cell] = ()
    ) -> None:
        self._source = source
        self._batch = batch
        self._undo = undo or batch
        self._looks_into = looks_into

    def full(self) -> Iterable[Row]:
        return self._batch(self._source.full())

    def delta(self) -> Iterable[Row]:
        return self._batch(self._source.delta())

    def changes(self) -> Difference | None:
        if any(read.has_changed() for read in self._looks_into):
            return None
        found = self._source.changes()
        if found is None:
            return None
        return Difference(list(self._batch(found.plus)), list(self._undo(found.minus)))


def pick_columns(source: Operator, pick: RowMap) -> BatchMap:
    return BatchMap(source, lambda rows: [pick(row) for row in rows])


def require_width(source: Operator, width: int, report: Report, retract: Report) -> BatchMap:
    """Reject rows of another width, where that is not known before they are there."""

    def keep_width(rows: Iterable[Row], say: Report) -> list[Row]:
        found = []
        for row in rows:
            if len(row) == width:
                found.append(row)
            else:
                say(f"a row with {len(row)} columns where {width} are expected: {row!r}")
        return found

    return BatchMap(source, partial(keep_width, say=report), partial(keep_width, say=retract))


class AntiJoin:
    """``NotIn``: no pairs of columns means the whole row.  ``left``: the store of the source, if it lasts."""

    def __init__(
        self, source: Operator, absent: Store, pairs: Sequence[tuple[int, int]], left: Store | None
    ) -> None:
        self._source = source
        self._left = left
        self._left_columns = tuple(left for left, _ in pairs)
        self._absent = absent
        self._key = key_getter([left for left, _ in pairs]) if pairs else None
        self._columns = tuple(right for _, right in pairs)

    def full(self) -> Iterable[Row]:
        return self._keep_absent(self._source.full())

    def delta(self) -> Iterable[Row]:
        return self._keep_absent(self._source.delta())

    def changes(self) -> Difference | None:
        left = self._left
        if left is None:
            return None
        changed = find_key_changes(self._absent, self._columns if self._key else None)
        if self._key is None:
            plus, minus = ([*rows_before(left, rows)] for rows in reversed(changed))
        else:
            before = look_up_before(left, self._left_columns)
            plus, minus = ([row for key in keys for row in before(key, ())] for keys in reversed(changed))
        return Difference(
            [*plus, *self._keep_absent(left.added)],
            [*minus, *self._keep_absent(left.removed)],
        )

    def _keep_absent(self, rows: Iterable[Row]) -> Iterable[Row]:
        key = self._key
        if key is None:
            there = self._absent.rows
            # The dictionary of rows is its own index.
            return [row for row in rows if row not in there]
        # Asked for in every round: a store that was cleared has made a new one.
        index = self._absent.index(self._columns)
        return [row for row in rows if key(row) not in index]


class OverAllRows:
    """An operator over all rows of a source that is complete when it runs."""

    def __init__(self, source: Operator, rows_of: Callable[[Iterable[Row]], list[Row]]) -> None:
        self._source = source
        self._rows_of = rows_of

    def full(self) -> Iterable[Row]:
        return self._rows_of(self._source.full())

    def delta(self) -> Iterable[Row]:
        return ()

    def changes(self) -> None:
        return None


def make_grouping(
    keys: Sequence[int], aggregates: Sequence[Aggregate], report: Report
) -> Callable[..., list[Row]]:
    """Make the operator of ``Group``."""
    key = picker(list(keys))
    calls = [(AGGREGATES[a.function], picker(list(a.over)), a.function) for a in aggregates]

    def rows_of(rows: Iterable[Row]) -> list[Row]:
        found = []
        for group, members in _groups(rows, key).items():
            try:
                values = [compute([pick(member) for member in members]) for compute, pick, _ in calls]
                found.append((*group, *freeze_row(values)))
            # Values of others may not fit an aggregate, such as text in a sum: it costs the group, and not the
            # step.
            except (TypeError, ArithmeticError, BadValueError) as error:
                names = ", ".join(name for *_, name in calls)
                report(f"{names} of the group {group!r} cannot be computed: {describe_exception(error)}")
        return found

    return rows_of


def make_extreme(keys: Sequence[int], column: int, *, largest: bool) -> Callable[[Iterable[Row]], list[Row]]:
    """Make the operator of ``Extreme``."""
    key = picker(list(keys))
    best = max if largest else min

    def rows_of(rows: Iterable[Row]) -> list[Row]:
        found: list[Row] = []
        for members in _groups(rows, key).values():
            ranked = [(sort_key(row[column]), row) for row in members]
            wanted = best(rank for rank, _ in ranked)
            found.extend(row for rank, row in ranked if rank == wanted)
        return found

    return rows_of


def _groups(rows: Iterable[Row], key: RowMap) -> dict[Row, list[Row]]:
    """Collect the rows of each group in canonical order, whatever order they came in."""
    groups: dict[Row, list[Row]] = {}
    # A row that is derived twice counts once: collections are sets.
    for row in dict.fromkeys(rows):
        groups.setdefault(key(row), []).append(row)
    return {group: sort_rows(members) for group, members in groups.items()}


def make_reduce(reduce: Reduce, columns: tuple[str, ...], report: Report) -> Callable[[Iterable[Row]], list[Row]]:
    """Make the operator of ``Reduce``.  A dictionary is a row (key, value) for each entry."""
    named = row_type(columns)

    def rows_of(rows: Iterable[Row]) -> list[Row]:
        memo: Any = deepcopy(reduce.initial)  # the function may fill a list or a dictionary of the program
        try:
            for row in sort_rows(dict.fromkeys(rows)):
                memo = reduce.fold(memo, named(row))
            return [require_row(row) for row in (memo.items() if isinstance(memo, dict) else memo)]
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # of the user's function, whatever it is
            what = (
                "returned something that is not rows:"
                if isinstance(error, NoRowError | BadValueError)
                else "raised"
            )
            report(f"reduce {what} {describe_exception(error)}", position_of_error(error) or reduce.position)
            return []

    return rows_of
