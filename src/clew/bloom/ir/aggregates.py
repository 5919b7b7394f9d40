"""Aggregate functions for ``group``: ``agg.count()``, ``agg.sum("cnt")`` and their like.

Users write ``from clew.bloom import agg``; so the functions shadow those of Python by intent, and only here.
``runtime.operators.rows`` computes them, ``to_program.groups`` translates them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class AggregateCall:
    """An aggregate as it is written in a rule, with columns by name."""

    # A name and not a function: expressions are data, and the runtime, the checker and the analyses each have
    # their own meaning of it.
    function: str
    columns: tuple[Any, ...]


def count(column: Any = None) -> AggregateCall:
    """Count the rows; with a column, the different values it has."""
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
    """Collect all values of the column in a frozen set."""
    return AggregateCall("accum", (column,))


def accum_pair(first: Any, second: Any) -> AggregateCall:
    """Collect all pairs of the two columns in a frozen set."""
    return AggregateCall("accum_pair", (first, second))


def bool_and(column: Any) -> AggregateCall:
    return AggregateCall("bool_and", (column,))


def bool_or(column: Any) -> AggregateCall:
    return AggregateCall("bool_or", (column,))


def choose(column: Any) -> AggregateCall:
    """Choose one of the values: the smallest, so that every node and every run choose the same."""
    return AggregateCall("choose", (column,))
