"""The working folder, which code of the user may change: paths that a user gives mean the one he was in.

Code that has changed to another folder finds itself there when more of it is executed; what Clew reads and writes
in between is where the command began.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

#: Where the user's code has changed to, if it has.
_of_user: str | None = None


@contextmanager
def folder_of_user_code() -> Iterator[None]:
    """Be where the user's code was last, and come back afterwards."""
    global _of_user
    before = where_are_we()
    if _of_user is not None:
        go_to(_of_user)
    try:
        yield
    finally:
        now = where_are_we()
        _of_user = None if now == before else now
        if _of_user is not None:
            go_to(before)


def where_are_we() -> str | None:
    """Return the working folder; None if it has been removed."""
    try:
        return os.getcwd()  # noqa: PTH109  # a text, for os.chdir
    except OSError:
        return None


def go_to(folder: str | None) -> None:
    """Change to a folder, if it is still there."""
    if folder is not None:
        with suppress(OSError):
            os.chdir(folder)
