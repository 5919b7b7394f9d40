"""Names of Python files and of what is in them, as users write them: ``path.py:name``.

Kept apart from ``python_module``, which imports such files: most programs are text, and a cold start should not
pay for the machinery of imports.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from clew.errors import ClewError, Notice, Position


def split_name(where: str) -> tuple[str, str]:
    """Split ``path.py:name``; the name is "" if there is none."""
    # A file name may itself contain a colon: a file that exists comes first.
    if os.path.isfile(where):  # noqa: PTH113  # unlike Path.is_file, it never raises
        return where, ""
    file, _, name = where.rpartition(":") if where.rpartition(":")[0].endswith(".py") else (where, "", "")
    return file, name


def is_python(where: str | Path) -> bool:
    """Tell whether this names a Python file, or something in one."""
    return split_name(str(where))[0].endswith(".py")


class FileNames:
    """The names by which a user knows a file and those beside it, seen from the one that was given.

    Without one, as for a class that was handed over in Python, all names stay as they are.
    """

    def __init__(self, given: str | Path | None) -> None:
        self._given = None if given is None else Path(given)
        # A module is loaded by its resolved name, so that is what tracebacks and code objects have.
        self._own = None if self._given is None else self._given.resolve()

    def of_file(self, file: str) -> str:
        """Return a file as the user would write it; one from elsewhere stays as it is."""
        path = Path(file)
        if self._given is None or self._own is None:
            return file
        if path == self._own:
            return str(self._given)  # also where that is a link, which may lie in another folder
        if self._own.parent not in path.parents:
            return file
        return str(self._given.parent / path.relative_to(self._own.parent))

    def of_position(self, position: Position | None) -> Position | None:
        """Return a position with its file as the user would write it."""
        return position and replace(position, file=self.of_file(position.file))

    def of_notice(self, notice: Notice) -> Notice:
        """Return a notice with its position as the user would write it."""
        return replace(notice, position=self.of_position(notice.position))

    @contextmanager
    def in_errors(self) -> Iterator[None]:
        """Rewrite the positions of errors that pass through, to files as the user would write them."""
        try:
            yield
        except ClewError as error:
            error.position = self.of_position(error.position)
            raise
