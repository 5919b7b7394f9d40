"""The step time limit: a handler, invariant or other function of the user that does not return is stopped.

Another thread looks now and then at what is being executed: a call into the user's code that it sees again after
the limit is stuck.  So the limit costs nothing for each event, and whatever executes events need not know of it.
What is stuck gets an exception that no ``except Exception`` catches; it is repeated until it gets through.
"""

from __future__ import annotations

import ctypes
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from types import FrameType
from typing import Any, Protocol

from clew.budgets.whereabouts import Whereabouts, current_whereabouts, end_copy
from clew.errors import Position, UsageError
from clew.files.working_folder import folder_of_user_code
from clew.simulation.scenario import Scenario
from clew.simulation.user_code import StoppedError, ask, is_ours
from clew.simulation.world import World

#: Through these functions all calls into the user's code go.
_GATES = {World._run.__code__, Scenario.look.__code__, Scenario.fingerprint_of.__code__, ask.__code__}

#: So that also a long limit beats often enough for whoever watches this process from outside.
_LONGEST_PAUSE = 0.5

#: After so many rounds of a loop an exception from another thread has arrived.
_INSTRUCTIONS = 1000

#: Breaks into calls of the system, such as ``sleep``; nothing else uses it, and it is harmless if it comes late.
_SIGNAL = getattr(signal, "SIGURG", None)


class _TooLongError(StoppedError, SystemExit):
    """Raised in the midst of the user's code; it never leaves ``step_limit``.

    It is a ``SystemExit``, for a task of asyncio keeps every other exception to itself.
    """


class _InterruptedError(StoppedError):
    """Raised at Ctrl-C, so that nobody takes it for what the user's code did; it never leaves ``step_limit``."""


@contextmanager
def step_limit(seconds: float) -> Iterator[StepLimit]:
    """Make a call into the user's code that takes longer an error of the user, while inside."""
    watchdog = _Watchdog(seconds, threading.get_ident())
    if (page := current_whereabouts()) is not None:
        # C code that keeps all threads from running may come before the first beat of the watchdog.
        page.beat(seconds)
    with _catch_interrupts() as interrupts, watchdog.catch_signal(), folder_of_user_code():
        # A thread and no alarm: signals reach the main thread only, and a scenario may be executed in another.
        thread = threading.Thread(target=watchdog.watch, daemon=True, name="clew-watchdog")
        thread.start()
        try:
            interrupts.break_in = True
            yield watchdog
        except _TooLongError:
            pass  # what was stuck is told below, also if the user's code swallowed this
        finally:
            interrupts.break_in = False
            end_copy()  # in which no thread has watched
            watchdog.end()
            thread.join()
    if watchdog.failure is not None:
        raise watchdog.failure
    watchdog.tell()


class _Interrupts:
    """What Ctrl-C does while code of the user is executed; ``break_in``: it may raise in the midst of it."""

    def __init__(self) -> None:
        self.break_in = self.came = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        self.came = True
        if self.break_in:
            raise _InterruptedError


@contextmanager
def _catch_interrupts() -> Iterator[_Interrupts]:
    """Let Ctrl-C end what is inside, and be nothing that the user's code did.

    Python's own ``KeyboardInterrupt``, raised in a handler, would be a violation like whatever else it raises, or
    swallowed there, and what was done instead would count.  Who listens already is left in place.
    """
    interrupts = _Interrupts()
    main = threading.current_thread() is threading.main_thread()
    if not main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield interrupts
        return
    signal.signal(signal.SIGINT, interrupts)
    try:
        yield interrupts
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        if interrupts.came:
            # Whatever came of it: the code may have been interrupted at any place.
            raise KeyboardInterrupt from None


class StepLimit(Protocol):
    """A limit that holds."""

    def guard(self) -> AbstractContextManager[None]:
        """Raise for what gets stuck while inside, and go on limiting afterwards.

        Far cheaper than a limit of its own, which starts a thread.
        """


