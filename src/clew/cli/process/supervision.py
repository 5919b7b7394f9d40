"""Commands that execute the user's code do so in a child process, and this one says what became of it.

Whatever that code does to its process (``os._exit``, ``execv``, a segmentation fault, a signal to itself, a
regular expression that never comes back), the answer comes from here, where none of it is executed.  A child that
comes to the end of its command says so (``Whereabouts.finish``); any other end is a finding, or an error before
the first event.  To find out where a run ended its process, another child executes it and writes down every call;
where there are no runs (Bloom functions, files that are loaded), every line of the user's (``places``).
"""

from __future__ import annotations

import math
import os
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn

from clew.budgets.copies import leave_process
from clew.budgets.whereabouts import (
    PATIENCE,
    ProcessEnd,
    Whereabouts,
    describe_end,
    describe_moment,
    die_with,
    set_whereabouts,
)
from clew.cli.process.ending import SURROUNDINGS_HINT
from clew.cli.process.orphans import adopt_orphans, end_orphans
from clew.cli.process.places import StackPipe, read_traced_place, trace_lines
from clew.cli.process.state import IN_PROCESS, CommandState
from clew.cli.process.streams import keep_streams, warn
from clew.results import BAD_INPUT, FAILED, INCOMPLETE, VIOLATED

_POLL = 0.25
#: Seconds for processes that the user's code has started, to end by themselves after a command that has.
_GRACE = 0.5
#: Seconds, at most, for finding out in which line a process ends that ended by itself; or so many times as long as
#: it took the first time, if that is less.
_TRACING_SECONDS = 60.0
_SLOWER = 20
_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP", "SIGCHLD")

#: Performs the command line with a state, and does not return.
Perform = Callable[[CommandState], object]


def supervise(perform: Perform, *, of_user: bool) -> None:
    """Perform a command in a child and end with its exit code, or with what its death says.

    ``of_user``: whether code of the user is executed; if not, a child that dies is a failure of Clew.
    It returns where the system has no way to do that.
    """
    if not hasattr(os, "fork") or not hasattr(signal, "sigtimedwait"):
        if of_user:
            warn("warning: this system cannot fork a process: your code runs in the process of the command")
        return
    page = Whereabouts()
    adopt_orphans()
    begun = time.monotonic()
    ended = _run_child(perform, CommandState(), page)
    if page.code is None and ended.late is None and page.is_preparing:
        page.allows_preparing = False
        page.clear()
        ended = _run_child(perform, CommandState(), page)
    if page.code is not None:
        if page.untold:
            warn(page.untold)
        leave_process(page.code)
    taken = time.monotonic() - begun
    if ended.late is None and (page.waiting or not of_user):
        leave_process(_fail(ended, page.waiting))
    leave_process(_conclude(perform, ended, page, taken))


@dataclass(frozen=True)
class _Ended:
    """A child that did not come to the end of its command.

    ``how``: in words.  ``late``: seconds of a time limit that it did not keep, ``stuck``: of a step.
    ``place``: the line of the user's that was being executed.
    """

    how: str
    late: float | None = None
    stuck: float | None = None
    place: str | None = None


def _conclude(perform: Perform, ended: _Ended, page: Whereabouts, taken: float) -> int:
    """Say what the end of a child means."""
    if ended.late is not None:
        where = f", in {ended.place}" if ended.place is not None else ""
        warn(f"INCOMPLETE: the time limit of {ended.late:g} s ran out{where}")
        return INCOMPLETE
    doing, seed = page.what, page.seed
    if seed is None:
        return _refuse(ended, _where(perform, page, doing, min(_TRACING_SECONDS, _SLOWER * taken)))
    # It is known which run it was; where in it is found by executing it once more.
    page.clear()
    again = _run_child(perform, CommandState(retrace=seed), page)
    if page.code is not None:
        if page.code in (BAD_INPUT, FAILED):
            return page.code  # it has said why
        warn(
            f"error: the process {ended.how} in the run with seed {seed}, but not when that was executed again\n"
            "  remedy: the code is not deterministic; it must depend on state, message and context only"
        )
        return BAD_INPUT
    if again.late is not None:
        warn(f"error: the process {ended.how} in the run with seed {seed}; there was no time to see where in it")
        return BAD_INPUT
    end = ProcessEnd(again.how, page.what, seed, page.event, page.performed)
    if again.stuck is not None or end.event < 1:
        return _refuse(again, f"in {end.what}, {describe_moment(end.event)}")
    page.clear()
    _run_child(perform, CommandState(end=end), page)
    if page.code is not None:
        return page.code
    warn(f"VIOLATION: {end}, in the run with seed {seed}.")
    return VIOLATED


