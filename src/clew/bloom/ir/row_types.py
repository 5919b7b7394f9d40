"""Rows as functions see them: tuples whose columns also have names."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any, SupportsIndex

from clew.bloom.values import Row


@cache
def row_type(columns: tuple[str, ...]) -> Callable[[Row], Any]:
    """What makes a row with these columns of a tuple.  A column may be called ``count`` or ``index``."""
    # Names that no attribute can have come from rename(...) only, and then there is still the number.
    named = namedtuple("Row", columns, rename=True)  # type: ignore[misc]  # the columns are known when it runs

    class NamedRow(named):
        __slots__ = ()

        def __getitem__(self, index: SupportsIndex | slice | str) -> Any:
            if isinstance(index, str):
                return tuple.__getitem__(self, columns.index(index))
            return tuple.__getitem__(self, index)

        def __repr__(self) -> str:
            return tuple.__repr__(self)

    return partial(tuple.__new__, NamedRow)


def splitter(parts: Sequence[tuple[str, ...]]) -> Callable[[Row], Sequence[Any]]:
    """From a row of a join to the rows of its sides.  At most one side may have unknown columns."""
    if len(parts) == 1:
        only = row_type(parts[0])
        return lambda row: (only(row),)
    pieces = [(row_type(columns), _place(parts, number)) for number, columns in enumerate(parts)]
    return lambda row: [make(row[place]) for make, place in pieces]


def _place(parts: Sequence[tuple[str, ...]], number: int) -> slice:
    """Counted from the left up to the side of unknown width, and from the right after it."""
    widths = [len(columns) for columns in parts]
    unknown = next((k for k, width in enumerate(widths) if not width), len(parts))
    start, after = sum(widths[:number]), sum(widths[number + 1 :])
    if number < unknown:
        return slice(start, start + widths[number])
    if number == unknown:
        return slice(start, -after or None)
    return slice(-after - widths[number], -after or None)
