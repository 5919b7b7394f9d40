"""What a process is doing, on a page of memory that its parent can read even when the process is gone.

The user's code may end the process it runs in, or keep it busy for ever inside C code, in ways that nothing in
the process itself can notice.  So a command executes it in a child, and the parent reads here what became of it.
While all goes well this costs next to nothing: a number for each run, and a beat of the watchdog now and then.
Only where a run has ended the process, it is executed again with every call into the user's code written down.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import signal
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from clew.budgets.copies import be_no_copy, end_copies_on_return, leave_process

_SIZE = 4096
#: Finished, its exit code; a run is going on, its seed; the event; the latest beat, the limit of a step; the end
#: of the time limit, and how long that is; events of all schedules; the length of the text behind.
_LAYOUT = struct.Struct("=?b?qqddddqH")
_LONGEST = _SIZE - _LAYOUT.size

#: Bound before any code of the user runs, which may put something else in its place, as simulations do.
_process_number = os.getpid

#: Before a text on the page that nobody has read, to tell it from anything else that is said there.
_UNTOLD = "\1"

#: Before what a process of somebody else does, for which the child only waits.
_WAITING = "\2"

#: Before what only makes ready, and is not done where that has ended a process.
_PREPARING = "\3"

#: Seconds that a process gets to notice itself that its time is over.
PATIENCE = 4.0

#: Linux: a process does not outlive the one that started it, whatever ends that.
_PR_SET_PDEATHSIG = 1


@dataclass(frozen=True)
class ProcessEnd:
    """A process that user code ended: how, in which run of a search, at which event, in which function.

    ``performed``: the number of that event among those of all schedules of an exploration.
    """

    how: str
    what: str
    seed: int
    event: int
    performed: int = 0

    def __str__(self) -> str:
        return f"the process {self.how} in {self.what}, at event {self.event}"


def describe_end(code: int | None) -> str:
    """Put into words how a process ended, from its exit code; a signal is a negative one."""
    if code is None:
        return "ended in a way that is not known"
    if code >= 0:
        return f"ended by itself (exit code {code})"
    try:
        return f"was ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"was ended by signal {-code}"


def describe_moment(event: int) -> str:
    """Put into words when the user's code is called, as ``Whereabouts.begin_call`` is told it."""
    if event > 0:
        return f"event {event}"
    return f"after {-event} event{'' if event == -1 else 's'}" if event else "before the first event"


class Whereabouts:
    """One page; the child writes, the parent reads.

    A fork has it; any other process opens the ``file`` that it is in.
    """

    #: Whether children may do what only makes ready: the parent says so, before it forks one.
    allows_preparing = True

    def __init__(self, file: int = -1) -> None:
        if file >= 0:
            os.ftruncate(file, _SIZE)
        self._page = mmap.mmap(file, _SIZE)
        self._writer: int | None = None
        self.clear()

    def clear(self) -> None:
        """Begin anew, for the next child."""
        self._fields: list[Any] = [False, 0, False, 0, 0, 0.0, 0.0, 0.0, 0.0, 0, 0]
        self._write()

    def belong_to_process(self) -> None:
        """Claim the page for this process, a new child: a copy that user code forks must not write here."""
        self._writer = _process_number()

    # -- for the child -------------------------------------------------------------------------------------------

    def say(self, what: str) -> None:
        """Tell what is being done."""
        if self._is_copy():
            return
        text = what.encode("utf-8", "replace")[:_LONGEST]
        self._fields[10] = len(text)
        self._page[_LAYOUT.size : _LAYOUT.size + len(text)] = text
        self._write()

    def begin_run(self, seed: int) -> None:
        """Tell that the execution that belongs to a seed begins."""
        self._fields[2:4] = True, seed
        self._write()

    def begin_event(self, number: int) -> None:
        """Tell that this event begins, of those of all schedules that are being executed."""
        self._fields[9] = number
        self._write()

    def begin_call(self, event: int, what: str) -> None:
        """Tell that the user's code is called, at which event; -17 is after the 17th, and at none."""
        self._fields[4] = event
        self.say(what)

    def beat(self, step_seconds: float) -> None:
        """Tell that threads of this process still get their turn; a step of it may take so long."""
        self._fields[5:7] = time.monotonic(), step_seconds
        self._write()

    def rest(self) -> None:
        """Tell that no step is being watched any more."""
        self._fields[5] = 0.0
        self._write()

    def limit(self, seconds: float, patience: float) -> None:
        """Tell after how long it must be over, and how much later it may be ended from outside."""
        self._fields[7:9] = time.monotonic() + seconds + patience, seconds
        self._write()

    def extend(self, seconds: float) -> None:
        """Tell that what is done now may take so long, even if that is after the limit."""
        if self._fields[7]:
            self._fields[7] = max(self._fields[7], time.monotonic() + seconds + PATIENCE)
            self._write()

    def leave_word(self, text: str) -> None:
        """Leave to the parent what could not be printed."""
        self.say("\n".join((self.what, text)) if self.untold else _UNTOLD + text)

    def finish(self, code: int) -> None:
        """Tell that the command has come to its end, with this exit code."""
        self._fields[0:2] = True, code
        self._write()

    def _is_copy(self) -> bool:
        """Tell whether the user's code has forked this process, which says nothing about the child."""
        return self._writer is not None and _process_number() != self._writer

    def _write(self) -> None:
        if self._is_copy():
            return
        _LAYOUT.pack_into(self._page, 0, *self._fields)

    # -- for the parent ------------------------------------------------------------------------------------------

    def read(self) -> None:
        """Take over what the child has written."""
        self._fields = list(_LAYOUT.unpack_from(self._page, 0))

    @property
    def code(self) -> int | None:
        """Return the exit code of a child that came to its end; None for any other."""
        return self._fields[1] if self._fields[0] else None

    @property
    def seed(self) -> int | None:
        """Return the seed of the run that is going on; None outside of any."""
        return self._fields[3] if self._fields[2] else None

    @property
    def event(self) -> int:
        return int(self._fields[4])

    @property
    def performed(self) -> int:
        return int(self._fields[9])

    @property
    def what(self) -> str:
        return bytes(self._page[_LAYOUT.size : _LAYOUT.size + self._fields[10]]).decode("utf-8", "replace")

    @property
    def untold(self) -> str:
        """Return what the child had to say and could not print."""
        what = self.what
        return what.removeprefix(_UNTOLD) if what.startswith(_UNTOLD) else ""

    @property
    def waiting(self) -> str:
        """Return what the child was waiting for, if for a process that must not be started again."""
        what = self.what
        return what.removeprefix(_WAITING) if what.startswith(_WAITING) else ""

    @property
    def is_preparing(self) -> bool:
        """Tell whether the child was making something ready that it can do without."""
        return self.what.startswith(_PREPARING)

    def stuck_for(self, patience: float) -> float | None:
        """Return the limit of a step that nobody can enforce from inside any more, so much after it was over."""
        beat, step_seconds = self._fields[5:7]
        return step_seconds if beat and time.monotonic() > beat + step_seconds + patience else None

    def overdue(self) -> float | None:
        """Return the time limit, if it is over, and with it all patience."""
        end, seconds = self._fields[7:9]
        return seconds if end and time.monotonic() > end else None

    def time_left(self) -> float | None:
        """Return how many seconds are left before patience ends; None without a limit."""
        return self._fields[7] - time.monotonic() if self._fields[7] else None


