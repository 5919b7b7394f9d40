"""Which attributes of the inputs a column is equal to: identity through rules (section 4.6 of the thesis).

A column has the origin ``a`` of an input if every row that depends on a row of this input has that row's ``a``
there.  Then all that a partition of the input by ``a`` can change are rows with this value in the column.  What is
recursive, or derived by several rules, has the origins that all of them agree on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
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
    WhenTrue,
    collections_in,
)
from clew.bloom.ir.program import BloomProgram
from clew.bloom.ir.symbolic import Column, Path, Scalar, Whole

#: For each input that a row depends on: those of its attributes that a column is equal to.
Origins = Mapping[str, frozenset[str]]


@dataclass(frozen=True)
class Traced:
    """The inputs that rows depend on, and the origins of their columns, which have an entry for each input."""

    inputs: frozenset[str]
    columns: tuple[Origins, ...]


#: A column of one side of a join: the number of the side, and of the column.
_Place = tuple[int, int]


class Tracing:
    """The columns of a program, for some inputs."""

    def __init__(self, program: BloomProgram, inputs: Iterable[str]) -> None:
        self._program = program
        self._inputs = frozenset(inputs)
        # The greatest fixpoint, from "equal to everything" down: a recursive
        # rule that passes a column on keeps its origin,
        # which starting from nothing would never find.
        self._known = self._optimistic()
        while True:
            found = {name: self._derive(name) for name in self._known}
            if found == self._known:
                return
            self._known = found

    def collection(self, name: str) -> Traced:
        return self._known[name]

    def of(self, expr: AnyExpr) -> Traced:
        """Trace the columns of an expression; there are none where their number is not known."""
        match expr:
            case Ref(collection):
                return self._known[collection]
            case Rows(_, columns):
                return _unknown_origins((), len(columns))
            case Rename(source):
                return self.of(source)
            case Project(source, kept):
                traced = self.of(source)
                return Traced(traced.inputs, tuple(traced.columns[k] for k in kept) if traced.columns else ())
            case Transform():
                return self._transform(expr)
            case Join():
                return self._join(expr)
            case NotIn(source, absent, matches):
                sides = [self.of(source), self.of(absent)]
                # ``notin`` without columns compares whole rows.
                pairs = matches or tuple((k, k) for k in range(len(sides[0].columns)))
                return _combine(sides, [((0, left), (1, right)) for left, right in pairs], [0])
            case Group(source, keys, aggregates):
                return self._group(self.of(source), [*keys, *(None for _ in aggregates)])
            case Extreme(source, keys):
                traced = self.of(source)
                return self._group(traced, [k if k in keys else None for k in range(len(traced.columns))])
            case WhenTrue(condition, rows):
                return _combine([self.of(rows), _unknown_origins(self.of(condition).inputs, 0)], [], [0])
        return _unknown_origins(self._inputs_of(collections_in(expr)), len(getattr(expr, "columns", ())))

    # -- the fixpoint --------------------------------------------------------------------------------------------

    def _optimistic(self) -> dict[str, Traced]:
        """Take every column to be every attribute, until a rule says otherwise."""
        reached = {c.name: {c.name} & self._inputs for c in self._program.collections}
        for _ in self._program.collections:
            for rule in self._program.rules:
                for name in collections_in(rule.expr):
                    reached[rule.target] |= reached[name]
        columns = {name: frozenset(self._program.by_name[name].schema.columns) for name in self._inputs}
        return {
            c.name: Traced(
                frozenset(reached[c.name]),
                tuple({name: columns[name] for name in reached[c.name]} for _ in c.schema.columns),
            )
            for c in self._program.collections
        }

    def _derive(self, name: str) -> Traced:
        collection = self._program.by_name[name]
        columns = [dict(column) for column in self._known[name].columns]
        if name in self._inputs:
            for attribute, column in zip(collection.schema.columns, columns, strict=True):
                # An input that rules fill as well keeps only what all agree on.
                column[name] &= {attribute}
        for rule in self._program.rules:
            if rule.target == name:
                traced = self.of(rule.expr)
                found = traced.columns or _unknown_origins(traced.inputs, len(columns)).columns
                for column, origins in zip(columns, found, strict=True):
                    for source, attributes in origins.items():
                        column[source] &= attributes
        return Traced(self._known[name].inputs, tuple(columns))

    def _inputs_of(self, collections: Iterable[str]) -> frozenset[str]:
        return frozenset().union(*(self._known[name].inputs for name in collections))

    # -- operators -----------------------------------------------------------------------------------------------

    def _join(self, join: Join) -> Traced:
        sides = [self.of(source) for source in join.sources]
        equal = [((m.left_source, m.left), (m.right_source, m.right)) for m in join.matches]
        taken = {Take.LEFTS: [0], Take.RIGHTS: [1]}.get(join.take, list(range(len(sides))))
        traced = _combine(sides, equal, taken)
        if join.take is not Take.OUTER or not traced.columns:
            return traced
        # Where nothing matches, the right side has no values.
        kept = len(sides[0].columns)
        return Traced(
            traced.inputs,
            traced.columns[:kept] + _unknown_origins(traced.inputs, len(traced.columns) - kept).columns,
        )

    def _group(self, traced: Traced, kept: Sequence[int | None]) -> Traced:
        """Trace the columns of groups: keys depend on their own group only, aggregates on all rows in it."""
        if not traced.columns:
            return Traced(traced.inputs, ())
        nothing = _unknown_origins(traced.inputs, 1).columns[0]
        return Traced(traced.inputs, tuple(nothing if k is None else traced.columns[k] for k in kept))

    def _transform(self, transform: Transform) -> Traced:
        function, source = transform.function, self.of(transform.source)
        # A function that looks into a collection depends on all of its rows, whatever is compared.
        looked_into = _unknown_origins(self._inputs_of(function.reads), 0)
        if function.paths is None or not source.columns:
            columns = source.columns if function.role is Role.FILTER else ()
            return _combine([Traced(source.inputs, columns), looked_into], [], [0])
        starts = [sum(len(part) for part in function.parts[:k]) for k in range(len(function.parts))]
        shapes = [
            [_scalar(scalar, path, starts, source) for scalar in row]
            for path in function.paths
            for row in path.rows
            if not isinstance(row, Whole)
        ]
        known = all(not isinstance(row, Whole) for path in function.paths for row in path.rows)
        if not shapes or not known or len({len(shape) for shape in shapes}) != 1:
            return _unknown_origins(source.inputs, len(transform.columns))
        return Traced(source.inputs, tuple(_intersect(found) for found in zip(*shapes, strict=True)))


def _scalar(scalar: Scalar, path: Path, starts: Sequence[int], source: Traced) -> Origins:
    """Return the origins of a column that is passed on, or of one that a test found equal to it."""
    if not isinstance(scalar, Column):
        return _unknown_origins(source.inputs, 1).columns[0]
    same = {scalar}
    # Equalities chain, a == b and b == c: as many rounds as there are tests reach the end of any chain.
    for _ in path.tests:
        for test in path.tests:
            sides = [s for s in (test.left, test.right) if isinstance(s, Column)]
            if test.op == "==" and len(sides) == 2 and not same.isdisjoint(sides):
                same.update(sides)
    columns = [source.columns[starts[c.part] + c.index] for c in same]
    return {name: frozenset().union(*(column[name] for column in columns)) for name in source.inputs}


def _intersect(found: Sequence[Origins]) -> Origins:
    return {name: frozenset.intersection(*(origins[name] for origins in found)) for name in found[0]}


def _unknown_origins(inputs: Iterable[str], width: int) -> Traced:
    """Return columns that depend on inputs in unknown ways."""
    names = frozenset(inputs)
    return Traced(names, tuple(dict.fromkeys(names, frozenset()) for _ in range(width)))


def _combine(sides: Sequence[Traced], equal: Sequence[tuple[_Place, _Place]], taken: Sequence[int]) -> Traced:
    """Return the columns of some sides, which must agree on what a column is equal to if they have inputs."""
    inputs = frozenset().union(*(side.inputs for side in sides))
    if not all(sides[number].columns for number in taken):
        return Traced(inputs, ())
    columns = []
    for number in taken:
        for column in range(len(sides[number].columns)):
            places = _equal_to((number, column), equal)
            columns.append({name: _origin(name, sides, places) for name in inputs})
    return Traced(inputs, tuple(columns))


def _origin(name: str, sides: Sequence[Traced], places: set[_Place]) -> frozenset[str]:
    found = [
        frozenset().union(*(side.columns[c][name] for s, c in places if s == number and c < len(side.columns)))
        for number, side in enumerate(sides)
        if name in side.inputs
    ]
    return frozenset.intersection(*found)


def _equal_to(place: _Place, equal: Sequence[tuple[_Place, _Place]]) -> set[_Place]:
    found = {place}
    for _ in equal:
        for pair in equal:
            if not found.isdisjoint(pair):
                found.update(pair)
    return found
