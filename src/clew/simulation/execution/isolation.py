"""Calls from Python execute the user's code in a child, too: what ends its process does not end the caller's.

The command line has a child for the whole command (``cli.supervision``); here it is forked for one call, and has
the scenario without loading it again.  What comes back is pickled, by a process that this very program started;
what cannot be is computed again here, which is safe: the child has come to the end of it.
"""

from __future__ import annotations

import multiprocessing
import pickle
import signal
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from types import FrameType
from typing import Any, NamedTuple, TypeVar

from clew.budgets.whereabouts import ProcessEnd, current_whereabouts, describe_moment
from clew.errors import BudgetExhaustedError, ClewError, UsageError
from clew.simulation.execution.watchdog import trace_calls
from clew.workers.processes import Worker, WorkerDiedError, can_fork, wait_for_replies, workers

T = TypeVar("T")

#: Told now and then how far a call has come.
Tell = Callable[..., None]
#: What is executed in a child; it is given something to tell its progress to.
Work = Callable[[Tell], T]

#: Often enough that progress looks alive and a limit is kept; a child that answers wakes this side at once.
_POLL_SECONDS = 0.05
#: A pipe that nobody empties fast enough would stop the child.
_TELL_SECONDS = 0.1


class ProcessEndedError(UsageError):
    """User code ended the process that executed it; ``end`` says where."""

    def __init__(self, end: ProcessEnd) -> None:
        super().__init__(str(end), remedy="let no code end the process it runs in; raise an exception instead")
        self.end = end


def needs_child(in_process: bool) -> bool:
    """Tell whether a call is to have a child: not if it is in one, and not where it cannot be."""
    if in_process or current_whereabouts() is not None:
        return False
    if not can_fork():
        warnings.warn(
            "this system cannot fork a process: the scenario runs in this one, and can end it",
            RuntimeWarning,
            stacklevel=3,
        )
        return False
    return True


def run_isolated(work: Work[T], progress: Tell | None) -> T:
    """Return what ``work`` returns, or raise what it raises, but execute it in a child.

    If that is ended by what it executes, this raises ``ProcessEndedError``.
    """
    try:
        return call_in_child(work, progress)
    except WorkerDiedError as death:
        raise ProcessEndedError(find_end(work, death)) from None


def call_in_child(work: Work[T], progress: Tell | None = None) -> T:
    """Do it in a child, or raise ``WorkerDiedError``."""
    reply = _run_child(work, progress, traced=False).packed
    if reply is not None:
        try:
            result, error = pickle.loads(reply)
        except Exception:  # of a class that cannot be made anew from what it was made of
            reply = None
        else:
            if error is not None:
                raise error
            returned: T = result
            return returned
    return work(progress or _tell_nobody)


def find_end(work: Work[Any], death: WorkerDiedError, *, seed: int | None = None) -> ProcessEnd:
    """Execute once more what ended its process, and find out where it does."""
    again = _run_child(work, None, traced=True)
    seed = again.seed if seed is None else seed
    if again.how is None and again.stuck is None:
        raise UsageError(
            f"{death.message}, but not when the same was executed again",
            remedy="the code is not deterministic; it must depend on state, message and context only",
        )
    where = f"in {again.what}, {describe_moment(again.event)}"
    if again.stuck is not None:
        raise UsageError(f"{where}: {again.stuck.message}", remedy=again.stuck.remedy)
    assert again.how is not None
    if again.event < 1:
        raise UsageError(
            f"the process {again.how} {where}", remedy="let no code end the process it runs in; raise an exception"
        )
    return ProcessEnd(again.how, again.what, seed or 0, again.event, again.performed)


# -- the child ---------------------------------------------------------------------------------------------------


class _Reply(NamedTuple):
    """What became of a child: what it came to, or how it ended and what it was doing then."""

    packed: bytes | None = None
    how: str | None = None
    stuck: WorkerDiedError | None = None
    what: str = ""
    seed: int | None = None
    event: int = 0
    performed: int = 0


def _run_child(work: Work[Any], progress: Tell | None, *, traced: bool) -> _Reply:
    # Beside the answer: progress must not have to wait for it.
    told, telling = multiprocessing.Pipe(duplex=False)

    def serve(request: object) -> bytes | None:
        page = current_whereabouts()
        assert page is not None
        if traced:
            trace_calls(page)
        if progress is None:
            return _pack_result(work, _tell_nobody)
        with _send_progress(telling) as tell:
            return _pack_result(work, tell)

    # Not as a daemon: it may have workers of its own.
    with workers(1, serve, daemon=False) as (worker,), told, telling, _forward_interrupts(worker):
        worker.ask(None)
        try:
            while not wait_for_replies([worker], _POLL_SECONDS):
                _relay(told, progress)
                _refuse_late(worker)
            reply = _Reply(worker.reply())
            _relay(told, progress)
            return reply
        except WorkerDiedError as death:
            if not traced:
                raise
            page = worker.page
            stuck = death if death.how is None else None
            return _Reply(None, death.how, stuck, page.what, page.seed, page.event, page.performed)


def _pack_result(work: Work[Any], tell: Tell) -> bytes | None:
    """Return what the work comes to, in the child, as bytes; None if that cannot be sent."""
    result = error = None
    try:
        # Workers ignore it (``_serve``), but this one has results that an interrupt must not lose.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        result = work(tell)
    except BaseException as raised:
        error = raised
        if not isinstance(raised, ClewError | BudgetExhaustedError | KeyboardInterrupt):
            raised.add_note("".join(traceback.format_exception(raised)))  # or nobody would know where it was
    # From here on an interrupt would tear the answer apart.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        return pickle.dumps((result, error))
    except Exception:
        return None


@contextmanager
def _send_progress(connection: Connection) -> Iterator[Tell]:
    """Send some of what is told, in the child, and the last of it."""
    latest = 0.0
    left: tuple[object, ...] | None = None

    def tell(*what: object) -> None:
        nonlocal latest, left
        left = what
        if time.monotonic() >= latest + _TELL_SECONDS:
            latest = time.monotonic()
            connection.send(what)
            left = None

    yield tell
    if left is not None:
        connection.send(left)


def _tell_nobody(*what: object) -> None:
    pass


# -- this side ---------------------------------------------------------------------------------------------------


def _relay(told: Connection, progress: Tell | None) -> None:
    while progress is not None and told.poll():
        with suppress(EOFError):
            progress(*told.recv())


def _refuse_late(worker: Worker) -> None:
    if (seconds := worker.page.overdue()) is not None:
        raise BudgetExhaustedError(f"the time limit of {seconds:g} s ran out, in code that nothing can interrupt")


@contextmanager
def _forward_interrupts(worker: Worker) -> Iterator[None]:
    """Pass Ctrl-C on to the child, which has what was found so far; a second one ends this process, too."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    interrupted = False

    def interrupt(number: int, frame: FrameType | None) -> None:
        nonlocal interrupted
        if interrupted:
            raise KeyboardInterrupt
        interrupted = True
        worker.interrupt()

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
