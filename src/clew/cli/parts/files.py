"""Files that commands take and write: whole or not at all, and never at the price of the answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from clew.cli.process.state import current_state
from clew.errors import OutputError, UsageError
from clew.files.writing import refuse_unwritable_path, write_whole
from clew.names import in_one_line

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class _FileName(click.ParamType[str]):
    """The name of a file, as it was given; a shell completes it.

    Not ``click.Path``, which looks at the file itself and refuses some with messages and exit codes of its own.
    """

    name = "file"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        return [CompletionItem(incomplete, type="file")]


FILE = _FileName()

#: What --help says of --scenario.
SCENARIO_HELP = "Execute this file, and not the one that the recording names."


def one_scenario(given: Sequence[str], scenario: str | None) -> list[str]:
    """Return the scenario that the command line names, as an argument or with --scenario: one or none."""
    named = [*given, *([scenario] if scenario is not None else [])]
    if len(named) > 1:
        raise UsageError(
            f"{len(named)} files are given, and a recording is of one scenario", remedy="name that, or nothing"
        )
    return named


def refuse_no_file(flag: str, file: str | None, example: str) -> None:
    """Raise if an output that only makes sense as a file is sent elsewhere, or cannot be written there."""
    if file == "-":
        raise UsageError(
            f"{flag} writes a file, not standard output", remedy=f"give a path, as in {flag} {example}"
        )
    if file is not None:
        refuse_unwritable(file, "give a path that can")


def refuse_unwritable(file: str, remedy: str) -> None:
    """Raise before the search: an answer that took an hour must not be lost to a misspelt path."""
    try:
        refuse_unwritable_path(file)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise UsageError(f"{file or 'the empty path'} cannot be written ({reason})", remedy=remedy) from None


def write_file(file: str, content: str | bytes) -> None:
    """Replace the file when all of it is written; where that is impossible, say so."""
    state = current_state()
    if state.repeats:
        return  # this process is not the one that answers
    state.return_home()
    try:
        write_whole(file, content)
    except OSError as error:
        raise OutputError(
            f"{in_one_line(file)} cannot be written ({error.strerror})",
            remedy="give another path; the answer stands",
        ) from None
