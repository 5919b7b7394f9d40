"""An executor for forks of this process, which have none of the threads that an executor needs.

A fork sends what it submits through a pipe, a thread of this process hands it to the executor, and what comes of
it goes back.  Both ends are this very program.

Each fork has a pipe of its own: one that is ended in the middle of a message leaves half of it behind.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager, suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from multiprocessing.sharedctypes import RawValue
from queue import SimpleQueue
from typing import Any, NamedTuple

from clew.errors import describe_exception
from clew.workers.executors import UNLOADABLE, Team

#: One after the other: that which searches, and that which finds out where it ended.
_FORKS = 2
_PATIENCE_SECONDS = 5.0


class _Answer(NamedTuple):
    """What became of what was submitted under a number; ``size``: how many workers there are now."""

    number: int
    value: Any = None
    error: Exception | None = None
    size: int = 0


@contextmanager
def relay_team(team: Team) -> Iterator[Team]:
    """Give a team that forks of this process can use, one after the other."""
    lines = [_Line(team) for _ in range(_FORKS)]
    executor = _RelayedExecutor([line.there for line in lines], team.count())
    try:
        yield Team(executor, lambda: executor.size, team.where)
    finally:
        for line in lines:
            line.close()


class _Line:
    """This side of a pipe; ``there`` is the other."""

    def __init__(self, team: Team) -> None:
        self._team = team
        self._here, self.there = Pipe()
        self._submitted: list[Future[Any]] = []
        # Sent by a thread of its own: whoever completes a future must not wait for a fork that reads no more.
        self._answers: SimpleQueue[_Answer | None] = SimpleQueue()
        self._threads = [
            threading.Thread(target=work, daemon=True, name="clew-relay") for work in (self._submit, self._send)
        ]
        for thread in self._threads:
            thread.start()

    def _submit(self) -> None:
        with suppress(EOFError, OSError):
            while True:
                number, work, given = self._here.recv()
                try:
                    future = self._team.executor.submit(work, *given)
                except RuntimeError as error:
                    self._answers.put(_Answer(number, error=RuntimeError(describe_exception(error))))
                    continue
                # Kept to be given up at the end: an executor would go on with what nobody waits for.
                self._submitted.append(future)
                future.add_done_callback(lambda done, number=number: self._answer(number, done))  # type: ignore[misc]

    def _answer(self, number: int, future: Future[Any]) -> None:
        if future.cancelled():
            self._answers.put(_Answer(number, error=RuntimeError("the executor gave it up")))
        elif (raised := future.exception()) is not None:
            # As text: what others raise need not be what can be sent, but for its kind.
            kind = ImportError if isinstance(raised, UNLOADABLE) else RuntimeError
            self._answers.put(_Answer(number, error=kind(describe_exception(raised))))
        else:
            self._answers.put(_Answer(number, future.result()))

    def _send(self) -> None:
        with suppress(OSError):
            while (answer := self._answers.get()) is not None:
                # Asked here: whoever completes a future may be the one who would have to answer.
                self._here.send(answer._replace(size=self._team.count()))

    def close(self) -> None:
        """End the threads; the fork has ended."""
        for future in self._submitted:
            future.cancel()
        self._answers.put(None)
        # Its other holders are gone: reading ends, and so does writing to nobody.
        self.there.close()
        for thread in self._threads:
            thread.join(_PATIENCE_SECONDS)
        self._here.close()


class _RelayedExecutor(Executor):
    """In the fork: hands on what is submitted, and completes it when an answer comes."""

    def __init__(self, connections: list[Connection], size: int) -> None:
        self.size = size
        self._connections = connections
        #: How many forks there have been.
        self._forks = RawValue("i", 0)
        self._connection: Connection | None = None
        self._pending: dict[int, Future[Any]] = {}
        self._number = 0

    def submit(self, work: Callable[..., Any], /, *given: Any, **more: Any) -> Future[Any]:
        connection = self._connect()
        future: Future[Any] = Future()
        self._number += 1
        self._pending[self._number] = future
        connection.send((self._number, work, given))
        return future

    def _connect(self) -> Connection:
        if self._connection is None:
            # Not before: it would be a thread of the process that this one is a fork of.
            self._connection = self._connections[self._forks.value]
            self._forks.value += 1
            threading.Thread(target=self._read, args=[self._connection], daemon=True, name="clew-relayed").start()
        return self._connection

    def _read(self, connection: Connection) -> None:
        with suppress(EOFError, OSError):
            while True:
                answer: _Answer = connection.recv()
                self.size = answer.size
                future = self._pending.pop(answer.number)
                if not future.set_running_or_notify_cancel():
                    continue
                if answer.error is not None:
                    future.set_exception(answer.error)
                else:
                    future.set_result(answer.value)
