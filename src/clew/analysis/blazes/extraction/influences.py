"""Which attributes of the inputs anything about a row depends on: its columns, and whether it is there at all.

``origins`` says what a column is *equal* to, this module what it may be *computed* from.  Both together tell
whether rows that arrive together can get into each other's way: a group whose keys fix all that an event
contributes has the same contents, whichever other events come in the same step.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from clew.bloom.ir.expressions import (
    AnyExpr,
    Extreme,
    Group,
    Join,
    NotIn,
    Project,
    Ref,
    Rename,
    Role,
    Rows,
    Take,
    Transform,
    collections_in,
)
from clew.bloom.ir.program import BloomProgram
from clew.bloom.ir.symbolic import Column, Item, Nested, Operation, Scalar, Whole

#: Attributes of inputs: (input, attribute).
Attributes = frozenset[tuple[str, str]]
_NONE: Attributes = frozenset()


@dataclass(frozen=True)
class Influence:
    """What each column depends on, and what it depends on that a row is there.  Lattices have no columns."""

    columns: tuple[Attributes, ...]
    presence: Attributes

    @property
    def all(self) -> Attributes:
        return self.presence.union(*self.columns)


class Influences:
    """Follows the attributes of some inputs through a program, until nothing changes."""

    def __init__(self, program: BloomProgram, inputs: Iterable[str]) -> None:
        self._program = program
        self._known = {c.name: Influence((_NONE,) * len(c.schema.columns), _NONE) for c in program.collections}
        for name in inputs:
            columns = program.by_name[name].schema.columns
            # Rows are sets: what is left of a row does not show what else was in it.
            self._known[name] = Influence(tuple(frozenset({(name, column)}) for column in columns), _NONE)
        while self._grow():
            pass

    def _grow(self) -> bool:
        before = dict(self._known)
        for rule in self._program.rules:
            self._known[rule.target] = _either(self._known[rule.target], self.of(rule.expr))
        return self._known != before

    def of(self, expr: AnyExpr) -> Influence:
        """Return the influences on the rows of an expression."""
        found, width = self._of(expr), len(getattr(expr, "columns", ()))
        # How many columns a function gives is not always known, until they are named.
        return found if len(found.columns) == width else Influence((found.all,) * width, found.all)

    def _of(self, expr: AnyExpr) -> Influence:
        match expr:
            case Ref(collection):
                return self._known[collection]
            case Rows(_, columns):
                return Influence((_NONE,) * len(columns), _NONE)
            case Rename(source):
                return self.of(source)
            case Project(source, kept):
                found = self.of(source)
                return Influence(tuple(found.columns[k] for k in kept), found.presence)
            case Transform():
                return self._transform(expr)
            case Join():
                return self._join(expr)
            case NotIn(source, absent):
                found = self.of(source)
                # Whether a row is there depends on all of it and on all that is
                # looked up, its contents on itself alone.
                return Influence(found.columns, found.all | self.of(absent).all)
            case Group(source, keys, aggregates):
                found = self.of(source)
                return Influence(
                    (*(found.columns[k] for k in keys), *(found.all for _ in aggregates)), found.presence
                )
            case Extreme(source):
                found = self.of(source)
                return Influence(found.columns, found.all)
        every = self._of_collections(collections_in(expr))
        return Influence((every,) * len(getattr(expr, "columns", ())), every)

    def _of_collections(self, names: Iterable[str]) -> Attributes:
        return _NONE.union(*(self._known[name].all for name in names))

    def _join(self, join: Join) -> Influence:
        sides = [self.of(source) for source in join.sources]
        presence = _NONE.union(*(side.presence for side in sides))
        for match in join.matches:
            # A row is there only if what is compared is equal.
            presence |= sides[match.left_source].columns[match.left]
            presence |= sides[match.right_source].columns[match.right]
        taken = {Take.LEFTS: [0], Take.RIGHTS: [1]}.get(join.take, list(range(len(sides))))
        return Influence(tuple(column for number in taken for column in sides[number].columns), presence)

    def _transform(self, transform: Transform) -> Influence:
        function, source = transform.function, self.of(transform.source)
        looked_into = self._of_collections(function.reads)
        every = source.all | looked_into
        if function.paths is None or any(isinstance(r, Whole) for p in function.paths for r in p.rows):
            if function.role is Role.FILTER:
                return Influence(source.columns, every)
            return Influence((every,) * len(transform.columns), every)
        starts = [sum(len(part) for part in function.parts[:k]) for k in range(len(function.parts))]

        def read(scalars: Iterable[Scalar]) -> Attributes:
            places = [starts[c.part] + c.index for scalar in scalars for c in _columns_in(scalar)]
            known = all(place < len(source.columns) for place in places)
            return _NONE.union(*(source.columns[place] for place in places)) if known else every

        tests = read(s for path in function.paths for test in path.tests for s in (test.left, test.right))
        presence = source.presence | tests | looked_into
        rows: list[Sequence[Scalar]] = [r for p in function.paths for r in p.rows if not isinstance(r, Whole)]
        if any(len(row) != len(transform.columns) for row in rows):
            return Influence((every,) * len(transform.columns), every)
        # Which of several rows is made depends on the tests, and so does what is in its columns.
        varies = tests if len(rows) > 1 else _NONE
        columns = tuple(read(row[k] for row in rows) | varies for k in range(len(transform.columns)))
        return Influence(columns, presence)


def _either(first: Influence, second: Influence) -> Influence:
    # Of code that is not seen through, the number of columns may be unknown: each may depend on everything.
    if len(first.columns) != len(second.columns):
        columns = tuple(column | second.all for column in first.columns)
    else:
        columns = tuple(a | b for a, b in zip(first.columns, second.columns, strict=True))
    return Influence(columns, first.presence | second.presence)


def _columns_in(scalar: Scalar) -> Iterator[Column]:
    match scalar:
        case Column():
            yield scalar
        case Operation(_, left, right):
            yield from _columns_in(left)
            yield from _columns_in(right)
        case Nested(items):
            for item in items:
                yield from _columns_in(item)
        case Item(of):
            yield from _columns_in(of)
