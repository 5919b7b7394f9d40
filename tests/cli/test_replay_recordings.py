"""``clew replay`` of recordings as a user runs it."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from clew.simulation.fuzzing.fuzz import record
from clew.simulation.recordings.recording import write_recording
from command import clew
from scenario_files import CALM, CRASH, TOKENS, scenario_file
from terminal import read_terminal

#: a counts up to 2, and that is wrong.
COUNT = """\
from clew.simulation import *


class Counter(Node):
    def on_start(self, ctx):
        self.count = 0
        self.log = []

    def on_message(self, ctx, sender, message):
        self.count += 1
        self.log.append(message)
        ctx.log(f"now {self.count}")
        ctx.send("b", ("got", message))
        ctx.set_timer("late")


def small(nodes):
    return Broken("small", "a counts to 2", ("a",)) if "a" in nodes and nodes["a"].count == 2 else None


scenario = Scenario(
    nodes=dict.fromkeys("ab", Counter),
    before=[Start("a"), Send("a", 1), Send("a", 2)],
    timers=0.0,
    invariants=[small],
)
"""


def recorded(folder: Path, text: str, seed: int = 0) -> None:
    """s.py, and rec.json of it."""
    scenario_file(folder, text)
    (folder / "rec.json").write_text(_recording(text, seed), encoding="utf-8")


@cache
def _recording(text: str, seed: int) -> str:
    program = (
        "from clew.simulation.fuzzing.fuzz import record\n"
        "from clew.simulation.recordings.recording import write_recording\n"
        f"print(write_recording(record('s.py', {seed})), end='')"
    )
    with TemporaryDirectory() as folder:
        scenario_file(Path(folder), text)
        return subprocess.run(
            [sys.executable, "-c", program], cwd=folder, capture_output=True, encoding="utf-8", check=True
        ).stdout


def test_it_still_fails(tmp_path: Path) -> None:
    recorded(tmp_path, COUNT)
    done = clew("replay", "rec.json", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout == (
        "s.py:scenario, seed 0: 6 steps, 2 deliveries\n"
        "STILL FAILS: small at a, after 2 deliveries.\n"
        "  a counts to 2\n"
        "  All 5 events did what was recorded.\n"
        "  step by step: clew replay rec.json --step\n"
    )


def test_step_by_step(tmp_path: Path) -> None:
    recorded(tmp_path, COUNT)
    done = clew("replay", "rec.json", "--step", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stdout.splitlines()[1:-4] == [
        "   1. start a",
        "      count: 0",
        "      log: []",
        "   2. send int to a",
        "      sends 1 to a",
        "   3. send int to a",
        "      sends 2 to a",
        "   4. deliver int from outside to a",
        "      log: now 1",
        "      sends ('got', 2) to b, which is down",
        "      sets timer late",
        "      count: 0 -> 1",
        "      log: [] -> [2]",
        "   5. deliver int from outside to a",
        "      log: now 2",
        "      sends ('got', 1) to b, which is down",
        "      count: 1 -> 2",
        "      log: [2] -> [2, 1]",
    ]


@pytest.mark.parametrize(("keys", "events"), [(b"\nq\n", 2), (b"\n" * 5, 5)])
def test_step_by_step_on_a_terminal(tmp_path: Path, keys: bytes, events: int) -> None:
    recorded(tmp_path, COUNT)
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "clew", "replay", "rec.json", "--step"],
        cwd=tmp_path,
        stdin=slave,
        stdout=slave,
        stderr=slave,
    )
    os.close(slave)
    os.write(master, keys)
    shown = read_terminal(master)
    assert process.wait(60) == 1
    os.close(master)
    text = shown.decode()
    assert text.count("[Enter: the next event, q: to the end]") == events
    assert (f"{events:4}. " in text, f"{events + 1:4}. " in text) == (True, False)
    assert "STILL FAILS: small at a" in text


def test_a_recording_without_a_violation(tmp_path: Path) -> None:
    recorded(tmp_path, CALM)
    done = clew("replay", "rec.json", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stdout.endswith("SAME: all 3 events did what was recorded, and no invariant breaks.\n")


def test_the_trace_of_an_exception_is_shown(tmp_path: Path) -> None:
    recorded(tmp_path, CRASH)
    done = clew("replay", "rec.json", cwd=tmp_path)
    assert done.returncode == 1
    assert "    ValueError: no thanks\n" in done.stdout


@pytest.mark.parametrize("seed", ["1", "2"])
def test_another_hash_seed_makes_no_difference(tmp_path: Path, seed: str) -> None:
    recorded(tmp_path, TOKENS, seed=1)
    done = clew("replay", "rec.json", cwd=tmp_path, PYTHONHASHSEED=seed)
    assert done.returncode == 1 and "events did what was recorded" in done.stdout


# -- other code --------------------------------------------------------------------------------------------------


def changed(folder: Path, old: str, new: str, *flags: str) -> subprocess.CompletedProcess[str]:
    recorded(folder, COUNT)
    scenario_file(folder, COUNT.replace(old, new))
    return clew("replay", "rec.json", *flags, cwd=folder)


def test_a_recording_of_other_code(tmp_path: Path) -> None:
    done = changed(tmp_path, "counts to 2", "has counted to 2")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "error: this is a recording of other code: s.py has changed since\n"
        "  remedy: record again; or, to see whether the change helped, replay with --changed-code\n"
    )


IMPORTING = """\
from clew.simulation import *
from wording import refusal
from parts.limits import LIMIT


