"""What is not simulated says so, at once: which call it was, and what to do instead."""

from __future__ import annotations

from typing import Any, NoReturn

from clew.aio.running import current_life
from clew.errors import UsageError


class FencedError(UsageError):
    """A call that would leave the simulation."""


def fence(call: str, remedy: str = "keep it out of what is simulated, or ask for it to be simulated") -> NoReturn:
    """Refuse a call; the execution ends with that, whatever the code does with the exception."""
    error = FencedError(f"{call} is not simulated, and would leave the simulation", remedy=remedy)
    life = current_life()
    if life is not None:
        life.refuse(error)
    raise error


def make_fence(call: str, remedy: str) -> Any:
    """Return a function that refuses to be called."""

    def refuse(*args: Any, **kwargs: Any) -> NoReturn:
        fence(call, remedy)

    return refuse
