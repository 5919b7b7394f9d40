"""Columns in rules: named, by number, or as ``self.a.x``; and the conditions of joins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from clew.bloom.ir.aggregates import AggregateCall
from clew.bloom.ir.expressions import Columns, Expr, Match
from clew.bloom.language.capture import mistake


class HasExpr(Protocol):
    """A relation in a rule; ``relations`` imports this module."""

    def to_expr(self) -> Expr: ...


class ColumnRef:
    """``self.a.x`` in a join condition or as a key of a group."""

    def __init__(self, collection: HasExpr, name: str) -> None:
        self.collection = collection
        self.name = name

    def __eq__(self, other: object) -> Equality:  # type: ignore[override]
        if not isinstance(other, ColumnRef):
            raise mistake(
                f"the column '{self.name}' is compared with {other!r}", "compare with values in filter or map"
            )
        return Equality(self, other)

    __hash__ = None  # type: ignore[assignment]  # equality is not a truth here


class Equality:
    """``self.a.x == self.b.y``: a condition of a join."""

    def __init__(self, left: ColumnRef, right: ColumnRef) -> None:
        self._sides = (left, right)

    def between(self, sources: Sequence[Expr]) -> Match:
        """Return the condition in numbers of sources and columns, the earlier source first."""
        (s, a), (t, b) = (self._locate(side, sources) for side in self._sides)
        # A join looks up by the columns of the other side; a test within one side is a filter.
        if s == t:
            raise mistake("both columns of a condition are of the same side", "compare those with filter")
        # In one order, so that a == b and b == a are the same expression.
        return Match(s, a, t, b) if s < t else Match(t, b, s, a)

    def _locate(self, side: ColumnRef, sources: Sequence[Expr]) -> tuple[int, int]:
        wanted = side.collection.to_expr()
        # By value, not identity: each mention of self.a makes a handle and an expression of its own.
        places = [k for k, source in enumerate(sources) if source == wanted]
        if len(places) != 1:
            what = "is not one of the sides" if not places else "is several of the sides"
            raise mistake(f"the collection of the column '{side.name}' {what}", "join copies with rename")
        return places[0], column_number(wanted, side.name)

    def __bool__(self) -> bool:
        raise mistake("a condition of a join is used elsewhere", "give it to pairs, lefts, rights or outer")


def column_number(source: Expr, column: Any) -> int:
    """Return the number of a column that is given by name, by number or as ``self.a.x``."""
    name = column.name if isinstance(column, ColumnRef) else column
    if isinstance(name, int) and not isinstance(name, bool) and 0 <= name < len(source.columns):
        return name
    if not source.columns:
        raise mistake(
            f"the column {name!r} is asked for, but what the function before it returns is not known",
            "name the columns with rename(...)",
        )
    if name not in source.columns:
        raise mistake(f"unknown column {name!r}", f"the columns are {', '.join(source.columns)}")
    return source.columns.index(name)


def column_numbers(source: Expr, columns: Any) -> tuple[int, ...]:
    if isinstance(columns, str | ColumnRef):
        columns = [columns]
    return tuple(column_number(source, c) for c in columns)


def aggregate_name(call: Any) -> str:
    """Return the name of the column that an aggregate gives, such as ``sum_cnt``."""
    if not isinstance(call, AggregateCall):
        return ""  # refused by group(...), which knows what to say
    return "_".join([call.function, *(c.name if isinstance(c, ColumnRef) else str(c) for c in call.columns)])


def distinct(names: Sequence[str]) -> Columns:
    """Number the names that occur before."""
    found: list[str] = []
    for name in names:
        number, fresh = 2, name
        while fresh in found:
            fresh, number = f"{name}_{number}", number + 1
        found.append(fresh)
    return tuple(found)
