"""What the aggregate functions compute."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from clew.bloom.values import sort_key

#: From the rows of a group, with only the columns asked for, to the value.  The rows are given in order.
AGGREGATES: dict[str, Callable[[Sequence[tuple[Any, ...]]], Any]] = {
    "count": lambda rows: len(set(rows)) if rows[0] else len(rows),
    "sum": lambda rows: sum(row[0] for row in rows),
    "avg": lambda rows: sum(row[0] for row in rows) / len(rows),
    "min": lambda rows: min((row[0] for row in rows), key=sort_key),
    "max": lambda rows: max((row[0] for row in rows), key=sort_key),
    "accum": lambda rows: frozenset(row[0] for row in rows),
    "accum_pair": lambda rows: frozenset((row[0], row[1]) for row in rows),
    "bool_and": lambda rows: all(row[0] for row in rows),
    "bool_or": lambda rows: any(row[0] for row in rows),
    "choose": lambda rows: min((row[0] for row in rows), key=sort_key),
}
