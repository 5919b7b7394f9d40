"""Copies of a process that the user's code forks and lets return from the function that forked.

From there on there would be two of everything: searches, answers, files; and a function that is called for every
row would double them with each.  So a copy ends where it returns to code of Clew.  What is executed in it until
then is the user's business, and nothing is looked at in a process that has not been forked.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

#: Ends the process.  Bound before any code of the user runs: tests put something else in its place in ``os``, and
#: a child that went on would be a second command.
leave_process = os._exit

#: What is in here is ours, not the user's.
_CLEW = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep  # noqa: PTH100, PTH120

#: The hooks of a process cannot be taken back, and are inherited.
_hooked = False
#: In a copy, what looked for its end; with what was in its place.
_watching: tuple[Callable[..., None], Any] | None = None


def end_copies_on_return() -> None:
    """Let whatever this process forks from now on end where it returns to code of ours."""
    global _hooked
    if not _hooked and hasattr(os, "register_at_fork"):
        _hooked = True
        os.register_at_fork(after_in_child=_watch_return)


def be_no_copy() -> None:
    """Say that this process was forked by code of ours, which knows where it ends."""
    global _watching
    if _watching is not None and sys.getprofile() is _watching[0]:
        sys.setprofile(_watching[1])
    _watching = None


def _watch_return() -> None:
    """End this process, a new child, when the outermost function returns that code of ours has called."""
    global _watching
    frame: FrameType | None = sys._getframe(1)
    called = None
    while frame is not None and not frame.f_code.co_filename.startswith(_CLEW):
        called, frame = frame, frame.f_back
    if called is None or frame is None:  # ours, which ends by itself, or no code of ours is waiting for it
        return

    # A profiler and no look after each call: it costs nothing where nobody forks, and no call can be forgotten.
    def leave_at_return(returning: FrameType, event: str, argument: object) -> None:
        if event == "return" and returning is called:
            leave_process(0)

    _watching = leave_at_return, sys.getprofile()
    sys.setprofile(leave_at_return)
