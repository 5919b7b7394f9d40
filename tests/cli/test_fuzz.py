"""``clew fuzz`` as a user runs it."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from clew.simulation.fuzzing.fuzz import record
from clew.simulation.recordings.recording import write_recording
from command import clew
from scenario_files import CALM, CRASH, TOKENS, scenario_file
from terminal import read_terminal

ENDLESS = TOKENS.replace("LIMIT = 40", "LIMIT = 10**9")


def test_a_violation(tmp_path: Path) -> None:
    scenario_file(tmp_path, CRASH)
    done = clew("fuzz", "s.py", "-o", "rec.json", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (1, "")
    lines = done.stdout.splitlines()
    assert lines[:3] == [
        "VIOLATION: no uncaught exception at a, after 1 delivery, in the run with seed 0.",
        "  ValueError: no thanks (in Fragile.on_message)",
        "    Traceback (most recent call last):",
    ]
    assert lines[-7:] == [
        "    ValueError: no thanks",
        "  recorded in rec.json",
        "  replay:   clew replay rec.json",
        "  minimize: clew minimize rec.json -o min.json",
        "  covered: 1 run, 3 steps, 1 delivery",
        "  types of messages delivered: str",
        "  different states of nodes, looked at every 64 events: 0",
    ]
    assert json.loads((tmp_path / "rec.json").read_text(encoding="utf-8"))["seed"] == 0
    assert clew("replay", "rec.json", cwd=tmp_path).returncode == 1


def test_a_violation_that_is_not_kept(tmp_path: Path) -> None:
    done = clew("fuzz", scenario_file(tmp_path, CRASH), "--seed", "7")
    assert done.returncode == 1
    assert "in the run with seed 7." in done.stdout
    assert "  not recorded: to keep it, run the same command with -o rec.json\n" in done.stdout


def test_no_violation(tmp_path: Path) -> None:
    scenario_file(tmp_path, CALM)
    done = clew("fuzz", "s.py:scenario", "--runs", "3", "-o", "rec.json", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (
        "NO VIOLATION in these runs.\n"
        "  covered: 3 runs, 9 steps, 3 deliveries\n"
        "  types of messages delivered: str\n"
        "  different states of nodes, looked at every 64 events: 0\n"
    )
    assert not (tmp_path / "rec.json").exists()


#: A node that ticks for ever and never does anything else; what a run waits for is put where it says so.
TICKING = """\
from clew.simulation import *


class Ticker(Node):
    def on_start(self, ctx):
        self.ticks = 0
        ctx.set_timer()

    def on_timer(self, ctx, name):
        self.ticks += 1
        ctx.set_timer()


elected = WaitCondition("elected", lambda world: world.nodes["a"].ticks >= 20)
scenario = Scenario(nodes={"a": Ticker}, running=["a"], WAITS)
"""

COVERED = """\
NO VIOLATION in these runs.
  covered: 3 runs, {steps} steps, {steps} deliveries
  types of messages delivered: none
  different states of nodes, looked at every 64 events: 0
