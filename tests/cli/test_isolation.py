"""The user's code cannot silence the tool: whatever ends its process is a finding, or an error with its place."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from command import ROOT, clew

HOSTILE = '''
import ctypes, os, re, signal, sys, time
from clew.simulation import Node, Scenario, Send

class Passing(Node):
    """Passes a number to the other node, and does something evil at five."""

    def on_message(self, ctx, sender, message):
        if message < 6:
            ctx.send("b" if ctx.me == "a" else "a", message + 1)
        if message == 5:
            self.evil()

def passing(evil, **more):
    kind = type("Evil", (Passing,), {"evil": staticmethod(evil)})
    return Scenario(nodes={"a": kind, "b": kind}, running=["a", "b"], before=[Send("a", 1)], **more)

def exhaust(error):
    raise error

exits = passing(lambda: os._exit(0))
execs = passing(lambda: os.execv("/bin/true", ["true"]))
crashes = passing(lambda: ctypes.string_at(0))
kills = passing(lambda: os.kill(os.getpid(), signal.SIGKILL))
silences = passing(lambda: setattr(sys, "stdout", None))
generator = passing(lambda: exhaust(GeneratorExit))
interrupt = passing(lambda: exhaust(KeyboardInterrupt))
stuck = passing(lambda: re.match(r"(a+)+$", "a" * 50 + "b"), step_seconds=0.2)
class Late(Node):
    """Ends its process in some runs, in the first of them slowly."""

    def on_message(self, ctx, sender, message):
        coin = ctx.random.randrange(1 << 30)
        if coin % 5 == 0:
            time.sleep(0.3 if coin % 10 else 0)
            os._exit(3)

late = Scenario(nodes={"a": Late}, running=["a"], before=[Send("a", 1)])
def close_all():
    os.closerange(0, 1000)

def close_low():
    os.closerange(0, 256)

def close_streams():
    sys.stdout.close()
    sys.stderr.close()

def redirect():
    os.dup2(os.open("/dev/full", os.O_WRONLY), 1)

def daemonize():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(60)
        os._exit(0)

def fork_and_leave():
    if os.fork() != 0:
        os._exit(0)

no_errors = passing(lambda: setattr(sys, "stderr", None))
closes_streams, closes_low, closes_all = passing(close_streams), passing(close_low), passing(close_all)
redirects = passing(redirect)
forks, leaves = passing(lambda: os.fork() and None), passing(fork_and_leave)
daemon = passing(daemonize)
sleeps = passing(lambda: os.system("sleep 60"))
hungry = passing(lambda: bytearray(4 << 30))

class Starting(Node):
    def on_start(self, ctx):
        os._exit(0)

starts = Scenario(nodes={"a": Starting}, running=["a"], before=[Send("a", 1)])

def looks(nodes):
    if os.environ.get("EVIL") == "look":
        os._exit(0)

invariant = Scenario(nodes={"a": Node}, running=["a"], before=[Send("a", 1)], invariants=[looks])
'''

SCHEDULE = """\
      1. send int to a
      2. deliver int from outside to a
      3. deliver int from a to b
      4. deliver int from b to a
      5. deliver int from a to b
      6. deliver int from b to a
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("hostile")
    (made / "h.py").write_text(HOSTILE)
    (made / "imports.py").write_text("import os\nos._exit(0)\n")
    return made


@pytest.mark.parametrize(
    ("name", "how"),
    [
        ("exits", "ended by itself (exit code 0)"),
        ("execs", "ended by itself (exit code 0)"),
        ("crashes", "was ended by SIGSEGV"),
        ("kills", "was ended by SIGKILL"),
    ],
)
def test_what_ends_the_process_is_a_finding_with_its_recording(name: str, how: str, folder: Path) -> None:
    recording = folder / f"{name}.json"
    done = clew("fuzz", f"h.py:{name}", "--runs", "3", "-o", recording.name, cwd=folder)
    what = f"the process {how} in Passing.on_message at a, at event 6"
    assert done.returncode == 1
    assert done.stdout.startswith(f"VIOLATION: {what}, in the run with seed 0.\n{SCHEDULE}")
    document = json.loads(recording.read_text())
    assert len(document["steps"]) == 7  # one of them waits
    assert document["violation"]["what"] == what
    again = clew("replay", recording.name, cwd=folder)
    assert (again.returncode, again.stdout) == (1, f"STILL FAILS: {what}.\n")
    smaller = clew("minimize", recording.name, cwd=folder)
    assert smaller.returncode == 2 and "the recording ends its process" in smaller.stderr


def test_with_workers_the_first_run_that_ends_its_process_is_found(folder: Path) -> None:
    done = clew("fuzz", "h.py:exits", "--runs", "9", "--workers", "2", cwd=folder)
    assert (done.returncode, done.stdout.splitlines()[0]) == (
        1,
        "VIOLATION: the process ended by itself (exit code 0) in Passing.on_message at a, at event 6, "
        "in the run with seed 0.",
    )
    late = clew("fuzz", "h.py:late", "--runs", "40", "--workers", "3", cwd=folder)
    assert late.stdout.splitlines()[0].endswith("at event 2, in the run with seed 1."), late.stderr


def test_exploring_shows_the_schedule_and_records_it(folder: Path) -> None:
    explored = clew("explore", "h.py:exits", "-o", "explored.json", cwd=folder)
    assert explored.returncode == 1
    what = "the process ended by itself (exit code 0) in Passing.on_message at a, at event 6"
    assert explored.stdout.startswith(f"VIOLATION: {what}.\n  schedule:\n{SCHEDULE}  recorded in explored.json\n")
    again = clew("replay", "explored.json", cwd=folder)
    assert (again.returncode, again.stdout) == (1, f"STILL FAILS: {what}.\n")


