"""Lattices in rules: functions of a lattice give another one, down to rows or a condition.

Which functions there are, what they take and whether they are monotone is in the table ``methods`` of each
lattice: nothing here knows a lattice by name but ``lbool``, the only one that a rule can wait for.
"""

from __future__ import annotations

from typing import Any

from clew.bloom.ir.expressions import Apply, Elements, LatticeExpr, Value, WhenTrue
from clew.bloom.language.capture import mistake
from clew.bloom.language.relations import Marked, Relation, Statement, as_relation
from clew.bloom.lattices.containers import LATTICES, PLAIN, SAME, Method
from clew.bloom.values import BadValueError


class LatticeRelation:
    """A lattice, or a function of one."""

    def __init__(self, expr: LatticeExpr) -> None:
        self._expr = expr

    def to_expr(self) -> LatticeExpr:
        return self._expr

    def elements(self, *columns: str) -> Relation:
        """Return the lattice as rows."""
        expr = self.to_expr()
        names = columns or LATTICES[expr.lattice].columns
        return Relation(Elements(expr, tuple(names)))

    def when_true(self, rows: Any) -> Relation:
        """Give these rows once a lbool is true."""
        expr = self.to_expr()
        if expr.lattice != "lbool":
            raise mistake(f"when_true needs a lbool, not a {expr.lattice}", "compare first, such as size().gt(2)")
        return Relation(WhenTrue(expr, as_relation(rows).to_expr()))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        expr = self.to_expr()
        methods = LATTICES[expr.lattice].methods
        if name not in methods:
            known = ", ".join([*methods, "elements"])
            raise mistake(f"a {expr.lattice} has no function '{name}'", f"it has {known}")

        def apply(*arguments: Any) -> LatticeRelation:
            given = tuple(_argument(a) for a in arguments)
            _check_arguments(expr.lattice, name, methods[name], given)
            return LatticeRelation(Apply(expr, name, given, methods[name].result))

        return apply

    def __add__(self, other: Any) -> Any:
        return self.plus(other)

    def __sub__(self, other: Any) -> Any:
        return self.minus(other)

    def __pos__(self) -> Any:
        return Marked("+", self)  # type: ignore[arg-type]

    def __neg__(self) -> Any:
        return Marked("-", self)  # type: ignore[arg-type]

    def __invert__(self) -> Any:
        return Marked("~", self)  # type: ignore[arg-type]

    def __le__(self, other: Any) -> Statement:
        raise mistake("the left-hand side of a rule is an expression", "rules merge into a declared lattice")

    # Python's own words about operands that cannot be compared would say nothing of rules.
    __lt__ = __ge__ = __gt__ = __le__

    def __bool__(self) -> bool:
        raise mistake("a lattice is used as a condition", "use when_true(rows)")


def write_value(lattice: str, value: Any) -> LatticeRelation:
    """Write a lattice value down."""
    try:
        return LatticeRelation(Value(LATTICES[lattice].of(value), lattice))
    except BadValueError as error:
        raise mistake(str(error), f"give a value that a {lattice} can hold") from None


def _argument(given: Any) -> Any:
    if isinstance(given, LatticeRelation):
        return given.to_expr()
    # A lattice method would take the handle for a plain value, and fail in a step, far from the rule.
    if isinstance(given, Relation):
        raise mistake(
            "a lattice function is given a collection", "make a lattice of its rows first: self.l <= rows"
        )
    return given


def _check_arguments(lattice: str, name: str, method: Method, given: tuple[Any, ...]) -> None:
    """Refuse a lattice where a function takes a plain value: it need not be monotone in that argument."""
    wanted = [lattice if kind == SAME else kind for kind in method.takes]
    found = [getattr(argument, "lattice", PLAIN) for argument in given]
    if found != wanted:
        said = [", ".join(kinds) or "nothing" for kinds in (wanted, found)]
        raise mistake(
            f"'{name}' of a {lattice} takes {said[0]}, here it is given {said[1]}", "give it what it takes"
        )
