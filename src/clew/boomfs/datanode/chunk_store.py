"""Chunks as files in the folder of a DataNode, with a checksum for each block of them.

``data/<partition>/<page>/<chunk>.chunk`` has the bytes and ``<chunk>.sums`` the checksums.  Both are written in
``parts`` under a name that nobody looks for, and the bytes are named last: what the walk finds is complete.  Names
are made of numbers only, so nothing that arrives leads out of the folder.
"""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import BinaryIO

from clew.boomfs.data_protocol import BLOCK, DataProtocolError, pack_sums, unpack_sums
from clew.boomfs.settings import CHUNKS_IN_PAGE

#: The name of a chunk: its partition, and its number there.
ChunkName = tuple[int, int]


@dataclass(frozen=True)
class _Page:
    """What a folder of chunks was found to have when it was last changed."""

    changed: int = -1
    chunks: dict[int, int] = field(default_factory=dict)


class ChunkStore:
    """``capacity``: bytes that chunks may take, by default what the disk has; ``sync``: wait for the disk."""

    def __init__(self, folder: Path, *, capacity: int | None = None, sync: bool = False) -> None:
        self.folder = folder
        self.capacity = capacity
        self.sync = sync
        self._data = folder / "data"
        self._parts = folder / "parts"
        self._pages: dict[tuple[int, int], _Page] = {}
        self._lock = Lock()
        self._data.mkdir(parents=True, exist_ok=True)
        # What was being written when the process was killed is of no use to anybody.
        shutil.rmtree(self._parts, ignore_errors=True)
        self._parts.mkdir()

    # -- what there is -------------------------------------------------------------------------------------------

    def walk(self) -> Iterator[tuple[int, int, int]]:
        """Yield partition, number and length of all chunks."""
        for (partition, _), page in self._look().items():
            yield from ((partition, chunk, length) for chunk, length in page.chunks.items())

    def _look(self) -> dict[tuple[int, int], _Page]:
        """Return what is in all folders; those that have not changed are not read again."""
        # Whoever writes a chunk asks for room, in a thread of its own.
        with self._lock:
            self._pages = {
                (partition, page): self._look_into(partition, page)
                for partition in _numbered(self._data)
                for page in _numbered(self._data / str(partition))
            }
            return self._pages

    def _look_into(self, partition: int, page: int) -> _Page:
        folder = self._data / str(partition) / str(page)
        known = self._pages.get((partition, page), _Page())
        try:
            changed = folder.stat().st_mtime_ns
            if changed != known.changed:
                chunks: dict[int, int] = {}
                with os.scandir(folder) as entries:
                    for entry in entries:
                        stem, _, suffix = entry.name.partition(".")
                        if suffix == "chunk" and stem.isdecimal():
                            chunks[int(stem)] = entry.stat().st_size
                return _Page(changed, dict(sorted(chunks.items())))
        except FileNotFoundError:
            return _Page()
        return known

    def used(self) -> int:
        return sum(sum(page.chunks.values()) for page in self._look().values())

    def free(self) -> int:
        """Return how many bytes there is room for."""
        room = shutil.disk_usage(self.folder).free
        return room if self.capacity is None else max(0, min(room, self.capacity - self.used()))

    def length(self, name: ChunkName) -> int:
        return self._path(name, "chunk").stat().st_size

    # -- reading -------------------------------------------------------------------------------------------------

    def open(self, name: ChunkName) -> BinaryIO:
        return self._path(name, "chunk").open("rb")

    def sums(self, name: ChunkName) -> tuple[int, ...]:
        return unpack_sums(self._path(name, "sums").read_bytes())

    def is_intact(self, name: ChunkName) -> bool:
        """Tell whether all bytes of a chunk are as they were written.  OSError if that cannot be said now."""
        try:
            sums = self.sums(name)
            with self.open(name) as file:
                for checksum in sums:
                    if zlib.crc32(file.read(BLOCK)) != checksum:
                        return False
                return not file.read(1)
        except DataProtocolError:
            return False
        except OSError as error:
            # A process that has too many files open has not lost any of them.
            if not is_damage(error):
                raise
            return False

    # -- writing -------------------------------------------------------------------------------------------------

    def begin(self, name: ChunkName) -> PartialChunk:
        return PartialChunk(self, name, self._parts / secrets.token_hex(16))

    def drop(self, name: ChunkName) -> None:
        """Remove a chunk; the bytes first, which are what the walk looks for."""
        for suffix in ("chunk", "sums"):
            with suppress(FileNotFoundError):
                self._path(name, suffix).unlink()

    def _path(self, name: ChunkName, suffix: str) -> Path:
        partition, chunk = name
        return self._data / str(int(partition)) / str(int(chunk) // CHUNKS_IN_PAGE) / f"{int(chunk)}.{suffix}"


class PartialChunk:
    """A chunk that is being written; used by one thread at a time."""

    def __init__(self, store: ChunkStore, name: ChunkName, path: Path) -> None:
        self._store = store
        self._name = name
        self._path = path
        self._room = store.free()
        self._file: BinaryIO | None = path.open("xb", buffering=0)
        self._sums: list[int] = []
        self.length = 0

    def write(self, blocks: list[tuple[bytes, int]]) -> None:
        """Write blocks with their checksums, which have been verified."""
        assert self._file is not None
        for data, checksum in blocks:
            self.length += len(data)
            if self.length > self._room:
                raise OSError(errno.ENOSPC, "no room for the chunk")
            self._file.write(data)
            self._sums.append(checksum)

    def finish(self) -> None:
        """Give the chunk its name.  One that is there and as it was written stays."""
        assert self._file is not None
        if self._store.sync:
            os.fsync(self._file.fileno())
        self._close()
        place = self._store._path(self._name, "chunk")
        if place.exists() and self._store.is_intact(self._name):
            same = self._store.sums(self._name) == tuple(self._sums) and place.stat().st_size == self.length
            self.discard()
            if not same:
                raise OSError(errno.EEXIST, "chunks are not written twice")
            return
        place.parent.mkdir(parents=True, exist_ok=True)
        sums = self._path.with_suffix(".sums")
        sums.write_bytes(pack_sums(self._sums))
        sums.replace(place.with_suffix(".sums"))
        self._path.replace(place)
        if self._store.sync:
            _sync_folder(place.parent)

    def discard(self) -> None:
        self._close()
        with suppress(FileNotFoundError):
            self._path.unlink()

    def _close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


def is_damage(error: OSError) -> bool:
    """Tell whether an error in reading a file says that the file is damaged or gone."""
    return error.errno in (errno.ENOENT, errno.EIO)


def _numbered(folder: Path) -> list[int]:
    """Return the numbers that folders in it have as names, in order."""
    try:
        return sorted(int(name) for name in os.listdir(folder) if name.isdecimal())  # noqa: PTH208  # only names
    except FileNotFoundError:
        return []


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
