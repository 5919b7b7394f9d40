"""Chunks on the disk of a DataNode: what the walk finds is complete, and what is damaged is known to be."""

from __future__ import annotations

import errno
import zlib
from pathlib import Path
from random import Random
from typing import Any

import pytest

from clew.boomfs.data_protocol import BLOCK
from clew.boomfs.datanode.chunk_store import ChunkName, ChunkStore

#: Two blocks, and a bit.
CONTENT = Random(6).randbytes(2 * BLOCK + 5)


def _blocks(data: bytes) -> list[tuple[bytes, int]]:
    blocks = [data[begin : begin + BLOCK] for begin in range(0, len(data), BLOCK)]
    return [(block, zlib.crc32(block)) for block in blocks]


def _write(store: ChunkStore, name: ChunkName, data: bytes = CONTENT) -> None:
    part = store.begin(name)
    try:
        part.write(_blocks(data))
        part.finish()
    finally:
        part.discard()


def test_only_what_is_complete_is_found(tmp_path: Path) -> None:
    store = ChunkStore(tmp_path, sync=True)
    _write(store, (0, 7))
    _write(store, (1, 700), b"")
    part = store.begin((0, 8))
    part.write(_blocks(CONTENT))
    assert sorted(store.walk()) == [(0, 7, len(CONTENT)), (1, 700, 0)]
    # The process was killed in between: the next one finds what was complete, and nothing else is left.
    again = ChunkStore(tmp_path)
    assert sorted(again.walk()) == [(0, 7, len(CONTENT)), (1, 700, 0)]
    assert list((tmp_path / "parts").iterdir()) == []
    part.discard()
    again.drop((0, 7))
    again.drop((0, 7))
    assert sorted(again.walk()) == [(1, 700, 0)]


def _flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)


@pytest.mark.parametrize(
    ("suffix", "damage"),
    [
        ("chunk", _flip),
        ("sums", _flip),
        ("chunk", lambda path: path.write_bytes(CONTENT[:-1])),
        ("chunk", lambda path: path.write_bytes(CONTENT + b"x")),
        ("sums", lambda path: path.write_bytes(path.read_bytes()[:-1])),
        ("sums", lambda path: path.unlink()),
        ("chunk", lambda path: path.unlink()),
    ],
)
def test_every_damage_is_found(tmp_path: Path, suffix: str, damage: Any) -> None:
    store = ChunkStore(tmp_path)
    _write(store, (0, 7))
    assert store.is_intact((0, 7))
    (path,) = (tmp_path / "data").rglob(f"7.{suffix}")
    damage(path)
    assert not store.is_intact((0, 7))
    # Where it is damaged, it can be written again; it was not written twice.
    _write(store, (0, 7))
    assert store.is_intact((0, 7))


def test_a_chunk_is_not_written_over(tmp_path: Path) -> None:
    store = ChunkStore(tmp_path)
    _write(store, (0, 7))
    _write(store, (0, 7))
    with pytest.raises(OSError, match="chunks are not written twice"):
        _write(store, (0, 7), CONTENT[::-1])
    with store.open((0, 7)) as file:
        assert file.read() == CONTENT


def test_too_many_open_files_are_no_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = ChunkStore(tmp_path)
    _write(store, (0, 7))

    def refuse(name: ChunkName) -> Any:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(store, "open", refuse)
    with pytest.raises(OSError, match="Too many open files"):
        store.is_intact((0, 7))


def test_no_more_than_the_capacity_is_taken(tmp_path: Path) -> None:
    store = ChunkStore(tmp_path, capacity=len(CONTENT) + 100)
    _write(store, (0, 1))
    assert store.free() == 100
    with pytest.raises(OSError, match="no room") as raised:
        _write(store, (0, 2))
    assert raised.value.errno == errno.ENOSPC
    assert [number for _, number, _ in store.walk()] == [1]