"""


@pytest.mark.parametrize(
    ("waits", "steps", "says"),
    [
        ("after=[elected]", 60, ""),
        ("after=[elected], steps=19", 57, "  in 3 runs 'elected' did not hold at the end\n"),
        (
            "before=[elected, Start('a')], steps=19",
            57,
            "  in 3 runs 'elected' did not hold at the end, so that what comes after that did not happen\n",
        ),
        ("steps=40", 120, "  3 runs had nothing but timers to go on with, and went on for all steps\n"),
    ],
)
def test_how_far_runs_came(tmp_path: Path, waits: str, steps: int, says: str) -> None:
    done = clew("fuzz", scenario_file(tmp_path, TICKING.replace("WAITS", waits)), "--runs", "3")
    assert (done.returncode, done.stdout, done.stderr) == (0, COVERED.format(steps=steps) + says, "")


def test_runs_in_which_nothing_is_delivered(tmp_path: Path) -> None:
    text = TICKING.replace("WAITS", "").replace("ctx.set_timer()", "pass")
    done = clew("fuzz", scenario_file(tmp_path, text), "--runs", "3")
    head, *rest = done.stdout.splitlines(keepends=True)
    assert done.returncode == 3
    assert head == (
        "INCOMPLETE: nothing was delivered in any run, neither a message nor a timer: see that nodes are up "
        "(running=...) and that something is sent; no violation so far.\n"
    )
    nothing = "  in 3 runs nothing was delivered, neither a message nor a timer\n"
    assert "".join(rest) == COVERED.partition("\n")[2].format(steps=0) + nothing


def test_a_replay_in_which_nothing_is_delivered(tmp_path: Path) -> None:
    text = TICKING.replace("WAITS", "").replace("ctx.set_timer()", "pass")
    recording = record(scenario_file(tmp_path, text), 0)
    (tmp_path / "rec.json").write_text(write_recording(recording))
    done = clew("replay", "rec.json", "s.py", cwd=tmp_path)
    assert done.returncode == 3
    assert "INCOMPLETE: nothing is delivered in this recording, neither a message nor a timer.\n" in done.stdout


def test_a_violation_at_the_beginning_and_another_one(tmp_path: Path) -> None:
    invariants = "invariants=[lambda nodes: Broken('one', 'first'), lambda nodes: Broken('two', 'second', ('a',))]"
    scenario_file(tmp_path, TICKING.replace("WAITS", invariants))
    done = clew("fuzz", "s.py", "-o", "rec.json", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith(
        "VIOLATION: one, after 0 deliveries, in the run with seed 0.\n"
        "  first\n"
        "  also broken: two at a: second\n"
        "  recorded in rec.json\n"
    )
    replayed = clew("replay", "rec.json", cwd=tmp_path)
    assert (replayed.returncode, replayed.stdout) == (
        1,
        "s.py:scenario, seed 0: 0 steps, 0 deliveries\n"
        "STILL FAILS: one, after 0 deliveries.\n"
        "  first\n"
        "  also broken: two at a: second\n"
        "  There is no event, and the nodes start with what was recorded.\n"
        "  step by step: clew replay rec.json --step\n",
    )
    small = clew("minimize", "rec.json", cwd=tmp_path)
    assert small.returncode == 0
    assert small.stdout.startswith(
        "s.py:scenario: 0 deliveries in 0 events.\n\n"
        "VIOLATED: one: first\n"
        "VIOLATED, too: two at a: second\n\n"
        "stage"
    )


def test_a_recording_that_could_not_be_read_is_not_written(tmp_path: Path) -> None:
    local = """

def made():
    from dataclasses import dataclass

    @dataclass(frozen=True)
    class Local:
        number: int

    return Local


