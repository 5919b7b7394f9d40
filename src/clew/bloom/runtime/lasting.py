"""Which expressions last: their rows of this step are mostly those of the last one.

What rests on a table or a lattice lasts, and is kept from step to step: only what changes in it is computed.
What a message, a timer or a row from outside leads to is gone with the step.  A join with one of these has few
rows, and is computed anew; so is whatever calls a function that need not give the same twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from clew.bloom.ir.expressions import (
    AnyExpr,
    Apply,
    Elements,
    Extreme,
    Fold,
    Group,
    Join,
    LatticeRef,
    NotIn,
    Project,
    Reduce,
    Ref,
    Rename,
    RowFunction,
    Take,
    Transform,
    WhenTrue,
    children,
    subexpressions,
)
from clew.bloom.ir.program import Op, Rule
from clew.bloom.purity.impurity import impurity_of_function


@dataclass(frozen=True)
class Lasting:
    """Knows the ``collections`` that last, and the functions that need not give the same twice."""

    collections: frozenset[str]
    unrepeatable: tuple[object, ...]

    def lasts(self, expr: AnyExpr) -> bool:
        """Tell whether most rows of an expression are those of the last step."""
        match expr:
            case Ref(collection):
                return collection in self.collections
            case LatticeRef():
                return True
            case Join(sources, _, take):
                # One side that is gone with the step is enough: there are few rows to look others up by.
                return all(map(self.lasts, sources[:1] if take is Take.OUTER else sources))
            case NotIn(source) | WhenTrue(_, source):
                return self.lasts(source)
            case Transform() | Fold() | Reduce():
                return self.lasts(expr.source) and not self.calls_unrepeatable(expr)
            case Group() | Extreme() | Rename() | Project() | Elements():
                return self.lasts(expr.source)
            case Apply():
                return any(map(self.lasts, children(expr)))
        return False

    def calls_unrepeatable(self, expr: AnyExpr) -> bool:
        """Tell whether an expression calls a function that need not give the same twice."""
        # By identity: functions may define what equality means, and that is the user's code.
        called = [function_of(part) for part in subexpressions(expr)]
        return any(one is other for one in called for other in self.unrepeatable)


def find_lasting(rules: Sequence[Rule], persistent: Iterable[str]) -> Lasting:
    """Find the collections that last: tables and lattices (``persistent``), and what is derived of them."""
    lasting = Lasting(frozenset(persistent), tuple(_find_unrepeatable(rules)))
    # A fixpoint from below: a recursion that rests on messages alone never gets in.
    waiting = [rule for rule in rules if rule.op is Op.NOW and rule.target not in lasting.collections]
    while fresh := {rule.target for rule in waiting if lasting.lasts(rule.expr)}:
        lasting = replace(lasting, collections=lasting.collections | fresh)
        waiting = [rule for rule in waiting if rule.target not in fresh]
    return lasting


def _find_unrepeatable(rules: Iterable[Rule]) -> Iterator[object]:
    """Yield functions that read a clock or a random number, or remember what they were called with, for example.

    They are called for all rows in every step, since nobody else knows what they would give.
    """
    for rule in rules:
        for part in subexpressions(rule.expr):
            # Its paths are all that it does: symbols would have found anything else.
            seen_through = isinstance(part, Transform) and part.function.paths is not None
            if not seen_through and impurity_of_function(part):
                yield function_of(part)


def function_of(expr: AnyExpr) -> object:
    """Return the function that an expression calls itself, if it does."""
    match expr:
        case Transform(_, function) | Fold(_, RowFunction() as function):
            return function
        case Reduce():
            return expr.fold
    return None
