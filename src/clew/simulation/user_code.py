"""Functions of a scenario that are asked something: what they raise is a mistake in the scenario, no finding."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from clew.errors import ClewError, Position, UsageError

T = TypeVar("T")

#: What is in here is ours, not the user's.
_CLEW = Path(__file__).resolve().parents[1]


def ask(what: str, function: Callable[..., T], *arguments: Any, remedy: str) -> T:
    """The answer of a function; ``what`` says which one it is, should it raise."""
    try:
        return function(*arguments)
    except (Exception, SystemExit) as error:
        raise blame(what, error, remedy) from error


def blame(what: str, error: BaseException, remedy: str) -> ClewError:
    """For where a call more would cost too much: the error to raise instead of the one that was raised."""
    if isinstance(error, ClewError):
        return error
    return UsageError(f"{what} raised {type(error).__name__}: {error}", position=line_of(error), remedy=remedy)


def line_of(error: BaseException) -> Position | None:
    """The innermost line of the user's code that was running."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if not is_ours(f.filename)]
    return Position(frames[-1].filename, frames[-1].lineno or 1, 1) if frames else None


def is_ours(file: str) -> bool:
    """Whether a file of code is part of Clew, not of the user's code."""
    return _CLEW in Path(file).parents


def name_of(function: Any) -> str:
    return str(getattr(function, "__name__", type(function).__name__))
