"""What a node raises when a rule derives a row of ``die``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from clew.bloom.ir.program import BloomProgram, Rule
from clew.bloom.ir.schema import Kind
from clew.bloom.runtime.storage import Store
from clew.bloom.values import Row, sort_rows, spell
from clew.errors import ClewError, Position

#: So many rows are in a message; all of them are in ``InvariantError.broken``.
_MOST_ROWS = 5


@dataclass(frozen=True)
class BrokenInvariant:
    """A rule of ``die`` and the rows that it derived, in canonical order.

    ``collection`` tells it from others: ``die``, ``die_2`` and so on.  ``block`` is its class and method.
    """

    collection: str
    block: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    position: Position | None = None

    @property
    def name(self) -> str:
        """Return what the invariant is called; without the line, which other changes to the file move."""
        return f"{self.collection} ({self.block})"

    def __str__(self) -> str:
        shown = " ".join(self._show(row) for row in self.rows[:_MOST_ROWS])
        more = len(self.rows) - _MOST_ROWS
        return shown if more <= 0 else f"{shown} and {more} more"

    def _show(self, row: Row) -> str:
        values = zip(self.columns, row, strict=True)
        return f"{self.collection}({', '.join(f'{column}={spell(value)}' for column, value in values)})"


class InvariantError(ClewError):
    """An invariant of a program is broken; ``broken`` says which, by which rows, in the order of the rules."""

    def __init__(self, program: str, address: str, broken: Sequence[BrokenInvariant]) -> None:
        told = "; ".join(f"{one.block}: {one}" for one in broken)
        # In one line: simulations quote the last line of what a handler raised.
        super().__init__(
            f"the invariants of {program} are broken at {address}: {told}", position=broken[0].position
        )
        self.program = program
        self.address = address
        self.broken = tuple(broken)


class Invariants:
    """Looks whether a step broke an invariant of a program; ``stores`` are those of its node."""

    def __init__(self, program: BloomProgram, stores: Mapping[str, Store], address: str) -> None:
        self._program = program
        self._address = address
        kinds = program.by_name
        self._watched = [
            (rule, stores[rule.target]) for rule in program.rules if kinds[rule.target].kind is Kind.DIE
        ]
        self._broken: tuple[BrokenInvariant, ...] = ()

    @property
    def are_broken(self) -> bool:
        return bool(self._broken)

    def refuse_step(self) -> None:
        """Raise if the node has ended before: what the step left in its tables must not get out with the next."""
        if self._broken:
            raise self._error()

    def end_if_broken(self) -> None:
        """Raise if the step that has just been evaluated broke an invariant."""
        found = [self._describe(rule, store) for rule, store in self._watched if store.rows]
        if found:
            self._broken = tuple(found)
            raise self._error()

    def _describe(self, rule: Rule, store: Store) -> BrokenInvariant:
        columns = self._program.by_name[rule.target].schema.columns
        return BrokenInvariant(rule.target, rule.block, columns, tuple(sort_rows(store.rows)), rule.position)

    def _error(self) -> InvariantError:
        # A new one each time: one that is raised again would collect the frames of all who did.
        return InvariantError(self._program.name, self._address, self._broken)
