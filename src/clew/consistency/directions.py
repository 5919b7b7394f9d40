"""Columns that change in one direction only: refinements that keep a program monotone.

More rows make a count larger, never smaller.  A rule that compares it with a bound (``count > k``, ``min < k``)
and does not pass it on is monotone: once true, it stays true.  A collection that carries such columns is *trusted*
as long as every rule that reads it uses them in this way; then the aggregate in front of it is no point of order.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field


class Direction(enum.Enum):
    """How the value in a column changes when there are more rows."""

    UP = "grows"
    DOWN = "falls"
    ANY = "changes"

    @property
    def mirrored(self) -> Direction:
        return {Direction.UP: Direction.DOWN, Direction.DOWN: Direction.UP}.get(self, self)


#: What each aggregate function does, in both languages; for truth values, False is less than True.
OF_AGGREGATE = {
    "count": Direction.UP,
    "max": Direction.UP,
    "bool_or": Direction.UP,
    "min": Direction.DOWN,
    "bool_and": Direction.DOWN,
}


def takes_several(functions: Sequence[str]) -> bool:
    """Whether comparing these aggregates may take several rows at once: a count, or two of the others.

    One row is enough for a maximum to be large.  Aggregates without a direction are never monotone.
    """
    return "count" in functions or sum(function in OF_AGGREGATE for function in functions) > 1


@dataclass(frozen=True)
class Changing:
    """A column that changes.  ``owners``: what is not monotone after all, should its value be used."""

    direction: Direction
    owners: tuple[int | str, ...]


Column = Changing | None
#: The columns of trusted collections.
Trusted = Mapping[str, tuple[Column, ...]]


def misused(op: str, left: Column, right: Column) -> tuple[int | str, ...]:
    """The owners of columns for which a comparison can become false again."""
    wanted = {">": Direction.UP, ">=": Direction.UP, "<": Direction.DOWN, "<=": Direction.DOWN}.get(op)
    found: list[int | str] = []
    for side, direction in ((left, wanted), (right, wanted.mirrored if wanted else None)):
        if side is not None and side.direction is not direction:
            found.extend(side.owners)
    return tuple(found)


def shifted(op: str, left: Column, right: Column, factor: object) -> Column:
    """The result of arithmetic.  ``factor`` is the number on the other side, if it is one."""
    if left is None and right is None:
        return None
    owners = tuple(o for side in (left, right) if side is not None for o in side.owners)
    only = left if right is None else right if left is None else None
    if only is None:
        return Changing(Direction.ANY, owners)
    positive = isinstance(factor, int | float) and factor > 0
    if op == "+" or (op == "-" and right is None) or (op == "*" and positive):
        return Changing(only.direction, owners)
    if op == "-":
        return Changing(only.direction.mirrored, owners)
    if op in ("/", "//") and right is None and positive:
        return Changing(only.direction, owners)
    return Changing(Direction.ANY, owners)


@dataclass(frozen=True)
class Reads:
    """What a rule reads from a collection: not monotone for a ``reason``, or only seemingly (``refined``)."""

    collection: str
    reason: str = ""
    refined: str = ""


@dataclass(frozen=True)
class Understood:
    """A rule, with some collections trusted.

    ``misused``: the trusted collections of which it uses a changing column; ``columns``: those of its result.
    """

    reads: tuple[Reads, ...]
    misused: frozenset[str]
    columns: tuple[Column, ...] = ()


@dataclass(frozen=True)
class Readable:
    """A rule of either language.  ``understand`` is given the trusted collections.

    ``passes_on``: rows are in the target in the same step, so that changing columns may go there.
    """

    target: str
    passes_on: bool
    understand: Callable[[Trusted], Understood] = field(compare=False)


def understood(rules: Sequence[Readable], passing: frozenset[str]) -> tuple[Understood, ...]:
    """All rules, with as many collections trusted as possible; ``passing`` are those that may be.

    All are trusted at first.  A collection loses trust when a rule misuses it, and when several rules derive it.
    """
    writers: dict[str, int] = {}
    for rule in rules:
        writers[rule.target] = writers.get(rule.target, 0) + 1
    may_be = {r.target for r in rules if r.passes_on and r.target in passing and writers[r.target] == 1}
    while True:
        trusted = _settled(rules, may_be)
        found = tuple(rule.understand(trusted) for rule in rules)
        lost = {name for one in found for name in one.misused if name in may_be}
        if not lost:
            return found
        may_be -= lost


def _settled(rules: Sequence[Readable], may_be: set[str]) -> Trusted:
    """The changing columns of the collections that may be trusted, when those before them are."""
    trusted: dict[str, tuple[Column, ...]] = {}
    for _ in rules:
        before = dict(trusted)
        for rule in rules:
            if rule.target in may_be:
                columns = rule.understand({**trusted, rule.target: ()}).columns
                owned = tuple(None if c is None else Changing(c.direction, (rule.target,)) for c in columns)
                trusted[rule.target] = owned if any(owned) else ()
        if trusted == before:
            break
    return trusted
