"""A file that is complete gets its name, whoever is killed meanwhile."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from clew.files import naming
from clew.files.writing import write_whole

#: Writes a file that exists; of whoever links the new one to its first name, the parent is killed at once.
KILLED_BETWEEN = """
import os, time
from clew.files import naming
from clew.files.writing import write_whole
link = os.link
def kill_parent(*names, **more):
    link(*names, **more)
    if str(names[1]).endswith(naming.SUFFIX):
        os.kill(os.getppid(), 9)
        time.sleep(0.2)
os.link = kill_parent
write_whole("verdict.json", "new")
"""
#: The same, but the child is killed, right after the link or after the renaming.
CHILD_KILLED = """
import os, signal
from clew.files.writing import write_whole
parent, {call} = os.getpid(), os.{call}
def end_child(*names, **more):
    {call}(*names, **more)
    if os.getpid() != parent:
        os.kill(os.getpid(), 9)
os.{call} = end_child
write_whole("verdict.json", "new")
"""


def test_a_writer_that_is_killed_between_naming_and_renaming_leaves_the_whole_new_file(tmp_path: Path) -> None:
    path = tmp_path / "verdict.json"
    path.write_text("old", encoding="utf-8")
    done = subprocess.run([sys.executable, "-c", KILLED_BETWEEN], cwd=tmp_path, check=False)
    assert done.returncode == -signal.SIGKILL
    deadline = time.monotonic() + 30
    while path.read_text(encoding="utf-8") == "old" and time.monotonic() < deadline:
        time.sleep(0.01)
    assert path.read_text(encoding="utf-8") == "new"
    assert [file.name for file in tmp_path.iterdir()] == ["verdict.json"]


@pytest.mark.parametrize("call", ["link", "replace", "setsid"])
def test_a_child_that_is_killed_is_replaced(tmp_path: Path, call: str) -> None:
    path = tmp_path / "verdict.json"
    path.write_text("old", encoding="utf-8")
    subprocess.run([sys.executable, "-c", CHILD_KILLED.format(call=call)], cwd=tmp_path, check=True)
    assert path.read_text(encoding="utf-8") == "new"
    assert [file.name for file in tmp_path.iterdir()] == ["verdict.json"]


def test_where_there_can_be_no_more_processes_the_writer_names_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse() -> int:
        raise BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")

    path = tmp_path / "verdict.json"
    path.write_text("old", encoding="utf-8")
    monkeypatch.setattr("os.fork", refuse)
    write_whole(path, "new")
    assert path.read_text(encoding="utf-8") == "new"
    assert [file.name for file in tmp_path.iterdir()] == ["verdict.json"]


def test_a_name_that_cannot_be_replaced_is_told_as_the_system_tells_it(tmp_path: Path) -> None:
    handle = os.open(tmp_path, os.O_TMPFILE | os.O_RDWR)
    folder = tmp_path / "folder"
    folder.mkdir()
    try:
        with pytest.raises(IsADirectoryError):
            naming.name_file(handle, folder)
    finally:
        os.close(handle)
    assert [file.name for file in tmp_path.iterdir()] == ["folder"]


def test_signals_are_let_through_again_and_no_child_is_left(tmp_path: Path) -> None:
    """In a process of its own: this one may have children of other tests."""
    program = """
import os, signal
from clew.files.writing import write_whole
before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
write_whole("verdict.json", "old")
write_whole("verdict.json", "new")
assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == before
try:
    os.waitpid(-1, os.WNOHANG)
except ChildProcessError:
    print("no child")
"""
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, check=True, capture_output=True, text=True
    )
    assert done.stdout == "no child\n"


def test_who_ends_the_processes_of_a_command_lets_a_file_get_its_name(tmp_path: Path) -> None:
    """In a process of its own, which then has the two children: one that names files, and one of the user's."""
    program = f"""
import os, sys, time
from pathlib import Path
from clew.cli.process.orphans import adopt_orphans, end_orphans
adopt_orphans()
for name in ("{naming.NAMER}", "of-the-user"):
    if os.fork() == 0:
        Path("/proc/self/comm").write_text(name)
        time.sleep(0.3)
        Path(name).touch()
        os._exit(0)
time.sleep(0.1)
end_orphans(0)
"""
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=True)
    assert [file.name for file in tmp_path.iterdir()] == [naming.NAMER]
