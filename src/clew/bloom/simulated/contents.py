"""What invariants and promises see of a node: the rows of its collections, as values that never change.

Two contents with the same rows are equal, and come in the same order under every PYTHONHASHSEED.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self

from clew.bloom.ir.schema import Schema
from clew.bloom.lattices.containers import LATTICES
from clew.bloom.runtime.calls import row_type
from clew.bloom.runtime.storage import LatticeView, RowsView, freeze_key


class Contents(tuple[Any, ...]):
    """The rows of a collection after a step, in canonical order; columns have names."""

    _schema: Schema

    @classmethod
    def of(cls, view: RowsView, schema: Schema) -> Self:
        return cls._make(view, schema)

    @classmethod
    def _make(cls, rows: Iterable[Any], schema: Schema) -> Self:
        made = cls(rows)
        made._schema = schema
        return made

    def row(self, key: Any) -> Any:
        """Return the row with this key, or None.  The key is a tuple if it has several columns."""
        wanted = freeze_key(self._schema, key)
        return next((row for row in self if row[: len(wanted)] == wanted), None)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Return itself: nothing in it can change, and searches copy states by the thousand."""
        return self


class LatticeContents(Contents):
    """The value of a lattice after a step, and its elements as rows."""

    value: Any

    @classmethod
    def of_lattice(cls, view: LatticeView, lattice: str) -> Self:
        columns = LATTICES[lattice].columns
        made = cls._make(map(row_type(columns), view), Schema(columns))
        # Beside the elements, which tests of thresholds would have to put together again.
        made.value = view.value
        return made
