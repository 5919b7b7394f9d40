"""Processes that serve requests: forks of this one, so that they have the scenario without loading it again.

Requests and replies are any values; both ends are this very program.  A worker that dies is an error, never a wait
without end; workers end when the process that started them does.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import sys
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, wait
from typing import Any, TypeVar

from clew.budgets.copies import leave_process
from clew.budgets.whereabouts import Whereabouts, describe_end, die_with, set_whereabouts
from clew.errors import Notice, UsageError

#: From a request to its reply.
Serve = Callable[[Any], Any]

#: Beyond the step limit: the watchdog inside comes first, if anything in there can run at all.
_PATIENCE_SECONDS = 5.0


class WorkerDiedError(UsageError):
    """A worker that ended, or got stuck where nothing can interrupt it, before it answered.

    ``how`` it ended, in words; None if it is stuck.
    """

    def __init__(self, message: str, remedy: str, how: str | None = None) -> None:
        super().__init__(message, remedy=remedy)
        self.how = how


class ServingProcess(ABC):
    """A process that answers requests, one after the other; ``page`` says what it is doing.

    The page is its own: on one that several write, nobody could tell which of them ended or is stuck.
    """

    connection: Connection
    page: Whereabouts

    def ask(self, request: Any) -> None:
        with suppress(OSError):  # that it is dead shows when it is waited for
            self.connection.send(request)

    def reply(self) -> Any:
        """Return its answer; to be called when there is something to read."""
        try:
            return self.connection.recv()
        except (EOFError, OSError):
            code = self.wait_for_end(_PATIENCE_SECONDS)
            self.page.read()
            how = describe_end(code)
            raise WorkerDiedError(
                f"a worker process died: it {how}",
                "see whether memory ran out; with --workers 1 everything happens in one process",
                how,
            ) from None

    @abstractmethod
    def wait_for_end(self, seconds: float) -> int | None:
        """Wait for it to end, for at most so long; return its exit code if it has."""

    @abstractmethod
    def end(self) -> None:
        """End it, whatever it is doing."""

    def find_stuck(self) -> WorkerDiedError | None:
        """Return why it is given up, if it is in code that nothing in its process can interrupt."""
        self.page.read()
        if (seconds := self.page.stuck_for(_PATIENCE_SECONDS)) is None:
            return None
        return WorkerDiedError(
            f"your code has not returned for {seconds:g} s, and nothing can interrupt it",
            "let it end; if it only needs longer, give the scenario a larger step_seconds",
        )

    def refuse_if_stuck(self) -> None:
        """Raise if it is to be given up."""
        if (stuck := self.find_stuck()) is not None:
            raise stuck


class Worker(ServingProcess):
    """A fork of this process."""

    def __init__(self, serve: Serve, siblings: Iterable[Worker], *, daemon: bool) -> None:
        # A scenario is made of lambdas and closures, which cannot be pickled for a process that is spawned.
        context = multiprocessing.get_context("fork")
        self.connection, theirs = context.Pipe()
        inherited = [self.connection, *(sibling.connection for sibling in siblings)]
        self.page = Whereabouts()
        arguments = (serve, theirs, inherited, self.page, os.getpid())
        self._process = context.Process(target=_serve, args=arguments, daemon=daemon)
        with warnings.catch_warnings():
            # From Python 3.12 on, threads of the caller are a reason to warn; ours are not running yet.
            warnings.simplefilter("ignore", DeprecationWarning)
            self._process.start()
        theirs.close()

    def wait_for_end(self, seconds: float) -> int | None:
        self._process.join(seconds)
        return self._process.exitcode

    def interrupt(self) -> None:
        """Pass Ctrl-C on to it."""
        if self._process.pid is not None and self._process.is_alive():
            os.kill(self._process.pid, signal.SIGINT)

    def end(self) -> None:
        # Not terminate: code of the user may handle SIGTERM, or be stuck in C.
        self._process.kill()
        self._process.join(_PATIENCE_SECONDS)
        self.connection.close()


def can_fork() -> bool:
    return "fork" in multiprocessing.get_all_start_methods()


def limit_workers(wanted: int) -> tuple[int, list[Notice]]:
    """Return how many workers there can be here, with a notice if that is fewer than are wanted."""
    if wanted > 1 and not can_fork():
        return 1, [Notice("this system cannot fork a process, so there is one worker only")]
    return wanted, []


@contextmanager
def workers(
    count: int, serve: Serve, *, daemon: bool = True, siblings: Iterable[Worker] = ()
) -> Iterator[list[Worker]]:
    """Start so many processes, and end them afterwards, whatever happens.

    ``daemon``: they have no children of their own.  ``siblings``: those that are running already.
    """
    started: list[Worker] = []
    # A third of what a second worker gains was lost when collectors looked through all that they inherited.
    gc.freeze()  # what is there now is shared with them, for as long as nobody looks through it
    try:
        for _ in range(count):
            started.append(Worker(serve, [*siblings, *started], daemon=daemon))
        yield started
    finally:
        for worker in started:
            worker.end()
        gc.unfreeze()


P = TypeVar("P", bound=ServingProcess)


def wait_for_replies(busy: Sequence[P], seconds: float) -> list[P]:
    """Return those that have answered, or died, within so many seconds; raise for one that is stuck."""
    if not busy:
        return []
    answered = wait([worker.connection for worker in busy], seconds)
    for worker in busy:
        if worker.connection not in answered:
            worker.refuse_if_stuck()
    return [worker for worker in busy if worker.connection in answered]


def _serve(
    serve: Serve, connection: Connection, inherited: list[Connection], page: Whereabouts, parent: int
) -> None:
    """Answer, in the new process, until there is nobody to answer to."""
    die_with(parent)  # also in the midst of an answer, which may never end
    set_whereabouts(page)
    # Ctrl-C goes to all processes of a terminal; the one that started this one decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for other in inherited:
        other.close()  # or the end of the process that holds the other end would go unnoticed
    try:
        while True:
            connection.send(serve(connection.recv()))
    except (EOFError, BrokenPipeError, ConnectionResetError):
        with suppress(OSError, ValueError, AttributeError):  # whatever the user's code has put there
            sys.stdout.flush()
        leave_process(0)
