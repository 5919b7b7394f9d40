"""What is not simulated says so, at once: which call it was, and what to do instead."""

from __future__ import annotations

import sys
import sysconfig
from pathlib import Path
from typing import NoReturn

from clew.aio.running import current_life
from clew.errors import Position, UsageError


class FencedError(UsageError):
    """A call that would leave the simulation."""


def fence(call: str, remedy: str = "keep it out of what is simulated, or ask for it to be simulated") -> NoReturn:
    """Refuse a call; the execution ends with that, whatever the code does with the exception."""
    text = f"{call} is not simulated, and would leave the simulation"
    error = FencedError(text, position=_find_caller(), remedy=remedy)
    life = current_life()
    if life is not None:
        life.refuse(error)
    raise error


def _find_caller() -> Position | None:
    """Return the line of the user's code that made the call, or of a library if there is none."""
    frame = sys._getframe(2)
    found: Position | None = None
    while frame is not None:
        file = frame.f_code.co_filename
        is_library = file.startswith(_LIBRARIES)
        if is_library or not file.startswith(_STANDARD):
            place = Position(file, frame.f_lineno, 1)
            if not is_library:
                return place
            found = found or place
        frame = frame.f_back  # type: ignore[assignment]
    return found


#: What is nobody's code, and what is a library's: these are below the folder of the standard library.
_STANDARD = (sysconfig.get_path("stdlib"), str(Path(__file__).resolve().parents[1]), "<")
_LIBRARIES = (sysconfig.get_path("purelib"), sysconfig.get_path("platlib"))
