"""What went wrong, as the exceptions of Python that file systems raise."""

from __future__ import annotations

import errno
import os


def error_for(why: str, path: str) -> OSError:
    """Return the exception for the reason that a NameNode gives: FileNotFoundError for ENOENT, and so on."""
    number = getattr(errno, why, errno.EIO) if why.startswith("E") else errno.EIO
    return OSError(number, os.strerror(number), path)


class LostChunkError(OSError):
    """No DataNode that is up has a chunk of a file: its bytes cannot be read now, and perhaps never."""

    def __init__(self, path: str, chunk: int, why: str) -> None:
        super().__init__(errno.EIO, f"no replica of chunk {chunk} can be read: {why}", path)


class UnansweredError(TimeoutError):
    """No NameNode answers."""
