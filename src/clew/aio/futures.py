"""Tasks and futures whose hash is a number: the order of a set of them is the same in every process.

Objects hash by their address otherwise, and ``asyncio.wait`` and many servers go through sets of tasks.  The
number must be there before the task is: to register itself, a new task is put into a set.
"""

from __future__ import annotations

import asyncio
from typing import Any

from clew.aio.running import running

#: Of what is made outside of any host.
_others = 0


def next_number() -> int:
    """Return a number that nothing else in this execution has."""
    life = running.life
    if life is not None:
        return life.count()
    global _others
    _others += 1
    return _others


class NumberedFuture(asyncio.Future[Any]):
    """A future that hashes by number."""

    number: int

    def __new__(cls, *args: Any, **kwargs: Any) -> NumberedFuture:
        made = super().__new__(cls)
        made.number = next_number()
        return made

    def __hash__(self) -> int:
        return self.number

    __eq__ = object.__eq__


class NumberedTask(asyncio.Task[Any]):
    """A task that hashes by number."""

    number: int

    def __new__(cls, *args: Any, **kwargs: Any) -> NumberedTask:
        made = super().__new__(cls)
        made.number = next_number()
        return made

    def __hash__(self) -> int:
        return self.number

    __eq__ = object.__eq__
