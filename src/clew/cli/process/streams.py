"""Standard output and standard error, which may be closed, full, or read by nobody any more.

An answer is never lost to them: the files that were asked for and the exit code still count.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress

import click

from clew.cli.process.state import CommandState, current_state


def say(text: str, state: CommandState | None = None) -> None:
    """Print to standard output; that there is no room for it is one of the failures of the command."""
    state = state or current_state()
    sys.stdout = state.stdout  # the user's code may have put something else there, or nothing
    try:
        click.echo(text, nl=False)
        sys.stdout.flush()
    except OSError as error:
        _silence_stdout()
        if not isinstance(error, BrokenPipeError):  # nobody listens any more, as with "| head": no complaint
            state.note(error)


def warn(text: str) -> None:
    """Print a line to standard error; if that is gone, the exit code has to do."""
    with suppress(OSError, ValueError):
        click.echo(harmless(text), err=True)


def wrote(what: str, file: str) -> None:
    """Tell where something is."""
    warn(harmless(f"{what} is in {file}", breaks=""))


def harmless(text: str, *, breaks: str = "\n") -> str:
    """Names in files are not trusted: what a terminal would obey, but ``breaks``, is shown as Python writes it."""
    return "".join(c if c.isprintable() or c in breaks else ascii(c)[1:-1] for c in text)


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
        sys.stderr.flush()


def _silence_stdout() -> None:
    """Let what else is printed go nowhere, also what is still buffered."""
    null = os.open(os.devnull, os.O_WRONLY)
    with suppress(OSError, ValueError):
        os.dup2(null, sys.stdout.fileno())
    os.close(null)
