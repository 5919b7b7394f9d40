"""The namespace as clients see it, whatever the number of its partitions.

A file is at the partition that the hash of its path says.  A folder is at all of them: it is made at the partition
of its own path first, which decides whether there can be one, and removed there last.  Who fails in between leaves
a folder that some partitions do not have; making it again puts that right, and keeps what is in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from clew.boomfs.client.errors import UnansweredError, error_for
from clew.boomfs.client.session import Sessions
from clew.boomfs.paths import is_name, parent_of


@dataclass(frozen=True)
class Entry:
    """A file or a folder; ``time`` is when it was made or last written to."""

    path: str
    number: int
    is_dir: bool
    size: int
    time: float


class Metadata:
    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    def stat(self, path: str) -> Entry:
        return Entry(path, *self._sessions.one("stat", self._sessions.home(path), path))

    def ls(self, path: str) -> list[Entry]:
        """Return what is in a folder, by name; NotADirectoryError if it is a file."""
        home = self._sessions.home(path)
        found = {entry.path: entry for entry in self._ls_at(home, path)}
        for partition in self._others(home):
            # Where the folder is not there yet, nothing can be in it.
            with suppress(FileNotFoundError):
                for entry in self._ls_at(partition, path):
                    found.setdefault(entry.path, entry)
        return [found[name] for name in sorted(found)]

    def _ls_at(self, partition: int, path: str) -> Iterator[Entry]:
        for name, *rest in self._sessions.all("ls", partition, path):
            # Whoever copies a folder makes local paths of its names.
            if is_name(name):
                yield Entry(f"{path.rstrip('/')}/{name}", *rest)

    def create(self, path: str, *, overwrite: bool) -> int:
        """Make an empty file; return its number."""
        return int(self._sessions.one("create", self._sessions.home(path), path, overwrite))

    def mkdir(self, path: str) -> bool:
        """Make a folder where it is not there yet; return whether it is new."""
        home = self._sessions.home(path)
        news = [self._sessions.one("mkdir", partition, path) for partition in (home, *self._others(home))]
        return bool(news[0])

    def make_folders(self, path: str) -> None:
        """Make a folder, and those around it that are missing."""
        try:
            self.mkdir(path)
        except FileNotFoundError:
            self.make_folders(parent_of(path))
            self.mkdir(path)

    def remove(self, path: str, *, recursive: bool) -> None:
        """Remove a file or a folder; one with something in it only with ``recursive``."""
        home = self._sessions.home(path)
        if path == "/":
            raise error_for("EPERM", path)
        if self._sessions.partitions > 1 and self.stat(path).is_dir:
            if not recursive and self.ls(path):
                raise error_for("ENOTEMPTY", path)
            for partition in self._others(home):
                with suppress(FileNotFoundError):
                    self._sessions.one("remove", partition, path, recursive)
        self._sessions.one("remove", home, path, recursive)

    def rename(self, path: str, to: str) -> None:
        """Rename a file or a folder within its partition; what leads to another one is refused with EXDEV."""
        try:
            self._sessions.one("rename", self._sessions.home(path), path, to)
        except UnansweredError:
            raise
        except OSError as error:
            # Which of the two is meant depends on the error: both are named, as Python does.
            raise OSError(error.errno, error.strerror, path, None, to) from None

    def status(self) -> list[Any]:
        """Return for each partition what its NameNode counts, and the DataNodes that it knows."""
        self._sessions.home("/")
        return [self._sessions.one("status", partition) for partition in range(self._sessions.partitions)]

    def lost(self) -> list[tuple[str, int]]:
        """Return files of which no replica of a chunk is left, with that chunk."""
        self._sessions.home("/")
        every = range(self._sessions.partitions)
        return sorted(found for partition in every for found in self._sessions.all("lost", partition))

    def _others(self, home: int) -> list[int]:
        return [partition for partition in range(self._sessions.partitions) if partition != home]
