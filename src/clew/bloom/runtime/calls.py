"""Calling the functions of rules with rows.

A function that only rearranges columns is not called at all.  Any other is called with rows that have names; one
that raises, or returns what is no row, costs that row and a report.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from operator import itemgetter
from typing import Any, Protocol, SupportsIndex

from clew.bloom.ir.expressions import Expr, Role, RowFunction
from clew.bloom.ir.symbolic import Column, Constant, Here
from clew.bloom.language.capture import position_of_error
from clew.bloom.values import BadValueError, Row, freeze_row, spell
from clew.budgets.whereabouts import end_copy
from clew.errors import Position, ProgramError, describe_exception

RowMap = Callable[[Row], Row]


class Report(Protocol):
    """Called with the reason for which a row was rejected."""

    def __call__(self, message: str, position: Position | None = None) -> None: ...


# -- rows as functions see them ----------------------------------------------------------------------------------


@cache
def row_type(columns: tuple[str, ...]) -> Callable[[Row], Any]:
    """Return what gives a tuple these columns by name.  A column may be called ``count`` or ``index``."""
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

    # Not NamedRow(*row), which would unpack every row into the arguments of a Python function.
    return partial(tuple.__new__, NamedRow)


def splitter(parts: Sequence[tuple[str, ...]]) -> Callable[[Row], Sequence[Any]]:
    """Return what splits a row of a join into rows of its sides.  At most one may have unknown columns."""
    if len(parts) == 1:
        only = row_type(parts[0])
        return lambda row: (only(row),)
    pieces = [(row_type(columns), _place(parts, number)) for number, columns in enumerate(parts)]
    return lambda row: [make(row[place]) for make, place in pieces]


def _place(parts: Sequence[tuple[str, ...]], number: int) -> slice:
    """Return where a side is: counted from the left up to the side of unknown width, from the right after it."""
    widths = [len(columns) for columns in parts]
    unknown = next((k for k, width in enumerate(widths) if not width), len(parts))
    start, after = sum(widths[:number]), sum(widths[number + 1 :])
    if number < unknown:
        return slice(start, start + widths[number])
    if number == unknown:
        return slice(start, -after or None)
    return slice(-after - widths[number], -after or None)


# -- calls -------------------------------------------------------------------------------------------------------


def projection(function: RowFunction, address: str) -> RowMap | None:
    """Return what the function does without calling it, if it gives one row of columns and constants, always."""
    if function.role is Role.FILTER or function.paths is None or len(function.paths) != 1:
        return None
    path = function.paths[0]
    # Anything with a condition is called, as the user wrote it.
    if path.tests or len(path.rows) != 1 or not isinstance(path.rows[0], tuple) or not all(function.parts):
        return None
    offsets = [sum(map(len, function.parts[:part])) for part in range(len(function.parts))]
    width = sum(map(len, function.parts))
    places: list[int] = []
    constants: list[Any] = []
    for scalar in path.rows[0]:
        match scalar:
            case Column(part, index):
                places.append(offsets[part] + index)
            case Constant() | Here():
                places.append(width + len(constants))
                constants.append(address if isinstance(scalar, Here) else scalar.value)
            case _:
                return None
    try:
        return picker(places, freeze_row(constants))
    except BadValueError:
        return None  # then it is called, and the value is reported with the row


def picker(places: list[int], constants: Row = ()) -> RowMap:
    """Return what picks columns of a row, which is followed by the constants."""
    if not places:
        return lambda row: ()
    if len(places) == 1:
        place = places[0]
        # itemgetter of one column returns the value itself, and not a row.
        return (lambda row: (row[place],)) if not constants else (lambda row: constants)
    pick: Callable[[Row], Row] = itemgetter(*places)
    return (lambda row: pick(row + constants)) if constants else pick


def make_caller(
    function: RowFunction,
    source: Expr,
    report: Report,
    raised: tuple[type[BaseException], ...] = (KeyboardInterrupt,),
) -> Callable[[Iterable[Row]], list[Row]]:
    """Return what calls the function for rows of ``source`` and collects the rows that it gives.

    ``raised``: the exceptions that end the call, instead of costing a row and a report; by default only Ctrl-C.
    """
    split = splitter(_require_known_parts(function, source))
    call, results = function.call, _RESULTS[function.role]

    def run(rows: Iterable[Row]) -> list[Row]:
        found: list[Row] = []
        for row in rows:
            try:
                found += results(call(*split(row)), row)
            except raised:
                raise
            except BaseException as error:  # of the user's function, whatever it is
                position = position_of_error(error) or function.position
                report(f"{_describe_error(error)} for the row {spell(row)}", position)
        end_copy()  # that the function has forked
        return found

    return run


def _require_known_parts(function: RowFunction, source: Expr) -> tuple[tuple[str, ...], ...]:
    unknown = sum(not columns for columns in source.parts)
    # Counting from both ends finds one side of unknown width, but not two.
    if unknown > 1 or (unknown and len(source.parts) > 1 and len(function.parts) == 1):
        raise ProgramError(
            "a function is given a row of a join, and it is not known where its sides begin",
            position=function.position,
            remedy="name the columns that the functions of the sides return with rename(...)",
        )
    return function.parts


class NoRowError(Exception):
    """A function returned something that is not a row."""


def _describe_error(error: BaseException) -> str:
    if isinstance(error, NoRowError | BadValueError):
        return f"a function returned something that is not a row ({error})"
    return f"a function raised {describe_exception(error)}"


def require_row(value: Any) -> Row:
    if not isinstance(value, tuple | list):
        raise NoRowError(f"{type(value).__name__} instead of a tuple: {value!r}")
    return freeze_row(value)


def _map_result(result: Any, row: Row) -> Sequence[Row]:
    return () if result is None else (require_row(result),)


def _filter_result(result: Any, row: Row) -> Sequence[Row]:
    return (row,) if result else ()


def _flat_map_result(result: Any, row: Row) -> Sequence[Row]:
    return [require_row(one) for one in result]


_RESULTS: dict[Role, Callable[[Any, Row], Sequence[Row]]] = {
    Role.MAP: _map_result,
    Role.FILTER: _filter_result,
    Role.FLAT_MAP: _flat_map_result,
}
