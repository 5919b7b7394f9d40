"""Give a file that has no name yet the name of one that exists, whatever ends this process meanwhile.

A link cannot take the place of a file, so that this takes two calls of the system: a name that nobody can guess,
and a renaming.  A ``kill -9`` between the two would leave the first name behind.  A child makes them, in a session
of its own that nobody signals; once it has begun it comes to its end even if this process does not.
"""

from __future__ import annotations

import os
import signal
import warnings
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from clew.budgets.copies import leave_process

PREFIX, SUFFIX = ".clew-", ".part"
#: What such a child is called in the list of processes: whoever ends the processes of a command lets it finish.
NAMER = "clew-names-file"

_DONE, _REFUSED = 0, 255


def name_file(handle: int, target: Path) -> bool:
    """Let a file without a name become ``target``; tell whether the file system can.  Raises ``OSError``."""
    if _link(handle, target.parent, target.name):
        return True  # there was no such file, and one call was enough
    return _replace(handle, target)


def _link(handle: int, folder: Path, name: str) -> bool:
    where = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        # With a folder, the link in /proc is followed; without one, Python calls what does not follow it.
        os.link(f"/proc/self/fd/{handle}", name, src_dir_fd=where, dst_dir_fd=where, follow_symlinks=True)
    except OSError:
        return False
    finally:
        os.close(where)
    return True


def _replace(handle: int, target: Path) -> bool:
    """Let a child replace a file; without one, if there can be no more processes."""
    temporary = target.parent / f"{PREFIX}{os.urandom(16).hex()}{SUFFIX}"
    reading, writing = os.pipe()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    try:
        child = fork_quietly()
        if child == 0:
            _be_namer(handle, temporary, target, writing)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        os.close(writing)
    try:
        told = os.read(reading, 1)
    finally:
        os.close(reading)
    if child is not None:
        with suppress(ChildProcessError):  # a program may have said that it waits for nobody
            os.waitpid(child, 0)
    if told:
        code = told[0]
    else:  # there is no child, or somebody ended it
        with suppress(FileNotFoundError):
            temporary.unlink()
        code = _DONE if _has_name(handle, target) else _make_calls(handle, temporary, target)
    if code not in (_DONE, _REFUSED):
        raise OSError(code, os.strerror(code))
    return code == _DONE


def _has_name(handle: int, target: Path) -> bool:
    """Tell whether the renaming is done; to rename one name of a file to another does nothing, and leaves both."""
    try:
        return os.path.samestat(os.fstat(handle), target.lstat())
    except FileNotFoundError:
        return False


def fork_quietly() -> int | None:
    """Fork; return None if there can be no more processes."""
    try:
        with warnings.catch_warnings():
            # Of threads that hold locks: the child makes calls of the system and nothing else.
            warnings.simplefilter("ignore", DeprecationWarning)
            return os.fork()
    except OSError:
        return None


def _be_namer(handle: int, temporary: Path, target: Path, told: int) -> NoReturn:
    """Be the child: no signal is let through, and nothing of the parent is executed whatever happens."""
    try:
        os.setsid()
        with suppress(OSError):
            Path("/proc/self/comm").write_text(NAMER, encoding="ascii")
        os.write(told, bytes([_make_calls(handle, temporary, target)]))
    finally:
        leave_process(0)


def _make_calls(handle: int, temporary: Path, target: Path) -> int:
    """Link and rename; return 0, or what went wrong."""
    if not _link(handle, temporary.parent, temporary.name):
        return _REFUSED
    try:
        temporary.replace(target)
    except OSError as error:
        temporary.unlink()
        return error.errno or _REFUSED
    return _DONE
