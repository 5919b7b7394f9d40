"""When work must stop: budgets of wall-clock time, and calls into C code that must not outlive them."""

from __future__ import annotations

import atexit
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import TypeVar

from clew.budgets.copies import leave_process
from clew.budgets.effort import Effort
from clew.errors import BudgetExhaustedError, ResourcesExhaustedError

T = TypeVar("T")

#: Short enough that Ctrl-C seems to act at once, long enough that waiting costs nothing.
_POLL_SECONDS = 0.05
_WORKER = "clew-worker"

#: How long the end of a process waits for C code that was given up.
_PATIENCE_SECONDS = 2.0


class _Interrupt:
    """Bring a deadline at Ctrl-C, and those that listen around it: who presses it wants all of it to end."""

    def __init__(self, deadline: Deadline, outer: _Interrupt | None) -> None:
        self._deadline = deadline
        self._outer = outer

    def __call__(self, number: int, frame: FrameType | None) -> None:
        self._deadline.interrupted = True
        if self._outer is not None:
            self._outer(number, frame)


class Deadline:
    """A moment after which work must stop; ``Deadline(None)`` never comes by itself.

    Ctrl-C brings it, too: within ``listening`` the signal only sets a flag, because an exception inside a
    callback from C code would end the process.

    ``effort`` is a second budget, spent by those who do the work.  ``check`` does not look at it: it is called
    whenever the clock says so, and what it would then find depended on the machine.
    """

    def __init__(self, seconds: float | None, effort: Effort | None = None) -> None:
        self.seconds = seconds
        self.effort = effort
        self.interrupted = False
        #: Called now and then while work goes on, from whichever thread waits for it.
        self.heartbeat: Callable[[], None] | None = None
        self._end = None if seconds is None else time.monotonic() + seconds

    def passed(self) -> bool:
        """Tell whether the time is over, or Ctrl-C was pressed."""
        return self.interrupted or (self._end is not None and time.monotonic() >= self._end)

    @property
    def remaining(self) -> float | None:
        """Return the seconds that are left; None if the clock does not matter."""
        return None if self._end is None else max(0.0, self._end - time.monotonic())

    def check_interrupt(self) -> None:
        """Check for Ctrl-C only: where work has to be finished even when the time is over."""
        if self.interrupted:
            self.check()

    def check(self) -> None:
        """Raise ``BudgetExhaustedError`` if the deadline has come."""
        if self.heartbeat:
            self.heartbeat()
        if self.interrupted:
            raise BudgetExhaustedError("interrupted")
        if self.passed():
            raise BudgetExhaustedError(f"the time limit of {self.seconds:g} s ran out")

    def wait_for(self, finished_within: Callable[[float], bool]) -> None:
        """Wait in short steps until the work is finished; stop waiting when the deadline comes."""
        while not finished_within(_POLL_SECONDS):
            self.check()

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Let Ctrl-C bring this deadline while inside (only the main thread can arrange that)."""
        if threading.current_thread() is not threading.main_thread():
            with telling_exhaustion():
                yield
            return

        before = signal.getsignal(signal.SIGINT)
        signal.signal(signal.SIGINT, _Interrupt(self, before if isinstance(before, _Interrupt) else None))
        try:
            with telling_exhaustion():
                yield
        finally:
            signal.signal(signal.SIGINT, before)

    @contextmanager
    def watching(self, stop: Callable[[], None]) -> Iterator[None]:
        """Call ``stop`` from another thread when the deadline comes while inside."""
        finished, watched = threading.Event(), threading.Event()

        def watch() -> None:
            while not finished.wait(_POLL_SECONDS):
                if self.heartbeat:
                    self.heartbeat()
                if self.passed():
                    stop()
                    break
            watched.set()

        watcher = threading.Thread(target=watch, daemon=True)
        watcher.start()
        try:
            yield
        finally:
            finished.set()
            watcher.join()
        if not watched.is_set():  # whatever ended the watcher, no limit held
            raise RuntimeError("nothing watched the time limit")


@contextmanager
def telling_exhaustion() -> Iterator[None]:
    """Turn memory or stack that runs out into a budget like others: what was found before it counts."""
    try:
        yield
    except (MemoryError, RecursionError) as error:
        raise exhaustion_of(error) from None


def exhaustion_of(error: MemoryError | RecursionError, where: str = "") -> ResourcesExhaustedError:
    """Return what to raise instead, with the place where it happened if that is known."""
    told = "the work is nested too deeply for Python's stack"
    if isinstance(error, MemoryError):
        told = "memory ran out"
    return ResourcesExhaustedError(f"{told}, {where}" if where else told)


def has_abandoned_work() -> bool:
    """Tell whether C code outlived its deadline; the process must then end without waiting for it."""
    return any(thread.name == _WORKER for thread in threading.enumerate())


def _leave_without(thread: threading.Thread) -> None:
    """End the process without a thread that is still in C code: outliving the interpreter, it would crash."""
    thread.join(_PATIENCE_SECONDS)
    if thread.is_alive():
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError, AttributeError):  # whatever the user's code has put there
                stream.flush()
        leave_process(1 if hasattr(sys, "last_value") else 0)


def call(work: Callable[[], T], deadline: Deadline) -> T:
    """Run ``work`` so that an interrupt or the deadline gets through while it is inside C code.

    The thread cannot be stopped from outside: it is given up, and ``_leave_without`` it at the end.
    """
    result: list[T] = []
    failure: list[BaseException] = []

    def target() -> None:
        try:
            result.append(work())
        except BaseException as error:  # handed over to the caller below
            failure.append(error)

    def finished_within(seconds: float) -> bool:
        thread.join(seconds)
        return not thread.is_alive()

    thread = threading.Thread(target=target, daemon=True, name=_WORKER)
    thread.start()
    try:
        deadline.wait_for(finished_within)
    except BaseException:
        atexit.register(_leave_without, thread)
        raise
    if failure:
        raise failure[0]
    return result[0]
