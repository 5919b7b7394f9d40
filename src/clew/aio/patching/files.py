"""Files, as a host has them: what it writes is on its own disk, and what it reads elsewhere is on the machine.

Relative paths are on the disk of the host. To write anywhere else is refused. What C code opens by itself, such
as databases in a file, is not seen here."""

from __future__ import annotations

import builtins
import io
import os
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

from clew.aio.disks.disk import Disk, find_path
from clew.aio.fences import fence
from clew.aio.patching.clocks import Replacement
from clew.aio.running import RunningLife, current_life

_REMEDY = "write to the disk of the host, by a relative path"
#: By name, how many of its arguments are paths, and whether it changes what they name.
_CALLS = {
    **dict.fromkeys(("stat", "lstat", "access", "listdir", "readlink"), (1, False)),
    **dict.fromkeys(("mkdir", "rmdir", "remove", "unlink", "chmod", "utime", "truncate"), (1, True)),
    **dict.fromkeys(("rename", "replace", "link"), (2, True)),
}
_REFUSED = ("mkfifo", "mknod", "symlink", "chroot", "chown", "lchown")
_WRITING_FLAGS = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND

_real_open = os.open
_real_listdir = os.listdir


def replacements() -> Iterator[Replacement]:
    """Yield what stands in for functions that reach files."""
    opened = _make_open(builtins.open)
    yield builtins, "open", opened
    yield io, "open", opened
    yield os, "open", _make_os_open(os.open)
    yield os, "close", _make_close(os.close)
    for name in ("fsync", "fdatasync"):
        if hasattr(os, name):
            yield os, name, _make_sync(getattr(os, name))
    for name, (paths, writes) in _CALLS.items():
        yield os, name, _make_call(name, getattr(os, name), paths, writes)
    yield os, "scandir", _make_scandir(os.scandir)
    yield os, "getcwd", _make_getcwd(os.getcwd)
    yield os, "chdir", _make_chdir(os.chdir)
    for name in _REFUSED:
        if hasattr(os, name):
            yield os, name, _make_refusal(name, getattr(os, name))
    yield tempfile, "_gettempdir", _make_gettempdir(vars(tempfile)["_gettempdir"])


def _locate(life: RunningLife, path: Any, call: str, *, writes: bool) -> Any:
    """Return where something is in truth; refuse to write elsewhere than on a disk of a host."""
    if isinstance(path, int):
        return path
    text = os.fsdecode(path)
    found = find_path(life.disks, life.disk, text)
    if found is None:
        if writes and text != os.devnull:
            fence(f"{call.format(repr(text))}, outside of the host's disk,", _REMEDY)
        return path
    disk, rest = found
    life.touch_disk(disk.name)
    return disk.locate(rest)


