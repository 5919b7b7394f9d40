"""Durable tables: a SQLite file beside the node, one transaction for each step.

Rows are kept as they are sent (``wire``), each under its packed key columns.  Two keys that are equal in Python,
such as 1 and 1.0, are one key here, too.  The file belongs to one process at a time and remembers the columns of
its tables: what another program wrote is refused, not read in another way.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from clew.bloom.ir.schema import Collection, Schema
from clew.bloom.network.wire import GarbageError, NotSentError, pack, unpack
from clew.bloom.values import Row
from clew.errors import UsageError

#: "Clew", so that a file of something else is recognised.
_APPLICATION = 0x436C6577
_FORMAT = 1
_CREATE = (
    "CREATE TABLE declared (name TEXT PRIMARY KEY, columns TEXT NOT NULL) WITHOUT ROWID",
    # By key, as the table of the node is: a row that replaces another one is one statement.
    "CREATE TABLE kept (name TEXT, key BLOB, row BLOB NOT NULL, PRIMARY KEY (name, key)) WITHOUT ROWID",
)
_PUT = "INSERT INTO kept VALUES (?, ?, ?) ON CONFLICT (name, key) DO UPDATE SET row = excluded.row"
_ELSEWHERE = "give the node another file, or move this one away to begin without rows"
#: How long a process that is just ending may keep the file, in seconds.
_PATIENCE = 2.0


def file_for(data: str | Path, program: str) -> Path:
    """Return ``data`` itself if it names a file, or a file of the program in that folder.

    What does not exist yet is a file if it has a suffix.
    """
    path = Path(data)
    if path.is_file() or (path.suffix and not path.is_dir()):
        return path
    return path / f"{program}.sqlite"


class DurableTables:
    """The open file.  It is used by the thread that opened it."""

    def __init__(self, path: Path, tables: Sequence[Collection]) -> None:
        self.path = path
        self._schemas = {table.name: table.schema for table in tables}
        connection = self._connect()
        try:
            self._prepare(connection)
        except sqlite3.Error as error:
            connection.close()
            raise self._unusable(error) from error
        except BaseException:
            connection.close()
            raise
        self._connection = connection

    def close(self) -> None:
        self._connection.close()

    def rows(self, table: str) -> list[Row]:
        """Return all rows of a table, in the order of their keys' bytes."""
        try:
            found = self._connection.execute(
                "SELECT row FROM kept WHERE name = ? ORDER BY key", (table,)
            ).fetchall()
            rows = [unpack(data) for (data,) in found]
        except (sqlite3.Error, GarbageError, TypeError) as error:
            raise self._unusable(error) from error
        width = len(self._schemas[table].columns)
        if any(len(row) != width for row in rows):
            raise self._unusable(f"a row of '{table}' has not {width} columns")
        return rows

    def write(self, changes: Iterable[tuple[str, Iterable[Row], Iterable[Row]]]) -> None:
        """Write changes (table, added rows, removed rows), all or none; they are on disk when this returns."""
        removed: list[tuple[str, bytes, bytes]] = []
        added: list[tuple[str, bytes, bytes]] = []
        for table, new, old in changes:
            # Removed rows first, by key: a row that replaces another one is in both lists.
            removed += [self._entry_of(table, row) for row in old]
            added += [self._entry_of(table, row) for row in new]
        if not removed and not added:
            return
        try:
            with self._connection:
                # Explicitly, since isolation_level=None leaves transactions to this module.
                self._connection.execute("BEGIN IMMEDIATE")
                self._connection.executemany(
                    "DELETE FROM kept WHERE name = ? AND key = ?", [r[:2] for r in removed]
                )
                self._connection.executemany(_PUT, added)
        except sqlite3.Error as error:
            raise UsageError(
                f"'{self.path}' could not be written: {error}",
                remedy="make room on the disk and start the node again; what was acknowledged is in the file",
            ) from error

    # -- opening -------------------------------------------------------------------------------------------------

    def _connect(self) -> sqlite3.Connection:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            return sqlite3.connect(self.path, timeout=_PATIENCE, isolation_level=None)
        except (sqlite3.Error, OSError) as error:
            raise self._unusable(error) from error

    def _prepare(self, connection: sqlite3.Connection) -> None:
        # Two processes with one file would each believe that they know all rows.
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")  # a commit outlives a loss of power, not only the process
        # A damaged file is refused before the node acts on half of its rows.
        (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
        if verdict != "ok":
            raise self._unusable(verdict)
        with connection:
            connection.execute("BEGIN EXCLUSIVE")
            self._recognise(connection)
            self._declare(connection)

    def _recognise(self, connection: sqlite3.Connection) -> None:
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        (objects,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        # An empty database; a file of another application may have no application_id, but it has tables.
        if (application, objects) == (0, 0):
            for statement in _CREATE:
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {_APPLICATION}")
            connection.execute(f"PRAGMA user_version = {_FORMAT}")
        elif application != _APPLICATION:
            raise self._unusable("it is a database of something else")
        elif version != _FORMAT:
            raise self._unusable(f"it has format {version}, this version of Clew reads format {_FORMAT}")

    def _declare(self, connection: sqlite3.Connection) -> None:
        """Compare the tables with those of the file: a program may have got more, but none may have changed."""
        known = dict(connection.execute("SELECT name, columns FROM declared ORDER BY name").fetchall())
        for name, columns in known.items():
            schema = self._schemas.get(name)
            if schema is None:
                raise self._unusable(f"it keeps a table '{name}', which is not a durable table of this program")
            if columns != _spell_schema(schema):
                keys, values = json.loads(columns)
                there, here = _show_columns(keys, values), _show_columns(schema.keys, schema.values)
                raise self._unusable(
                    f"it keeps '{name}' with the columns {there}, and the program declares {here}"
                )
        new = [(name, _spell_schema(schema)) for name, schema in self._schemas.items() if name not in known]
        connection.executemany("INSERT INTO declared VALUES (?, ?)", new)

    def _unusable(self, why: object) -> UsageError:
        if isinstance(why, sqlite3.OperationalError) and "locked" in str(why):
            return UsageError(
                f"'{self.path}' is in use by another process",
                remedy="each node has a file of its own: end the other one, or give this one another file",
            )
        return UsageError(f"'{self.path}' cannot be used for durable tables: {why}", remedy=_ELSEWHERE)

    def _entry_of(self, table: str, row: Row) -> tuple[str, bytes, bytes]:
        key = row[: len(self._schemas[table].keys)]
        try:
            return table, pack(_canonical(key)), pack(row)
        except NotSentError as error:
            raise UsageError(
                f"a row of the durable table '{table}' cannot be kept: {error}",
                remedy="put numbers, text, bytes, tuples and sets into durable tables",
            ) from None


def _spell_schema(schema: Schema) -> str:
    return json.dumps([schema.keys, schema.values])


def _show_columns(keys: Sequence[str], values: Sequence[str]) -> str:
    return f"[{', '.join(keys)}] => [{', '.join(values)}]"


def _canonical(value: Any) -> Any:
    """Return the same for all values that are equal: 1, 1.0 and True are packed in different ways."""
    if isinstance(value, bool) or (isinstance(value, float) and value.is_integer() and abs(value) < 2**63):
        return int(value)
    if isinstance(value, tuple):
        return tuple(_canonical(item) for item in value)
    if isinstance(value, frozenset):
        return frozenset(_canonical(item) for item in value)
    return value