class Fragile(Node):
    def on_message(self, ctx, sender, message):
        assert message < LIMIT, refusal


scenario = Scenario(nodes={"a": Fragile}, before=[Start("a"), Send("a", 7)])
"""
NEIGHBOURS = {"wording.py": "refusal = 'no'\n", "parts/__init__.py": "", "parts/limits.py": "LIMIT = 3\n"}


@pytest.mark.parametrize("command", ["replay", "minimize"])
@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"wording.py": "refusal = 'never'\n"}, "wording.py has changed since"),
        ({"parts/limits.py": "LIMIT = 4\n"}, "parts/limits.py has changed since"),
        (
            {"s.py": IMPORTING + "# changed\n", "wording.py": "refusal = 1\n"},
            "s.py and wording.py have changed since",
        ),
        (
            {"s.py": IMPORTING.replace("import refusal", "import refusal2"), "wording.py": None},
            "s.py has changed since; wording.py cannot be read",
        ),
    ],
)
def test_the_file_that_has_changed_is_named(
    command: str, changes: dict[str, str | None], says: str, tmp_path: Path
) -> None:
    folder = tmp_path / "below"
    for name, text in {"s.py": IMPORTING, **NEIGHBOURS}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    assert clew("fuzz", "below/s.py", "-o", "rec.json", cwd=tmp_path).returncode == 1
    for name, changed_text in changes.items():
        if changed_text is None:
            (folder / name).unlink()
        else:
            (folder / name).write_text(changed_text, encoding="utf-8")
    done = clew(command, "rec.json", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    # As seen from the working directory, like all other names of files.
    named = re.sub(r"(\S+\.py)", r"below/\1", says)
    assert done.stderr.splitlines()[0] == f"error: this is a recording of other code: {named}"


def test_a_scenario_that_was_renamed_is_named_as_it_is_called_now(tmp_path: Path) -> None:
    recorded(tmp_path, COUNT)
    scenario_file(tmp_path, COUNT + "# changed\n", "renamed.py")
    done = clew("replay", "rec.json", "--scenario", "renamed.py", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("error: this is a recording of other code: renamed.py has changed since\n")
    scenario_file(tmp_path, COUNT, "renamed.py")
    assert clew("replay", "rec.json", "--scenario", "renamed.py", cwd=tmp_path).returncode == 1


@pytest.mark.parametrize(
    ("old", "new", "code", "says"),
    [
        (
            "counts to 2",
            "has counted to 2",
            1,
            "STILL FAILS: small at a, after 2 deliveries.\n  a has counted to 2\n",
        ),
        (
            'Broken("small"',
            'Broken("tiny"',
            1,
            "STILL FAILS: tiny at a, after 2 deliveries.\n  a counts to 2\n"
            "  Before, it was another violation: small at a\n",
        ),
        ("count == 2", "count == 3", 0, "FIXED: no invariant breaks in this execution.  Others may still fail"),
        ('Send("a", 2)', "Send('a', 2)", 1, "STILL FAILS: small at a"),
    ],
)
def test_whether_a_change_helped(old: str, new: str, code: int, says: str, tmp_path: Path) -> None:
    done = changed(tmp_path, old, new, "--changed-code")
    assert (done.returncode, done.stderr) == (code, "")
    assert says in done.stdout


def test_code_that_changed_too_much(tmp_path: Path) -> None:
    scenario_file(tmp_path, TOKENS)
    recorded(tmp_path, TOKENS, seed=1)
    scenario_file(tmp_path, TOKENS.replace("ctx.set_timer(name)", "pass"))
    done = clew("replay", "rec.json", "--changed-code", cwd=tmp_path)
    assert done.returncode == 3
    assert "INCOMPLETE: the changed code does not fit the recording from step " in done.stdout


def test_another_file(tmp_path: Path) -> None:
    recorded(tmp_path, COUNT)
    (tmp_path / "s.py").rename(tmp_path / "t.py")
    missing = clew("replay", "rec.json", cwd=tmp_path)
    assert missing.returncode == 2
    assert "error: rec.json: the scenario was in s.py, and there is no such file here" in missing.stderr
    there = clew("replay", "rec.json", "t.py:scenario", cwd=tmp_path)
    assert (there.returncode, there.stdout.startswith("t.py:scenario, seed 0: 6 steps")) == (1, True)
    several = clew("replay", "rec.json", "t.py", "t.py", cwd=tmp_path)
    assert several.returncode == 2 and "2 files are given" in several.stderr


# -- differences -------------------------------------------------------------------------------------------------


def test_a_difference(tmp_path: Path) -> None:
    text = COUNT.replace(
        "self.log.append(message)", "self.log += [x for x in {'p', 'q', 'r', 's', 't', 'u', 'v'}]"
    )
    recorded(tmp_path, text)
    for seed in ("1", "2", "3"):
        done = clew("replay", "rec.json", cwd=tmp_path, PYTHONHASHSEED=seed)
        if done.returncode == 1:
            continue  # by chance the order of the process that recorded it
        assert done.returncode == 2
        assert done.stderr == (
            "error: rec.json: the replay differs from the recording: "
            "event 4 at a (deliver int from outside to a): the state differs in log\n"
            "  likely cause: it depends on the process, as the order of a set of strings does (PYTHONHASHSEED), "
            "the environment and files; or the recording was edited\n"
            f"    {tmp_path / 's.py'}:11:33: goes through a set: its order differs from process to process\n"
            "  remedy: let nodes take time and random numbers from their context, and nothing else from outside\n"
        )
        return
    pytest.fail("three times the order of seven strings was the same")


EDITS: list[tuple[str, Callable[[list[Any]], Any], str]] = [
    (
        "a step removed",
        lambda steps: steps.pop(1),
        "the replay differs from the recording: event 2 (send int to a)",
    ),
    ("the last removed", lambda steps: steps.pop(), "when it was recorded, 'small at a' broke after this"),
    (
        "a digest changed",
        lambda steps: steps[0].update(digest="0" * 12),
        "event 1 at a (start a): it rests on other",
    ),
    (
        "another state",
        lambda steps: steps[0]["state"].update(count="000000"),
        "(start a): the state differs in count",
    ),
    (
        "an unknown node",
        lambda steps: steps[0].update(start="z"),
        "rec.json: steps[0].start: expected the name of",
    ),
    (
        "an unknown kind",
        lambda steps: steps.append({"explode": "a"}),
        "rec.json: steps[6]: expected exactly one of",
    ),
    ("a step from nowhere", lambda steps: steps.insert(1, dict(steps[-1])), "what it is about is not on its way"),
]


@pytest.mark.parametrize(("edit", "says"), [case[1:] for case in EDITS], ids=[case[0] for case in EDITS])
def test_edited_recordings(edit: Callable[[list[Any]], Any], says: str, tmp_path: Path) -> None:
    recorded(tmp_path, COUNT)
    document = json.loads((tmp_path / "rec.json").read_text(encoding="utf-8"))
    edit(document["steps"])
    (tmp_path / "rec.json").write_text(json.dumps(document), encoding="utf-8")
    done = clew("replay", "rec.json", cwd=tmp_path)
    assert done.returncode == 2
    assert says in done.stderr and "remedy: " in done.stderr


def test_a_truncated_recording(tmp_path: Path) -> None:
    text = write_recording(record(scenario_file(tmp_path, COUNT), 0))
    (tmp_path / "rec.json").write_text(text[: len(text) // 2], encoding="utf-8")
    done = clew("replay", "rec.json", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("rec.json:14:") and "error: not JSON: " in done.stderr


def test_flags_of_recordings_are_not_for_verdicts(tmp_path: Path) -> None:
    (tmp_path / "v.json").write_text('{"format": "clew verdict"}', encoding="utf-8")
    done = clew("replay", "v.json", "--step", cwd=tmp_path)
    assert done.returncode == 2
    assert "is a verdict, and --scenario, --step and --changed-code are for recordings" in done.stderr


@pytest.mark.parametrize("command", ["replay", "minimize"])
def test_a_name_that_no_file_can_have(command: str, tmp_path: Path) -> None:
    recorded(tmp_path, COUNT)
    (tmp_path / "loop.py").symlink_to("loop.py")
    for name in ("x" * 5000 + ".py", "loop.py"):
        done = clew(command, "rec.json", "--scenario", name, cwd=tmp_path)
        assert done.returncode == 2 and "error: " in done.stderr and "no such file" in done.stderr
