"""A process of its own for requests, with nothing of this one in it: below a worker of an executor.

What an executor calls runs wherever that puts it: in a thread beside others, in a process that must go on.  The
user's code may end its process or never come back from C code, so it is executed one process further down, which
is a new interpreter: a fork of a process with threads could wait for ever for a lock that one of them held.
"""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from multiprocessing import Pipe
from pathlib import Path

from clew.budgets.whereabouts import Whereabouts
from clew.workers.processes import ServingProcess

#: Not with "-m": what is defined in ``__main__`` would be unknown by that name to the other side.
_BEGIN = "from clew.workers.serving import begin; begin()"
_PATIENCE_SECONDS = 5.0


class FreshProcess(ServingProcess):
    """An interpreter that serves requests, as ``serving`` says."""

    def __init__(self) -> None:
        self.connection, theirs = Pipe()
        # Nothing of the user's is in there; what it holds is gone with the process, if that is ended properly.
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        # A file, and not memory of this process: another program is started, which inherits open files only.
        with tempfile.TemporaryFile() as file, theirs:
            self.page = Whereabouts(file.fileno())
            passed = (theirs.fileno(), file.fileno())
            command = [sys.executable, "-P", "-c", _BEGIN, *map(str, (*passed, os.getpid()))]
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=2,  # what the user's code prints is no answer of the process it is below
                pass_fds=passed,
                # Wherever this process has found Clew and the libraries, it finds them, too.
                env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
                start_new_session=True,  # Ctrl-C is for whoever hands out
            )

    def place_files(self, files: Mapping[str, bytes]) -> str:
        """Write files into a folder that goes when this process does; return its name."""
        self._folder = tempfile.TemporaryDirectory(prefix="clew-")
        root = Path(self._folder.name)
        for name, content in files.items():
            path = root / name
            # The names come from whoever hands out; a mistake there must not write elsewhere.
            if not path.resolve().is_relative_to(root.resolve()):
                raise OSError(errno.EPERM, f"'{name}' is not below the folder of the scenario")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        return self._folder.name

    @property
    def has_ended(self) -> bool:
        return self._process.poll() is not None

    @property
    def has_left(self) -> bool:
        """Tell whether it ended because nobody asked anything for a while."""
        self.page.read()
        return self.page.code is not None

    def wait_for_end(self, seconds: float) -> int | None:
        try:
            return self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def end(self) -> None:
        self._process.kill()
        self.wait_for_end(_PATIENCE_SECONDS)
        self.connection.close()
        if self._folder is not None:
            self._folder.cleanup()