scenario = Scenario(nodes={"a": Fragile}, running=["a"], before=[Send("a", made()(1))])
"""
    scenario_file(tmp_path, CRASH + local)
    done = clew("fuzz", "s.py", "-o", "rec.json", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stdout.startswith(
        "VIOLATION: no uncaught exception at a, after 1 delivery, in the run with seed 0.\n"
    )
    assert done.stderr == (
        "error: a message from outside has a made.<locals>.Local, which a recording could only name: "
        "the scenario does not know it by this name\n"
        "  remedy: list it in the scenario: messages=[Local]\n"
    )
    assert not (tmp_path / "rec.json").exists()


def test_violations_that_come_too_early(tmp_path: Path) -> None:
    done = clew("fuzz", scenario_file(tmp_path, CRASH), "--runs", "4", "--at-least", "2")
    assert done.returncode == 0
    assert done.stdout.endswith("  4 violations after fewer than 2 deliveries did not count\n")


def test_the_same_answer_from_every_process(tmp_path: Path) -> None:
    scenario_file(tmp_path, TOKENS)
    answers = set()
    for number, seed in (("1", "1"), ("2", "2")):
        done = clew("fuzz", "s.py", "--workers", number, "-o", "rec.json", cwd=tmp_path, PYTHONHASHSEED=seed)
        answers.add((done.returncode, done.stdout, done.stderr, (tmp_path / "rec.json").read_bytes()))
    assert len(answers) == 1


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_time_limit(tmp_path: Path, workers: str) -> None:
    scenario = scenario_file(tmp_path, ENDLESS)
    done = clew("fuzz", scenario, "--runs", "1000000000", "--time-limit", "0.5", "--workers", workers)
    assert done.returncode == 3
    assert done.stdout.startswith("INCOMPLETE: the time limit of 0.5 s ran out; no violation so far.\n  covered: ")


@pytest.mark.parametrize("workers", ["1", "2"])
def test_ctrl_c_tells_what_was_covered_and_leaves_nobody_behind(tmp_path: Path, workers: str) -> None:
    # Every process that executes runs opens the pipe; it is closed when all of them are gone.
    reading, writing = os.pipe()
    scenario_file(tmp_path, ENDLESS + f"\nimport os\nos.write({writing}, b'x')\n")
    process = subprocess.Popen(
        [sys.executable, "-m", "clew", *("fuzz", "s.py", "--runs", "1000000000", "--workers", workers)],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        pass_fds=[writing],
        start_new_session=True,
    )
    os.close(writing)
    assert os.read(reading, 1) == b"x"
    time.sleep(1)
    os.killpg(process.pid, signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (3, "")
    assert re.match(r"INCOMPLETE: interrupted; no violation so far\.\n  covered: \d+ runs?, ", output)
    assert os.read(reading, 1) == b""
    os.close(reading)


def test_progress_on_a_terminal(tmp_path: Path) -> None:
    master, slave = pty.openpty()
    arguments = ["fuzz", scenario_file(tmp_path, ENDLESS), "--time-limit", "2"]
    with subprocess.Popen(
        [sys.executable, "-m", "clew", *arguments], stdout=subprocess.PIPE, stderr=slave, text=True
    ) as process:
        os.close(slave)
        shown = read_terminal(master)
        process.communicate(timeout=60)
    os.close(master)
    assert process.returncode in (0, 3)
    assert re.search(rb"\d+ executions, \d+ s: fuzzing, \d+ deliveries", shown)


# -- bad input ---------------------------------------------------------------------------------------------------

BAD = [
    ("raises", "raise KeyError('x')\n", "s.py:1:1: error: the scenario cannot be imported: KeyError: 'x'"),
    ("no scenario", "x = 1\n", "error: s.py: defines no Scenario"),
    ("several", CALM + "other = scenario\n", "error: s.py: defines 2 scenarios"),
    (
        "an invariant that raises",
        CALM.replace("Scenario(", "Scenario(invariants=[lambda nodes: nodes['z']], "),
        "after 0 events, the invariant <lambda> raised KeyError: 'z'",
    ),
    (
        "a handler that never returns",
        CALM.replace("self.last = message", "[None for _ in iter(int, 1)]").replace(
            "(nodes", "(step_seconds=0.3, nodes"
        ),
        "at a, event 3: Fragile.on_message has not returned for 0.3 s",
    ),
    (
        "a message that cannot be sent",
        CALM.replace("self.last = message", "ctx.send('a', [lambda: 1])"),
        "at a, in Fragile.on_message: a function cannot be sent",
    ),
    (
        "a message that contains itself",
        CALM.replace("self.last = message", "x = []; x.append(x); ctx.send('a', x)"),
        "at a, in Fragile.on_message: the value is nested too deeply, or contains itself",
    ),
    (
        "a maker that raises",
        CALM.replace("(nodes", "(events=[(1, lambda r, w: 1 / 0)], count=900, nodes"),
        "the maker of events <lambda> raised ZeroDivisionError: division by zero",
    ),
    (
        "the clock",
        CRASH.replace("raise ValueError", "import time; self.at = time.perf_counter(); raise ValueError"),
        "is not the same: event 3 at a (deliver str from outside to a): the state differs in at",
    ),
]


@pytest.mark.parametrize(("text", "says"), [case[1:] for case in BAD], ids=[case[0] for case in BAD])
@pytest.mark.parametrize("workers", ["1", "2"])
def test_bad_scenarios(text: str, says: str, workers: str, tmp_path: Path) -> None:
    scenario_file(tmp_path, text)
    done = clew("fuzz", "s.py", "--workers", workers, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr and "remedy: " in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        (["missing.py"], "error: missing.py: no such file"),
        (["s.py", "-o", "-"], "error: -o writes a file, not standard output"),
        (["s.py", "-o", "no/such/folder/rec.json"], "error: no/such/folder/rec.json cannot be written"),
        (["s.py", "--runs", "0"], "error: runs is 0"),
        (["s.py", "--seed", "-1"], "error: the seed is -1"),
    ],
)
def test_bad_usage(flags: list[str], says: str, tmp_path: Path) -> None:
    scenario_file(tmp_path, ENDLESS)
    done = clew("fuzz", *flags, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(says) and "remedy: " in done.stderr
