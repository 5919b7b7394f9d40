"""``clew test`` as engineers and their CI run it: exit codes, files, limits, Ctrl-C, and killed processes."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest

from command import ROOT, clew
from model_files import LOSSY, SAFE, SCENARIO, write, write_model
from terminal import read_terminal

SCHEMA = json.loads((ROOT / "docs" / "results.schema.json").read_text(encoding="utf-8"))
ONE = "expect=counterexample faults=1"
#: It says where it is, and never ends.
STUCK = "import os, pathlib, time\npathlib.Path('stuck').write_text(str(os.getpid()))\ntime.sleep(600)\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with two models that are as they say."""
    write_model(tmp_path, "lossy.ded", LOSSY, ONE)
    write_model(tmp_path, "safe.ded", SAFE, "expect=certified")
    return tmp_path


def write_stuck(folder: Path) -> None:
    write(folder, "stuck.py", f"{SCENARIO}s = scenario(1, expect='violation')\n{STUCK}")


def wait_for_number(path: Path) -> int:
    """Wait for a file with the number of a process."""
    latest = time.monotonic() + 60
    while time.monotonic() < latest:
        if path.exists() and (text := path.read_text(encoding="utf-8")):
            return int(text)
        time.sleep(0.01)
    raise AssertionError(f"{path} was not written")


