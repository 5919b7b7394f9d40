"""Aggregate functions for ``group``: ``agg.count()``, ``agg.sum("cnt")`` and their like."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class AggregateCall:
    """An aggregate as it is written in a rule, with columns by name."""

    function: str
    columns: tuple[Any, ...]


def count(column: Any = None) -> AggregateCall:
    """How many rows; with a column, how many different values it has."""
    return AggregateCall("count", () if column is None else (column,))


def sum(column: Any) -> AggregateCall:  # used as agg.sum
    return AggregateCall("sum", (column,))


def avg(column: Any) -> AggregateCall:
    return AggregateCall("avg", (column,))


def min(column: Any) -> AggregateCall:
    return AggregateCall("min", (column,))


def max(column: Any) -> AggregateCall:
    return AggregateCall("max", (column,))


def accum(column: Any) -> AggregateCall:
    """All values of the column, as a frozen set."""
    return AggregateCall("accum", (column,))


def accum_pair(first: Any, second: Any) -> AggregateCall:
    """All pairs of the two columns, as a frozen set."""
    return AggregateCall("accum_pair", (first, second))


def bool_and(column: Any) -> AggregateCall:
    return AggregateCall("bool_and", (column,))


def bool_or(column: Any) -> AggregateCall:
    return AggregateCall("bool_or", (column,))


def choose(column: Any) -> AggregateCall:
    """One of the values: the smallest, so that every node and every run choose the same."""
    return AggregateCall("choose", (column,))
