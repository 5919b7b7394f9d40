"""What the user's code does to folder, permissions, streams and exits changes no answer and no file."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from command import clew

HOSTILE = '''
import ctypes, os, sys, time
from clew.simulation import Faults, Node, Scenario, Send, VirtualTime

class Passing(Node):
    """Passes a number to the other node, and does something to its surroundings at three."""

    def on_start(self, ctx):
        self.seen = 0

    def on_message(self, ctx, sender, message):
        self.seen = message
        if message < 6:
            ctx.send("b" if ctx.me == "a" else "a", message + 1)
        if message == 3:
            self.do()

def arrives(nodes):
    return None if any(node.seen == 6 for node in nodes.values()) else "six was not seen"

def passing(do, promise=arrives):
    kind = type("Doing", (Passing,), {"do": staticmethod(do)})
    return Scenario(nodes={"a": kind, "b": kind}, running=["a", "b"], before=[Send("a", 1)],
                    time=VirtualTime(until=5), promises=[promise], faults=Faults(losses=1))

def put_nothing_in_the_place_of_exits():
    sys.exit = os._exit = lambda *arguments: None

def ends(nodes):
    os._exit(0)

def wait():
    open("begun", "w").close()
    time.sleep(1)

def swallow():
    try:
        wait()
    except BaseException:
        pass

peaceful = passing(lambda: None)
leaves_folder = passing(lambda: os.chdir("/"))
permits_nothing = passing(lambda: os.umask(0o777))
takes_output = passing(lambda: setattr(sys, "stdout", None))
takes_errors = passing(lambda: setattr(sys, "stderr", None))
mocks_exits = passing(put_nothing_in_the_place_of_exits)
exits = passing(lambda: os._exit(0))
crashes = passing(lambda: ctypes.string_at(0))
begins_session = passing(os.setsid)  # which works once in a process
promise_exits = passing(lambda: None, ends)
waits = passing(wait)
swallows = passing(swallow)
'''

ELSEWHERE = """
import os
from pathlib import Path
from hostile import *

HERE = Path(__file__).parent / "sub"
os.chdir(HERE)

def look():
    assert Path.cwd() == HERE

def looks(nodes):
    look()

at_home = passing(look, looks)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("surroundings")
    (made / "hostile.py").write_text(HOSTILE)
    (made / "elsewhere.py").write_text(ELSEWHERE)
    (made / "sub").mkdir()
    return made


@pytest.mark.parametrize(
    "name", ["leaves_folder", "permits_nothing", "takes_output", "takes_errors", "mocks_exits"]
)
@pytest.mark.parametrize(("command", "code", "answer"), [("check", 1, "counterexample"), ("run", 0, "holds")])
def test_answer_and_files_are_what_they_are_without(
    name: str, command: str, code: int, answer: str, folder: Path, tmp_path: Path
) -> None:
    files = ["result.json", "rec.json"]
    options = ["--json", files[0], "-o", files[1]]
    usual = clew(command, "hostile.py:peaceful", *options, cwd=folder)
    for file in files:
        (folder / file).unlink()
    done = clew(command, f"hostile.py:{name}", *options, cwd=folder)
    assert (done.returncode, usual.returncode, done.stderr) == (code, code, "")
    assert done.stdout.replace(name, "peaceful") == usual.stdout
    for file in files:
        written = folder / file
        assert stat.S_IMODE(written.stat().st_mode) == 0o666 & ~_umask()
        json.loads(written.read_text())
        written.rename(tmp_path / file)
    assert json.loads((tmp_path / files[0]).read_text())["verdict"] == answer
    assert json.loads((tmp_path / files[1]).read_text())["files"] == ["hostile.py"]


def _umask() -> int:
    current = os.umask(0o077)
    os.umask(current)
    return current


def test_mocked_exits_do_not_make_a_violation_a_success(folder: Path) -> None:
    done = clew("fuzz", "hostile.py:mocks_exits", "--workers", "2", "--runs", "3", cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    lost = clew("run", "hostile.py:mocks_exits", "--lose", "a,b,int,2", cwd=folder)
    assert (lost.returncode, lost.stderr) == (1, "")


def test_code_is_executed_where_it_went_and_files_are_written_where_the_command_began(folder: Path) -> None:
    done = clew("check", "elsewhere.py:at_home", "-o", "there.json", "--checkpoint", "c.ck", cwd=folder)
    assert (done.returncode, done.stderr) == (3, "")  # nothing is found by lineage
    ran = clew("run", "elsewhere.py:at_home", "-o", "there.json", cwd=folder)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert json.loads((folder / "there.json").read_text())["files"] == ["elsewhere.py", "hostile.py"]
    replayed = clew("replay", "there.json", cwd=folder)
    assert (replayed.returncode, replayed.stdout.splitlines()[-1][:5]) == (0, "SAME:")
    assert list((folder / "sub").iterdir()) == []


@pytest.mark.parametrize(
    ("name", "how"), [("exits", "ended by itself (exit code 0)"), ("crashes", "was ended by SIGSEGV")]
)
def test_a_run_that_ends_its_process_is_violated_up_to_there(name: str, how: str, folder: Path) -> None:
    done = clew(
        "run", f"hostile.py:{name}", "-o", "end.json", "--json", "ran.json", "--report", "p.html", cwd=folder
    )
    broken = f"the process {how} in Passing.on_message at a, at event 4"
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert lines[0] == f"hostile.py:{name}: 2 deliveries in 3 events; 1 message is still under way."
    assert lines[-3:] == [
        f"VIOLATED: the process goes on at a: {broken}",
        "  recorded in end.json",
        "  replay:   clew replay end.json",
    ]
    ran = json.loads((folder / "ran.json").read_text())
    assert (ran["verdict"], ran["violation"]["what"]) == ("violated", broken)
    assert broken in (folder / "p.html").read_text()
    again = clew("replay", "end.json", cwd=folder)
    assert (again.returncode, again.stdout) == (1, f"STILL FAILS: {broken}.\n")


def test_a_run_that_comes_out_differently_the_second_time_is_refused(folder: Path) -> None:
    done = clew("run", "hostile.py:begins_session", cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: the same faults twice do not lead to the same execution\n")


@pytest.mark.parametrize("command", ["check", "run", "fuzz"])
def test_a_promise_that_ends_the_process_is_said_to_come_after_the_events(command: str, folder: Path) -> None:
    done = clew(command, "hostile.py:promise_exits", cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(
        "error: the process ended by itself (exit code 0) in the promise ends, after 7 events\n"
    )


# -- Ctrl-C ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["waits", "swallows"])
@pytest.mark.parametrize(
    "words",
    ["run {}", "check {}", "check {} --strategy exhaustive", "fuzz {} --runs 9", "explore {}", "replay {}"],
)
def test_an_interrupt_in_a_handler_is_nothing_that_the_handler_did(words: str, name: str, folder: Path) -> None:
    """It was a violation, exit code 1, or a lack of determinism, 2."""
    begun = folder / "begun"
    begun.unlink(missing_ok=True)
    given = f"hostile.py:{name}"
    if words.startswith("replay"):
        given = f"{name}.json"
        assert clew("run", f"hostile.py:{name}", "-o", given, cwd=folder).returncode == 0
        begun.unlink()
    with subprocess.Popen(
        [sys.executable, "-m", "clew", *words.format(given).split()],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        deadline = time.monotonic() + 60
        while not begun.exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=60)
    assert process.returncode == 3, (output, errors)
    assert output.startswith("INCOMPLETE: interrupted") or errors == "interrupted\n"
