"""Rules in a form in which joins and ``notin`` read collections only.

What they combine otherwise, such as ``a.filter(...)`` in ``(a.filter(...) * b).pairs()``, becomes a scratch
collection with a rule of its own: then everything that is looked up has an index, and what is new in a round is
known for everything that is joined.

Where an expression *lasts* from step to step, so that only what changes in it is looked at, more has a collection
of its own: what is grouped, what ``notin`` takes rows from, and what rules with other operators than ``<=`` give.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
    collections_in,
)
from clew.bloom.ir.program import BloomProgram, Op, Rule
from clew.bloom.ir.strata import Stratum


@dataclass(frozen=True)
class NormalForm:
    """``rules`` in order; ``origins``, for each, the rule of the program that it is or is a part of."""

    rules: tuple[Rule, ...]
    origins: tuple[Rule, ...]
    auxiliary: tuple[str, ...]


def normal_form(program: BloomProgram, lasts: Callable[[AnyExpr], bool], strata: Sequence[Stratum]) -> NormalForm:
    """Rewrite the rules of a program; errors and reports go on to name the rules of the program itself."""
    beside = {number: frozenset(s.collections) for s in strata for number in s.rules}
    rules: list[Rule] = []
    origins: list[Rule] = []
    auxiliary: list[str] = []
    for number, rule in enumerate(program.rules):
        flattener = _Flattener(number, lasts, beside.get(number, frozenset()))
        expr = flattener.of_later(rule.expr) if rule.op is not Op.NOW else flattener.of(rule.expr)
        parts = [Rule(name, Op.NOW, part, rule.block, rule.position) for name, part in flattener.made.items()]
        rules += [*parts, replace(rule, expr=expr)]
        # What a part reports is reported of the rule that the user wrote.
        origins += [rule] * (len(parts) + 1)
        auxiliary += flattener.made
    return NormalForm(tuple(rules), tuple(origins), tuple(auxiliary))


class _Flattener:
    """Flattens one rule; ``made`` are the collections that it needs.  ``beside``: those of its stratum."""

    def __init__(self, number: int, lasts: Callable[[AnyExpr], bool], beside: frozenset[str]) -> None:
        self._number = number
        self._lasts = lasts
        self._beside = beside
        self.made: dict[str, Expr] = {}

    def of(self, expr: AnyExpr) -> AnyExpr:
        return self._lattice(expr) if isinstance(expr, LatticeExpr) else self._rows(expr)

    def of_later(self, expr: AnyExpr) -> AnyExpr:
        """Flatten what a rule gives for later; if that lasts, it is there when it is asked for."""
        if isinstance(expr, LatticeExpr) or not self._lasts(expr):
            return self.of(expr)
        return self._as_stored(expr)

    def _rows(self, expr: Expr) -> Expr:
        match expr:
            case Join(sources):
                return replace(expr, sources=tuple(self._as_stored(source) for source in sources))
            # Only what is looked up needs a store; the rows of the source pass by one at a time, unless they last:
            # then a row that disappears from the right is looked up on the left.
            case NotIn(source, absent):
                # Not within a recursion: a row would come a round later, and lose its key to another one.
                is_within = not self._beside.isdisjoint(collections_in(source))
                kept = self._as_stored(source) if self._lasts(source) and not is_within else self._rows(source)
                return replace(expr, source=kept, absent=self._as_stored(absent))
            case Group(source) | Extreme(source) if self._lasts(source):
                return replace(expr, source=self._as_stored(source))
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
