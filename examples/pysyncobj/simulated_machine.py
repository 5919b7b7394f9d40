"""A machine for a library that talks to the operating system: its clock, its dice, its disk and its log.

The library's files stay as they are installed.  While one of a node's handlers runs, the names through which the
library's modules reach the outside (``os``, ``open``, ``mmap``, the clock, ``random`` ...) stand for the parts of
that node's machine, and before the handler returns they stand again for what they stood for.

The disk keeps what a disk keeps when a *process* dies: all that was written, also through a memory map, whether
it was flushed or not.  Nothing of a power failure is simulated, nor a crash in the middle of a handler.
"""

from __future__ import annotations

import gzip
import io
import logging
from collections.abc import MutableMapping
from functools import partial
from types import SimpleNamespace
from typing import Any

from pysyncobj import journal, serializer, syncobj

from clew.simulation import Context

_NAMES = (vars(syncobj), vars(journal), vars(serializer))
#: What the names stand for otherwise; ``open`` is a builtin that the modules have no name of their own for.
_THEIRS: tuple[dict[str, Any], ...] = tuple(
    {name: names.get(name, open) for name in replaced}
    for names, replaced in zip(
        _NAMES,
        (
            ("monotonicTime", "random", "os", "time", "logger"),
            ("open", "os", "mmap", "shutil"),
            ("open", "os", "atomicReplace", "gzip", "logger"),
        ),
        strict=True,
    )
)

_ON_DISK = "disk "
#: Seconds that go by while the library looks at the clock.
_A_LOOK = 0.002


class Disk:
    """Files by name, kept in a node's durable storage; ``save`` writes those that changed."""

    def __init__(self, durable: MutableMapping[Any, Any]) -> None:
        self._durable = durable
        self._changed: dict[str, None] = {}  # in order, which a set has not
        self.files = {
            key.removeprefix(_ON_DISK): bytearray(durable[key])
            for key in durable
            if isinstance(key, str) and key.startswith(_ON_DISK)
        }

    def open(self, name: str, mode: str) -> DiskFile:
        if mode == "wb":
            self.files[name] = bytearray()
            self.changed(name)
        elif name not in self.files:
            raise FileNotFoundError(name)
        return DiskFile(self, name, mode)

    def exists(self, name: str) -> bool:
        return name in self.files

    def rename(self, old: str, new: str) -> None:
        self.files[new] = self.files.pop(old)
        self.changed(old)
        self.changed(new)

    def changed(self, name: str) -> None:
        self._changed[name] = None

    def save(self) -> None:
        for name in self._changed:
            if name in self.files:
                self._durable[_ON_DISK + name] = bytes(self.files[name])
            else:
                self._durable.pop(_ON_DISK + name, None)
        self._changed.clear()


class DiskFile(io.BytesIO):
    """An open file: what is read is what was there when it was opened, what is written is on the disk at once."""

    def __init__(self, disk: Disk, name: str, mode: str) -> None:
        super().__init__(bytes(disk.files[name]))
        self._disk = disk
        self._name = name
        if mode == "ab":
            self.seek(0, io.SEEK_END)

    def write(self, data: Any) -> int:
        written = super().write(data)
        self._disk.files[self._name][:] = self.getvalue()
        self._disk.changed(self._name)
        return written

    def fileno(self) -> Any:
        """What the simulated ``mmap`` needs to find the file again."""
        return self._disk, self._name


class MemoryMap:
    """A file as memory: what is written is on the disk at once."""

    def __init__(self, where: tuple[Disk, str], length: int) -> None:
        assert length == 0, "only whole files are mapped"
        self._disk, self._name = where
        self._bytes = self._disk.files[self._name]

    def size(self) -> int:
        return len(self._bytes)

    def resize(self, size: int) -> None:
        self._bytes.extend(bytes(size - len(self._bytes)))
        self._disk.changed(self._name)

    def __getitem__(self, part: slice) -> bytes:
        return bytes(self._bytes[part])

    def __setitem__(self, part: slice, data: bytes) -> None:
        assert len(self._bytes[part]) == len(data), "a memory map does not grow by being written to"
        self._bytes[part] = data
        self._disk.changed(self._name)

    def flush(self) -> None:
        """Nothing to do: a process that dies takes nothing of a memory map with it."""


class Remarks(logging.Handler):
    """What the library logs becomes a remark on the event."""

    def __init__(self, ctx: Context) -> None:
        super().__init__(logging.WARNING)
        self._ctx = ctx

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        text = f"{record.levelname.lower()}: {record.getMessage()}"
        self._ctx.log(text if error is None else f"{text} ({type(error).__name__}: {error})")


class Machine:
    """What the library finds when it looks outside; one for each life of a node.

    The clock is the machine's, not the process's: it goes on over a restart.  Looking at it takes a little time:
    the library has loops that end when the clock says so.
    """

    def __init__(self, ctx: Context) -> None:
        self._durable = ctx.durable
        self.clock: float = ctx.durable.get("clock", 100.0)
        self.disk = Disk(ctx.durable)
        path = SimpleNamespace(exists=self.disk.exists, isfile=self.disk.exists)
        logger = logging.Logger("pysyncobj")
        logger.addHandler(Remarks(ctx))
        # The time at which it was packed is part of what gzip writes.
        packing = SimpleNamespace(GzipFile=partial(gzip.GzipFile, mtime=0))
        self._ours: tuple[dict[str, Any], ...] = (
            {
                "monotonicTime": self.read_clock,
                "random": ctx.random,
                "os": SimpleNamespace(path=path),
                "time": SimpleNamespace(),
                "logger": logger,
            },
            {
                "open": self.disk.open,
                "os": SimpleNamespace(path=path),
                "mmap": SimpleNamespace(mmap=MemoryMap),
                "shutil": SimpleNamespace(move=self.disk.rename),
            },
            {
                "open": self.disk.open,
                "os": SimpleNamespace(),
                "atomicReplace": self.disk.rename,
                "gzip": packing,
                "logger": logger,
            },
        )

    def read_clock(self) -> float:
        self.clock += _A_LOOK
        return self.clock

    def __enter__(self) -> None:
        """From now on the library sees this machine."""
        for names, ours in zip(_NAMES, self._ours, strict=True):
            names.update(ours)

    def __exit__(self, *_: object) -> None:
        """The library sees the world again, and what it wrote is kept."""
        for names, theirs in zip(_NAMES, _THEIRS, strict=True):
            names.update(theirs)
        self.disk.save()
        self._durable["clock"] = self.clock
