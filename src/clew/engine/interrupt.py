"""Budgets of wall-clock time, and calls into C code that must not outlive them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TypeVar

from clew.errors import BudgetExhaustedError

T = TypeVar("T")

_POLL_SECONDS = 0.05


class Deadline:
    """A moment after which work must stop; ``Deadline(None)`` never comes."""

    def __init__(self, seconds: float | None) -> None:
        self.seconds = seconds
        self._end = None if seconds is None else time.monotonic() + seconds

    def left(self) -> float | None:
        return None if self._end is None else max(0.0, self._end - time.monotonic())

    def passed(self) -> bool:
        return self._end is not None and time.monotonic() >= self._end

    def check(self) -> None:
        if self.passed():
            raise BudgetExhaustedError(f"the time limit of {self.seconds:g} s ran out")


def call(work: Callable[[], T], deadline: Deadline) -> T:
    """Run ``work`` so that an interrupt or the deadline gets through while it is inside C code.

    The thread cannot be stopped from outside; it is a daemon, so it ends with the process.
    """
    result: list[T] = []
    failure: list[BaseException] = []

    def target() -> None:
        try:
            result.append(work())
        except BaseException as error:  # handed over to the caller below
            failure.append(error)

    thread = threading.Thread(target=target, daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(_POLL_SECONDS)
        if thread.is_alive():
            deadline.check()
    if failure:
        raise failure[0]
    return result[0]
