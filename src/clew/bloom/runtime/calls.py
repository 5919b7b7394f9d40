"""Running the functions of rules on rows.

A function that only rearranges columns is not called at all.  Any other is called with rows that have names; one
that raises, or returns what is no row, costs that row and a report.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import itemgetter
from typing import Any, Protocol

from clew.bloom.ir.expressions import Expr, Role, RowFunction
from clew.bloom.ir.row_types import splitter
from clew.bloom.ir.symbolic import Column, Constant, Here
from clew.bloom.language.capture import position_of_error
from clew.bloom.values import BadValueError, Row, freeze_row
from clew.budgets.whereabouts import end_copy
from clew.errors import Position, ProgramError

RowMap = Callable[[Row], Row]


class Report(Protocol):
    """Told of a row that is refused."""

    def __call__(self, message: str, position: Position | None = None) -> None: ...


def projection(function: RowFunction, address: str) -> RowMap | None:
    """What the function does if it gives one row of columns and constants, under no condition."""
    if function.role is Role.FILTER or function.paths is None or len(function.paths) != 1:
        return None
    path = function.paths[0]
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
        return None  # calling it reports the value


def picker(places: list[int], constants: Row = ()) -> RowMap:
    """These columns of a row, of which the constants are the last ones."""
    if not places:
        return lambda row: ()
    if len(places) == 1:
        place = places[0]
        return (lambda row: (row[place],)) if not constants else (lambda row: constants)
    pick: Callable[[Row], Row] = itemgetter(*places)
    return (lambda row: pick(row + constants)) if constants else pick


def calling(
    function: RowFunction, source: Expr, report: Report, raised: tuple[type[Exception], ...] = ()
) -> Callable[[Iterable[Row]], list[Row]]:
    """From rows of ``source`` to those that the function gives for them; ``raised``: what is not only reported."""
    split = splitter(_known_parts(function, source))
    call, results = function.call, _RESULTS[function.role]

    def run(rows: Iterable[Row]) -> list[Row]:
        found: list[Row] = []
        for row in rows:
            try:
                found += results(call(*split(row)), row)
            except raised:
                raise
            except (Exception, GeneratorExit, SystemExit) as error:
                report(f"{_said(error)} for the row {row!r}", position_of_error(error) or function.position)
        end_copy()  # that the function has forked
        return found

    return run


def _known_parts(function: RowFunction, source: Expr) -> tuple[tuple[str, ...], ...]:
    unknown = sum(not columns for columns in source.parts)
    if unknown > 1 or (unknown and len(source.parts) > 1 and len(function.parts) == 1):
        raise ProgramError(
            "a function is given a row of a join, and it is not known where its sides begin",
            position=function.position,
            remedy="name the columns that the functions of the sides return with rename(...)",
        )
    return function.parts


class NoRowError(Exception):
    """A function returned something else."""


def _said(error: BaseException) -> str:
    if isinstance(error, NoRowError | BadValueError):
        return f"a function returned what is no row ({error})"
    return f"a function raised {type(error).__name__}: {error}"


def as_row(value: Any) -> Row:
    if not isinstance(value, tuple | list):
        raise NoRowError(f"{type(value).__name__} instead of a tuple: {value!r}")
    return freeze_row(value)


def _mapped(result: Any, row: Row) -> Sequence[Row]:
    return () if result is None else (as_row(result),)


def _filtered(result: Any, row: Row) -> Sequence[Row]:
    return (row,) if result else ()


def _flat_mapped(result: Any, row: Row) -> Sequence[Row]:
    return [as_row(one) for one in result]


_RESULTS: dict[Role, Callable[[Any, Row], Sequence[Row]]] = {
    Role.MAP: _mapped,
    Role.FILTER: _filtered,
    Role.FLAT_MAP: _flat_mapped,
}
