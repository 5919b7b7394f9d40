"""Files as sequences of chunks: reading ranges of them from whichever replica is good, and adding chunks.

Everything that may fail on the way is tried again here: a replica that is away or damaged, a chunk that nobody
stored, locations that have changed since.
"""

from __future__ import annotations

import errno
import logging
import time
from dataclasses import dataclass
from typing import Any

from clew.boomfs.client.data_client import DamagedError, DataClient
from clew.boomfs.client.errors import LostChunkError, UnansweredError, error_for
from clew.boomfs.client.session import Sessions
from clew.boomfs.data_protocol import DataError, DataProtocolError

_log = logging.getLogger("clew.boomfs")

#: How long a chunk is looked for, and a place for one, in seconds: DataNodes are given up after some.
PATIENCE = 30.0
_PAUSE = 0.25
#: DataNodes that a new chunk is not to go to, as far as a request may name them.
_MOST_EXCLUDED = 32


@dataclass(frozen=True)
class Chunk:
    """A part of a file: ``begin`` is where it is in the file."""

    number: int
    begin: int
    length: int

    @property
    def end(self) -> int:
        return self.begin + self.length


class FileChunks:
    """The bytes of files of a cluster."""

    def __init__(self, sessions: Sessions, data: DataClient, patience: float = PATIENCE) -> None:
        self._sessions = sessions
        self._data = data
        self._patience = patience

    def chunks(self, path: str) -> tuple[Chunk, ...]:
        """Return the chunks of a file, in order."""
        found: list[Chunk] = []
        for number, length in self._sessions.all("chunks", self._sessions.home(path), path):
            found.append(Chunk(number, found[-1].end if found else 0, length))
        return tuple(found)

    # -- reading -------------------------------------------------------------------------------------------------

    def read(self, path: str, chunks: tuple[Chunk, ...], begin: int, end: int) -> bytes:
        """Read a range of a file."""
        home = self._sessions.home(path)
        parts = [
            self._read_chunk(path, home, chunk, max(begin, chunk.begin), min(end, chunk.end))
            for chunk in chunks
            if chunk.begin < end and begin < chunk.end
        ]
        return bytes(parts[0]) if len(parts) == 1 else b"".join(parts)

    def _read_chunk(self, path: str, home: int, chunk: Chunk, begin: int, end: int) -> memoryview:
        deadline = time.monotonic() + self._patience
        why = "no DataNode that is up has one"
        while True:
            try:
                places = sorted(self._sessions.one("locations", home, chunk.number))
            except UnansweredError:
                raise  # what the DataNodes have is another matter
            except OSError:
                places = []
            # Readers begin with different replicas; the same one each time, for what it has read ahead.
            first = (chunk.number + hash_of(path)) % max(1, len(places))
            for where in [*places[first:], *places[:first]]:
                try:
                    return self._data.read(where, home, chunk.number, begin - chunk.begin, end - chunk.begin)
                except DamagedError as error:
                    _log.warning("chunk %d of %s is damaged at %s", chunk.number, path, where)
                    self._data.complain(where, home, chunk.number)
                    why = str(error)
                except (OSError, DataProtocolError) as error:
                    why = str(error)
            if time.monotonic() > deadline:
                raise LostChunkError(path, chunk.number, why)
            if not any(found.number == chunk.number for found in self.chunks(path)):
                raise error_for("ESTALE", path)  # the file was removed or replaced meanwhile
            time.sleep(_PAUSE)

    # -- writing -------------------------------------------------------------------------------------------------

    def append(self, path: str, fileid: int, data: memoryview) -> None:
        """Add a chunk to a file; when this returns, it is stored, and readers see it.

        Another file may have got that path meanwhile: ``fileid`` is the one that is meant.
        """
        home = self._sessions.home(path)
        deadline = time.monotonic() + self._patience
        failed: list[str] = []
        while True:
            number, places = self._sessions.one("add_chunk", home, path, fileid, tuple(failed[-_MOST_EXCLUDED:]))
            stored = self._store(home, number, places, data, failed)
            if stored and self._seal(home, path, number, len(data), stored):
                return
            self._sessions.one("abandon", home, path, number)
            if not places:
                # Perhaps those that failed are back, or others have come.
                failed.clear()
                if time.monotonic() > deadline:
                    raise error_for("ENOSPC", path)
                time.sleep(_PAUSE)

    def _seal(self, home: int, path: str, number: int, length: int, stored: list[str]) -> bool:
        """Make a chunk part of its file; return False if somebody else has appended more in the meantime."""
        try:
            self._sessions.one("seal", home, path, number, length, tuple(stored))
        except BlockingIOError as error:
            assert error.errno == errno.EAGAIN
            return False
        return True

    def _store(self, home: int, number: int, places: Any, data: memoryview, failed: list[str]) -> list[str]:
        places = list(places)
        while places:
            try:
                return self._data.write(places, home, number, data)
            except (DataError, OSError, DataProtocolError) as error:
                _log.warning("chunk %d was not written to %s: %s", number, places[0], error)
                # What comes after the first one is as good as it was.
                failed.append(places.pop(0))
        return []


def hash_of(text: str) -> int:
    """Return a number that is the same in all processes."""
    return sum(text.encode())