class _Watchdog:
    def __init__(self, seconds: float, thread: int) -> None:
        self._stuck: UsageError | None = None  # what is said about the call that was stopped
        self.failure: BaseException | None = RuntimeError("nothing watched the step limit")
        self._seconds = seconds
        self._thread = thread
        self._over = threading.Event()
        self._lock = threading.Lock()
        self._by_signal = False
        self._thrown = False
        self._call: FrameType | None = None
        self._part = 0

    def watch(self) -> None:
        """Watch until it is over; whatever else ends it is a failure, for then no limit holds."""
        page = current_whereabouts()
        try:
            self._watch(page)
            self.failure = None
        except BaseException as failure:
            self.failure = failure
        finally:
            if page is not None:
                page.rest()

    def _watch(self, page: Whereabouts | None) -> None:
        since = time.monotonic()
        while not self._over.wait(min(self._seconds / 4, _LONGEST_PAUSE)):
            if page is not None:
                page.beat(self._seconds)
            # Before looking: what is seen then belongs to this part or to an earlier one, never to a later one.
            part = self._part
            frame = sys._current_frames().get(self._thread)
            call = _find_gate(frame)
            if call is None or call is not self._call:
                # The frame is kept: as long as it is, no other call can be taken for it.
                self._call, since = call, time.monotonic()
            elif time.monotonic() - since >= self._seconds:
                self._stop(part, _refuse_stuck(call, frame, self._seconds))
        self._call = None

    @contextmanager
    def guard(self) -> Iterator[None]:
        try:
            yield
        except _TooLongError:
            pass
        finally:
            self._settle(self._next_part)
        self.tell()

    def end(self) -> None:
        self._settle(self._over.set)

    def tell(self) -> None:
        stuck, self._stuck = self._stuck, None
        if stuck is not None:
            raise stuck

    def _next_part(self) -> None:
        self._part += 1
        self._call = None

    def _settle(self, change: Callable[[], None]) -> None:
        """After the change nothing is raised for what was before; what is on its way arrives here.

        It could be withdrawn instead, but in CPython 3.11 a tracer or profiler spins for ever after that.
        """
        while True:
            try:
                with self._lock:
                    change()
                for _ in range(_INSTRUCTIONS if self._thrown else 0):
                    pass
                self._thrown = False
                return
            except _TooLongError:
                continue

    # -- raising -------------------------------------------------------------------------------------------------

    def _stop(self, part: int, refusal: UsageError) -> None:
        with self._lock:
            # Under the lock: after ``_settle`` nothing may be thrown at code that has nothing to do with it.
            if self._over.is_set() or part != self._part:
                return
            self._stuck = self._stuck or refusal
            if self._by_signal and _SIGNAL is not None:
                signal.pthread_kill(self._thread, _SIGNAL)
            else:
                # Gets through between two instructions of Python, so not while a call of the system lasts.
                self._thrown = True
                error = ctypes.py_object(_TooLongError)
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self._thread), error)

    @contextmanager
    def catch_signal(self) -> Iterator[None]:
        """Let a signal interrupt calls of the system, too, where that is possible: in the main thread."""
        main = threading.current_thread() is threading.main_thread()
        if not main or _SIGNAL is None or not hasattr(signal, "pthread_kill"):
            yield
            return
        before = signal.signal(_SIGNAL, self._on_signal)
        self._by_signal = True
        try:
            yield
        finally:
            signal.signal(_SIGNAL, before)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        if not self._over.is_set() and self._call is not None and _find_gate(frame) is self._call:
            raise _TooLongError


def _find_gate(frame: FrameType | None) -> FrameType | None:
    """Return the innermost call into the user's code, if one is being executed."""
    # By code object: names may be the user's as well.
    while frame is not None and frame.f_code not in _GATES:
        frame = frame.f_back
    return frame


def _refuse_stuck(call: FrameType, frame: FrameType | None, seconds: float) -> UsageError:
    return UsageError(
        f"{_describe_gate(call.f_locals)} has not returned for {seconds:g} s",
        position=_find_user_line(frame, call),
        remedy="let it end; if it only needs longer, give the scenario a larger step_seconds",
    )


def _describe_gate(local: dict[str, Any]) -> str:
    """Describe what a gate was called for."""
    if "handler" in local:
        return f"at {local['process'].me}, event {local['self'].events + 1}: {_name_handler(local)}"
    if "invariant" in local:
        return f"after {local['world'].events} events, the invariant {local['invariant'].__name__}"
    return str(local.get("what", "the scenario's fingerprint"))


def _find_user_line(frame: FrameType | None, call: FrameType) -> Position | None:
    """Return the line of the user's code nearest to where it is stuck."""
    for inner, line in traceback.walk_stack(frame):
        if inner is call:
            return None
        if not is_ours(inner.f_code.co_filename):
            return Position(inner.f_code.co_filename, line, 1)
    return None


# -- for whoever watches this process ----------------------------------------------------------------------------


def trace_calls(page: Whereabouts) -> None:
    """Write down every call into the user's code before it begins, which is slow."""
    latest = 0

    def trace(frame: FrameType, event: str, argument: object) -> None:
        nonlocal latest
        if event == "call" and frame.f_code in _GATES:
            number, what = _locate_call(frame.f_locals)
            if number is not None:
                latest = number
            page.begin_call(-latest if number is None else number, what)

    sys.settrace(trace)


def _name_handler(local: dict[str, Any]) -> str:
    """Name what a node executes: where it is machinery, the program that runs on it."""
    blamed = getattr(local["process"].node, "program", None) or local["handler"]
    return str(getattr(blamed, "__qualname__", local["handler"].__qualname__))


def _locate_call(local: dict[str, Any]) -> tuple[int | None, str]:
    """Tell at which event a gate is called, and what for; promises and names are asked for at none."""
    if "handler" in local:
        return local["self"].events + 1, f"{_name_handler(local)} at {local['process'].me}"
    if "world" in local:
        return local["world"].events, "an invariant"
    if "what" not in local:
        return None, "the scenario's fingerprint"
    events = (getattr(argument, "events", None) for argument in local["arguments"])
    return next((number for number in events if isinstance(number, int)), None), str(local["what"])
