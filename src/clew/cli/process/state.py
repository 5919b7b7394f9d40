"""What the parts of a command share: how it was asked to behave, and what failed on the way to its answer."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field
from typing import TextIO

import click

from clew.budgets.whereabouts import ProcessEnd
from clew.files.working_folder import go_to, where_are_we
from clew.files.writing import read_umask

#: The option that keeps the user's code in the process of the command.
IN_PROCESS = "--in-process"


@dataclass
class CommandState:
    """click keeps it as the object of the command.

    ``failures`` did not stop the command, which had an answer to give; something it was asked for is missing.
    ``traceback``: whether to show where they came from.  ``stdout``: as it was before any code of the user ran.
    ``diverts``: whether what that code prints goes to standard error.
    ``in_process``: whether to execute the user's code in this process, and in no other.
    ``retrace``: execute only the run with this seed, to see where it ends.  ``end``: how it ended.
    ``trace_lines``: do everything again, only to see in which line of the user's it ends.
    ``folder``, ``umask``: as they were before any code of the user ran.
    """

    traceback: bool = False
    failures: list[BaseException] = field(default_factory=list)
    stdout: TextIO = field(default_factory=lambda: sys.stdout)
    diverts: bool = False
    in_process: bool = False
    retrace: int | None = None
    trace_lines: bool = False
    end: ProcessEnd | None = None
    folder: str | None = field(default_factory=where_are_we)
    umask: int = field(default_factory=read_umask)

    @property
    def repeats(self) -> bool:
        """Tell whether this process only finds out where another one ended: it shows and writes nothing."""
        return self.trace_lines or self.retrace is not None

    def return_home(self) -> None:
        """Be where the command began: that is what the paths of its files are seen from."""
        go_to(self.folder)
        os.umask(self.umask)

    def note(self, failure: BaseException) -> None:
        """Go on after a failure, but do not end as if nothing had happened."""
        self.failures.append(failure)


def current_state() -> CommandState:
    """Return the state of the command that is being executed; outside of one, a state that nobody reads."""
    context = click.get_current_context(silent=True)
    return context.ensure_object(CommandState) if context is not None else CommandState()
