"""Files that are read: regular ones, up to a size.  What could have no end, or never begin, is refused.

A pipe, a socket or a device is not opened at all: opening a pipe waits for a writer, and opening some devices has
effects.  An exception is what the process was given open by whoever started it (``/dev/stdin``, or ``/dev/fd/63``
that a shell puts in place of ``<(...)``): waiting there is what was asked for.
``clew.verify``, which imports nothing of Clew, has its own reader.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

#: What is behind these names was opened by whoever started the process.
_GIVEN_OPEN = ("/dev/stdin", "/dev/fd/", "/proc/self/fd/")

#: A Python file is not larger.
LARGEST_SOURCE = 20_000_000

IRREGULAR_REMEDY = "give a regular file, or have it on standard input and give /dev/stdin"

_KINDS = (
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


class IrregularFileError(OSError):
    """The path leads to something that has no end, or that nobody may ever write to; ``kind`` says to what."""

    def __init__(self, kind: str) -> None:
        super().__init__(0, f"it is {kind}, not a regular file")
        self.kind = kind


def read_input(path: str | Path, most: int, *, given_open: bool = False) -> bytes:
    """Return what is in a file, but at most one byte more than ``most``.

    ``given_open``: take also a pipe or device that the process was given open.  Raises ``OSError``, of which
    ``IrregularFileError`` is one; and ``ValueError`` for a path with a NUL.
    """
    with open_input(path, given_open=given_open) as stream:
        return stream.read(most + 1)


@contextmanager
def open_input(path: str | Path, *, given_open: bool = False) -> Iterator[BinaryIO]:
    """Open a file for reading, by the rules of ``read_input``."""
    is_open = given_open and os.path.abspath(path).startswith(_GIVEN_OPEN)  # noqa: PTH100  # links stay links
    if not is_open:
        _refuse_irregular(os.stat(path).st_mode)  # noqa: PTH116  # as a text: Path would drop a trailing slash
    # Nor does opening wait for something that took the file's place in the meantime.
    flags = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | (0 if is_open else getattr(os, "O_NONBLOCK", 0))
    handle = os.open(path, flags | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0))
    with os.fdopen(handle, "rb") as stream:
        if not is_open:
            _refuse_irregular(os.fstat(handle).st_mode)
        yield stream


def read_source(path: str | Path) -> bytes:
    """Return the text of a Python file that belongs to what is examined.  Raises ``OSError`` or ``ValueError``."""
    data = read_input(path, LARGEST_SOURCE)
    if len(data) > LARGEST_SOURCE:
        raise OSError(0, f"it is larger than {LARGEST_SOURCE // 1_000_000} MB")
    return data


def _refuse_irregular(mode: int) -> None:
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(0, "it is a folder")
    for is_such, kind in _KINDS:
        if is_such(mode):
            raise IrregularFileError(kind)
