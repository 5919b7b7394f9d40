"""The disk of a host: a directory, and the files that its program has open.

A program sees it as its working directory.  The path by which it is shown is the same in every execution; where it
is in truth, is not, and is only known here.  It is made when it is first needed, and is removed with its world.

A crash closes nothing: what is in the buffers of open files is gone. Python would write it when they are
collected, so their descriptors are led elsewhere before."""

from __future__ import annotations

import os
import posixpath
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from clew.aio.disks.tearing import tear
from clew.aio.running import leave_life

#: Below this folder, hosts see the disks of all.  It does not exist in truth.
ROOT = "/clew-disks"


class _Opened(NamedTuple):
    """A descriptor that was opened, and which file that was: descriptors are used again."""

    number: int
    file: tuple[int, int]


class Disk:
    """The disk of one host, of which it may have several lives; ``draw``: makes the random numbers by which a
    crash tears it, None if none does."""

    def __init__(self, name: str, draw: Callable[[], Random] | None) -> None:
        self.name = name
        self._draw = draw
        self._folder: Path | None = None
        self._synced: dict[int, bytes] = {}
        self._files: list[weakref.ref[Any]] = []
        self._descriptors: dict[int, _Opened] = {}
        self.working_directory = self.shown_path
        #: A copy of the process may use it no more, and must not remove it.
        with leave_life():
            self._process = os.getpid()

    @property
    def shown_path(self) -> str:
        """Return the path of the directory as programs see it."""
        return f"{ROOT}/{self.name.replace('/', '_')}"

    @property
    def folder(self) -> Path:
        """Return where the directory is in truth."""
        if self._folder is None:
            with leave_life():
                self._folder = Path(tempfile.mkdtemp(prefix=f"clew-disk-{os.getpid()}-"))
        return self._folder

    @property
    def is_used(self) -> bool:
        return self._folder is not None

    def locate(self, rest: str) -> str:
        """Return where something on this disk is in truth."""
        return str(self.folder / rest) if rest else str(self.folder)

    # -- open files ----------------------------------------------------------------------------------------------

    def note_file(self, file: Any) -> None:
        """Note that the program has opened a file, as an object of Python."""
        self._descriptors.pop(file.fileno(), None)  # which it owns now
        self._files = [each for each in self._files if (known := each()) is not None and not known.closed]
        self._files.append(weakref.ref(file))

    def note_descriptor(self, number: int) -> None:
        """Note that the program has opened a descriptor."""
        self._descriptors[number] = _Opened(number, _identify(number))

    def note_closed(self, number: int) -> None:
        self._descriptors.pop(number, None)

    def note_created(self, number: int) -> None:
        """Note that there was no such file: of an older one with this number, nothing is left."""
        self._synced.pop(os.fstat(number).st_ino, None)

    def sync(self, number: int) -> None:
        """Note that what is in a file is safe, whatever happens."""
        if self._draw is None:
            return
        inode = os.fstat(number).st_ino
        with leave_life():
            for path in self._list_files():
                if path.lstat().st_ino == inode:
                    self._synced[inode] = path.read_bytes()

    # -- the end of a life ---------------------------------------------------------------------------------------

    def crash(self) -> None:
        """Forget what was not written yet, and tear what was not synced."""
        self._lead_elsewhere()
        self.working_directory = self.shown_path
        if self._draw is None or not self.is_used:
            return
        random = self._draw()
        for path in self._list_files():
            written = path.read_bytes()
            left = tear(self._synced.get(path.lstat().st_ino, b""), written, random)
            if left != written:
                path.write_bytes(left)
        # What is there after a crash is there.
        self._synced = {path.lstat().st_ino: path.read_bytes() for path in self._list_files()}

    def _lead_elsewhere(self) -> None:
        """Let what is still open write to nowhere."""
        files = [file for each in self._files if (file := each()) is not None and not file.closed]
        numbers = [file.fileno() for file in files]
        raw = [each.number for each in self._descriptors.values() if _is_open(each)]
        if numbers or raw:
            nowhere = os.open(os.devnull, os.O_RDWR)
            for number in (*numbers, *raw):
                os.dup2(nowhere, number, inheritable=False)
            os.close(nowhere)
        for file in files:
            file.close()  # now, and not when it is collected, which Python would warn of
        for number in raw:
            os.close(number)  # of the dead life, nothing runs that could close it again
        self._files.clear()
        self._descriptors.clear()

    def _list_files(self) -> Iterator[Path]:
        yield from (path for path in sorted(self.folder.rglob("*")) if path.is_file() and not path.is_symlink())

    def remove(self) -> None:
        """Remove it from the machine."""
        if self._process != os.getpid():
            return
        self._lead_elsewhere()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None


def _identify(number: int) -> tuple[int, int]:
    status = os.fstat(number)
    return status.st_dev, status.st_ino


def _is_open(opened: _Opened) -> bool:
    try:
        return _identify(opened.number) == opened.file
    except OSError:
        return False


def find_path(disks: dict[str, Disk], own: Disk, path: str) -> tuple[Disk, str] | None:
    """Return on which disk a path of a program is, and where there; None if it is elsewhere on the machine."""
    full = posixpath.normpath(posixpath.join(own.working_directory, path))
    for disk in (own, *disks.values()):
        for top in (disk.shown_path, *([str(disk.folder)] if disk.is_used else [])):
            if full == top or full.startswith(top + "/"):
                return disk, full[len(top) + 1 :]
    return None
