"""Run a command for as long as whoever started this process lives: ``leash.py DIRECTORY COMMAND ...``.

The starter holds the other end of standard input. However it ends, Ctrl-C and SIGKILL included, that end closes;
then the command and the processes it has started are killed, and the directory they wrote to is removed.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path


def _remove(directory: Path) -> None:
    """Until it stays away: a process that is just ending may make it again."""
    away = 0
    for _ in range(100):
        away = 0 if directory.exists() else away + 1
        if away == 3:
            return
        shutil.rmtree(directory, ignore_errors=True)
        time.sleep(0.05)


def main(directory: Path, command: list[str]) -> None:
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, process_group=0)

    def until_the_starter_ends() -> None:
        while os.read(0, 1024):
            pass
        child.kill()

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: child.kill())
    threading.Thread(target=until_the_starter_ends, daemon=True).start()
    child.wait()
    with suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    _remove(directory)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