def is_alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def start(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "clew", "test", *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def test_all_as_expected(folder: Path) -> None:
    done = clew("test", cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (
        "    model      expected                 got                      within\n"
        "ok  lossy.ded  counterexample, 1 fault  counterexample, 1 fault  EOT 3, EFF 2, 0 crashes, 2 nodes\n"
        "ok  safe.ded   certified                certified                EOT 3, EFF 0, 0 crashes, 2 nodes\n"
        "AS EXPECTED: 2 models.\n"
    )


def test_a_difference_is_told_with_what_to_do(folder: Path) -> None:
    write_model(folder, "other.ded", LOSSY, "expect=certified")
    done = clew("test", "other.ded", "lossy.ded", "--junit", "out.xml", "--json", "out.json", cwd=folder)
    assert done.returncode == 1
    assert "DIFFERS  other.ded  certified " in done.stdout
    assert "\n         see: clew check other.ded\n" in done.stdout
    (suite,) = ElementTree.parse(folder / "out.xml").getroot()
    assert [(case.get("classname"), len(case.findall("failure"))) for case in suite] == [
        ("other.ded", 1),
        ("lossy.ded", 0),
    ]
    document = json.loads((folder / "out.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(SCHEMA).validate(document)
    assert (document["verdict"], document["exit_code"]) == ("differs", 1)
    # The command that is named shows it, and says that it is not what was expected, in one line.
    shown = clew("check", "other.ded", cwd=folder)
    assert shown.returncode == 1
    differs = "the program expects 'certified', and the answer is 'counterexample, 1 fault'"
    assert shown.stderr == f"warning: {differs}\n"


@pytest.mark.parametrize(
    ("arguments", "message", "remedy"),
    [
        (["no.ded"], "no.ded: no such file or folder", "name a model"),
        (["empty"], "no model in empty", "name .ded files"),
        (["silent.ded"], "1 model states no expectation", "//! expect=certified"),
        (["--workers", "0"], "--workers is 0", "at least 1"),
        (["--workers", "x"], "'x' is not a valid integer", ""),
        (["--time-limit", "0"], "--time-limit is 0", "larger than 0"),
        (["--time-limit", "x"], "'x' is not a duration", "90s"),
        (["--total-time-limit", "-1"], "--total-time-limit is -1", "larger than 0"),
        (["--junit", "-"], "--junit writes a file", "give a path"),
        (["--json", "nowhere/x"], "nowhere/x cannot be written", "give a path"),
        (["--expect", "x"], "No such option", ""),
    ],
)
def test_bad_usage_is_refused(folder: Path, arguments: list[str], message: str, remedy: str) -> None:
    (folder / "empty").mkdir()
    write_model(folder, "silent.ded", LOSSY)
    done = clew("test", *arguments, cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert remedy in done.stderr


def test_what_states_nothing_is_listed(folder: Path) -> None:
    write_model(folder, "silent.ded", LOSSY)
    done = clew("test", cwd=folder)
    assert done.returncode == 0
    assert done.stdout.endswith(
        "no expectation, and passed over (1; --all checks them, too):\n  silent.ded\nAS EXPECTED: 2 models.\n"
    )
    done = clew("test", "--all", cwd=folder)
    assert done.returncode == 0
    assert "\n    to expect that: //! expect=counterexample faults=1\n" in done.stdout


def test_what_code_prints_is_told_where_it_fails_and_nowhere_else(folder: Path) -> None:
    models = "good = scenario(1, expect='no violation')\nbad = scenario(1, expect='violation')\n"
    write(folder, "m.py", f"{SCENARIO}print('chatter')\n{models}")
    done = clew("test", "m.py", "--json", "out.json", cwd=folder)
    assert (done.returncode, done.stderr) == (1, "")
    assert "chatter" not in done.stdout
    told = json.loads((folder / "out.json").read_text(encoding="utf-8"))["models"]
    assert [model["printed"] for model in told] == ["", "chatter\n"]


def test_a_debugger_can_follow(folder: Path) -> None:
    write(folder, "m.py", f"{SCENARIO}print('chatter')\ngood = scenario(1, expect='no violation')\n")
    done = clew("test", "--in-process", cwd=folder)
    assert done.returncode == 0
    assert "chatter\n" in done.stdout


@pytest.mark.parametrize("told", [signal.SIGINT, signal.SIGTERM])
def test_signals_end_everything(folder: Path, told: signal.Signals) -> None:
    write_stuck(folder)
    outputs = ("--json", "out.json", "--junit", "out.xml")
    with start(folder, "lossy.ded", "stuck.py", "--workers", "1", *outputs) as process:
        stuck = wait_for_number(folder / "stuck")
        process.send_signal(told)
        out, err = process.communicate(timeout=60)
    assert not is_alive(stuck)
    assert "Traceback" not in err
    if told is signal.SIGTERM:
        assert process.returncode == -signal.SIGTERM
        assert not (folder / "out.json").exists()
        return
    # What is known so far is told, and the files are whole.
    assert process.returncode == 3
    assert out.endswith("INCOMPLETE: interrupted; 1 of 2 models is not as expected (1 is incomplete).\n")
    document = json.loads((folder / "out.json").read_text(encoding="utf-8"))
    reasons = [model["reason"] for model in document["models"]]
    assert reasons == [None, "not loaded: interrupted"]
    assert len(ElementTree.parse(folder / "out.xml").getroot()[0]) == 2


def test_an_interrupt_keeps_the_table_so_far(folder: Path) -> None:
    """A model is being checked when it comes: its code hangs when it is loaded for the second time."""
    text = "import pathlib\n" + SCENARIO + "s = scenario(1, expect='violation')\n"
    text += "if pathlib.Path('once').exists():\n" + "".join(f"    {line}\n" for line in STUCK.splitlines())
    text += "pathlib.Path('once').touch()\n"
    write(folder, "z.py", text)
    with start(folder, "--workers", "1") as process:
        stuck = wait_for_number(folder / "stuck")
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
    assert not is_alive(stuck)
    assert process.returncode == 3
    assert [line.split()[:2] for line in out.splitlines()[1:4]] == [
        ["ok", "lossy.ded"],
        ["ok", "safe.ded"],
        ["INCOMPLETE", "z.py:s"],
    ]
    assert "not checked: interrupted\n" in out


def test_a_killed_process_is_a_row(folder: Path) -> None:
    write_stuck(folder)
    with start(folder) as process:
        os.kill(wait_for_number(folder / "stuck"), signal.SIGKILL)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (1, "")
    assert "FAILED  stuck.py   not known " in out
    assert "the process was ended by SIGKILL while loading stuck.py\n" in out
    assert out.count("\nok ") == 2


@pytest.mark.parametrize(
    ("flag", "told"),
    [
        ("--time-limit", "the time limit of 0.3 s ran out while it was loaded\n"),
        (
            "--total-time-limit",
            "INCOMPLETE: the total time limit of 0.3 s ran out; 1 of 1 models is not as expected",
        ),
    ],
)
def test_limits_of_time(folder: Path, flag: str, told: str) -> None:
    write_stuck(folder)
    done = clew("test", "stuck.py", flag, "0.3", cwd=folder)
    assert (done.returncode, done.stderr) == (3, "")
    assert told in done.stdout


def test_too_little_memory_is_no_answer(folder: Path) -> None:
    text = f"{SCENARIO}hoard = bytearray(1 << 40)\ns = scenario(1, expect='no violation')\n"
    write(folder, "m.py", text)
    done = clew("test", "m.py", "--memory-limit", "500M", cwd=folder)
    assert done.returncode == 1
    assert "the model cannot be imported: MemoryError" in done.stdout


def test_progress_is_shown_on_a_terminal(folder: Path) -> None:
    write_stuck(folder)
    main, side = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "clew", "test", "stuck.py"], cwd=folder, stdout=subprocess.PIPE, stderr=side
    )
    os.close(side)
    shown: list[bytes] = []
    reader = threading.Thread(target=lambda: shown.append(read_terminal(main)))
    reader.start()
    wait_for_number(folder / "stuck")
    time.sleep(1.5)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    reader.join()
    os.close(main)
    assert b"testing models, " in shown[0]
    assert b"0 of 1 done, now stuck.py" in shown[0]


def test_output_is_the_same_whatever_the_workers_and_the_hash_seed(folder: Path) -> None:
    write(folder, "m.py", f"{SCENARIO}a = scenario(1, expect='violation')\nb = scenario(2, expect='violation')\n")
    runs: list[Any] = [
        clew("test", "--workers", workers, "--json", "-", cwd=folder, PYTHONHASHSEED=seed)
        for workers, seed in (("1", "1"), ("4", "2"))
    ]
    assert runs[0].returncode == 1
    assert runs[0].stdout == runs[1].stdout
