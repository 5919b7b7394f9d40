"""The rows of a right-hand side in terms of the rows of collections, where that is simple.

No law of its own: ``provenance``, ``complete_sets`` and ``run_invariants`` ask it what a rule copies.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from clew.bloom.ir.expressions import AnyExpr, Join, NotIn, Project, Ref, Rename, Take, Transform
from clew.bloom.ir.symbolic import Column, Here, Item, Nested, Operation, Scalar


@dataclass(frozen=True)
class Copied:
    """Each row is ``row``; in it, column ``index`` of ``part`` is that of collection number ``part``.

    ``always``: every row of the collection leads to one; otherwise only some do.
    """

    collections: tuple[str, ...]
    row: tuple[Scalar, ...]
    always: bool

    def is_all_of(self, part: int) -> bool:
        """Tell whether the row is that of one collection as it is."""
        return all(column == Column(part, index) for index, column in enumerate(self.row))


def trace_copy(expr: AnyExpr) -> Copied | None:
    """Return what an expression copies; None where several rows come from one, or a function hides it."""
    match expr:
        case Ref(collection, columns):
            return Copied((collection,), tuple(Column(0, k) for k in range(len(columns))), always=True)
        case Rename(source):
            return trace_copy(source)
        case Project(source, kept):
            found = trace_copy(source)
            return found and Copied(found.collections, tuple(found.row[k] for k in kept), found.always)
        case Transform(source):
            found = trace_copy(source)
            return found and _through(expr, found)
        # Joins multiply rows, so that ``always`` is lost: a row without a partner leads to nothing.
        case Join():
            return _trace_join(expr)
        # What is left is copied as it is, but which rows are left depends on the other side.
        case NotIn(source):
            found = trace_copy(source)
            return found and Copied(found.collections, found.row, always=False)
    return None


def _through(transform: Transform, source: Copied) -> Copied | None:
    function = transform.function
    paths = [path for path in function.paths or () if path.rows]
    # One path, one row: where a function returns this or that, none of both is what is copied.
    if function.reads or len(paths) != 1 or len(paths[0].rows) != 1 or not isinstance(paths[0].rows[0], tuple):
        return None
    starts = [sum(len(part) for part in function.parts[:k]) for k in range(len(function.parts))]
    inner = {
        Column(part, index): source.row[start + index]
        for part, start in enumerate(starts)
        for index in range(len(function.parts[part]))
    }
    row = tuple(substitute(scalar, inner) for scalar in paths[0].rows[0])
    return Copied(source.collections, row, source.always and not paths[0].tests)


def _trace_join(join: Join) -> Copied | None:
    # The row of a missing partner is None, which is no column of anything.
    if join.take is Take.OUTER:
        return None
    sides: list[Copied] = []
    for source in join.sources:
        found = trace_copy(source)
        if found is None:
            return None
        # Each side counts its collections from 0; in the join, they follow each other.
        start = sum(len(side.collections) for side in sides)
        shifted = {c: Column(c.part + start, c.index) for c in columns_in(found.row)}
        sides.append(Copied(found.collections, tuple(substitute(s, shifted) for s in found.row), found.always))
    taken = {Take.LEFTS: sides[:1], Take.RIGHTS: sides[1:2]}.get(join.take, sides)
    return Copied(
        tuple(name for side in sides for name in side.collections),
        tuple(column for side in taken for column in side.row),
        always=False,
    )


def columns_in(row: tuple[Scalar, ...]) -> tuple[Column, ...]:
    """Return the columns that a row is made of, each once."""
    found: dict[Column, None] = {}
    pending = list(row)
    while pending:
        match pending.pop():
            case Column() as column:
                found[column] = None
            case Operation(_, left, right):
                pending += [left, right]
            case Nested(items):
                pending += items
            case Item(of):
                pending.append(of)
    return tuple(found)


def substitute(
    scalar: Scalar, by: Mapping[Column, Column] | Mapping[Column, Scalar], *, here: Scalar | None = None
) -> Scalar:
    """Return the scalar with other things in the place of its columns, and of the address of the node."""
    match scalar:
        case Column():
            return by[scalar]
        case Here():
            return here or scalar
        case Operation(op, left, right):
            return Operation(op, substitute(left, by, here=here), substitute(right, by, here=here))
        case Nested(items):
            return Nested(tuple(substitute(item, by, here=here) for item in items))
        case Item(of, index):
            inner = substitute(of, by, here=here)
            # A part of what was put together is that part: (a, b)[1] is a copy of b.
            return inner.items[index] if isinstance(inner, Nested) else Item(inner, index)
    return scalar
