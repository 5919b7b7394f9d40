"""Aggregate functions for ``group``: ``agg.count()``, ``agg.sum("cnt")`` and their like."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Asked:
    """An aggregate as it is written in a rule, with columns by name."""

    function: str
    columns: tuple[Any, ...]


def count(column: Any = None) -> Asked:
    """How many rows; with a column, how many different values it has."""
    return Asked("count", () if column is None else (column,))


def sum(column: Any) -> Asked:  # used as agg.sum
    return Asked("sum", (column,))


def avg(column: Any) -> Asked:
    return Asked("avg", (column,))


def min(column: Any) -> Asked:
    return Asked("min", (column,))


def max(column: Any) -> Asked:
    return Asked("max", (column,))


def accum(column: Any) -> Asked:
    """All values of the column, as a frozen set."""
    return Asked("accum", (column,))


def accum_pair(first: Any, second: Any) -> Asked:
    """All pairs of the two columns, as a frozen set."""
    return Asked("accum_pair", (first, second))


def bool_and(column: Any) -> Asked:
    return Asked("bool_and", (column,))


def bool_or(column: Any) -> Asked:
    return Asked("bool_or", (column,))


def choose(column: Any) -> Asked:
    """One of the values: the smallest, so that every node and every run choose the same."""
    return Asked("choose", (column,))
