"""Compile the expressions of rules in normal form to operators over the stores of a node."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from clew.bloom.ir.expressions import (
    Apply,
    Elements,
    Expr,
    Extreme,
    Fold,
    Group,
    Join,
    LatticeExpr,
    LatticeRef,
    NotIn,
    Project,
    Reduce,
    Ref,
    Rename,
    RowFunction,
    Rows,
    Take,
    Transform,
    Value,
    WhenTrue,
)
from clew.bloom.lattices.containers import LATTICES
from clew.bloom.runtime import joins, lattice_operators, operators
from clew.bloom.runtime.calls import Report, RowMap, make_caller, picker, projection, splitter
from clew.bloom.runtime.operators import Operator
from clew.bloom.runtime.storage import Cell, Store
from clew.bloom.values import Row
from clew.errors import Position, ProgramError


@dataclass(frozen=True)
class Compiler:
    """Compiles one rule; ``report`` is called for rows that are rejected."""

    stores: Mapping[str, Store]
    cells: Mapping[str, Cell]
    address: str
    report: Report
    position: Position | None

    def rows(self, expr: Expr) -> Operator:
        """Compile an expression of rows."""
        match expr:
            case Ref(collection):
                return operators.StoreRows(self.stores[collection])
            case Rows(rows):
                return operators.LiteralRows(rows)
            case Transform():
                return self._transform(expr)
            case Join():
                return self._join(expr, None)
            # Ref by normal form: what is looked up has a store with an index.
            case NotIn(source, Ref(absent), matches):
                return operators.AntiJoin(self.rows(source), self.stores[absent], matches)
            case Rename(source, columns):
                # Names are gone at run time; but they say how wide the rows of an opaque function should be.
                renamed = self.rows(source)
                return renamed if source.columns else operators.require_width(renamed, len(columns), self.report)
            case Project(source, kept):
                return operators.pick_columns(self.rows(source), picker(list(kept)))
            case Elements(lattice):
                return lattice_operators.ElementRows(self.lattice(lattice))
            case WhenTrue(condition, source):
                return lattice_operators.RowsWhenTrue(self.lattice(condition), self.rows(source))
            case Group() | Extreme() | Reduce():
                return operators.OverAllRows(self.rows(expr.source), self._over_all_rows(expr))
        raise AssertionError(f"not in normal form: {type(expr).__name__}")

    def _over_all_rows(self, expr: Group | Extreme | Reduce) -> Callable[..., list[Row]]:
        match expr:
            case Group(_, keys, aggregates):
                return operators.make_grouping(keys, aggregates, self.report)
            case Extreme(_, keys, column, largest):
                return operators.make_extreme(keys, column, largest=largest)
            case Reduce():
                return operators.make_reduce(expr, expr.source.columns, self.report)

    def _transform(self, expr: Transform) -> Operator:
        pick = projection(expr.function, self.address) if expr.source.columns else None
        if pick is None:
            return operators.BatchMap(self.rows(expr.source), make_caller(expr.function, expr.source, self.report))
        # The join applies it to each row while it is made, which saves a pass over the joined rows.
        if isinstance(expr.source, Join) and expr.source.take is Take.PAIRS:
            return self._join(expr.source, pick)
        return operators.pick_columns(self.rows(expr.source), pick)

    def _join(self, join: Join, finish: RowMap | None) -> Operator:
        # In normal form every source is a ``Ref``: whatever else is joined has a collection of its own.
        stores = [self.stores[source.collection] for source in join.sources if isinstance(source, Ref)]
        if join.take is not Take.OUTER:
            return joins.make_inner_join(stores, join.matches, join.take, finish)
        missing = len(join.sources[1].columns)
        if not missing:
            raise ProgramError(
                "the columns of the right side of an outer join are not known",
                position=self.position,
                remedy="name them with rename(...)",
            )
        return joins.OuterJoin(stores, join.matches, missing)

    # -- lattices ------------------------------------------------------------------------------------------------

    def lattice(self, expr: LatticeExpr) -> lattice_operators.LatticeOperator:
        """Compile an expression of a lattice."""
        match expr:
            case LatticeRef(collection):
                return lattice_operators.CellValue(self.cells[collection])
            case Value(value, lattice):
                return lattice_operators.Constant(LATTICES[lattice].of(value))
            case Fold(source, function, lattice):
                value_of = self._value_of(function, lattice)
                return lattice_operators.MergeRows(self.rows(source), lattice, value_of, self.report)
            case Apply(source, method, arguments, lattice):
                given = [self.lattice(a) if isinstance(a, LatticeExpr) else a for a in arguments]
                return lattice_operators.ApplyMethod(self.lattice(source), method, given, lattice, self.report)

    def _value_of(self, function: RowFunction | None, lattice: str) -> Callable[[Row], Any]:
        made = LATTICES[lattice]
        if function is None:
            of_row: Callable[[Row], Any] = made.of_row
            return of_row
        # An error of the function is reported by the operator, with the row.
        split, call = splitter(function.parts), function.call
        return lambda row: made.of(call(*split(row)))