#: Of this process, if it is a child that is watched, and which process that is.
_current: Whereabouts | None = None
_process = 0


#: Whether code of the user may be executed in a child; not if somebody follows it with a debugger.
_isolates = True


def stay_in_process() -> None:
    """Execute code of the user in this process from now on, and in no child of it."""
    global _isolates
    _isolates = False


def isolates() -> bool:
    """Tell whether code of the user is to be executed in a child."""
    return _isolates


def current_whereabouts() -> Whereabouts | None:
    """Return the page of this process; None if nobody watches it."""
    return _current


def tell_doing(what: str) -> None:
    """Tell what this process is doing, if somebody watches it."""
    if _current is not None:
        _current.say(what)


def tell_waiting(what: str) -> None:
    """Tell that this process only waits for one that the user wants to be started once, if somebody watches."""
    tell_doing(_WAITING + what)


@contextmanager
def preparing() -> Iterator[bool]:
    """Tell meanwhile that what this process does only makes something ready; give whether to do it at all.

    It is not to be done if it has ended the process before.  The same happens again where it belongs: in a run,
    of which the answer can speak.
    """
    page = _current
    if page is None:
        yield True
        return
    before = page.what
    if page.allows_preparing:
        page.say(_PREPARING + before)
    yield page.allows_preparing
    page.say(before)


def tell_run(seed: int) -> None:
    """Tell that an execution with this seed begins, if somebody watches."""
    end_copy()
    if _current is not None:
        _current.begin_run(seed)


def tell_event(number: int) -> None:
    """Tell that this event begins, of those of all schedules, if somebody watches."""
    end_copy()
    if _current is not None:
        _current.begin_event(number)


def tell_limit(seconds: float | None, patience: float = PATIENCE) -> None:
    """Tell how long this command may take, if somebody watches, who will end it ``patience`` seconds later."""
    if _current is not None and seconds is not None:
        _current.limit(seconds, patience)


def extend_limit(seconds: float) -> None:
    """Ask for so much time, for what has a limit of its own; a search has none to ask for."""
    if _current is not None:
        _current.extend(seconds)


def time_left() -> float | None:
    """Return after how many seconds somebody may end this process; None if nobody will."""
    return None if _current is None else _current.time_left()


def set_whereabouts(page: Whereabouts | None) -> None:
    """Tell from now on what this process, a new child, is doing."""
    global _current, _process
    _current, _process = page, _process_number()
    be_no_copy()
    if page is not None:
        page.belong_to_process()
        end_copies_on_return()


def end_copy() -> None:
    """End this process if it is a copy that the user's code forked and let return from its call.

    Otherwise there would be two of everything from there on: searches, answers, files.
    """
    if _current is not None and _process_number() != _process:
        leave_process(0)


def die_with(parent: int) -> None:
    """End this process, a new child, when the one that started it does, where the system can arrange that."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # it has already ended
            leave_process(0)
