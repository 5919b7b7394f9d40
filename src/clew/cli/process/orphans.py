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

from clew.files.naming import NAMER

_PR_SET_CHILD_SUBREAPER = 36
_POLL = 0.01
#: Seconds after which a process that cannot be killed is left alone.
_LONGEST = 5.0
#: Seconds, at least, for a file that is complete to get its name.
_NAMING = 1.0

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
        left := {child: called for child, called in _children().items() if child not in _others}
    ) and time.monotonic() < begun + _LONGEST:
        for child, called in left.items():
            with suppress(OSError):
                if time.monotonic() >= begun + (max(grace, _NAMING) if called == NAMER else grace):
                    os.kill(child, signal.SIGKILL)
                os.waitpid(child, os.WNOHANG)
        time.sleep(_POLL)


def _children() -> dict[int, str]:
    """Return the children of this process, and what each is called, also those that nobody has waited for."""
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except (OSError, AttributeError):  # there are none, which is the rule
        return {}
    found: dict[int, str] = {}
    parent = os.getpid()
    with suppress(OSError):
        for entry in Path("/proc").iterdir():
            if entry.name.isdecimal():
                with suppress(OSError):
                    text = (entry / "stat").read_text(encoding="utf-8", errors="replace")
                    called, _, fields = text.partition("(")[2].rpartition(")")
                    if int(fields.split()[1]) == parent:
                        found[int(entry.name)] = called
    return found
