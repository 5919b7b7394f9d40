"""Which simulated host runs right now, in which thread: what patched functions of Python ask before they answer.

There is one at a time: an event belongs to one host, and events come one after the other.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import Random
from typing import Any, Protocol


class RunningLife(Protocol):
    """What code that stands in for the real world wants to know of the host that runs."""

    @property
    def name(self) -> str: ...

    #: Stands for the execution that it belongs to.
    home: object

    #: Its network stack, and its event loop.
    kernel: Any
    loop: Any

    #: Its disk, and those of all hosts, by name.
    disk: Any
    disks: dict[str, Any]

    #: What the scenario wants to be shown of this host, by name.
    exposed: dict[str, Callable[[], Any]]

    #: What is called when its program ends by itself, the latest first.
    at_exit: list[Callable[[], Any]]

    def count(self) -> int:
        """Return a number that nothing else in this execution has."""

    def read_clock(self) -> float:
        """Return the seconds that have passed by the clock of this host."""

    def get_random(self) -> Random: ...

    def remark(self, text: str) -> None:
        """Show something with the event that goes on."""

    def touch_disk(self, name: str) -> None:
        """Note that the event that goes on looks at the disk of a host, or changes it."""

    def note_operation(self) -> None:
        """Note that the event that goes on adds to the history of what clients do."""

    def read_history(self) -> None:
        """Note that the event that goes on looks at the history of what clients do."""

    def refuse(self, error: BaseException) -> None:
        """End the execution with a mistake of the user, even if the code swallows the exception."""


class _Running:
    """The life that runs, and the thread that runs it; a watchdog in another thread has the real clock."""

    __slots__ = ("life", "thread")

    def __init__(self) -> None:
        self.life: RunningLife | None = None
        self.thread = 0


running = _Running()


@contextmanager
def leave_life() -> Iterator[None]:
    """Let what stands in for Python's own functions do what these do: the machinery works, and not a host."""
    life, running.life = running.life, None
    try:
        yield
    finally:
        running.life = life


def current_life() -> RunningLife | None:
    """Return the life of the host whose code is running in this thread; None outside of the simulation."""
    life = running.life
    return life if life is not None and threading.get_ident() == running.thread else None


def require_life() -> RunningLife:
    """Return the life of the host whose code is running, where there must be one."""
    life = current_life()
    assert life is not None, "called by code of a host"
    return life
