"""Every problem a user can see: where it is, what is wrong, what to do.

Library code raises these and never prints or exits; the command line renders them and chooses the
exit code.  A ``Notice`` is the milder form: the program is accepted, but the user should know.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

#: What the names of files end in that may be quoted in messages.
_PROGRAMS = (".ded", ".py", ".yaml", ".yml", ".json")


def is_quotable(file: str, endings: str | tuple[str, ...] = _PROGRAMS) -> bool:
    """Tell whether messages may quote from a file: it calls itself a program, wherever links lead.

    Documents and programs can name any file, and messages go into logs that others read.
    """
    # The name a link has says nothing: program.ded may lead to /etc/shadow.
    try:
        real = os.path.realpath(file)
    except ValueError:
        return False
    return real.endswith(endings) or not os.path.isfile(real)  # noqa: PTH113  # unlike Path.is_file, never raises


@dataclass(frozen=True, order=True)
class Position:
    """A place in a source file; lines and columns count from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


class ClewError(Exception):
    """A problem with a position (where there is one) and a remedy."""

    def __init__(self, message: str, *, position: Position | None = None, remedy: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.position = position
        self.remedy = remedy

    def __str__(self) -> str:
        return render("error", self.message, self.position, self.remedy)


class ProgramError(ClewError):
    """The program text is not a program that can be checked."""


# Apart from ProgramError, because the remedy is another: the command, not the program.
class UsageError(ClewError):
    """The program may be fine, but what was asked of it is not."""


class OutputError(ClewError):
    """The answer is there, but a file that was asked for could not be written."""


# No ClewError: a search that a limit ends has an answer, "incomplete", and nobody made a mistake.
class BudgetExhaustedError(Exception):
    """A limit or an interrupt stopped the work; the message says which."""


class ResourcesExhaustedError(BudgetExhaustedError):
    """Memory or stack ran out."""


class EffortExhaustedError(BudgetExhaustedError):
    """The work that was allowed is done: where that is does not depend on the machine."""


def describe_exception(error: BaseException) -> str:
    """Return the type of an exception and what it says, if it says anything."""
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


@dataclass(frozen=True)
class Notice:
    """A warning: the program is accepted as described."""

    message: str
    position: Position | None = None
    remedy: str | None = None

    def __str__(self) -> str:
        return render("warning", self.message, self.position, self.remedy)


def render(kind: str, message: str, position: Position | None, remedy: str | None) -> str:
    """Return a message in the form that compilers use, so that editors can jump to its position."""
    where = f"{position}: " if position else ""
    text = f"{where}{kind}: {message}"
    return f"{text}\n  remedy: {remedy}" if remedy else text
