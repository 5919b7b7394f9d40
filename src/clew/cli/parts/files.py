"""Files that commands write: whole or not at all, and never at the price of the answer."""

from __future__ import annotations

from clew.cli.process.state import current_state
from clew.cli.process.streams import harmless
from clew.errors import OutputError, UsageError
from clew.files.writing import refuse_unwritable_path, write_whole


def refuse_no_file(flag: str, file: str | None, example: str) -> None:
    """For what only makes sense in a file."""
    if file == "-":
        raise UsageError(
            f"{flag} writes a file, not standard output", remedy=f"give a path, as in {flag} {example}"
        )
    if file is not None:
        refuse_unwritable(file, "give a path that can")


def refuse_unwritable(file: str, remedy: str) -> None:
    """Before the search: an answer that took an hour must not be lost to a misspelt path."""
    try:
        refuse_unwritable_path(file)
    except (OSError, ValueError) as error:
        raise _refusal(file, error, remedy) from None


def write_file(file: str, content: str | bytes) -> None:
    """Replace the file when all of it is written; where that is impossible, say so."""
    if current_state().trace_lines:
        return  # this process is not the one that answers
    try:
        write_whole(file, content)
    except OSError as error:
        raise OutputError(
            f"{in_one_line(file)} cannot be written ({error.strerror})",
            remedy="give another path; the answer stands",
        ) from None


def in_one_line(name: str) -> str:
    """Return the name of a file for a sentence: in one line, and nothing that a terminal would obey."""
    return harmless(name, breaks="")


def _refusal(file: str, error: OSError | ValueError, remedy: str) -> UsageError:
    reason = error.strerror if isinstance(error, OSError) else str(error)
    return UsageError(f"{file or 'the empty path'} cannot be written ({reason})", remedy=remedy)
