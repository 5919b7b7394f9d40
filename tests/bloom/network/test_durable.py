"""Durable tables: what was written is there again; what is not ours, or broken, is refused."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from clew.bloom.ir.schema import Collection, Kind, Schema
from clew.bloom.network.durable import DurableTables, file_for
from clew.errors import UsageError

KV = Collection("kv", Kind.TABLE, Schema(("key",), ("value",)), "Test", durable=True)
LOG = Collection("log", Kind.TABLE, Schema(("a", "b")), "Test", durable=True)
ONE = Collection("one", Kind.TABLE, Schema((), ("v",)), "Test", durable=True)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "node.sqlite"


@pytest.fixture
def store(path: Path) -> Iterator[DurableTables]:
    opened = DurableTables(path, [KV, LOG, ONE])
    yield opened
    opened.close()


def _again(store: DurableTables, table: str) -> list[tuple[object, ...]]:
    """The rows that another process would find."""
    store.close()
    reopened = DurableTables(store.path, [KV, LOG, ONE])
    try:
        return reopened.rows(table)
    finally:
        reopened.close()


def test_rows_are_there_again(store: DurableTables) -> None:
    row = (("k", 1, frozenset([2])), (None, 2.5, b"x", True))
    store.write([("kv", [row, ("b", 1)], []), ("log", [(1, 2)], [])])
    assert set(_again(store, "kv")) == {("b", 1), row}
    assert _again(store, "log") == [(1, 2)]
    assert _again(store, "one") == []


def test_a_row_takes_the_place_of_the_one_with_its_key(store: DurableTables) -> None:
    store.write([("kv", [("a", 1), ("b", 1)], []), ("one", [(1,)], [])])
    store.write([("kv", [("a", 2)], [("a", 1)]), ("one", [(2,)], [(1,)])])
    assert store.rows("kv") == [("a", 2), ("b", 1)]
    assert store.rows("one") == [(2,)]
    store.write([("kv", [], [("a", 2)])])
    assert _again(store, "kv") == [("b", 1)]


@pytest.mark.parametrize("equal", [1.0, True])
def test_equal_keys_are_one_key(store: DurableTables, equal: object) -> None:
    store.write([("kv", [(1, "old"), ((1, frozenset([1])), "nested")], [])])
    store.write([("kv", [(equal, "new")], []), ("kv", [], [((equal, frozenset([equal])), "nested")])])
    assert store.rows("kv") == [(1, "new")]


def test_a_failed_write_changes_nothing(store: DurableTables) -> None:
    store.write([("kv", [("a", 1)], [])])
    with pytest.raises(UsageError, match="a row of the durable table 'log' cannot be kept"):
        store.write([("kv", [("a", 2)], [("a", 1)]), ("log", [(object(), 1)], [])])
    assert _again(store, "kv") == [("a", 1)]


def test_a_file_belongs_to_one_node_at_a_time(store: DurableTables, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("clew.bloom.network.durable._PATIENCE", 0)
    with pytest.raises(UsageError, match="is in use by another process") as raised:
        DurableTables(store.path, [KV, LOG, ONE])
    assert raised.value.remedy is not None
    assert "give this one another file" in raised.value.remedy


def test_a_program_may_get_more_tables(path: Path) -> None:
    first = DurableTables(path, [KV])
    first.write([("kv", [("a", 1)], [])])
    first.close()
    second = DurableTables(path, [KV, LOG])
    assert (second.rows("kv"), second.rows("log")) == ([("a", 1)], [])
    second.close()


def test_other_columns_are_refused_and_both_are_shown(store: DurableTables) -> None:
    store.close()
    other = Collection("kv", Kind.TABLE, Schema(("key", "value")), "Test", durable=True)
    with pytest.raises(UsageError) as raised:
        DurableTables(store.path, [other, LOG, ONE])
    assert raised.value.message == (
        f"'{store.path}' cannot be used for durable tables: it keeps 'kv' with the columns [key] => [value],"
        " and the program declares [key, value] => []"
    )
    assert raised.value.remedy == "give the node another file, or move this one away to begin without rows"


def test_a_table_that_the_program_has_no_more_is_not_forgotten_silently(store: DurableTables) -> None:
    store.close()
    with pytest.raises(UsageError, match="it keeps a table 'log', which is not a durable table of this program"):
        DurableTables(store.path, [KV, ONE])


def test_a_file_of_something_else_is_refused(path: Path) -> None:
    path.write_text("this is a text, not a database; " * 50)
    with pytest.raises(UsageError, match="file is not a database"):
        DurableTables(path, [KV])
    path.unlink()
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE t (x)")
    other.close()
    with pytest.raises(UsageError, match="it is a database of something else"):
        DurableTables(path, [KV])


def test_a_later_format_is_refused(store: DurableTables) -> None:
    store.close()
    changed = sqlite3.connect(store.path)
    changed.execute("PRAGMA user_version = 2")
    changed.close()
    with pytest.raises(UsageError, match="it has format 2, this version of Clew reads format 1"):
        DurableTables(store.path, [KV, LOG, ONE])


def test_a_damaged_file_is_refused(store: DurableTables) -> None:
    store.write([("kv", [(k, "x" * 200) for k in range(500)], [])])
    store.close()
    data = bytearray(store.path.read_bytes())
    data[4096 * 4 : 4096 * 8] = b"\xff" * (4096 * 4)
    store.path.write_bytes(data)
    with pytest.raises(UsageError, match="cannot be used for durable tables"):
        DurableTables(store.path, [KV, LOG, ONE])


@pytest.mark.parametrize(
    ("data", "why"), [(b"\xc1", "not msgpack"), (b"\x91\x01", "a row of 'kv' has not 2 columns")]
)
def test_a_damaged_row_is_refused(store: DurableTables, data: bytes, why: str) -> None:
    store.close()
    changed = sqlite3.connect(store.path)
    with changed:
        changed.execute("INSERT INTO kept VALUES ('kv', x'00', ?)", (data,))
    changed.close()
    opened = DurableTables(store.path, [KV, LOG, ONE])
    with pytest.raises(UsageError, match=why):
        opened.rows("kv")
    opened.close()


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="cannot be used for durable tables"):
        DurableTables(tmp_path / "file" / "node.sqlite", [KV])


def test_where_the_file_is(tmp_path: Path) -> None:
    (tmp_path / "folder.d").mkdir()
    (tmp_path / "file").touch()
    assert file_for(tmp_path, "P") == tmp_path / "P.sqlite"
    assert file_for(str(tmp_path / "folder.d"), "P") == tmp_path / "folder.d" / "P.sqlite"
    assert file_for(tmp_path / "new", "P") == tmp_path / "new" / "P.sqlite"
    assert file_for(tmp_path / "new.db", "P") == tmp_path / "new.db"
    assert file_for(tmp_path / "file", "P") == tmp_path / "file"
