"""What a node shows of its collections: always as they are now."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from clew.bloom.ir.row_types import row_type
from clew.bloom.ir.schema import Schema
from clew.bloom.runtime.storage import Cell, Store
from clew.bloom.values import BadValueError, freeze_row, sort_rows
from clew.errors import UsageError


class RowsView:
    """The rows of a collection, in order; columns have names."""

    def __init__(self, store: Store, schema: Schema) -> None:
        self._store = store
        self._schema = schema
        self._named = row_type(schema.columns)

    def __iter__(self) -> Iterator[Any]:
        return map(self._named, sort_rows(self._store.rows))

    def __len__(self) -> int:
        return len(self._store.rows)

    def __contains__(self, row: object) -> bool:
        if not isinstance(row, tuple | list):
            return False
        try:
            return freeze_row(row) in self._store.rows
        except BadValueError:
            return False

    def row(self, key: Any) -> Any:
        """The row with this key, or None.  The key is a tuple if it has several columns."""
        keys = len(self._schema.keys)
        try:
            wanted = freeze_row((key,) if keys == 1 else key)
        except BadValueError as error:
            raise UsageError(
                f"{key!r} is no key: {error}",
                remedy=f"give the values of {', '.join(self._schema.keys)} as a tuple",
            ) from None
        if self._store.key_of is None:
            return self._named(wanted) if wanted in self._store.rows else None
        found = self._store.by_key.get(wanted[0] if keys == 1 else wanted)
        return None if found is None else self._named(found)


class LatticeView:
    """The value of a lattice; also as rows, in order."""

    def __init__(self, cell: Cell) -> None:
        self._cell = cell

    @property
    def value(self) -> Any:
        return self._cell.value

    def __iter__(self) -> Iterator[Any]:
        return iter(self._cell.value.elements())

    def __len__(self) -> int:
        return len(self._cell.value.elements())

    def __contains__(self, row: object) -> bool:
        return row in self._cell.value.elements()
