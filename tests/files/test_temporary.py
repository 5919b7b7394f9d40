"""Folders that are there for the time of a command, and no longer."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from clew.files.temporary import temporary_folder

_PROGRAM = """
import sys, time
from clew.files.temporary import temporary_folder
with temporary_folder("gone-") as folder:
    (folder / "inside").write_text("x")
    print(folder, flush=True)
    time.sleep(60)
"""


def test_it_is_there_and_then_it_is_not() -> None:
    with temporary_folder("clew-test-") as folder:
        assert folder.is_dir() and folder.name.startswith("clew-test-")
        (folder / "a").mkdir()
        (folder / "a" / "b").touch()
    assert not folder.exists()


def test_it_is_removed_after_an_exception() -> None:
    with pytest.raises(KeyError), temporary_folder("clew-test-") as folder:
        raise KeyError
    assert not folder.exists()


@pytest.mark.parametrize("told", [signal.SIGTERM, signal.SIGKILL, signal.SIGINT])
def test_it_is_removed_whatever_ends_the_process(told: signal.Signals) -> None:
    with subprocess.Popen([sys.executable, "-c", _PROGRAM], stdout=-1, stderr=-1, text=True) as process:
        assert process.stdout is not None
        folder = Path(process.stdout.readline().strip())
        assert (folder / "inside").exists()
        process.send_signal(told)
        process.communicate(timeout=60)
    deadline = time.monotonic() + 30
    while folder.exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not folder.exists()
