"""Operators of lattices, see ``rows``.

There are no deltas within a value: what changed is merged as a whole once more, which is harmless, since merging
is idempotent.  ``is_changed`` spares that where nothing changed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from math import prod
from typing import Any, Protocol

from clew.bloom.lattices.containers import LATTICES
from clew.bloom.runtime.calls import Report
from clew.bloom.runtime.operators.differences import NOTHING, Difference
from clew.bloom.runtime.operators.rows import Operator
from clew.bloom.runtime.storage import Cell, Store
from clew.bloom.values import BadValueError, Row, sort_rows, spell
from clew.errors import Position, describe_exception

#: What a function of a lattice reports.
Said = tuple[str, Position | None]


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
        self.cell = cell

    def full(self) -> Any:
        return self.cell.value

    def is_changed(self) -> bool:
        return self.cell.changed

    def delta(self) -> Any:
        return self.cell.value

    def merge_changes(self) -> Any:
        """Return what must be merged in this step."""
        return self.cell.lattice.merge_all(self.cell.merged)


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

    def __init__(
        self,
        source: Operator,
        lattice: str,
        value_of: Callable[[Row], Any],
        report: Report,
        retract: Report | None = None,
    ) -> None:
        self._source = source
        self._lattice = LATTICES[lattice]
        self._value_of = value_of
        self._report = report
        self._retract = retract

    def full(self) -> Any:
        return self._merge_rows(self._source.full(), self._report)

    def merge_changes(self) -> Any:
        """Return what must be merged in this step, or None if that has to be found out anew.

        Rows that are gone stay merged.
        """
        found = self._source.changes()
        if found is None or self._retract is None:
            return None
        plus, minus = _without_both(found)
        self._merge_rows(minus, self._retract)
        return self._merge_rows(plus, self._report)

    def is_changed(self) -> bool:
        return any(True for _ in self._source.delta())  # a delta may be any iterable, also without a length

    def delta(self) -> Any:
        return self._merge_rows(self._source.delta(), self._report)

    def _merge_rows(self, rows: Iterable[Row], report: Report) -> Any:
        values = []
        for row in rows:
            try:
                values.append(self._value_of(row))
            except Exception as error:
                what = str(error) if isinstance(error, BadValueError) else describe_exception(error)
                report(f"no value of a {self._lattice.name} can be made of the row {row!r}: {what}")
        return self._lattice.merge_all(values)


def _without_both(found: Difference) -> Difference:
    """Leave out rows that come and go while changes are computed: they have never been there."""
    if not (found.plus and found.minus):
        return found
    # As they are spelled: a lpset takes 1, and neither 1.0 nor True.
    net = Counter((row, spell(row)) for row in found.plus)
    net.subtract((row, spell(row)) for row in found.minus)
    return Difference(*([row for row, _ in each.elements()] for each in (+net, -net)))


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
        return self.apply(self._source.full(), [_evaluate(argument) for argument in self._arguments])

    def apply(self, value: Any, arguments: Sequence[Any]) -> Any:
        """Call the method with arguments that are evaluated."""
        try:
            return getattr(value, self._method)(*arguments)
        except Exception as error:
            self._report(f"{self._method} of {value!r} cannot be computed: {describe_exception(error)}")
            return self._lattice.bottom()  # merging it changes nothing: the step goes on, and the report says why

    def is_changed(self) -> bool:
        return self._source.is_changed() or any(
            a.is_changed() for a in self._arguments if isinstance(a, _OPERATORS)
        )

    def delta(self) -> Any:
        return self.full()


class SetProduct(ApplyMethod):
    """The product of two sets; ``watch`` is told the number of pairs before they are made, and may raise.

    Of all methods it alone can make more than is there: one round of a recursion would fill the memory.
    """

    watch: Callable[[int], None] | None = None

    def apply(self, value: Any, arguments: Sequence[Any]) -> Any:
        if self.watch is not None:
            self.watch(prod(each.count_elements() for each in (value, *arguments)))
        return super().apply(value, arguments)


# An isinstance of a Protocol would look for each of its methods; these are all that there are.
_OPERATORS = (CellValue, Constant, MergeRows, ApplyMethod)


def _evaluate(argument: Any) -> Any:
    return argument.full() if isinstance(argument, _OPERATORS) else argument


class ElementRows:
    """``Elements``: an operator of rows."""

    def __init__(self, source: LatticeOperator) -> None:
        self._source = source
        self._value: Any = None

    def full(self) -> Iterable[Row]:
        self._value = self._source.full()
        rows: tuple[Row, ...] = self._value.elements()
        return rows

    def delta(self) -> Iterable[Row]:
        # Nobody knows which elements are new; merging those that are not is harmless.
        return self.full() if self._source.is_changed() else ()

    def changes(self) -> Difference | None:
        # What a function reports would count twice if it was computed again.
        if not isinstance(self._source, CellValue):
            return None
        cell = self._source.cell
        before, self._value = self._value, cell.value
        # What has not been looked at for some time, because nothing asked, is computed anew.
        if before is not cell.before:
            return None
        plus, minus = self._value.elements_since(before, cell.merged)
        # Sorted, since sets have another order in every process.
        return Difference(sort_rows(plus), sort_rows(minus))


class Condition:
    """A lbool that rows wait for; ``looks_into``: what it depends on."""

    def __init__(self, value: LatticeOperator, looks_into: Sequence[Store | Cell], said: list[Said]) -> None:
        self._value = value
        self._looks_into = looks_into
        self._said = said
        self._true = LATTICES["lbool"].of(True)

    def may_have_changed(self) -> bool:
        return any(read.has_changed() for read in self._looks_into)

    def is_changed(self) -> bool:
        return self._value.is_changed()

    def is_true(self, report: Report, retract: Report | None) -> bool:
        """Compute it, and report what its functions say now instead of what they said before."""
        if retract is not None:
            for message, position in self._said:
                retract(message, position)
        self._said.clear()
        found = bool(self._value.full() == self._true)
        for message, position in self._said:
            report(message, position)
        return found


class RowsWhenTrue:
    """``WhenTrue``: an operator of rows."""

    def __init__(self, condition: Condition, rows: Operator, report: Report, retract: Report | None) -> None:
        self._condition = condition
        self._rows = rows
        self._report, self._retract = report, retract
        self._was_true = False

    def full(self) -> Iterable[Row]:
        # Nothing is taken back: whoever evaluates it anew has forgotten what was reported.
        self._was_true = self._condition.is_true(self._report, None)
        return self._rows.full() if self._was_true else ()

    def delta(self) -> Iterable[Row]:
        # It has just become true, so rows that are not new appear, too.
        if self._condition.is_changed():
            return self.full()
        return self._rows.delta() if self._condition.is_true(self._report, self._retract) else ()

    def changes(self) -> Difference | None:
        if self._condition.may_have_changed():
            before = self._was_true
            self._was_true = self._condition.is_true(self._report, self._retract)
            if self._was_true != before:
                return None
        return self._rows.changes() if self._was_true else NOTHING
