"""Lattices in checked programs: a relation of everything that was ever merged.

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
from clew.bloom.to_program.bodies import Body, Compilation, Place
from clew.bloom.to_program.groups import climbed, counted, summed, unbeaten
from clew.bloom.values import BadValueError, freeze
from clew.program import ir
from clew.program.ir import Call, CannotCheckError, Comparison, Const, Function, Value

#: Those whose value is the smallest or largest part.
EXTREMES = ("lmax", "lmin")
_KNOWN = (*EXTREMES, "lbool", "lset", "lpset")
_SHIFTS = ("plus", "minus")
_TRUE = Const(1)


def merged_relation(collection: str, lattice: str) -> str:
    """The relation of the parts."""
    return f"({collection}, merged)" if lattice in EXTREMES else collection


def given_relation(collection: str) -> str:
    """The relation of what is merged into a lattice from outside of its cycle, see ``checked_recursion``."""
    return f"({collection}, given)"


def refuse_unknown(made: Compilation, lattice: str) -> None:
    if lattice not in _KNOWN:
        raise made.refusal(f"a {lattice} cannot be checked", f"use a table, or {', '.join(_KNOWN)}")


def value_of_parts(made: Compilation, lattice: str, parts: Place) -> Body:
    """The value of a ``lmax`` or ``lmin``."""
    return unbeaten(made, parts, (), 0, largest=lattice == "lmax")


def shifted(made: Compilation, part: Body, by: int) -> Body:
    """The part plus a number.  A node adds to the value, this to all parts: the same only for numbers."""
    if by == 0:
        return part
    result = made.fresh()

    def rows(args: tuple[Value, ...]) -> Iterable[tuple[Any, ...]]:
        _refuse_others(args[0], by)
        return [(int(args[0]) + by,)]  # type: ignore[arg-type]

    call = Call(Function(f"adding {by}", rows), part.columns, (result,), made.position)
    return part.with_elements(call).with_columns((result,))


def _refuse_others(value: Value, by: object) -> None:
    if not isinstance(value, int):
        raise CannotCheckError(
            f"{value!r} is merged into a lattice that depends on itself, and {by!r} is added to it",
            "merge numbers only, or add in the next step, with <+",
        )


class Parts:
    """The compiler of the lattice expressions of one rule; the others are left to ``bodies``."""

    def __init__(
        self,
        made: Compilation,
        bodies: Callable[[ex.Expr, int | None], list[Body]],
        place: Callable[[str], Place],
    ) -> None:
        self._made = made
        self._bodies = bodies
        self._place = place

    def elements(self, expr: ex.LatticeExpr) -> list[Body]:
        """The rows of the value."""
        if expr.lattice not in EXTREMES:
            return self.of(expr)
        if isinstance(expr, ex.LatticeRef):
            return [self._made.all_of(self._place(expr.collection))]
        if isinstance(expr, ex.Apply) and expr.method in _SHIFTS and not self._recurs(expr.source):
            return self.of(expr)  # one part, if any
        return [value_of_parts(self._made, expr.lattice, self._stored(expr))]

    def of(self, expr: ex.LatticeExpr) -> list[Body]:
        refuse_unknown(self._made, expr.lattice)
        match expr:
            case ex.LatticeRef(collection, lattice):
                self._place(collection)
                return [self._made.all_of(Place(merged_relation(collection, lattice), 1))]
            case ex.Value(value, lattice):
                rows = LATTICES[lattice].of(value).elements()
                return [Body((), (self._made.constant(row[0]),)) for row in rows]
            case ex.Fold(source, None, lattice):
                return [self._folded(body, lattice) for body in self._bodies(source, None)]
            case ex.Apply():
                return self._applied(expr)
        raise self._made.refusal(
            "a function that makes values of a lattice cannot be checked", "use map before it"
        )

    def _folded(self, body: Body, lattice: str) -> Body:
        """The part that each row is; where it is none, calling the lattice says so."""
        width = len(body.columns)
        if lattice == "lbool" and width == 1:
            return body.with_elements(Comparison("==", body.columns[0], _TRUE, self._made.position))
        if lattice == "lset" and width != 1:
            return body.with_columns((ir.Nested(body.columns),))
        if lattice == "lpset" or width != 1:
            part = self._made.fresh()
            function = Function(f"a {lattice}", lambda row: LATTICES[lattice].of_row(row).elements())
            call = Call(function, body.columns, (part,), self._made.position)
            return body.with_elements(call).with_columns((part,))
        return body

    def _stored(self, expr: ex.LatticeExpr) -> Place:
        if isinstance(expr, ex.LatticeRef):
            self._place(expr.collection)
            return Place(merged_relation(expr.collection, expr.lattice), 1)
        return self._made.helper("parts", self.of(expr), 1)

    def _recurs(self, expr: ex.LatticeExpr) -> bool:
        """Whether the expression depends on what the rule derives, in the same step."""
        return not self._made.around.isdisjoint(name for name, _ in uses(expr))

    # -- functions of lattices -----------------------------------------------------------------------------------

    def _applied(self, expr: ex.Apply) -> list[Body]:
        source, arguments = expr.source, expr.arguments
        refuse_unknown(self._made, source.lattice)
        others = [a for a in arguments if isinstance(a, ex.LatticeRef | ex.Fold | ex.Apply | ex.Value)]
        if others:
            return list(self._combined(expr, others[0]))
        nothing = Body((), (Const(0),))
        match expr.method:
            case "size" | "sum" if self._recurs(source):
                return [climbed(self._made, self._stored(source), expr.method), nothing]
            case "size":
                return [counted(self._made, self._stored(source), (), 0), nothing]
            case "sum":
                return [summed(self._made, self._stored(source), ()), nothing]
            case method if method in _SHIFTS and not self._recurs(source):
                # All that a node adds to is the value, and where that is no number, it adds nothing.
                return [self._called(expr, value) for value in self.elements(source)]
            case "negated":
                return [Body(way, (_TRUE,)) for way in self._made.absent(self._stored(source), [[_TRUE]])]
        morphism = LATTICES[source.lattice].methods[expr.method].morphism
        return [self._called(expr, part) for part in (self.of(source) if morphism else self.elements(source))]

    def _called(self, expr: ex.Apply, part: Body) -> Body:
        result = self._made.fresh()
        only_numbers = expr.method in _SHIFTS and self._recurs(expr.source)
        function = Function(f"{expr.method} of a {expr.source.lattice}", _method(expr, only_numbers=only_numbers))
        call = Call(function, part.columns, (result,), self._made.position)
        return part.with_elements(call).with_columns((result,))

    def _paired(self, expr: ex.Apply, left: Body, right: Body) -> Body:
        both, pair = left.with_elements(*right.elements), (*left.columns, *right.columns)
        if not self._recurs(expr):
            return both.with_columns((ir.Nested(pair),))
        # Pairs of pairs of pairs: a node would go on for ever, where it refuses such values of other functions.
        result, block = self._made.fresh(), self._made.rule.block

        def rows(args: tuple[Value, ...]) -> Iterable[tuple[Any, ...]]:
            try:
                return [(freeze(args),)]
            except BadValueError as error:
                raise CannotCheckError(
                    f"{block}: a step may never end: in a product, {error}",
                    "derive the product in the next step, with <+",
                ) from None

        call = Call(Function("a product", rows), pair, (result,), self._made.position)
        return both.with_elements(call).with_columns((result,))

    def _combined(self, expr: ex.Apply, other: ex.LatticeExpr) -> Iterable[Body]:
        match expr.method:
            case "either" | "union":
                yield from (*self.of(expr.source), *self.of(other))
            case "both" | "intersect":
                for left, right in product(self.of(expr.source), self.of(other)):
                    equal = Comparison("==", left.columns[0], right.columns[0], self._made.position)
                    yield left.with_elements(*right.elements, equal)
            case "product":
                for left, right in product(self.of(expr.source), self.of(other)):
                    yield self._paired(expr, left, right)
            case "without":
                absent = self._stored(other)
                for left in self.of(expr.source):
                    for way in self._made.absent(absent, [[left.columns[0]]]):
                        yield left.with_elements(*way)
            case _:
                raise self._made.refusal(f"'{expr.method}' of a lattice cannot be checked", "use a table")


def _method(expr: ex.Apply, *, only_numbers: bool) -> Callable[[tuple[Value, ...]], Iterable[tuple[Any, ...]]]:
    lattice, name, arguments = LATTICES[expr.source.lattice], expr.method, expr.arguments

    def rows(args: tuple[Value, ...]) -> Iterable[tuple[Any, ...]]:
        if only_numbers:
            _refuse_others(args[0], arguments[0])
        part = lattice.of(True) if lattice.name == "lbool" else lattice.of_row(args)
        found: Iterable[tuple[Any, ...]] = getattr(part, name)(*arguments).elements()
        return found

    return rows
