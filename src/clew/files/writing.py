"""Files that are written: whole or not at all, also when several processes write one, or one of them is killed.

The text goes into a private file in the same folder, is brought to the disk, and only then gets its name.  Where
the system can, that file has no name at all until then, so that nothing is left of it whatever ends the process;
elsewhere it has one that nobody can guess.  What is no regular file (a device, a pipe, standard output) cannot be
replaced and is written to.  A symbolic link stays, and what it leads to is replaced.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path

from clew.files.naming import PREFIX, SUFFIX, name_file

#: Links in here lead to what a process has open and must not be replaced: a shell would go on with the old file.
_OPEN_FILES = ("/dev/", "/proc/")
_MOST_LINKS = 40


def write_whole(path: str | Path, content: str | bytes) -> None:
    """Write a file so that others see what was there before, or all of the content.  Raises ``OSError``."""
    data = content if isinstance(content, bytes) else content.encode("utf-8", "replace")
    target = replaceable_file(path)
    if target is None:
        with Path(path).open("wb") as stream:
            stream.write(data)
    else:
        _replace(target, data)


def refuse_unwritable_path(path: str | Path) -> None:
    """Raise an ``OSError`` where writing would, as far as that is known before; leaves nothing behind."""
    target = replaceable_file(path)
    if target is None:
        if Path(path).is_dir():
            raise IsADirectoryError(0, "Is a directory")
        return
    if _mode(target) is not None and not os.access(target, os.W_OK):
        raise PermissionError(0, "Permission denied")
    handle, name = _private_file(target.parent)
    os.close(handle)
    if name is not None:
        Path(name).unlink()


def replaceable_file(path: str | Path) -> Path | None:
    """Return the regular file that a path leads to, or that is to be made; None for what is only written to."""
    path = Path(path)
    for _ in range(_MOST_LINKS):
        if not stat.S_ISLNK(_mode(path) or 0):
            break
        if os.path.abspath(path).startswith(_OPEN_FILES):  # noqa: PTH100  # links must not be resolved
            return None
        path = path.parent / path.readlink()
    mode = _mode(path)
    return path if mode is None or stat.S_ISREG(mode) else None


def _mode(path: Path) -> int | None:
    try:
        return path.lstat().st_mode
    except FileNotFoundError:
        return None


def _replace(target: Path, data: bytes, *, named: bool = False) -> None:
    """Replace a file, or make it; ``named``: through one that has a name from the beginning."""
    before = _mode(target)
    if before is not None and not os.access(target, os.W_OK):
        raise PermissionError(0, "Permission denied")
    handle, name = _private_file(target.parent, named=named)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            # Only now may others read it: as before, or as any new file.
            mode = stat.S_IMODE(before) if before is not None else 0o666 & ~read_umask()
            os.chmod(handle if name is None or os.chmod in os.supports_fd else name, mode)  # noqa: PTH101
            os.fsync(handle)
            if name is None and not name_file(handle, target):
                _replace(target, data, named=True)  # this file system has no links to files without a name
                return
        if name is not None:
            Path(name).replace(target)
    except BaseException:
        if name is not None:
            with suppress(FileNotFoundError):
                Path(name).unlink()
        raise
    _sync_folder(target.parent)


def _private_file(folder: Path, *, named: bool = False) -> tuple[int, str | None]:
    """Open a file in a folder that nobody else can have opened; it has a name only where it must."""
    anonymous = getattr(os, "O_TMPFILE", 0)
    if anonymous and not named:
        with suppress(OSError):  # not every file system has such files; any other reason is told below
            return os.open(folder, anonymous | os.O_RDWR | os.O_CLOEXEC, 0o600), None
    import tempfile  # most commands write no file, and a cold start should not pay for it

    return tempfile.mkstemp(prefix=PREFIX, suffix=SUFFIX, dir=folder)


def read_umask() -> int:
    """Return the permissions that new files do not get."""
    # It can only be read by setting it; for that moment other threads make private files, not public ones.
    current = os.umask(0o077)
    os.umask(current)
    return current


def _sync_folder(folder: Path) -> None:
    """Let the name survive a power failure, too, where the system can."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
