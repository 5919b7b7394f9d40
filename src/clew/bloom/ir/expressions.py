"""The right-hand sides of rules, as frozen data.

Everything that runs, checks or analyses a Bloom program reads these trees; ``language.relations`` builds them.  A
row of an expression has the ``columns`` of the expression.  ``parts`` says how a function sees such a row: one
row, or for a join one row of each side.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from clew.bloom.ir.symbolic import Path
from clew.bloom.values import Row
from clew.errors import Position

Columns = tuple[str, ...]
#: The columns of each row that a function is given.
Parts = tuple[Columns, ...]


class Role(enum.Enum):
    """What becomes of the result of a row function."""

    MAP = "map"  # a row, or None for no row
    FILTER = "filter"  # whether the row stays
    FLAT_MAP = "flat_map"  # any number of rows


# Compared by identity: Python functions are, and two lambdas with the same text may use different variables.
@dataclass(frozen=True, eq=False)
class RowFunction:
    """A Python function of rows, one for each of ``parts``.

    ``paths`` is what it does, None if that could not be found out, and then ``opaque`` says why: it is taken for a
    function of the whole row.  ``reads`` are collections that it looks into: it depends on all of their rows.
    """

    call: Callable[..., Any]
    role: Role
    parts: Parts
    paths: tuple[Path, ...] | None
    opaque: str | None = None
    reads: tuple[str, ...] = ()
    position: Position | None = None


# Mix-ins instead of a field: what follows from the columns cannot contradict them.
class _InOnePart:
    """A function sees a row of it as one row."""

    columns: Columns

    @property
    def parts(self) -> Parts:
        return (self.columns,)


class _LikeSource:
    """Its rows are some of those of ``source``."""

    source: Expr

    @property
    def columns(self) -> Columns:
        return self.source.columns

    @property
    def parts(self) -> Parts:
        return self.source.parts


@dataclass(frozen=True)
class Ref:
    """The rows of a collection; ``of_all_nodes``, in outcomes: those of every node, with the node in front."""

    collection: str
    columns: Columns
    parts: Parts
    of_all_nodes: bool = False


@dataclass(frozen=True)
class Rows(_InOnePart):
    """Rows that are given."""

    rows: tuple[Row, ...]
    columns: Columns


@dataclass(frozen=True)
class Transform:
    """Each row of ``source`` through a function; ``columns`` are unknown (empty) if the function is opaque."""

    source: Expr
    function: RowFunction
    columns: Columns
    parts: Parts


@dataclass(frozen=True)
class Match:
    """Column number ``left`` of source number ``left_source`` equals that of the other; sources count from 0."""

    left_source: int
    left: int
    right_source: int
    right: int


class Take(enum.Enum):
    """What a join yields."""

    PAIRS = "pairs"  # the rows of all sides, one after the other
    LEFTS = "lefts"
    RIGHTS = "rights"
    OUTER = "outer"  # pairs, and left rows without a match with None for the columns of the right


@dataclass(frozen=True)
class Join:
    """Combinations of one row of each source with equal columns.  OUTER has two sources and is not monotone."""

    sources: tuple[Expr, ...]
    matches: tuple[Match, ...]
    take: Take
    columns: Columns
    parts: Parts


@dataclass(frozen=True)
class NotIn(_LikeSource):
    """Rows of ``source`` that match no row of ``absent``; pairs of column numbers must all be equal."""

    source: Expr
    absent: Expr
    matches: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Aggregate:
    """An aggregate function (see ``aggregates``) of some columns, by number, in a group."""

    function: str
    over: tuple[int, ...]


@dataclass(frozen=True)
class Group(_InOnePart):
    """One row for each value of the key columns: the keys, then the aggregates."""

    source: Expr
    keys: tuple[int, ...]
    aggregates: tuple[Aggregate, ...]
    columns: Columns


@dataclass(frozen=True)
class Extreme(_LikeSource):
    """``argmin`` or ``argmax``: the rows of each group in which a column is smallest (or largest)."""

    source: Expr
    keys: tuple[int, ...]
    column: int
    largest: bool


@dataclass(frozen=True)
class Reduce(_InOnePart):
    """``fold(memo, row)`` over all rows in order; the last memo is the rows of the result.

    ``reads`` are collections that the function looks into.
    """

    source: Expr
    initial: Any
    # Not compared: the function was bound anew when the rule was read, and is another object each time.
    fold: Callable[[Any, Any], Any] = field(compare=False)
    columns: Columns = ()
    reads: tuple[str, ...] = ()
    position: Position | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Rename(_InOnePart):
    """The same rows with other names for the columns, and in one part."""

    source: Expr
    columns: Columns


@dataclass(frozen=True)
class Project(_InOnePart):
    """Some columns, by number: ``payloads`` and ``project``."""

    source: Expr
    kept: tuple[int, ...]
    columns: Columns


# -- lattices ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LatticeRef:
    """The value of a lattice."""

    collection: str
    lattice: str


@dataclass(frozen=True)
class Fold:
    """The merge of what a function (or, without one, the only column) gives for each row, as a lattice value."""

    source: Expr
    function: RowFunction | None
    lattice: str


@dataclass(frozen=True)
class Apply:
    """A function of the lattice: ``method`` of the value with these arguments, which may be lattices again."""

    source: LatticeExpr
    method: str
    arguments: tuple[Any, ...]
    lattice: str


@dataclass(frozen=True)
class Value:
    """A lattice value that is given."""

    value: Any
    lattice: str


@dataclass(frozen=True)
class Elements(_InOnePart):
    """A lattice as rows: the elements of a set or bag, the entries of a map, True of a lbool, a number."""

    source: LatticeExpr
    columns: Columns


@dataclass(frozen=True)
class WhenTrue:
    """The rows of ``rows`` once a lbool is true."""

    condition: LatticeExpr
    rows: Expr

    @property
    def columns(self) -> Columns:
        return self.rows.columns

    @property
    def parts(self) -> Parts:
        return self.rows.parts


# Unions and not a base class: mypy then finds every match that misses a case.
LatticeExpr = LatticeRef | Fold | Apply | Value
Expr = Ref | Rows | Transform | Join | NotIn | Group | Extreme | Reduce | Rename | Project | Elements | WhenTrue
AnyExpr = Expr | LatticeExpr


def children(expr: AnyExpr) -> tuple[AnyExpr, ...]:
    """Return the expressions that an expression is made of."""
    match expr:
        case Join(sources):
            return sources
        case NotIn(source, absent):
            return source, absent
        # Arguments may be plain values, too, which are no expressions.
        case Apply(source, _, arguments):
            return source, *(a for a in arguments if isinstance(a, LatticeRef | Fold | Apply | Value))
        case WhenTrue(condition, rows):
            return condition, rows
        case Transform() | Group() | Extreme() | Reduce() | Rename() | Project() | Fold() | Elements():
            return (expr.source,)
        case _:
            return ()


def subexpressions(expr: AnyExpr) -> Iterator[AnyExpr]:
    """Yield the expression and all in it, from the outside in."""
    yield expr
    for child in children(expr):
        yield from subexpressions(child)


def collections_in(expr: AnyExpr) -> tuple[str, ...]:
    """Return the collections that an expression reads, also inside its functions, each once, left to right."""
    return tuple(dict.fromkeys(_iter_collections(expr)))


def _iter_collections(expr: AnyExpr) -> Iterator[str]:
    for found in subexpressions(expr):
        match found:
            case Ref(collection) | LatticeRef(collection):
                yield collection
            case Transform(_, function) | Fold(_, RowFunction() as function):
                yield from function.reads
            case Reduce():
                yield from found.reads
