"""``clew minimize`` as a user runs it: what it says, what it writes, and what is left when something ends it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from clew.simulation.fuzzing.fuzz import record
from clew.simulation.recordings.recording import write_recording
from clew.simulation.recordings.replaying import ReplayOutcome, replay
from command import clew
from scenario_files import CALM, TOKENS, scenario_file

#: A member that is told its own name knows itself.
MEMBERS = """\
from dataclasses import dataclass

from clew.simulation import *


@dataclass(frozen=True)
class Join:
    names: list[str]


@dataclass(frozen=True)
class Hello:
    name: str


class Member(Node):
    def on_start(self, ctx):
        self.known = set()

    def on_message(self, ctx, sender, message):
        if isinstance(message, Join):
            for name in message.names:
                ctx.send(name, Hello(ctx.me))
        else:
            self.known.add(message.name)


def alone(nodes):
    for name, node in nodes.items():
        if name in node.known:
            return Broken("alone", f"{name} knows itself", (name,))
    return None


scenario = Scenario(
    nodes=dict.fromkeys("abc", Member),
    before=[Start("a"), Start("b"), Start("c"), Send("b", Join(["a"])), Send("a", Join(["c", "b", "a"]))],
    invariants=[alone],
)
"""

#: Raises where a has heard of itself and of nobody else.
RAISES = MEMBERS.replace(
    '            return Broken("alone"',
    '            node.known != {name} or node.nothing\n            return Broken("alone"',
)

RUN = """\
s.py:scenario: 2 deliveries in 4 events.

     a
1  START
3    ▼    Join
4    ↻    Hello; VIOLATED
▼ a message from outside   ↻ a message to itself   ┊ not up

1. start a
     begins with known=set()
2. outside sends a: Join(names=['a'])
     arrives at 3
3. a <- outside: Join(names=['a'])
     sends Hello(name='a') to a at 4
4. a <- a: Hello(name='a')
     known: set() -> {'a'}

VIOLATED: alone at a: a knows itself

"""

TABLE = """\
stage         deliveries  externals  schedules
recorded               2          4          1
provenance             2          2          1
STSSched               2          2          5
TFB                    2          2         27
contents               2          2        211
shortening             2          2       1043
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """s.py, and a recording of it in rec.json."""
    return recorded(tmp_path, MEMBERS)


def recorded(folder: Path, text: str, *flags: str) -> Path:
    scenario_file(folder, text)
    done = clew("fuzz", "s.py", "-o", "rec.json", *flags, cwd=folder)
    assert done.returncode == 1, done.stderr
    return folder


# -- what it says and writes -------------------------------------------------------------------------------------


def test_everything_is_said_and_written(folder: Path) -> None:
    done = clew("minimize", "rec.json", "-o", "min.json", "--report", "min.html", cwd=folder)
    assert done.returncode == 0
    assert done.stdout == f"{RUN}{TABLE}  recorded in min.json\n  replay:   clew replay min.json --step\n"
    assert done.stderr == "the report is in min.html\n"
    page = (folder / "min.html").read_text(encoding="utf-8")
    for stage in ("provenance", "STSSched", "TFB", "contents", "shortening", "clew replay min.json"):
        assert stage in page
    again = clew("replay", "min.json", cwd=folder)
    assert again.returncode == 1
    assert "All 4 events did what was recorded." in again.stdout


def test_without_a_file_it_says_how_to_keep_it(folder: Path) -> None:
    done = clew("minimize", "rec.json", "--no-shrink", cwd=folder)
    assert done.returncode == 0
    assert done.stdout.endswith("\n  not recorded: to keep it, run the same command with -o min.json\n")
    assert "contents" not in done.stdout
    assert "Join(names=['c', 'b', 'a'])" in done.stdout


def test_what_is_minimal_stays_as_it_is(folder: Path) -> None:
    assert clew("minimize", "rec.json", "-o", "min.json", cwd=folder).returncode == 0
    first = (folder / "min.json").read_text(encoding="utf-8")
    assert clew("minimize", "min.json", "-o", "min.json", cwd=folder).returncode == 0
    assert (folder / "min.json").read_text(encoding="utf-8") == first


