"""Compile the expressions of rules in normal form to operators over the stores of a node."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
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
    collections_in,
)
from clew.bloom.lattices.containers import LATTICES
from clew.bloom.runtime.calls import Report, RowMap, make_caller, picker, projection, splitter
from clew.bloom.runtime.operators import groups, joins
from clew.bloom.runtime.operators import lattices as lattice_operators
from clew.bloom.runtime.operators import rows as row_operators
from clew.bloom.runtime.operators.rows import Operator
from clew.bloom.runtime.storage import Cell, Store
from clew.bloom.values import Row
from clew.errors import Position, ProgramError


@dataclass(frozen=True)
class Compiler:
    """Compiles one rule; ``report`` is called for rows that are rejected.

    ``retract``, for a rule of which only changes are computed: called when such a row is gone.  ``counted``: it is
    in a recursion whose rows are kept.  ``products``: those that were compiled.
    """

    stores: Mapping[str, Store]
    cells: Mapping[str, Cell]
    address: str
    report: Report
    retract: Report | None
    position: Position | None
    counted: bool = False
    products: list[lattice_operators.SetProduct] = field(default_factory=list)

    def rows(self, expr: Expr) -> Operator:
        """Compile an expression of rows."""
        match expr:
            case Ref(collection):
                return row_operators.StoreRows(self.stores[collection])
            case Rows(rows):
                return row_operators.LiteralRows(rows)
            case Transform():
                return self._transform(expr)
            case Join():
                return self._join(expr, None)
            # Ref by normal form: what is looked up has a store with an index.
            case NotIn(source, Ref(absent), matches):
                # A source that lasts has a store of its own, too.
                left = self.stores[source.collection] if isinstance(source, Ref) else None
                return row_operators.AntiJoin(self.rows(source), self.stores[absent], matches, left)
            case Rename(source, columns):
                # Names are gone at run time; but they say how wide the rows of an opaque function should be.
                renamed = self.rows(source)
                return renamed if source.columns else self.require_width(renamed, len(columns))
            case Project(source, kept):
                return row_operators.pick_columns(self.rows(source), picker(list(kept)))
            case Elements(lattice):
                return lattice_operators.ElementRows(self.lattice(lattice))
            case WhenTrue(condition, source):
                when = self._condition(condition)
                return lattice_operators.RowsWhenTrue(when, self.rows(source), self.report, self.retract)
            case Group(Ref(source), keys, aggregates) if self.retract is not None:
                return groups.KeptGroups(self.stores[source], keys, aggregates, self.report, self.retract)
            case Extreme(Ref(source), keys, column, largest) if self.retract is not None:
                return groups.KeptExtremes(self.stores[source], keys, column, largest=largest)
            case Group() | Extreme() | Reduce():
                return row_operators.OverAllRows(self.rows(expr.source), self._over_all_rows(expr))
        raise AssertionError(f"not in normal form: {type(expr).__name__}")

    def require_width(self, operator: Operator, width: int) -> Operator:
        """Reject rows of another width than a collection has."""
        return row_operators.require_width(operator, width, self.report, self.retract or self.report)

    def _find(self, names: Sequence[str]) -> list[Store | Cell]:
        return [self.cells.get(name) or self.stores[name] for name in names]

    def _over_all_rows(self, expr: Group | Extreme | Reduce) -> Callable[..., list[Row]]:
        match expr:
            case Group(_, keys, aggregates):
                return row_operators.make_grouping(keys, aggregates, self.report)
            case Extreme(_, keys, column, largest):
                return row_operators.make_extreme(keys, column, largest=largest)
            case Reduce():
                return row_operators.make_reduce(expr, expr.source.columns, self.report)

    def _transform(self, expr: Transform) -> Operator:
        pick = projection(expr.function, self.address) if expr.source.columns else None
        if pick is None:
            source, function = self.rows(expr.source), expr.function
            call = make_caller(function, expr.source, self.report)
            if self.retract is None:
                return row_operators.BatchMap(source, call)
            undo = make_caller(function, expr.source, self.retract)
            return row_operators.BatchMap(source, call, undo, self._find(function.reads))
        # The join applies it to each row while it is made, which saves a pass over the joined rows.
        if isinstance(expr.source, Join) and expr.source.take is Take.PAIRS:
            return self._join(expr.source, pick)
        return row_operators.pick_columns(self.rows(expr.source), pick)

    def _join(self, join: Join, finish: RowMap | None) -> Operator:
        # In normal form every source is a ``Ref``: whatever else is joined has a collection of its own.
        stores = [self.stores[source.collection] for source in join.sources if isinstance(source, Ref)]
        if join.take is not Take.OUTER:
            return joins.make_inner_join(stores, join.matches, join.take, finish, counted=self.counted)
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
                return lattice_operators.MergeRows(self.rows(source), lattice, value_of, self.report, self.retract)
            case Apply(source, method, arguments, lattice):
                given = [self.lattice(a) if isinstance(a, LatticeExpr) else a for a in arguments]
                if method == "product":
                    made = lattice_operators.SetProduct(self.lattice(source), method, given, lattice, self.report)
                    self.products.append(made)
                    return made
                return lattice_operators.ApplyMethod(self.lattice(source), method, given, lattice, self.report)

    def _condition(self, expr: LatticeExpr) -> lattice_operators.Condition:
        said: list[lattice_operators.Said] = []

        def note(message: str, position: Position | None = None) -> None:
            said.append((message, position))

        value = replace(self, report=note).lattice(expr)
        return lattice_operators.Condition(value, self._find(collections_in(expr)), said)

    def _value_of(self, function: RowFunction | None, lattice: str) -> Callable[[Row], Any]:
        made = LATTICES[lattice]
        if function is None:
            of_row: Callable[[Row], Any] = made.of_row
            return of_row
        # An error of the function is reported by the operator, with the row.
        split, call = splitter(function.parts), function.call
        return lambda row: made.of(call(*split(row)))
