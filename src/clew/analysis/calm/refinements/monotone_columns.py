"""Columns that change in one direction only: refinements that keep a program monotone.

More rows make a count larger, never smaller.  A rule that compares it with a bound (``count > k``, ``min < k``)
and does not pass it on is monotone: once true, it stays true.  A collection that carries such columns is *trusted*
as long as every rule that reads it uses them in this way; then the aggregate in front of it is no point of order.

Needed for the counts of ``idioms.Barrier`` and ``idioms.Voting``, which pass through scratches, and for quorums
(``paxos.Views``: the majority is no point of order, what was promised before is).  The law: of rows that stay, the
value in such a column only moves one way, so a comparison in that direction is false up to some step and true from
then on, and the rows of the end decide which; ``histories`` asks that the rows stay.

The order must be one in which the values move.  A count is a number.  Of a maximum only that is known which it is
compared with: with a constant number or text it is one, too; sets, of which neither may be the larger, are not
compared with constants (``clew.bloom.ir.symbolic``).
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


@dataclass(frozen=True)
class Changing:
    """A column that changes.  ``owners``: what is not monotone after all, should its value be used.

    ``number``: it is known to hold numbers.
    """

    direction: Direction
    owners: tuple[int | str, ...]
    number: bool = True


Column = Changing | None
#: The columns of trusted collections.
Trusted = Mapping[str, tuple[Column, ...]]


def find_misuse(op: str, left: Column, right: Column, *, plain: bool = True) -> tuple[int | str, ...]:
    """Return the owners of columns for which a comparison can become false again.

    ``plain``: one side is a constant number or text.
    """
    # Equality is missing on purpose: a count that equals a bound exceeds it with the next row.
    wanted = {">": Direction.UP, ">=": Direction.UP, "<": Direction.DOWN, "<=": Direction.DOWN}.get(op)
    found: list[int | str] = []
    # What grows on the left must fall on the right: ``count < k`` is false again with more rows.
    for side, direction in ((left, wanted), (right, wanted.mirrored if wanted else None)):
        if side is not None and (side.direction is not direction or not (side.number or plain)):
            found.extend(side.owners)
    return tuple(found)


def shift_column(op: str, left: Column, right: Column, factor: object) -> Column:
    """Return the result of arithmetic.  ``factor`` is the number on the other side, if it is one.

    Without a number it may be a text that is lengthened, and then it need not move the same way.
    """
    if left is None and right is None:
        return None
    owners = tuple(o for side in (left, right) if side is not None for o in side.owners)
    only = left if right is None else right if left is None else None
    # Two changing sides may move against each other; and text times a number is no number.
    if only is None or not isinstance(factor, int | float):
        return Changing(Direction.ANY, owners)
    if op == "+" or (op == "-" and right is None):
        return Changing(only.direction, owners)
    if op == "-":
        return Changing(only.direction.mirrored, owners)
    # A negative factor would mirror the direction; that is not followed.
    if factor > 0 and (op == "*" or (op in ("/", "//") and right is None)):
        return Changing(only.direction, owners)
    return Changing(Direction.ANY, owners)


@dataclass(frozen=True)
class Reads:
    """What a rule reads from a collection: not monotone for a ``reason``, or only seemingly (``refined``)."""

    collection: str
    reason: str = ""
    refined: str = ""


@dataclass(frozen=True)
class RuleAnalysis:
    """A rule, with some collections trusted.

    ``misused``: the trusted collections of which it uses a changing column; ``columns``: those of its result.
    """

    reads: tuple[Reads, ...]
    misused: frozenset[str]
    columns: tuple[Column, ...] = ()


@dataclass(frozen=True)
class AnalysableRule:
    """A rule of either language.  ``understand`` is given the trusted collections.

    ``passes_on``: rows are in the target in the same step, so that changing columns may go there.
    """

    target: str
    passes_on: bool
    understand: Callable[[Trusted], RuleAnalysis] = field(compare=False)


def analyse_rules(rules: Sequence[AnalysableRule], passing: frozenset[str]) -> tuple[RuleAnalysis, ...]:
    """Analyse all rules, with as many collections trusted as possible; ``passing`` are those that may be.

    All are trusted at first.  A collection loses trust when a rule misuses it, and when several rules derive it.
    """
    writers: dict[str, int] = {}
    for rule in rules:
        writers[rule.target] = writers.get(rule.target, 0) + 1
    # A second writer could add a row with another value in the column, and that need not move the same way.
    may_be = {r.target for r in rules if r.passes_on and r.target in passing and writers[r.target] == 1}
    # From the largest set of trusted collections down: each round can only
    # lose some, so that this ends, and what is left
    # misuses nothing.
    while True:
        trusted = _settle_trust(rules, may_be)
        found = tuple(rule.understand(trusted) for rule in rules)
        lost = {name for one in found for name in one.misused if name in may_be}
        if not lost:
            return found
        may_be -= lost


def _settle_trust(rules: Sequence[AnalysableRule], may_be: set[str]) -> Trusted:
    """Return the changing columns of the collections that may be trusted, when those before them are."""
    trusted: dict[str, tuple[Column, ...]] = {}
    # Columns pass from scratch to scratch; a chain of these is no longer than there are rules.
    for _ in rules:
        before = dict(trusted)
        for rule in rules:
            if rule.target in may_be:
                columns = rule.understand({**trusted, rule.target: ()}).columns
                owned = tuple(
                    None if c is None else Changing(c.direction, (rule.target,), c.number) for c in columns
                )
                trusted[rule.target] = owned if any(owned) else ()
        if trusted == before:
            break
    return trusted