def _where(perform: Perform, page: Whereabouts, doing: str, seconds: float) -> str:
    """Say where a process ended that ended outside of any run: in which line, if it does so again."""
    page.clear()
    _run_child(perform, CommandState(trace_lines=True), page, seconds)
    place = read_traced_place(page) if page.code is None else None
    if place is None:
        return doing or "before the first event"
    return f"{doing}, in {place}" if doing.startswith("while ") else f"in {place}"


def _fail(ended: _Ended, doing: str) -> int:
    """Report that a library of Clew ended the process, as some do where memory runs out, or somebody else did.

    ``doing``: what it did when no code of the user was executed in it.
    """
    warn(f"clew failed: its process {' '.join((ended.how, doing)).rstrip()}\n  {SURROUNDINGS_HINT}")
    return FAILED


def _refuse(ended: _Ended, where: str) -> int:
    if ended.stuck is not None:
        warn(
            f"error: {where}: your code has not returned for {ended.stuck:g} s, and nothing can interrupt it\n"
            "  remedy: let it end; if it only needs longer, give the scenario a larger step_seconds"
        )
    else:
        warn(
            f"error: the process {ended.how} {where}\n"
            f"  remedy: let no code end the process it runs in; with {IN_PROCESS} a debugger can follow it"
        )
    return BAD_INPUT


# -- children ----------------------------------------------------------------------------------------------------


def _run_child(perform: Perform, state: CommandState, page: Whereabouts, most: float = math.inf) -> _Ended:
    """Execute the command in a child until it ends or has to be ended, for at most so many seconds."""
    sys.stdout.flush()
    sys.stderr.flush()
    waited = {getattr(signal, name) for name in _SIGNALS if hasattr(signal, name)}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, waited)
    # A shell lets jobs in the background ignore it, and what is ignored cannot be waited for.
    ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    if ignored:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    pipe, parent = StackPipe(), os.getpid()
    child = os.fork()
    if not child:
        die_with(parent)
        pipe.answer_signals()
        if ignored:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        _be_child(perform, state, page, before)
    try:
        return _watch(child, page, pipe, waited, time.monotonic() + most)
    finally:
        end_orphans(_GRACE if page.code is not None else 0)
        pipe.close()
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _be_child(perform: Perform, state: CommandState, page: Whereabouts, mask: set[int]) -> NoReturn:
    code = FAILED
    try:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)  # from here on, a signal that has waited gets through
        set_whereabouts(page)
        if state.repeats:
            _silence(state)
        if state.retrace is not None:
            from clew.simulation.execution.watchdog import trace_calls  # a cold start should not pay for it

            trace_calls(page)
        if state.trace_lines:
            trace_lines(page)
        keep_streams(state)
        perform(state)
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else FAILED
    except KeyboardInterrupt:  # before the command listens
        warn("interrupted")
        code = INCOMPLETE
    except BaseException as failure:
        warn(f"clew failed: {type(failure).__name__}: {failure}")
    page.finish(code)
    leave_process(code)


def _silence(state: CommandState) -> None:
    """Print no answer; what the tracing of lines says has all been said, but not why a run cannot be repeated."""
    null = os.open(os.devnull, os.O_WRONLY)
    for number in (1, 2) if state.trace_lines else (1,):
        os.dup2(null, number)
    os.close(null)


def _watch(child: int, page: Whereabouts, pipe: StackPipe, waited: set[signal.Signals], latest: float) -> _Ended:
    """Wait for the end of a child; pass on what this process is told to do."""
    late = stuck = None
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            page.read()
            return _Ended(describe_end(os.waitstatus_to_exitcode(status)), late, stuck)
        told = signal.sigtimedwait(waited, _POLL)
        if told is not None:
            _pass_on(told, child)
        page.read()
        late, stuck = page.overdue(), page.stuck_for(PATIENCE)
        if late is not None or stuck is not None or time.monotonic() > latest:
            place = pipe.ask(child) if late is not None else None
            os.kill(child, signal.SIGKILL)
            _, status = os.waitpid(child, 0)
            page.read()  # it may have come to its end at the last moment
            return _Ended(describe_end(os.waitstatus_to_exitcode(status)), late, stuck, place)


def _pass_on(told: signal.struct_siginfo, child: int) -> None:
    if told.si_signo == signal.SIGINT:
        # From a terminal it has gone to all of its processes; from "kill", only to this one.
        if told.si_code <= 0:
            os.kill(child, signal.SIGINT)
    elif told.si_signo != signal.SIGCHLD:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        end_orphans(0)
        signal.signal(told.si_signo, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {told.si_signo})
        os.kill(os.getpid(), told.si_signo)