@pytest.mark.parametrize("name", ["generator", "interrupt"])
def test_whatever_a_handler_raises_is_a_finding(name: str, folder: Path) -> None:
    done = clew("fuzz", f"h.py:{name}", "--runs", "3", cwd=folder)
    assert done.returncode == 1
    assert done.stdout.startswith("VIOLATION: no uncaught exception at a, after 5 deliveries")


def test_standard_output_cannot_be_taken_away(folder: Path) -> None:
    done = clew("fuzz", "h.py:silences", "--runs", "3", cwd=folder)
    assert done.returncode == 0
    assert done.stdout.startswith("NO VIOLATION in these runs.")


@pytest.mark.parametrize("name", ["no_errors", "closes_streams", "closes_low", "redirects", "forks"])
@pytest.mark.parametrize("command", ["fuzz", "explore"])
def test_what_happens_to_the_streams_or_a_copy_of_the_process_does_not_matter(
    command: str, name: str, folder: Path
) -> None:
    done = clew(command, f"h.py:{name}", *(["--runs", "1"] if command == "fuzz" else []), cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("NO VIOLATION") and done.stdout.count("NO VIOLATION") == 1


def test_if_nothing_is_left_to_print_to_the_supervisor_says_so(folder: Path) -> None:
    done = clew("fuzz", "h.py:closes_all", "--runs", "1", cwd=folder)
    assert (done.returncode, done.stdout) == (4, "")
    assert (
        done.stderr.startswith("clew failed: OSError: [Errno 9]") and "no answer about your program" in done.stderr
    )


def test_a_copy_of_the_process_does_not_take_its_place(folder: Path) -> None:
    done = clew("fuzz", "h.py:leaves", "--runs", "3", cwd=folder)
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith(
        "VIOLATION: the process ended by itself (exit code 0) in Passing.on_message at a, at event 6,"
    )


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are found there")
@pytest.mark.parametrize(("name", "code"), [("daemon", 0), ("sleeps", 3)])
def test_processes_that_the_code_starts_end_with_the_command(name: str, code: int, folder: Path) -> None:
    begun = time.monotonic()
    # Its reader would wait for them: they have the same standard output.
    done = clew("fuzz", f"h.py:{name}", "--runs", "1", "--time-limit", "2", cwd=folder)
    assert (done.returncode, time.monotonic() - begun < 50) == (code, True)


def test_memory_is_a_finding_with_the_handler_that_asked_for_it(folder: Path) -> None:
    done = clew("fuzz", "h.py:hungry", "--runs", "1", "--memory-limit", "1G", cwd=folder)
    assert done.returncode == 1
    assert done.stdout.splitlines()[1] == "  MemoryError (in <lambda>)"


@pytest.mark.parametrize("workers", ["1", "2"])
def test_c_code_that_never_returns_is_ended_from_outside(workers: str, folder: Path) -> None:
    # Who watches waits for seconds more than a step may take, in case the machine is busy.
    impatient = (
        "import clew.cli.process.supervision as one, clew.workers.processes as other\n"
        "one.PATIENCE = other._PATIENCE_SECONDS = 0.8"
    )
    done = clew("fuzz", "h.py:stuck", "--runs", "3", "--workers", workers, cwd=folder, change=impatient)
    assert done.returncode == 2
    assert done.stderr.startswith(
        "error: in Passing.on_message at a, event 6: your code has not returned for 0.2 s, and nothing can"
    )


def test_before_the_first_event_it_is_an_error(folder: Path) -> None:
    started = clew("fuzz", "h.py:starts", cwd=folder)
    assert started.returncode == 2
    assert started.stderr.startswith(
        "error: the process ended by itself (exit code 0) in Starting.on_start at a, before the first event"
    )
    looked = clew("explore", "h.py:invariant", cwd=folder, EVIL="look")
    assert looked.returncode == 2 and "in an invariant, before the first event" in looked.stderr
    for command in ("fuzz", "explore", "check", "run", "calm", "blazes"):
        done = clew(command, "imports.py", cwd=folder)
        assert done.returncode == 2, command
        assert done.stderr.startswith("error: the process ended by itself (exit code 0) while loading imports.py")
        assert done.stdout == ""


def test_in_process_is_for_debuggers(folder: Path) -> None:
    assert clew("fuzz", "h.py:exits", "--in-process", cwd=folder).returncode == 0  # nobody is there to say more
    assert "NO VIOLATION" in clew("fuzz", "h.py:silences", "--runs", "2", "--in-process", cwd=folder).stdout


# -- signals -----------------------------------------------------------------------------------------------------


def children(process: int) -> list[int]:
    listed = Path(f"/proc/{process}/task/{process}/children")
    return [int(word) for word in listed.read_text().split()] if listed.exists() else []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_signal_ends_the_command_and_its_child(number: signal.Signals, folder: Path) -> None:
    begun = subprocess.Popen(
        [sys.executable, "-m", "clew", "fuzz", str(ROOT / "examples/lock/lock.py:careful"), "--runs", "1000000"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 60
    while not children(begun.pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    (child,) = children(begun.pid)
    time.sleep(0.5)
    begun.send_signal(number)
    output, errors = begun.communicate(timeout=60)
    assert begun.returncode == (3 if number == signal.SIGINT else -number)
    assert "Traceback" not in errors
    if number == signal.SIGINT and output:
        assert output.startswith("INCOMPLETE: interrupted")
    while time.monotonic() < deadline and Path(f"/proc/{child}").exists():
        time.sleep(0.05)
    assert not Path(f"/proc/{child}").exists()
    assert os.getpid() not in (begun.pid, child)
