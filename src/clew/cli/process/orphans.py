"""Processes that the user's code has started do not outlive the command.

One of them would keep its standard output open, so that whoever reads that waits for it, long after a time limit.
Linux gives a process whose parent has ended to the nearest ancestor that asks for that: here, to the supervisor.
"""

from __future__ import annotations

import ctypes
import os
import signal
import time
from contextlib import suppress
from pathlib import Path

_PR_SET_CHILD_SUBREAPER = 36
_POLL = 0.01
#: Seconds after which a process that cannot be killed is left alone.
_LONGEST = 5.0

#: Children that this process had before it was a command: a shell starts those of ``<(...)``, then becomes it.
_others: set[int] = set()


def adopt_orphans() -> None:
    """Become the parent of whatever the children of this process leave behind, where the system can do that."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1)
    _others.update(_children())


def end_orphans(grace: float) -> None:
    """End what is left of the children of this process, and of theirs, if it has not ended after some seconds."""
    begun = time.monotonic()
    while (
        left := [child for child in _children() if child not in _others]
    ) and time.monotonic() < begun + _LONGEST:
        for child in left:
            with suppress(OSError):
                if time.monotonic() >= begun + grace:
                    os.kill(child, signal.SIGKILL)
                os.waitpid(child, os.WNOHANG)
        time.sleep(_POLL)


def _children() -> list[int]:
    """Return the children of this process, also those that have ended and nobody has waited for."""
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except (OSError, AttributeError):  # there are none, which is the rule
        return []
    found, parent = [], os.getpid()
    with suppress(OSError):
        for entry in Path("/proc").iterdir():
            if entry.name.isdecimal():
                with suppress(OSError):
                    fields = (
                        (entry / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
                    )
                    if int(fields[1]) == parent:
                        found.append(int(entry.name))
    return found
