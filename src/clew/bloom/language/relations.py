"""The right-hand sides of rules: expressions over collections, with Bloom's operators.

Nothing is computed here: every operation builds a node of ``ir.expressions``.  Mistakes are refused where they are
written, with the class, the block and the line.  Python has no ``<+``, ``<-`` and ``<~``: ``a <~ b`` is
``a < (~b)``, so the unary operator marks its operand (``Marked``), and the comparison in ``handles`` takes the
mark.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from clew.bloom.ir.aggregates import AggregateCall
from clew.bloom.ir.expressions import (
    Aggregate,
    Expr,
    Extreme,
    Group,
    Join,
    Match,
    NotIn,
    Project,
    Reduce,
    Rename,
    Role,
    Rows,
    Take,
    Transform,
)
from clew.bloom.ir.function_code import bind_variables, collections_read
from clew.bloom.ir.program import Op
from clew.bloom.ir.symbolic import SymbolicValue
from clew.bloom.language.capture import current_capture, mistake, user_position
from clew.bloom.language.columns import Equality, aggregate_name, column_number, column_numbers, distinct
from clew.bloom.language.row_functions import analyze_function, result_columns
from clew.bloom.values import BadValueError, freeze_row, sort_rows

SIGNS = {"+": Op.NEXT, "-": Op.DELETE, "~": Op.SEND}


class Statement:
    """What a rule evaluates to; it has no value, and using it is a mistake."""

    def __bool__(self) -> bool:
        raise mistake(
            "a rule is used as a condition, or two rules are chained",
            "write each rule on a line of its own, and conditions inside map or filter",
        )


class Marked:
    """``+x``, ``-x`` or ``~x``: the right-hand side together with the second half of its operator."""

    def __init__(self, sign: str, relation: Relation) -> None:
        self.sign = sign
        self.relation = relation

    def __mul__(self, other: Any) -> Marked:
        # The sign binds tighter than *: a <~ b * c is a < ((~b) * c), and means a <~ (b * c).
        return Marked(self.sign, self.relation * other)

    def __getattr__(self, name: str) -> Any:
        raise mistake(
            f"'.{name}' is applied to what '{self.sign}' marks",
            f"put the right-hand side in parentheses: a <{self.sign} (b * c).{name}(...)",
        )


class Relation:
    """Rows: a collection, or an expression over collections."""

    def __init__(self, expr: Expr) -> None:
        self._expr = expr

    def to_expr(self) -> Expr:
        return self._expr

    # -- row by row ----------------------------------------------------------------------------------------------

    def map(self, function: Callable[..., Any]) -> Relation:
        """Turn each row into the row that the function returns; None for no row."""
        return self._transform(function, Role.MAP)

    __call__ = map

    def filter(self, function: Callable[..., Any]) -> Relation:
        """Keep the rows for which the function returns something true."""
        return self._transform(function, Role.FILTER)

    def flat_map(self, function: Callable[..., Any]) -> Relation:
        """Turn each row into all the rows that the function returns."""
        return self._transform(function, Role.FLAT_MAP)

    def _transform(self, function: Callable[..., Any], role: Role) -> Relation:
        source = self.to_expr()
        understood = analyze_function(function, role, source)
        if role is Role.FILTER:
            return Relation(Transform(source, understood, source.columns, source.parts))
        columns = result_columns(understood)
        return Relation(Transform(source, understood, columns, (columns,)))

    # -- columns -------------------------------------------------------------------------------------------------

    def project(self, *columns: Any) -> Relation:
        """Keep only these columns."""
        source = self.to_expr()
        kept = tuple(column_number(source, c) for c in columns)
        return Relation(Project(source, kept, tuple(source.columns[k] for k in kept)))

    def rename(self, *names: str, **changed: str) -> Relation:
        """Give other names to all columns, in order; or ``new="old"`` to some."""
        source = self.to_expr()
        if names and changed:
            raise mistake("rename is given names for all columns and for some", "use one of the two")
        if names:
            if source.columns and len(names) != len(source.columns):
                wanted = f"{len(source.columns)} columns ({', '.join(source.columns)})"
                raise mistake(f"rename gives {len(names)} names to {wanted}", "give every column a name")
            return Relation(Rename(source, _check_names(names)))
        by_number = {column_number(source, old): new for new, old in changed.items()}
        renamed = tuple(by_number.get(k, name) for k, name in enumerate(source.columns))
        return Relation(Rename(source, _check_names(renamed)))

    # -- several relations ---------------------------------------------------------------------------------------

    def __mul__(self, other: Any) -> Product:
        return Product((*self._factors(), *as_relation(other)._factors()))

    def _factors(self) -> tuple[Expr, ...]:
        return (self.to_expr(),)

    def notin(self, absent: Any, *on: Equality, **equal: str) -> Relation:
        """Keep the rows that match no row of ``absent``: in the columns given, or else in all."""
        source, other = self.to_expr(), as_relation(absent).to_expr()
        pairs = [(column_number(source, left), column_number(other, right)) for left, right in equal.items()]
        for equality in on:
            match = equality.between((source, other))
            pairs.append((match.left, match.right))
        # All columns.  Where they are not known there are no pairs, and the operator compares whole rows.
        if not pairs:
            if source.columns and other.columns and len(source.columns) != len(other.columns):
                raise mistake(
                    f"notin compares rows with {len(source.columns)} and with {len(other.columns)} columns",
                    "say which columns must be equal: a.notin(b, x='y')",
                )
            pairs = [(k, k) for k in range(len(source.columns))]
        return Relation(NotIn(source, other, tuple(pairs)))

    # -- groups --------------------------------------------------------------------------------------------------

    def group(self, keys: Sequence[Any], *aggregates: AggregateCall, **named: AggregateCall) -> Relation:
        """Make one row for each value of ``keys``: the keys, then the aggregates, see ``agg``."""
        source = self.to_expr()
        numbers = column_numbers(source, keys)
        names = [source.columns[k] for k in numbers]
        asked: list[tuple[str, AggregateCall]] = [(aggregate_name(a), a) for a in aggregates] + list(named.items())
        for _, aggregate in asked:
            if not isinstance(aggregate, AggregateCall):
                raise mistake(
                    f"{aggregate!r} is not an aggregate", 'use agg, such as agg.count() or agg.sum("cnt")'
                )
        made = tuple(Aggregate(a.function, column_numbers(source, a.columns)) for _, a in asked)
        return Relation(Group(source, numbers, made, distinct([*names, *(name for name, _ in asked)])))

    def argmin(self, keys: Sequence[Any], column: Any) -> Relation:
        """Keep the rows of each group in which the column is smallest."""
        return self._extreme(keys, column, largest=False)

    def argmax(self, keys: Sequence[Any], column: Any) -> Relation:
        """Keep the rows of each group in which the column is largest."""
        return self._extreme(keys, column, largest=True)

    def _extreme(self, keys: Sequence[Any], column: Any, *, largest: bool) -> Relation:
        source = self.to_expr()
        return Relation(Extreme(source, column_numbers(source, keys), column_number(source, column), largest))

    def reduce(self, initial: Any, function: Callable[[Any, Any], Any], columns: Sequence[str] = ()) -> Relation:
        """Fold ``function(memo, row)`` over all rows; the last memo is the rows of the result."""
        if not callable(function):
            raise mistake("reduce needs a function", "write reduce(initial, lambda memo, row: ...)")
        # Reduce is never understood by symbols: the memo may be anything.
        fold = bind_variables(function)
        reads = collections_read(fold)
        return Relation(Reduce(self.to_expr(), initial, fold, tuple(columns), reads, user_position()))

    # -- operators -----------------------------------------------------------------------------------------------

    def __pos__(self) -> Marked:
        return Marked("+", self)

    def __neg__(self) -> Marked:
        return Marked("-", self)

    def __invert__(self) -> Marked:
        return Marked("~", self)

    def __le__(self, other: Any) -> Statement:
        raise mistake("the left-hand side of a rule is an expression", "rules derive rows of a collection")

    def __lt__(self, other: Any) -> Statement:
        raise mistake("the left-hand side of a rule is an expression", "rules derive rows of a collection")

    def __ge__(self, other: Any) -> Statement:
        raise mistake("'>=' is not an operator of rules", "write what gets the rows on the left: a <= b")

    __gt__ = __ge__

    def __eq__(self, other: object) -> bool:
        # Python compares objects outside of rules, too, for example to find one in a list.
        if current_capture() is None:
            return self is other
        raise mistake("'==' is not an operator of rules", "write <= (now), <+ (next), <- (delete) or <~ (send)")

    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        raise mistake(
            "a collection is used as a condition", "its rows are not known here: write the condition in filter"
        )

    def __iter__(self) -> Iterator[Any]:
        raise mistake("a rule goes through the rows of a collection", "use map, filter or flat_map")


def _check_names(names: tuple[str, ...]) -> tuple[str, ...]:
    twice = next((name for k, name in enumerate(names) if name in names[:k]), None)
    if twice is not None:
        raise mistake(f"rename gives two columns the name '{twice}'", "give every column its own name")
    return names


class Product(Relation):
    """``a * b``: a join of which it is not said yet what it yields; all pairs, if nothing is said."""

    def __init__(self, sources: tuple[Expr, ...]) -> None:
        self._sources = sources

    def to_expr(self) -> Expr:
        return self._join(Take.PAIRS, (), {})

    def _factors(self) -> tuple[Expr, ...]:
        return self._sources

    def pairs(self, *on: Any, **equal: str) -> Relation:
        """Combine the rows of all sides; a function of them may be given here or with map."""
        functions = [f for f in on if not isinstance(f, Equality)]
        joined = Relation(self._join(Take.PAIRS, [e for e in on if isinstance(e, Equality)], equal))
        return joined.map(*functions) if functions else joined

    combos = pairs

    def matches(self, function: Callable[..., Any] | None = None) -> Relation:
        """Combine rows that are equal in all columns of the same name."""
        left = self._sources[0]
        equal = {name: name for name in left.columns if all(name in s.columns for s in self._sources[1:])}
        if not equal:
            raise mistake("the sides have no column name in common", "say which are equal: pairs(x='y')")
        found = [
            Match(0, column_number(left, name), k, column_number(source, name))
            for k, source in enumerate(self._sources[1:], 1)
            for name in equal
        ]
        joined = Relation(_make_join(self._sources, tuple(found), Take.PAIRS))
        return joined if function is None else joined.map(function)

    def lefts(self, *on: Equality, **equal: str) -> Relation:
        """Keep the rows of the left side that have a match."""
        return Relation(self._join(Take.LEFTS, on, equal))

    def rights(self, *on: Equality, **equal: str) -> Relation:
        """Keep the rows of the right side that have a match."""
        return Relation(self._join(Take.RIGHTS, on, equal))

    def outer(self, *on: Any, **equal: str) -> Relation:
        """Combine rows; a row of the left side without a match has None for the columns of the right."""
        functions = [f for f in on if not isinstance(f, Equality)]
        joined = Relation(self._join(Take.OUTER, [e for e in on if isinstance(e, Equality)], equal))
        return joined.map(*functions) if functions else joined

    def _join(self, take: Take, on: Iterable[Equality], equal: dict[str, str]) -> Join:
        sources = self._sources
        if len(sources) != 2 and (equal or take is not Take.PAIRS):
            raise mistake(
                f"{take.value} with column names is for two sides, here are {len(sources)}",
                "write the equal columns as self.a.x == self.b.y",
            )
        found = [
            Match(0, column_number(sources[0], left), 1, column_number(sources[1], right))
            for left, right in equal.items()
        ]
        found += [equality.between(sources) for equality in on]
        return _make_join(sources, tuple(found), take)


def _make_join(sources: tuple[Expr, ...], matches: tuple[Match, ...], take: Take) -> Join:
    match take:
        case Take.LEFTS:
            columns, parts = sources[0].columns, sources[0].parts
        case Take.RIGHTS:
            columns, parts = sources[1].columns, sources[1].parts
        case _:
            columns = distinct([name for source in sources for name in source.columns])
            parts = tuple(part for source in sources for part in source.parts)
    return Join(sources, matches, take, columns, parts)


def rows(given: Iterable[Iterable[Any]]) -> Relation:
    """Write rows down: ``self.t <+ rows([(1, 2)])``; with ``<=`` a list will do."""
    given = list(given)
    if any(isinstance(v, SymbolicValue) for row in given if isinstance(row, tuple | list) for v in row):
        raise mistake(
            "self.ip_port is written in rows, and it is not known yet",
            "it is known inside of functions: rows([(1,)]).map(lambda row: (self.ip_port, row[0]))",
        )
    try:
        # Of a list of strings, each is a row with one column.
        made = tuple(freeze_row((row,) if isinstance(row, str) else row) for row in given)
    except (BadValueError, TypeError) as error:
        raise mistake(f"these are not rows: {error}", "give a list of tuples, such as [(1, 2)]") from None
    widths = {len(row) for row in made}
    if len(widths) > 1:
        raise mistake("rows of different lengths are given together", "give every row a value for each column")
    return Relation(Rows(made, tuple(f"c{k}" for k in range(max(widths, default=0)))))


def as_relation(value: Any) -> Relation:
    """Return what may stand on the right of a rule as a relation, and refuse the rest."""
    if isinstance(value, Relation):
        return value
    if isinstance(value, Marked):
        raise mistake(
            f"'{value.sign}' marks only a part of a right-hand side",
            f"write a <{value.sign} (...) with all of the right-hand side in parentheses",
        )
    if isinstance(value, list | tuple):
        return rows(value)
    if isinstance(value, set | frozenset):
        given = rows(value).to_expr()
        assert isinstance(given, Rows)
        return rows(sort_rows(given.rows))  # the order of a set depends on hashes, and so would that of the rule
    if isinstance(value, Statement):
        raise mistake("a rule is used inside another", "write each rule on a line of its own")
    raise mistake(f"{type(value).__name__} is not a collection", "use collections and expressions, or rows([...])")
