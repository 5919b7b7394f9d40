"""Operators of lattices, see ``operators``.

There are no deltas within a value: what changed is merged as a whole once more, which is harmless, since merging
is idempotent.  ``is_changed`` spares that where nothing changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

from clew.bloom.lattices.containers import LATTICES
from clew.bloom.runtime.calls import Report
from clew.bloom.runtime.operators import Operator
from clew.bloom.runtime.storage import Cell
from clew.bloom.values import BadValueError, Row
from clew.errors import describe_exception


class LatticeOperator(Protocol):
    def full(self) -> Any:
        """Return the value."""

    def is_changed(self) -> bool:
        """Tell whether something that it is computed from is new in this round."""

    def delta(self) -> Any:
        """Return what must be merged in this round, where everything before was merged before."""


class CellValue:
    """``LatticeRef``."""

    def __init__(self, cell: Cell) -> None:
        self._cell = cell

    def full(self) -> Any:
        return self._cell.value

    def is_changed(self) -> bool:
        return self._cell.changed

    def delta(self) -> Any:
        return self._cell.value


class Constant:
    """``Value``."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def full(self) -> Any:
        return self._value

    def is_changed(self) -> bool:
        return False

    def delta(self) -> Any:
        return self._value


class MergeRows:
    """``Fold``."""

    def __init__(self, source: Operator, lattice: str, value_of: Callable[[Row], Any], report: Report) -> None:
        self._source = source
        self._lattice = LATTICES[lattice]
        self._value_of = value_of
        self._report = report

    def full(self) -> Any:
        return self._merge_rows(self._source.full())

    def is_changed(self) -> bool:
        return any(True for _ in self._source.delta())  # a delta may be any iterable, also without a length

    def delta(self) -> Any:
        return self._merge_rows(self._source.delta())

    def _merge_rows(self, rows: Iterable[Row]) -> Any:
        values = []
        for row in rows:
            try:
                values.append(self._value_of(row))
            except Exception as error:
                what = str(error) if isinstance(error, BadValueError) else describe_exception(error)
                self._report(f"no value of a {self._lattice.name} can be made of the row {row!r}: {what}")
        return self._lattice.merge_all(values)


class ApplyMethod:
    """``Apply``."""

    def __init__(
        self, source: LatticeOperator, method: str, arguments: Sequence[Any], lattice: str, report: Report
    ) -> None:
        self._source = source
        self._method = method
        self._arguments = arguments
        self._lattice = LATTICES[lattice]
        self._report = report

    def full(self) -> Any:
        value = self._source.full()
        try:
            return getattr(value, self._method)(*(_evaluate(argument) for argument in self._arguments))
        except Exception as error:
            self._report(f"{self._method} of {value!r} cannot be computed: {describe_exception(error)}")
            return self._lattice.bottom()  # merging it changes nothing: the step goes on, and the report says why

    def is_changed(self) -> bool:
        return self._source.is_changed() or any(
            a.is_changed() for a in self._arguments if isinstance(a, _OPERATORS)
        )

    def delta(self) -> Any:
        return self.full()


# An isinstance of a Protocol would look for each of its methods; these are all that there are.
_OPERATORS = (CellValue, Constant, MergeRows, ApplyMethod)


def _evaluate(argument: Any) -> Any:
    return argument.full() if isinstance(argument, _OPERATORS) else argument


class ElementRows:
    """``Elements``: an operator of rows."""

    def __init__(self, source: LatticeOperator) -> None:
        self._source = source

    def full(self) -> Iterable[Row]:
        rows: tuple[Row, ...] = self._source.full().elements()
        return rows

    def delta(self) -> Iterable[Row]:
        # Nobody knows which elements are new; merging those that are not is harmless.
        return self.full() if self._source.is_changed() else ()


class RowsWhenTrue:
    """``WhenTrue``: an operator of rows."""

    def __init__(self, condition: LatticeOperator, rows: Operator) -> None:
        self._condition = condition
        self._rows = rows
        self._true = LATTICES["lbool"].of(True)

    def full(self) -> Iterable[Row]:
        return self._rows.full() if self._condition.full() == self._true else ()

    def delta(self) -> Iterable[Row]:
        # It has just become true, so rows that are not new appear, too.
        if self._condition.is_changed():
            return self.full()
        return self._rows.delta() if self._condition.full() == self._true else ()
