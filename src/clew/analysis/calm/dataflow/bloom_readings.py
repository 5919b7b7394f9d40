"""Which collections must have rows in the same step for a rule of Bloom: its joins, as a ``Reading``.

A clock that is joined only to say when (``(buffer * timer).lefts()``) ticks again and again, so that nothing that
is stored is missed.  If its number or its time is used, it is a side like others, and order-sensitive by itself.

Sides of a join that are made of one row of one step are not told from others.  A law for them (compare all keys of
a channel with themselves) existed, and no example or listing needed it: such a join can be written as a function.
"""

from __future__ import annotations

from collections.abc import Iterable

from clew.analysis.calm.dataflow.graph import Aggregation, Combination, Leaf, Reading
from clew.bloom.ir.expressions import (
    AnyExpr,
    Apply,
    Elements,
    Extreme,
    Group,
    Join,
    LatticeRef,
    NotIn,
    Project,
    Ref,
    Rename,
    Rows,
    Take,
    Transform,
    Value,
    WhenTrue,
    children,
)
from clew.bloom.ir.program import BloomProgram
from clew.bloom.ir.schema import Kind
from clew.bloom.ir.symbolic import Column, Item, Nested, Operation, Scalar, Whole
from clew.bloom.lattices.containers import LATTICES


def reading_of(expr: AnyExpr, program: BloomProgram) -> Reading | None:
    """Return the joins of a right-hand side; None if it reads nothing."""
    return _Readings(program).of(expr, frozenset(range(len(getattr(expr, "columns", ())))))


class _Readings:
    def __init__(self, program: BloomProgram) -> None:
        self._clocks = frozenset(c.name for c in program.collections if c.kind is Kind.PERIODIC)

    def of(self, expr: AnyExpr, used: frozenset[int]) -> Reading | None:
        """Return the reading of an expression; ``used`` are the columns that matter afterwards."""
        match expr:
            case Ref(collection):
                # A clock none of whose columns is used only says when.
                return Leaf(collection, ticks=collection in self._clocks and not used)
            case LatticeRef(collection):
                return Leaf(collection)
            case Rows() | Value():
                return None
            case Join():
                return self._join(expr, used)
            case NotIn(source, _, matches):
                # The absent side is no side that must be there: its edge has a reason of its own.
                return self.of(source, used | {left for left, _ in matches})
            case Transform(source):
                return self.of(source, _columns_read(expr, used))
            case Rename(source):
                return self.of(source, used)
            case Project(source, kept):
                return self.of(source, frozenset(kept[k] for k in used))
            case Group(source, keys, aggregates):
                inner = self.of(source, frozenset((*keys, *(k for a in aggregates for k in a.over))))
                # Without aggregates, a group is a projection: made of single rows.
                return _aggregate(inner) if aggregates else inner
            case Extreme(source, keys, column):
                return _aggregate(self.of(source, used | {*keys, column}))
            case WhenTrue(condition, rows):
                return _combine([self.of(condition, frozenset()), self.of(rows, used)])
            case Elements(source):
                inner = self.of(source, frozenset())
                return inner if LATTICES[source.lattice].rows_only_grow else _aggregate(inner)
            case Apply(source, method):
                inner = self._all_of(expr)
                # A morphism may be applied to parts of a lattice and the results
                # merged (Bloom^L); other functions see the whole.
                return inner if LATTICES[source.lattice].methods[method].morphism else _aggregate(inner)
            case _:
                return self._all_of(expr)

    def _all_of(self, expr: AnyExpr) -> Reading | None:
        return _combine([self.of(c, frozenset(range(len(getattr(c, "columns", ()))))) for c in children(expr)])

    def _join(self, join: Join, used: frozenset[int]) -> Reading | None:
        sides = [
            self.of(source, _columns_of_side(join, number, used)) for number, source in enumerate(join.sources)
        ]
        return _combine(sides)


def _aggregate(reading: Reading | None) -> Reading | None:
    return None if reading is None else Aggregation(reading)


def _combine(sides: Iterable[Reading | None]) -> Reading | None:
    found = [side for side in sides if side is not None]
    if len(found) > 1:
        return Combination(tuple(found))
    return found[0] if found else None


def _columns_of_side(join: Join, number: int, used: frozenset[int]) -> frozenset[int]:
    """Return the columns of one side that matter."""
    matched = {m.left for m in join.matches if m.left_source == number}
    matched |= {m.right for m in join.matches if m.right_source == number}
    if join.take in (Take.LEFTS, Take.RIGHTS):
        taken = number == (0 if join.take is Take.LEFTS else 1)
        return used | matched if taken else frozenset(matched)
    start = sum(len(source.columns) for source in join.sources[:number])
    width = len(join.sources[number].columns)
    return frozenset(k - start for k in used if start <= k < start + width) | matched


def _columns_read(transform: Transform, used: frozenset[int]) -> frozenset[int]:
    function = transform.function
    if function.paths is None:
        return frozenset(range(len(transform.source.columns)))
    starts = [sum(len(part) for part in function.parts[:k]) for k in range(len(function.parts))]
    found: set[int] = set()
    for path in function.paths:
        scalars = [side for test in path.tests for side in (test.left, test.right)]
        for row in path.rows:
            if isinstance(row, Whole):
                scalars.append(row.value)
            else:
                scalars += [scalar for k, scalar in enumerate(row) if k in used]
        found.update(starts[c.part] + c.index for scalar in scalars for c in _columns(scalar))
    return frozenset(found)


def _columns(scalar: Scalar) -> Iterable[Column]:
    match scalar:
        case Column():
            return (scalar,)
        case Operation(_, left, right):
            return (*_columns(left), *_columns(right))
        case Nested(items):
            return tuple(c for item in items for c in _columns(item))
        case Item(of):
            return _columns(of)
    return ()
