"""A folder for the time of a command, which is gone after it whatever ends this process.

A child waits for that: it holds the other end of a pipe, whose end in this process is closed when the process
ends, also by ``kill -9``.  It is called as those are who give files their names, so that it can finish its work.
"""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkdtemp
from typing import NoReturn

from clew.budgets.copies import leave_process
from clew.files.naming import NAMER, fork_quietly


@contextmanager
def temporary_folder(prefix: str) -> Iterator[Path]:
    """Give a new folder, and remove it afterwards."""
    folder = Path(mkdtemp(prefix=prefix))
    reading, writing = os.pipe()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    try:
        child = fork_quietly()
        if child == 0:
            _be_remover(folder, reading, writing)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        os.close(reading)
    try:
        yield folder
    finally:
        # The child removes it, and is waited for: afterwards the folder is gone.
        os.close(writing)
        if child is not None:
            with suppress(ChildProcessError):
                os.waitpid(child, 0)
        shutil.rmtree(folder, ignore_errors=True)  # if there was no child, or somebody ended it


def _be_remover(folder: Path, reading: int, writing: int) -> NoReturn:
    """Be the child: no signal is let through, and nothing of the parent is executed whatever happens."""
    try:
        os.setsid()
        os.close(writing)
        with suppress(OSError):
            Path("/proc/self/comm").write_text(NAMER, encoding="ascii")
        # Nobody writes: it returns when the last process that could is gone.
        os.read(reading, 1)
        shutil.rmtree(folder, ignore_errors=True)
    finally:
        leave_process(0)
