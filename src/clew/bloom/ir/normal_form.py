"""Rules in a form in which joins and ``notin`` read collections only.

What they combine otherwise, such as ``a.filter(...)`` in ``(a.filter(...) * b).pairs()``, becomes a scratch
collection with a rule of its own: then everything that is looked up has an index, and what is new in a round is
known for everything that is joined.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from clew.bloom.ir.expressions import (
    AnyExpr,
    Apply,
    Elements,
    Expr,
    Extreme,
    Fold,
    Group,
    Join,
    LatticeExpr,
    NotIn,
    Project,
    Reduce,
    Ref,
    Rename,
    Transform,
    WhenTrue,
)
from clew.bloom.ir.program import BloomProgram, Op, Rule


@dataclass(frozen=True)
class NormalForm:
    """``rules`` in order; ``origins``, for each, the rule of the program that it is or is a part of."""

    rules: tuple[Rule, ...]
    origins: tuple[Rule, ...]
    auxiliary: tuple[str, ...]


def normal_form(program: BloomProgram) -> NormalForm:
    """Rewrite the rules of a program; errors and reports go on to name the rules of the program itself."""
    rules: list[Rule] = []
    origins: list[Rule] = []
    auxiliary: list[str] = []
    for number, rule in enumerate(program.rules):
        flattener = _Flattener(number)
        expr = flattener.of(rule.expr)
        parts = [Rule(name, Op.NOW, part, rule.block, rule.position) for name, part in flattener.made.items()]
        rules += [*parts, replace(rule, expr=expr)]
        # What a part reports is reported of the rule that the user wrote.
        origins += [rule] * (len(parts) + 1)
        auxiliary += flattener.made
    return NormalForm(tuple(rules), tuple(origins), tuple(auxiliary))


class _Flattener:
    """Flattens one rule; ``made`` are the collections that it needs."""

    def __init__(self, number: int) -> None:
        self._number = number
        self.made: dict[str, Expr] = {}

    def of(self, expr: AnyExpr) -> AnyExpr:
        return self._lattice(expr) if isinstance(expr, LatticeExpr) else self._rows(expr)

    def _rows(self, expr: Expr) -> Expr:
        match expr:
            case Join(sources):
                return replace(expr, sources=tuple(self._as_stored(source) for source in sources))
            # Only what is looked up needs a store; the rows of the source pass by one at a time.
            case NotIn(source, absent):
                return replace(expr, source=self._rows(source), absent=self._as_stored(absent))
            case WhenTrue(condition, rows):
                return replace(expr, condition=self._lattice(condition), rows=self._rows(rows))
            case Elements(lattice):
                return replace(expr, source=self._lattice(lattice))
            case Transform() | Group() | Extreme() | Reduce() | Rename() | Project():
                return replace(expr, source=self._rows(expr.source))
        return expr

    def _lattice(self, expr: LatticeExpr) -> LatticeExpr:
        match expr:
            case Fold(source):
                return replace(expr, source=self._rows(source))
            case Apply(source, _, arguments):
                given = tuple(self._lattice(a) if isinstance(a, LatticeExpr) else a for a in arguments)
                return replace(expr, source=self._lattice(source), arguments=given)
        return expr

    def _as_stored(self, expr: Expr) -> Ref:
        """Return a reference to the rows of an expression, which get a collection unless they have one."""
        inner = expr  # other names for columns need no collection: rows are looked up by number
        while isinstance(inner, Rename):
            inner = inner.source
        if isinstance(inner, Ref):
            return replace(inner, columns=expr.columns, parts=expr.parts)
        flat = self._rows(expr)
        name = f"({self._number}.{len(self.made)})"  # no collection of a program is called like this
        self.made[name] = flat
        return Ref(name, expr.columns, expr.parts)
