"""Where in the user's files a process is: found from outside, or written down line by line.

A process that is stuck in C code can still say where: Python's fault handler writes the stack from within a signal
handler, without the interpreter's lock.  One that is gone cannot; if it ends the same way when everything is done
again, with each line of the user's files written down before it is executed, the last one is the place.
"""

from __future__ import annotations

import faulthandler
import os
import re
import signal
import sys
import threading
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

from clew.budgets.whereabouts import Whereabouts

#: Asks a process for its stack; nothing else of ours uses it.
_SIGNAL = getattr(signal, "SIGUSR2", None)
_FRAME = re.compile(r'  File "(.*)", line (\d+) in (.*)')
#: What is in here is ours.
_CLEW = str(Path(__file__).resolve().parents[2])
#: Seconds for an answer to begin, and for more of it to come.
_SECONDS, _MORE_SECONDS = 0.5, 0.05
_MOST_BYTES = 1_000_000


@cache
def is_of_user(file: str) -> bool:
    """Tell whether a file of code is neither Clew's nor part of what is installed."""
    if file.startswith("<"):
        return False
    import sysconfig  # hardly ever needed, and a cold start should not pay for it

    paths = sysconfig.get_paths()
    installed = {_CLEW, *(paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib", "scripts"))}
    return not any(os.path.abspath(file).startswith(folder + os.sep) for folder in installed)  # noqa: PTH100


def show_place(function: str, file: str, line: int) -> str:
    """Name a line as the user would: seen from the working directory, if it is below."""
    here = os.getcwd() + os.sep  # noqa: PTH109
    shown = file.removeprefix(here)
    return f"{function} at {shown}:{line}"


# -- asked from outside ------------------------------------------------------------------------------------------


class StackPipe:
    """On which a child writes its stack when it is asked to."""

    def __init__(self) -> None:
        self._reading, self._writing = os.pipe()
        os.set_blocking(self._writing, False)

    def answer_signals(self) -> None:
        """Answer in the child, from now on."""
        os.close(self._reading)
        if _SIGNAL is not None:
            faulthandler.register(_SIGNAL, file=self._writing, all_threads=True)

    def ask(self, child: int) -> str | None:
        """Return the innermost line of the user's files that a child executes, if it executes one."""
        if _SIGNAL is None:
            return None
        import select

        os.kill(child, _SIGNAL)
        stack, seconds = b"", _SECONDS
        while len(stack) < _MOST_BYTES and select.select([self._reading], [], [], seconds)[0]:
            part = os.read(self._reading, 65536)
            if not part:
                break
            stack += part
            seconds = _MORE_SECONDS
        found = (_FRAME.fullmatch(line) for line in stack.decode("ascii", "replace").splitlines())
        users = (match for match in found if match is not None and is_of_user(match[1]))
        match = next(users, None)
        return None if match is None else show_place(match[3], match[1], int(match[2]))

    def close(self) -> None:
        """Give back what the system has given."""
        os.close(self._reading)
        os.close(self._writing)


# -- written down line by line -----------------------------------------------------------------------------------


def trace_lines(page: Whereabouts) -> None:
    """Write down, in a child, every line of the user's files before it is executed, which is slow."""

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        if not is_of_user(frame.f_code.co_filename):
            return None
        before = page.what

        def follow(frame: FrameType, event: str, argument: Any) -> Any:
            if event == "return":
                page.say(before)
            elif event == "line":
                tell(frame)
            return follow

        tell(frame)
        return follow

    def tell(frame: FrameType) -> None:
        code = frame.f_code
        page.say(_TRACED + show_place(code.co_name, code.co_filename, frame.f_lineno))

    threading.settrace(trace)
    sys.settrace(trace)


#: Before a place on the page, to tell it from anything else that is said there.
_TRACED = "\0"


def read_traced_place(page: Whereabouts) -> str | None:
    """Return the line that was written down last, if the process ended in one."""
    what = page.what
    return what.removeprefix(_TRACED) if what.startswith(_TRACED) else None