def _make_open(original: Callable[..., Any]) -> Callable[..., Any]:
    def open(file: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
        life = current_life()
        if life is None:
            return original(file, mode, *args, **kwargs)
        if not isinstance(file, int) and len(args) < 5 and kwargs.get("opener") is None:
            # By an opener, and not by another path: the name of a file is what the program has given.
            kwargs["opener"] = os.open
        opened = original(file, mode, *args, **kwargs)
        if any(letter in mode for letter in "wax+"):
            life.disk.note_file(opened)
        return opened

    return open


def _make_os_open(original: Callable[..., int]) -> Callable[..., int]:
    def open(path: Any, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        life = current_life()
        if life is None or dir_fd is not None:
            return original(path, flags, mode, dir_fd=dir_fd)
        writes = bool(flags & _WRITING_FLAGS)
        where = _locate(life, path, "open({}) for writing", writes=writes)
        is_new = writes and not _exists(where)
        number = original(where, flags, mode)
        if writes and where is not path:
            if is_new:
                life.disk.note_created(number)
            life.disk.note_descriptor(number)
        return number

    return open


def _exists(where: Any) -> bool:
    try:
        _real_lstat(where)
    except OSError:
        return False
    return True


_real_lstat = os.lstat


def _make_close(original: Callable[[int], None]) -> Callable[[int], None]:
    def close(fd: int) -> None:
        life = current_life()
        if life is not None:
            life.disk.note_closed(fd)
        original(fd)

    return close


def _make_sync(original: Callable[[Any], None]) -> Callable[[Any], None]:
    def sync(fd: Any) -> None:
        life = current_life()
        if life is None:
            original(fd)
        else:  # what the real disk has is of no importance
            life.disk.sync(fd if isinstance(fd, int) else fd.fileno())

    return sync


def _make_call(name: str, original: Callable[..., Any], paths: int, writes: bool) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        life = current_life()
        if life is None or any(key.endswith("dir_fd") and value is not None for key, value in kwargs.items()):
            return original(*args, **kwargs)
        given = args or ((".",) if name == "listdir" else ())
        located = [_locate(life, path, f"os.{name}({{}})", writes=writes) for path in given[:paths]]
        result = original(*located, *given[paths:], **kwargs)
        return sorted(result) if name == "listdir" else result

    call.__name__ = name
    return call


class _Entry:
    """An entry of a directory, as ``os.scandir`` gives it; its path is the one that the program knows."""

    def __init__(self, folder: str, name: str, entry: os.DirEntry[str]) -> None:
        self.name = name
        self.path = os.path.join(folder, name)  # noqa: PTH118  # as it was given
        self._entry = entry
        self.is_dir, self.is_file, self.is_symlink = entry.is_dir, entry.is_file, entry.is_symlink
        self.stat, self.inode = entry.stat, entry.inode

    def is_junction(self) -> bool:
        return False

    def __fspath__(self) -> str:
        return self.path

    def __repr__(self) -> str:
        return f"<DirEntry {self.name!r}>"


class _Entries:
    """The entries of a directory, in the order of their names."""

    def __init__(self, entries: list[_Entry]) -> None:
        self._entries = iter(entries)

    def __iter__(self) -> Iterator[_Entry]:
        return self._entries

    def __next__(self) -> _Entry:
        return next(self._entries)

    def __enter__(self) -> _Entries:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Do nothing: all was read at once."""


def _make_scandir(original: Callable[..., Any]) -> Callable[..., Any]:
    def scandir(path: Any = ".") -> Any:
        life = current_life()
        if life is None or isinstance(path, int | bytes):
            return original(path)
        folder = os.fspath(path)
        with original(_locate(life, folder, "os.scandir({})", writes=False)) as found:
            return _Entries(sorted((_Entry(folder, each.name, each) for each in found), key=lambda e: e.name))

    return scandir


def _make_getcwd(original: Callable[[], str]) -> Callable[[], str]:
    def getcwd() -> str:
        life = current_life()
        return original() if life is None else str(life.disk.working_directory)

    return getcwd


def _make_chdir(original: Callable[[Any], None]) -> Callable[[Any], None]:
    def chdir(path: Any) -> None:
        life = current_life()
        if life is None:
            original(path)
            return
        found = find_path(life.disks, life.disk, os.fsdecode(path))
        if found is None:
            fence(f"os.chdir({path!r})", "go to a folder on the disk of the host")
        disk, rest = found
        _real_listdir(disk.locate(rest))  # which raises what chdir would
        life.disk.working_directory = f"{disk.shown_path}/{rest}".rstrip("/")

    return chdir


def _make_gettempdir(original: Callable[[], str]) -> Callable[[], str]:
    def gettempdir() -> str:
        life = current_life()
        return original() if life is None else _find_temporary_directory(life.disk)

    return gettempdir


def _find_temporary_directory(disk: Disk) -> str:
    path = f"{disk.shown_path}/tmp"
    if not os.path.isdir(path):  # noqa: PTH112
        os.mkdir(path)  # noqa: PTH102
    return path


def _make_refusal(name: str, original: Callable[..., Any]) -> Callable[..., Any]:
    def refuse(*args: Any, **kwargs: Any) -> Any:
        if current_life() is not None:
            fence(f"os.{name}()", "use plain files and folders")
        return original(*args, **kwargs)

    refuse.__name__ = name
    return refuse
