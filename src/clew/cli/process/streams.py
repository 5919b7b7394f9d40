"""Standard output and standard error, which may be closed, full, or read by nobody any more.

An answer is never lost to them: the files that were asked for and the exit code still count.
"""

from __future__ import annotations

import errno
import io
import os
import sys
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TextIO

import click

from clew.budgets.whereabouts import current_whereabouts, end_copy
from clew.cli.process.state import CommandState, current_state
from clew.names import harmless, in_one_line


class _Unfailing(io.FileIO):
    """A standard stream to which code of the user may print whatever becomes of its reader.

    Otherwise ``print`` raises in a handler where the disk is full or "| head" has left, and that is a violation.
    """

    #: The first of what went wrong, for ``say``.
    failure: OSError | None = None

    def write(self, data: Any) -> int | None:  # type: ignore[override]  # as the class in C, which may return None
        if not len(data):  # click asks in this way what takes bytes, and /dev/full refuses no bytes, too
            return 0
        try:
            return super().write(data)
        except OSError as error:
            if error.errno == errno.EBADF:  # the user's code has closed it
                raise
            self.failure = self.failure or error
            return len(data)


def _make_unfailing(stream: TextIO, number: int) -> TextIO:
    raw = _Unfailing(number, "w", closefd=False)
    # Python itself leaves the buffer out where it is told to (-u).
    buffered = isinstance(getattr(stream, "buffer", None), io.BufferedWriter)
    return io.TextIOWrapper(
        io.BufferedWriter(raw) if buffered else raw,
        encoding=stream.encoding,
        errors=stream.errors,
        line_buffering=getattr(stream, "line_buffering", False),
        write_through=not buffered,
    )


def _take_failure(stream: TextIO) -> OSError | None:
    """Return why something could not be printed, once."""
    buffer = getattr(stream, "buffer", None)
    raw = getattr(buffer, "raw", buffer)
    if not isinstance(raw, _Unfailing):
        return None
    failure, raw.failure = raw.failure, None
    return failure


@dataclass
class _Kept:
    """A standard stream as it was before any code of the user ran; ``spare``: a second descriptor of it."""

    name: str
    number: int
    stream: TextIO
    spare: int
    status: os.stat_result

    def restore(self) -> None:
        """Undo what the user's code did to it: replaced it, removed it, or closed it."""
        with suppress(OSError):  # both descriptors are closed: nothing can be done here
            # The number of a spare that was closed may belong to a file of the user's by now.
            if os.path.samestat(os.fstat(self.spare), self.status):
                os.dup2(self.spare, self.number)
        if _is_closed(self.stream):
            self.stream = open(self.number, "w", encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
        setattr(sys, self.name, self.stream)


#: In a child that executes code of the user.
_kept: list[_Kept] = []

#: Spare descriptors begin here: code that closes all descriptors it does not know rarely counts so far.
_FIRST_SPARE = 500


def keep_streams(state: CommandState) -> None:
    """Remember the standard streams, to print there whatever the user's code does to them."""
    import fcntl  # where there are no children, there may be no such module

    sys.stdout, sys.stderr = _make_unfailing(sys.stdout, 1), _make_unfailing(sys.stderr, 2)
    state.stdout = sys.stdout
    _kept.clear()
    for name, number in (("stdout", 1), ("stderr", 2)):
        with suppress(OSError):  # so many files may not be open
            spare = fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, _FIRST_SPARE)
            _kept.append(_Kept(name, number, getattr(sys, name), spare, os.fstat(spare)))


def _restore_streams() -> None:
    end_copy()
    for kept in _kept:
        kept.restore()


def leave_stdout_to_answer(state: CommandState) -> None:
    """Let what code of the user prints go to standard error: a program reads standard output, and it is JSON."""
    state.diverts = True
    sys.stdout = sys.stderr


def _is_closed(stream: TextIO) -> bool:
    try:
        return stream.closed
    except ValueError:  # its buffer is detached
        return True


def say(text: str, state: CommandState | None = None) -> None:
    """Print to standard output; a full disk is noted as a failure of the command."""
    state = state or current_state()
    sys.stdout = state.stdout  # the user's code may have put something else there, or nothing
    _restore_streams()
    try:
        click.echo(text, nl=False)
        sys.stdout.flush()
        if (failure := _take_failure(sys.stdout)) is not None:
            raise failure
    except OSError as error:
        _silence_stdout()
        if not isinstance(error, BrokenPipeError):  # nobody listens any more, as with "| head": no complaint
            state.note(error)


def warn(text: str) -> None:
    """Print a line to standard error; if that is gone, the exit code has to do."""
    _restore_streams()
    if current_state().diverts:
        sys.stdout = sys.stderr
    try:
        click.echo(harmless(text), err=True)
    except (OSError, ValueError):
        if _kept and (page := current_whereabouts()) is not None:
            page.leave_word(text)


def error_terminal() -> TextIO | None:
    """Return standard error if it is a terminal, whatever the user's code has put in its place."""
    stream = next((kept.stream for kept in _kept if kept.name == "stderr"), sys.stderr)
    try:
        return stream if stream.isatty() else None
    except (AttributeError, OSError, ValueError):  # there is none, or somebody has closed it
        return None


def is_interactive() -> bool:
    """Tell whether somebody reads standard output on a terminal, and can answer."""
    return os.isatty(0) and os.isatty(1)


def read_line() -> str:
    """Return a line from standard input, whatever the user's code has put in its place."""
    with suppress(OSError), open(0, encoding="utf-8", errors="replace", closefd=False) as typed:
        return typed.readline()
    return ""


def wrote(what: str, file: str) -> None:
    """Say into which file something was written."""
    warn(in_one_line(f"{what} is in {file}"))


def ascii_only() -> bool:
    """Tell whether standard output cannot show the characters of a diagram."""
    # All characters that a diagram is made of: some encodings have a part of them.
    try:
        # Of the stream as it was: the user's code may have put something else there, or nothing.
        "│●▶✗→…".encode(current_state().stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return True
    return False


def open_closed_streams() -> None:
    """Put the null device where a standard stream is closed.

    Otherwise the first file that is opened takes its number, and what is printed goes into that file.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number, which is this one
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115


def flush(state: CommandState) -> None:
    """Write what is still buffered, so that the end of the interpreter finds nothing that can fail."""
    say("", state)
    with suppress(OSError, ValueError):
        if sys.stderr is not None:
            sys.stderr.flush()


def _silence_stdout() -> None:
    """Discard all that is printed from now on, and what is still buffered."""
    _kept[:] = [kept for kept in _kept if kept.name != "stdout"]
    null = os.open(os.devnull, os.O_WRONLY)
    with suppress(OSError, ValueError):
        os.dup2(null, sys.stdout.fileno())
    os.close(null)
