"""The collections that may have rows although no input has brought any.

What is computed there is shown before the first row comes, so it cannot wait until the partition of an input is
complete: no seal on that input helps.  ``rows([(1,)]).notin(cancelled)``, a table that is given in its place, or a
count of rows of which one is written in the program, are examples.
"""

from __future__ import annotations

from collections.abc import Iterable

from clew.bloom.ir.expressions import AnyExpr, Join, NotIn, Rows, Take, Value, WhenTrue, children
from clew.bloom.ir.program import BloomProgram, Op


def find_unprompted(program: BloomProgram, inputs: Iterable[str]) -> frozenset[str]:
    """Return their names; ``inputs``: what brings rows when it likes."""
    derived = {rule.target for rule in program.rules if rule.op is not Op.DELETE}
    # Tables that no rule fills hold what was inserted before the program runs.
    there = {c.name for c in program.collections if c.kind.persists and c.name not in derived} - set(inputs)
    # Rules make more of what is there, until nothing is added: a least fixpoint.
    while True:
        made = (r.target for r in program.rules if r.op is not Op.DELETE and is_unprompted(r.expr, there))
        if there.issuperset(found := set(made)):
            return frozenset(there)
        there |= found


def is_unprompted(expr: AnyExpr, there: Iterable[str]) -> bool:
    """Return whether an expression may have rows although no input has any; ``there``: collections that may."""
    match expr:
        case Rows() | Value():
            return True
        case Join(sources, _, Take.OUTER):
            return is_unprompted(sources[0], there)
        case Join(sources):
            return all(is_unprompted(source, there) for source in sources)
        case NotIn(source):
            return is_unprompted(source, there)
        case WhenTrue(condition, rows):
            return is_unprompted(condition, there) and is_unprompted(rows, there)
    name = getattr(expr, "collection", None)
    if name is not None:
        return name in there
    return any(is_unprompted(child, there) for child in children(expr))