def test_a_scenario_that_was_moved_can_be_named(folder: Path) -> None:
    (folder / "elsewhere").mkdir()
    (folder / "s.py").rename(folder / "elsewhere/s.py")
    lost = clew("minimize", "rec.json", cwd=folder)
    assert lost.returncode == 2
    assert lost.stderr == (
        "error: rec.json: the scenario was in s.py, and there is no such file here\n"
        "  remedy: run it where that was, or name the file of the scenario\n"
    )
    done = clew("minimize", "rec.json", "elsewhere/s.py", "-o", "min.json", cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("elsewhere/s.py:scenario: 2 deliveries in 4 events.\n")
    assert clew("replay", "min.json", cwd=folder).returncode == 1


def test_the_result_depends_on_neither_hash_seed_nor_workers(tmp_path: Path) -> None:
    """Several stages find something, and every kind of event is there."""
    recorded(tmp_path, re.sub(r"LIMIT = \d+", "LIMIT = 4", TOKENS))
    said, written = set(), set()
    for hash_seed, workers in (("1", "1"), ("2", "2"), ("3", "3")):
        flags = ("--workers", workers, "-o", "min.json", "--time-limit", "10m")
        done = clew("minimize", "rec.json", *flags, cwd=tmp_path, PYTHONHASHSEED=hash_seed)
        assert done.returncode == 0, done.stderr
        said.add(done.stdout)
        written.add((tmp_path / "min.json").read_bytes())
    assert len(said) == len(written) == 1
    assert replay(tmp_path / "min.json", str(tmp_path / "s.py")).outcome is ReplayOutcome.SAME


# -- ended before its end ----------------------------------------------------------------------------------------


#: A file appears when the search has made some hundred nodes.
LONG = re.sub(r"LIMIT = \d+", "LIMIT = 40", TOKENS).replace(
    "class Player(Node):\n",
    """\
MADE = []


class Player(Node):
    def __init__(self):
        MADE.append(1)
        if len(MADE) == 600:
            open("going", "w").close()

""",
)


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recording that takes a while to minimize."""
    return recorded(tmp_path_factory.mktemp("long"), LONG)


def check_best(folder: Path) -> None:
    """min.json is a good recording, no larger than rec.json, and its violation is the same."""
    before, after = (json.loads((folder / name).read_text(encoding="utf-8")) for name in ("rec.json", "min.json"))
    assert after["violation"]["identity"] == before["violation"]["identity"]
    assert len(after["steps"]) <= len(before["steps"])
    assert clew("replay", "min.json", cwd=folder).returncode == 1


@pytest.mark.parametrize("workers", ["1", "2"])
def test_ctrl_c_keeps_the_best_so_far(long: Path, workers: str) -> None:
    for file in ("going", "min.json"):
        (long / file).unlink(missing_ok=True)
    process = subprocess.Popen(
        [sys.executable, "-m", "clew", "minimize", "rec.json", "-o", "min.json", "--workers", workers],
        cwd=long, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", start_new_session=True,
    )  # fmt: skip
    try:
        while not (long / "going").exists() and process.poll() is None:
            time.sleep(0.02)
        os.killpg(process.pid, signal.SIGINT)  # to the workers, too, as a terminal does
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert (process.returncode, err) == (3, "")
    assert "\nINCOMPLETE: interrupted; this is the best so far.\n  recorded in min.json\n" in out
    check_best(long)


def test_a_time_limit_that_runs_out(long: Path) -> None:
    done = clew("minimize", "rec.json", "-o", "min.json", "--report", "min.html", "--time-limit", "1s", cwd=long)
    assert done.returncode == 3
    assert "\nINCOMPLETE: the time limit of 1 s ran out; this is the best so far.\n" in done.stdout
    assert "The search was stopped: the time limit of 1 s ran out." in (long / "min.html").read_text(
        encoding="utf-8"
    )
    check_best(long)


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_mistake_that_only_the_search_brings_to_light(tmp_path: Path, workers: str) -> None:
    """The best so far is written and shown, the mistake is told, and the exit code says that it was one."""
    scenario_file(tmp_path, RAISES)
    fuzz = ("fuzz", "s.py", "-o", "rec.json", "--runs", "1", "--seed")
    assert 1 in (clew(*fuzz, str(seed), cwd=tmp_path).returncode for seed in range(50))
    done = clew("minimize", "rec.json", "-o", "min.json", "--report", "m.html", "--workers", workers, cwd=tmp_path)
    assert done.returncode == 2
    assert "\nINCOMPLETE: an error ended the stage STSSched; this is the best so far.\n" in done.stdout
    assert done.stderr.startswith("the report is in m.html\n")
    expected = "the invariant alone raised AttributeError: 'Member' object has no attribute 'nothing'\n"
    assert expected in done.stderr
    assert "node.known != {name} or node.nothing" in done.stderr
    check_best(tmp_path)


# -- bad input ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Bad:
    """``new`` instead of ``old`` in the text of the recording; ``flags`` follow the command."""

    name: str
    says: str
    flags: str = "rec.json"
    old: str = ""
    new: str = ""


BAD = [
    Bad("no file", "error: no.json: no such file", "no.json"),
    Bad("a folder", "error: .: is a folder", "."),
    Bad(
        "other format", "rec.json: not a recording, but a 'clew-verdict'", old="clew-recording", new="clew-verdict"
    ),
    Bad(
        "other version",
        "version: this clew reads versions 1 to 5, found 6",
        old='"version": 4',
        new='"version": 6',
    ),
    Bad("no such node", "expected the name of a node", old='"start": "a"', new='"start": "z"'),
    Bad("no such message", "unknown message type 'Join2'", old="$Join", new="$Join2"),
    Bad("another violation", "does not end in the recorded violation", old="alone at a", new="alone at b"),
    Bad("another schedule", "does not end in the recorded violation", old='"to": "a"', new='"to": "b"'),
    Bad("no such scenario", "error: t.py: no such file", "rec.json t.py"),
    Bad(
        "unwritable", "error: no/min.json cannot be written (No such file or directory)", "rec.json -o no/min.json"
    ),
    Bad("unwritable report", "error: . cannot be written (Is a directory)", "rec.json --report ."),
    Bad("standard output", "error: -o writes a file, not standard output", "rec.json -o -"),
    Bad("no workers", "error: workers is 0", "rec.json --workers 0"),
]


@pytest.mark.parametrize("bad", BAD, ids=lambda bad: bad.name)
def test_bad_input(folder: Path, bad: Bad) -> None:
    path = folder / "rec.json"
    text = path.read_text(encoding="utf-8")
    assert bad.old in text
    path.write_text(text.replace(bad.old, bad.new) if bad.old else text, encoding="utf-8")
    done = clew("minimize", *bad.flags.split(), cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert bad.says in done.stderr
    assert done.stderr.count("error: ") == done.stderr.count("\n  remedy: ") == 1
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("length", [0, 1, 100, 400])
def test_a_recording_that_was_cut_off(folder: Path, length: int) -> None:
    path = folder / "rec.json"
    path.write_text(path.read_text(encoding="utf-8")[:length], encoding="utf-8")
    done = clew("minimize", "rec.json", cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("rec.json:" if length else "error: rec.json: is empty")


def test_a_recording_of_other_code(folder: Path) -> None:
    scenario_file(folder, MEMBERS + "# changed\n")
    done = clew("minimize", "rec.json", cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "error: this is a recording of other code: s.py has changed since\n"
        "  remedy: record again; or, to see whether the change helped, replay with --changed-code\n"
    )


@pytest.mark.parametrize("duration", ["1d", "", "1ss"])
def test_bad_durations(folder: Path, duration: str) -> None:
    done = clew("minimize", "rec.json", f"--time-limit={duration}", cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{duration!r} is not a duration: give seconds, or 90s, 2m, 1h" in done.stderr


def test_a_recording_without_a_violation(tmp_path: Path) -> None:
    where = scenario_file(tmp_path, CALM)
    (tmp_path / "rec.json").write_text(write_recording(record(where, 0)), encoding="utf-8")
    done = clew("minimize", "rec.json", where, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "error: the recording ends in no violation, so there is nothing to keep\n"
        "  remedy: minimize one that fails\n"
    )
