"""Rows that a step rejects, and why."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice

from clew.bloom.ir.program import Rule
from clew.errors import Position

#: What derives or gives rows: a rule, or None for the outside.
Origin = Rule | None
FROM_OUTSIDE = "from outside"


@dataclass(frozen=True)
class RejectedRow:
    """A row that was rejected.  ``rule`` is the block and the line, or "from outside"."""

    collection: str
    rule: str
    message: str
    position: Position | None = None

    def __str__(self) -> str:
        return f"{self.collection} ({self.rule}): {self.message}"


class Rejections:
    """The rows that were rejected since they were last asked for; the same thing once.

    ``conflicts`` counts those with a key that another row has.
    """

    def __init__(self) -> None:
        self._found: dict[RejectedRow, None] = {}
        self.conflicts = 0

    def add(self, collection: str, origin: Origin, message: str, position: Position | None = None) -> None:
        self.put([describe_rejection(collection, origin, message, position)])

    def put(self, rejected: Iterable[RejectedRow]) -> None:
        # A dictionary: rules report the same row in every round of a recursion.
        self._found.update(dict.fromkeys(rejected))

    def __len__(self) -> int:
        return len(self._found)

    def since(self, number: int) -> list[RejectedRow]:
        """Return what was found after so many others."""
        return list(islice(self._found, number, None))

    def take(self) -> tuple[RejectedRow, ...]:
        """Return and forget them, ordered by their place in the program: functions give rows in any order."""
        found = sorted(self._found, key=lambda r: (r.position is not None, r.position, r.collection, r.message))
        self._found = {}
        return tuple(found)


def describe_rejection(
    collection: str, origin: Origin, message: str, position: Position | None = None
) -> RejectedRow:
    where = position or (None if origin is None else origin.position)
    return RejectedRow(collection, _describe_origin(origin), message, where)


def _describe_origin(origin: Origin) -> str:
    if origin is None:
        return FROM_OUTSIDE
    return origin.block if origin.position is None else f"{origin.block}, line {origin.position.line}"


class Reports:
    """What a rule has to report of the rows that are there, whether or not it is evaluated in a step.

    It is told when all is known: while changes are computed, rows may come and go.
    """

    def __init__(self, rejections: Rejections, rule: Rule) -> None:
        self._rejections = rejections
        self._rule = rule
        # Counted: two rows may be the reason of the same words.
        self.times: dict[RejectedRow, int] = {}
        self._fresh: list[RejectedRow] = []

    def report(self, message: str, position: Position | None = None) -> None:
        found = describe_rejection(self._rule.target, self._rule, message, position)
        self.times[found] = self.times.get(found, 0) + 1
        self._fresh.append(found)

    def retract(self, message: str, position: Position | None = None) -> None:
        """Take back what was reported of a row that is gone."""
        found = describe_rejection(self._rule.target, self._rule, message, position)
        times = self.times.pop(found, 0) - 1
        if times > 0:
            self.times[found] = times

    def clear(self) -> None:
        """Forget it: the rule is evaluated anew."""
        if self.times:
            self.times.clear()

    def tell(self) -> None:
        """Tell what there is to report."""
        if self.times:
            self._rejections.put(self.times)
        self._fresh.clear()

    def tell_fresh(self) -> None:
        """Tell what is new."""
        if self._fresh:
            self._rejections.put(found for found in self._fresh if found in self.times)
        self._fresh.clear()
