"""Let a command, or this process, record what a class does, and hand over the folder with what was recorded."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import IO, NamedTuple

from clew.bloom.runtime.tap import observing
from clew.bloom.tracing.recording import ENVIRONMENT, Task, observers_of
from clew.budgets.whereabouts import tell_doing, tell_waiting
from clew.errors import UsageError
from clew.files.temporary import temporary_folder

#: Seconds that a command has to end by itself, after a second Ctrl-C or at its time limit.
_GRACE = 2.0
#: And between two looks at whether it has ended.
_POLL = 0.02
#: Interrupts within so many seconds are one: of the terminal, and of the process that watches this one.
_SAME = 0.3


class Ended(NamedTuple):
    """How a command ended: its exit code (negative for a signal), and whether it was ended at its time limit."""

    code: int
    is_late: bool = False


@contextmanager
def recorded(
    task: Task, command: Sequence[str], stdout: IO[bytes] | int | None = None, seconds: float | None = None
) -> Iterator[tuple[Ended, Path]]:
    """Run a command, for so many seconds at most; give how it ended, and the folder of the recordings.

    ``task`` has no folder yet.  ``stdout``: where what it prints goes, if not to that of this process.
    """
    with temporary_folder("clew-cover-") as folder:
        environment = {**os.environ, ENVIRONMENT: replace(task, folder=str(folder)).to_text()}
        # It may do what must not be done twice, such as to deploy something; and it may end this process at once.
        tell_waiting("while it waited for the command")
        try:
            process = subprocess.Popen(command, env=environment, stdout=stdout, preexec_fn=_begin_as_from_a_shell)
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            raise UsageError(
                f"{command[0]!r} cannot be run ({reason})", remedy="give a command after --: -- pytest tests"
            ) from None
        ended = _wait(process, seconds)
        tell_doing("")
        yield ended, folder


@contextmanager
def recorded_here(task: Task) -> Iterator[Path]:
    """Record what this process does in the block, and those that it starts; give the folder of the recordings."""
    with temporary_folder("clew-cover-") as folder:
        here = replace(task, folder=str(folder))
        with ExitStack() as stack:
            for observer in observers_of(here):
                stack.enter_context(observing(observer))
            os.environ[ENVIRONMENT] = here.to_text()
            try:
                yield folder
            finally:
                os.environ.pop(ENVIRONMENT, None)


def _wait(process: subprocess.Popen[bytes], seconds: float | None) -> Ended:
    latest = None if seconds is None else time.monotonic() + seconds
    interrupted = None
    while True:
        try:
            while not _has_ended(process):
                if latest is not None and time.monotonic() >= latest:
                    return Ended(_end(process), is_late=True)
                time.sleep(_POLL)
            mask = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
            break
        except KeyboardInterrupt:
            # Ctrl-C goes to the command, too, which may need its time to end, or be meant to go on until then.
            interrupted = interrupted or time.monotonic()
            if time.monotonic() - interrupted > _SAME:
                return Ended(_end(process))
    try:
        return Ended(process.wait())
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def _has_ended(process: subprocess.Popen[bytes]) -> bool:
    """Tell whether it has ended, and leave its exit code to be asked for.

    Not by ``Popen.wait``: an interrupt that comes when it has just taken its lock leaves that taken, and whoever
    waits again waits for ever.
    """
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _end(process: subprocess.Popen[bytes]) -> int:
    # It may want to write down its results, as pytest does.
    process.terminate()
    try:
        return process.wait(_GRACE)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.wait()


def _begin_as_from_a_shell() -> None:
    """Give the command the signals and the memory that it would have without Clew, which limits its own."""
    # A mask is inherited, and who watches this process waits for signals that it blocks.
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    with suppress(ImportError, OSError, ValueError, AttributeError):
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (hard, hard))


def describe_end(code: int) -> str:
    """Return how a command ended, in words."""
    if code >= 0:
        return f"ended with exit code {code}"
    with suppress(ValueError):
        return f"was ended by {signal.Signals(-code).name}"
    return f"was ended by signal {-code}"
