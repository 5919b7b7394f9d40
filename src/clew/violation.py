"""What can go wrong, as an outcome: a row (or any named fact) that had to hold and does not."""

from __future__ import annotations

from dataclasses import dataclass

from clew.names import show

#: What a row holds; the same as ``clew.program.ir.Value``.
Cell = str | int | None | tuple["Cell", ...]


@dataclass(frozen=True)
class Violation:
    """A row of ``pre`` without its row in ``post``, or a lost row of a persistent relation.

    For systems that are not Dedalus programs, ``relation`` names the invariant and ``row`` says where it broke.
    """

    relation: str
    row: tuple[Cell, ...]

    def __str__(self) -> str:
        return f"{self.relation}({', '.join(map(show, self.row))})"
