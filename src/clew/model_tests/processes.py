"""A process for each piece of work, so many at a time: whatever becomes of one, the others go on.

The processes are forks of this one, in which no code of the user has been executed.  They ignore Ctrl-C, as it is
this process that knows what it means; they print into a pipe, read from nowhere, and end with this process.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Generic, TypeVar

from clew.budgets.deadline import Deadline
from clew.budgets.whereabouts import PATIENCE
from clew.workers.processes import Worker, WorkerDiedError

T = TypeVar("T")

_POLL_SECONDS = 0.1
#: So much of what code prints is kept, from its end.
_MOST_PRINTED = 4000


@dataclass(frozen=True)
class Ended(Generic[T]):
    """A process that is over: with a ``value``, or ``died`` in this way, or ``late``, or never started.

    ``printed``: the end of what was printed in it.
    """

    value: T | None = None
    died: str | None = None
    late: bool = False
    printed: str = ""

    @property
    def is_unfinished(self) -> bool:
        """Tell whether the deadline of all has ended it, or kept it from being started."""
        return self.value is None and self.died is None and not self.late


#: Told now and then which pieces of work have ended, and which are being done.
Tell = Callable[[int, Sequence[int]], None]


def run_all(
    works: Sequence[Callable[[], T]], count: int, seconds: float | None, deadline: Deadline, tell: Tell
) -> list[Ended[T]]:
    """Do every piece of work in a process of its own, ``count`` at a time; return what became of each, in order.

    A process has so many ``seconds``, and some more to end itself.  What the deadline ends, or keeps from being
    started, has neither a value nor an end.
    """
    ended: dict[int, Ended[T]] = {}
    running: list[_Process[T]] = []
    waiting = iter(range(len(works)))
    try:
        while len(ended) < len(works) and not deadline.passed():
            while len(running) < count and (number := next(waiting, None)) is not None:
                running.append(_Process(number, works[number], running, seconds))
            for process in list(_wait_for(running)):
                ended[process.number] = process.end()
                running.remove(process)
            tell(len(ended), [process.number for process in running])
    finally:
        for process in running:
            process.kill()
    return [ended.get(number, Ended()) for number in range(len(works))]


def _wait_for(running: Sequence[_Process[T]]) -> Iterator[_Process[T]]:
    """Yield the processes that have answered, have died, or must not take longer."""
    ready = wait([stream for process in running for stream in process.streams], _POLL_SECONDS)
    for process in running:
        process.read_printed()
        if process.worker.connection in ready or time.monotonic() > process.latest:
            yield process


class _Process(Generic[T]):
    """One process, from its start on; ``latest``: when it is ended from outside."""

    def __init__(
        self, number: int, work: Callable[[], T], others: Sequence[_Process[T]], seconds: float | None
    ) -> None:
        self.number = number
        self.latest = float("inf") if seconds is None else time.monotonic() + seconds + PATIENCE
        self._printed = b""
        self._reading, writing = os.pipe()
        os.set_blocking(self._reading, False)
        for stream in (sys.stdout, sys.stderr):  # or what is still buffered would be printed twice
            with suppress(OSError, ValueError, AttributeError):
                stream.flush()

        def serve(request: object) -> T:
            _redirect(writing)
            value = work()
            with suppress(OSError, ValueError):
                sys.stdout.flush()
            return value

        # Not as a daemon: fuzzing has workers of its own.
        self.worker: Worker = Worker(serve, [other.worker for other in others], daemon=False)
        os.close(writing)
        self.worker.ask(None)

    @property
    def streams(self) -> list[Connection | int]:
        """Return what is to be read from: not what is printed, once nobody can print there any more."""
        return [self.worker.connection, *([] if self._reading < 0 else [self._reading])]

    def read_printed(self) -> None:
        """Take what has been printed, or the process would wait for that; keep the end of it."""
        with suppress(BlockingIOError):
            while self._reading >= 0:
                part = os.read(self._reading, 1 << 16)
                if not part:
                    os.close(self._reading)
                    self._reading = -1
                self._printed = (self._printed + part)[-_MOST_PRINTED:]

    def end(self) -> Ended[T]:
        """Return what became of it, and end it."""
        value = died = None
        late = not self.worker.connection.poll()
        if not late:
            try:
                value = self.worker.reply()
            except WorkerDiedError as death:
                doing = self.worker.page.what
                died = f"the process {death.how}" + (f" {doing}" if doing else "")
        self.kill()
        return Ended(value, died, late, self._printed.decode("utf-8", "replace"))

    def kill(self) -> None:
        """End it, if it has not ended, and give back what the system has given."""
        self.worker.end()
        self.read_printed()
        if self._reading >= 0:
            os.close(self._reading)
            self._reading = -1


def _redirect(writing: int) -> None:
    """Let the code that is executed here print into a pipe, and read from nowhere."""
    null = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((null, 0), (writing, 1), (writing, 2)):
        os.dup2(source, target)
    os.close(null)
    os.close(writing)
    # Whoever called may have put something else there, which has no descriptor.
    sys.stdout = open(1, "w", encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
