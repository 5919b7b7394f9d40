"""What can go wrong, as an outcome: a row (or named fact) that had to hold and does not, or must never hold."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from clew.names import show

#: What a row holds; the same as ``clew.program.ir.Value``.
Cell = str | int | None | tuple["Cell", ...]


@dataclass(frozen=True)
class Violation:
    """A row of ``pre`` without its row in ``post``, a lost row of a persistent relation, or a row of ``never``.

    ``time``: when it holds, of what must never hold; all others are about the end of an execution.  For systems
    that are not Dedalus programs, ``relation`` names the invariant and ``row`` says where it broke.
    """

    relation: str
    row: tuple[Cell, ...]
    time: int | None = None

    @property
    def at_any_time(self) -> Violation:
        """Return it without its time."""
        return self if self.time is None else Violation(self.relation, self.row)

    def __str__(self) -> str:
        when = "" if self.time is None else f" at time {self.time}"
        return f"{self.relation}({', '.join(map(show, self.row))}){when}"


def keep_earliest(violations: Iterable[Violation]) -> tuple[Violation, ...]:
    """Leave out that what must never hold goes on holding: of each row the first time is what went wrong."""
    found = tuple(violations)
    first: dict[tuple[str, tuple[Cell, ...]], int] = {}
    for violation in found:
        if violation.time is not None:
            key = violation.relation, violation.row
            first[key] = min(violation.time, first.get(key, violation.time))
    return tuple(v for v in found if v.time is None or v.time == first[v.relation, v.row])
