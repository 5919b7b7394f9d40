"""Files that commands write: whole or not at all, and never at the price of the answer."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from clew.errors import OutputError, UsageError


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
    path = Path(file)
    try:
        if not os.path.lexists(path):
            with path.open("x", encoding="utf-8"):
                pass
            path.unlink()  # it is written when there is something to write
        elif _is_plain(path) and not os.access(path, os.W_OK):
            raise PermissionError(0, "Permission denied")
        elif path.is_dir():
            raise IsADirectoryError(0, "Is a directory")
    except (OSError, ValueError) as error:
        raise _refusal(file, error, remedy) from None


def write_file(file: str, text: str) -> None:
    """Replace the file when all of it is written; where that is impossible, say so."""
    path = Path(file)
    try:
        if os.path.lexists(path) and not _is_plain(path):
            # A link, a device, a pipe: not to be replaced.
            path.write_text(text, encoding="utf-8", errors="replace")
            return
        part = path.with_name(f"{path.name}.part")
        try:
            part.write_text(text, encoding="utf-8", errors="replace")
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise OutputError(
            f"{file} cannot be written ({error.strerror})", remedy="give another path; the answer stands"
        ) from None


def _is_plain(path: Path) -> bool:
    return stat.S_ISREG(path.lstat().st_mode)


def _refusal(file: str, error: OSError | ValueError, remedy: str) -> UsageError:
    reason = error.strerror if isinstance(error, OSError) else str(error)
    return UsageError(f"{file or 'the empty path'} cannot be written ({reason})", remedy=remedy)
