"""Translate lattices: a relation of everything that was ever merged.

A lattice expression is compiled to its parts, in rows with one column; its value is what they make when merged.  A
morphism is applied part by part; what needs the value waits for all parts.  Of ``lmax`` and ``lmin`` the relation
with the name of the lattice has the value; sets and truth values are the same as their parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import product
from typing import Any

from clew.bloom.ir import expressions as ex
from clew.bloom.ir.strata import uses
from clew.bloom.lattices.containers import LATTICES
from clew.bloom.to_program.bodies import Body, Place, RuleWriter
from clew.bloom.to_program.groups import count_rows, measure_subsets, select_extreme, sum_rows
from clew.bloom.values import BadValueError, freeze
from clew.program import ir
from clew.program.ir import Call, CannotCheckError, Comparison, Const, Function, Value

#: Lattices whose value is the smallest or largest part, which needs a relation besides that of the parts.
EXTREMES = ("lmax", "lmin")
#: Lattices that can be checked: their parts are rows with one column, as those of maps and bags are not.
_CHECKABLE = (*EXTREMES, "lbool", "lset", "lpset")
_SHIFTS = ("plus", "minus")
_TRUE = Const(1)


def parts_relation(collection: str, lattice: str) -> str:
    """Name the relation of the parts; where they are the value, it is the collection itself."""
    return f"({collection}, merged)" if lattice in EXTREMES else collection


def entry_relation(collection: str) -> str:
    """Name the relation of what is merged into a lattice from outside of its cycle, see ``recursion``."""
    return f"({collection}, given)"


def refuse_unknown(writer: RuleWriter, lattice: str) -> None:
    if lattice not in _CHECKABLE:
        raise writer.refusal(f"a {lattice} cannot be checked", f"use a table, or {', '.join(_CHECKABLE)}")


def value_of_parts(writer: RuleWriter, lattice: str, parts: Place) -> Body:
    """Select the value of a ``lmax`` or ``lmin`` from its parts."""
    return select_extreme(writer, parts, (), 0, largest=lattice == "lmax")


def shift(writer: RuleWriter, part: Body, by: int) -> Body:
    """Add a number to a part.  A node adds to the value, this to all parts: the same only for numbers."""
    # Merged as it is, it need not be a number.
    if by == 0:
        return part
    result = writer.fresh()

    def rows(args: tuple[Value, ...]) -> Iterable[tuple[Any, ...]]:
        _require_number(args[0], by)
        return [(int(args[0]) + by,)]  # type: ignore[arg-type]

    call = Call(Function(f"adding {by}", rows), part.columns, (result,), writer.position)
    return part.with_elements(call).with_columns((result,))


def _require_number(value: Value, by: object) -> None:
    if not isinstance(value, int):
        raise CannotCheckError(
            f"{value!r} is merged into a lattice that depends on itself, and {by!r} is added to it",
            "merge numbers only, or add in the next step, with <+",
        )


class LatticeTranslator:
    """Translates the lattice expressions of one rule; the others are left to ``bodies``."""

    def __init__(
        self,
        writer: RuleWriter,
        bodies: Callable[[ex.Expr, int | None], list[Body]],
        place: Callable[[str], Place],
    ) -> None:
        self._writer = writer
        self._bodies = bodies
        self._place = place

    def elements(self, expr: ex.LatticeExpr) -> list[Body]:
        """Translate the rows of the value."""
        if expr.lattice not in EXTREMES:
            return self.of(expr)
        if isinstance(expr, ex.LatticeRef):
            return [self._writer.all_of(self._place(expr.collection))]
        if isinstance(expr, ex.Apply) and expr.method in _SHIFTS and not self._is_recursive(expr.source):
            return self.of(expr)  # one part, if any
        return [value_of_parts(self._writer, expr.lattice, self._as_place(expr))]

    def of(self, expr: ex.LatticeExpr) -> list[Body]:
        """Translate the parts of the value."""
        refuse_unknown(self._writer, expr.lattice)
        match expr:
            case ex.LatticeRef(collection, lattice):
                self._place(collection)
                return [self._writer.all_of(Place(parts_relation(collection, lattice), 1))]
            case ex.Value(value, lattice):
                rows = LATTICES[lattice].of(value).elements()
                return [Body((), (self._writer.constant(row[0]),)) for row in rows]
            case ex.Fold(source, None, lattice):
                return [self._fold(body, lattice) for body in self._bodies(source, None)]
            case ex.Apply():
                return self._apply(expr)
        raise self._writer.refusal(
            "a function that makes values of a lattice cannot be checked", "use map before it"
        )

    def _fold(self, body: Body, lattice: str) -> Body:
        """Make a part of each row; a row that cannot be one is refused by a call of the lattice itself."""
        width = len(body.columns)
        if lattice == "lbool" and width == 1:
            # False is bottom, and adds nothing.
            return body.with_elements(Comparison("==", body.columns[0], _TRUE, self._writer.position))
        if lattice == "lset" and width != 1:
            return body.with_columns((ir.Nested(body.columns),))
        if lattice == "lpset" or width != 1:
            part = self._writer.fresh()
            function = Function(f"a {lattice}", lambda row: LATTICES[lattice].of_row(row).elements())
            call = Call(function, body.columns, (part,), self._writer.position)
            return body.with_elements(call).with_columns((part,))
        return body

    def _as_place(self, expr: ex.LatticeExpr) -> Place:
        if isinstance(expr, ex.LatticeRef):
            self._place(expr.collection)
            return Place(parts_relation(expr.collection, expr.lattice), 1)
        return self._writer.helper("parts", self.of(expr), 1)

    def _is_recursive(self, expr: ex.LatticeExpr) -> bool:
        """Tell whether the expression depends on what the rule derives, in the same step."""
        return not self._writer.cycle.isdisjoint(name for name, _ in uses(expr))

    # -- functions of lattices -----------------------------------------------------------------------------------

    def _apply(self, expr: ex.Apply) -> list[Body]:
        source, arguments = expr.source, expr.arguments
        refuse_unknown(self._writer, source.lattice)
        others = [a for a in arguments if isinstance(a, ex.LatticeRef | ex.Fold | ex.Apply | ex.Value)]
        if others:
            return list(self._combine(expr, others[0]))
        nothing = Body((), (Const(0),))  # an empty set has a size and a sum, but no rows to count
        match expr.method:
            case "size" | "sum" if self._is_recursive(source):
                return [measure_subsets(self._writer, self._as_place(source), expr.method), nothing]
            case "size":
                return [count_rows(self._writer, self._as_place(source), (), 0), nothing]
            case "sum":
                return [sum_rows(self._writer, self._as_place(source), ()), nothing]
            case method if method in _SHIFTS and not self._is_recursive(source):
                # All that a node adds to is the value, and where that is no number, it adds nothing.
                return [self._call(expr, value) for value in self.elements(source)]
            case "negated":
                # True as long as no part is true: the only negation among the functions of one lattice.
                return [Body(way, (_TRUE,)) for way in self._writer.absent(self._as_place(source), [[_TRUE]])]
        # A morphism may be applied before parts are merged; anything else is applied to the value.
        morphism = LATTICES[source.lattice].methods[expr.method].morphism
        return [self._call(expr, part) for part in (self.of(source) if morphism else self.elements(source))]

    def _call(self, expr: ex.Apply, part: Body) -> Body:
        result = self._writer.fresh()
        only_numbers = expr.method in _SHIFTS and self._is_recursive(expr.source)
        function = Function(
            f"{expr.method} of a {expr.source.lattice}", _make_method(expr, only_numbers=only_numbers)
        )
        call = Call(function, part.columns, (result,), self._writer.position)
        return part.with_elements(call).with_columns((result,))

    def _pair(self, expr: ex.Apply, left: Body, right: Body) -> Body:
        both, pair = left.with_elements(*right.elements), (*left.columns, *right.columns)
        if not self._is_recursive(expr):
            return both.with_columns((ir.Nested(pair),))
        # Pairs of pairs of pairs: a node would go on for ever, where it refuses such values of other functions.
        result, block = self._writer.fresh(), self._writer.rule.block

        def rows(args: tuple[Value, ...]) -> Iterable[tuple[Any, ...]]:
            try:
                return [(freeze(args),)]
            except BadValueError as error:
                raise CannotCheckError(
                    f"{block}: a step may never end: in a product, {error}",
                    "derive the product in the next step, with <+",
                ) from None

        call = Call(Function("a product", rows), pair, (result,), self._writer.position)
        return both.with_elements(call).with_columns((result,))

    def _combine(self, expr: ex.Apply, other: ex.LatticeExpr) -> Iterable[Body]:
        match expr.method:
            case "either" | "union":
                yield from (*self.of(expr.source), *self.of(other))
            case "both" | "intersect":
                for left, right in product(self.of(expr.source), self.of(other)):
                    equal = Comparison("==", left.columns[0], right.columns[0], self._writer.position)
                    yield left.with_elements(*right.elements, equal)
            case "product":
                for left, right in product(self.of(expr.source), self.of(other)):
                    yield self._pair(expr, left, right)
            case "without":
                absent = self._as_place(other)
                for left in self.of(expr.source):
                    for way in self._writer.absent(absent, [[left.columns[0]]]):
                        yield left.with_elements(*way)
            case _:
                raise self._writer.refusal(f"'{expr.method}' of a lattice cannot be checked", "use a table")


def _make_method(
    expr: ex.Apply, *, only_numbers: bool
) -> Callable[[tuple[Value, ...]], Iterable[tuple[Any, ...]]]:
    # A method of the lattice itself is called, so that a node and the checker cannot disagree about it.
    lattice, name, arguments = LATTICES[expr.source.lattice], expr.method, expr.arguments

    def rows(args: tuple[Value, ...]) -> Iterable[tuple[Any, ...]]:
        if only_numbers:
            _require_number(args[0], arguments[0])
        part = lattice.of(True) if lattice.name == "lbool" else lattice.of_row(args)
        found: Iterable[tuple[Any, ...]] = getattr(part, name)(*arguments).elements()
        return found

    return rows
