"""Sides of a join that are made of one row of one step.

    copy <= arriving(lambda a: (a.dst, a.val))
    out <= (arriving * copy).pairs(..., val="val")

In a step, a collection has at most one row for each value of its key columns.  So a join of it with itself, or
with what rules make of it in the same step, that compares every key column with the very same column, combines
each row with itself only: it is a function of single rows, and there is no race, however rows are batched.  Of a
channel, the column with the address need not be compared: all rows that are at a node have the same.

It is the only exception for rows of one step.  No verdict of the examples hangs on it; without it, every message
that meets what rules made of it would be a false alarm.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from clew.analysis.calm.refinements.projections import copied
from clew.bloom.ir.expressions import AnyExpr, Join, Take
from clew.bloom.ir.program import BloomProgram, Op
from clew.bloom.ir.schema import Kind
from clew.bloom.ir.symbolic import Column


@dataclass(frozen=True)
class _Made:
    """Each row is made of one row of ``base`` in the same step; ``columns``: from its columns to those of base."""

    base: str
    columns: Mapping[int, int]


def sides_of_one_row(join: Join, program: BloomProgram) -> tuple[tuple[int, ...], ...]:
    """Return the sides of a join, those in one group that are made of one row."""
    groups: list[list[int]] = []
    for number in range(len(join.sources)):
        for group in groups:
            if join.take is not Take.OUTER and _are_one(join, group[0], number, program):
                group.append(number)
                break
        else:
            groups.append([number])
    return tuple(map(tuple, groups))


def _are_one(join: Join, first: int, second: int, program: BloomProgram) -> bool:
    compared = {(m.left, m.right) for m in join.matches if (m.left_source, m.right_source) == (first, second)}
    compared |= {(m.right, m.left) for m in join.matches if (m.left_source, m.right_source) == (second, first)}
    if not compared:
        return False
    return any(
        one.base == other.base and _identifies(compared, one, other, program)
        for one in _made(join.sources[first], program)
        for other in _made(join.sources[second], program)
    )


def _identifies(compared: set[tuple[int, int]], one: _Made, other: _Made, program: BloomProgram) -> bool:
    schema = program.by_name[one.base].schema
    same = {one.columns[a] for a, b in compared if a in one.columns and one.columns[a] == other.columns.get(b)}
    return {schema.index(key) for key in schema.keys if key != schema.location} <= same and bool(same)


def _made(expr: AnyExpr, program: BloomProgram, below: frozenset[str] = frozenset()) -> Iterator[_Made]:
    """Yield what the rows of an expression are made of, nearest first."""
    rows = copied(expr)
    if rows is None:
        return
    for part, name in enumerate(rows.collections):
        here = {k: c.index for k, c in enumerate(rows.row) if isinstance(c, Column) and c.part == part}
        yield _Made(name, here)
        rules = [r for r in program.rules if r.target == name]
        passes = program.by_name[name].kind in (Kind.SCRATCH, Kind.TEMP)
        # With several rules, or with rows of the step before, a row may be made of another one.
        if passes and len(rules) == 1 and rules[0].op is Op.NOW and name not in below:
            for inner in _made(rules[0].expr, program, below | {name}):
                yield _Made(inner.base, {k: inner.columns[c] for k, c in here.items() if c in inner.columns})
