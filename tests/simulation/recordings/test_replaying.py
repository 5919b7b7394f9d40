"""Replay: the same again, or the first event that differs and why."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from clew.errors import UsageError
from clew.simulation.execution.effects import Effect
from clew.simulation.fuzzing.fuzz import fuzz, record
from clew.simulation.loading import load_scenario
from clew.simulation.recordings.nondeterminism import find_suspects
from clew.simulation.recordings.recording import Recording, write_recording
from clew.simulation.recordings.replaying import Replayed, ReplayOutcome, replay
from scenario_files import CALM, CRASH, TOKENS, scenario_file


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A document only names what is below the working directory."""
    monkeypatch.chdir(tmp_path)


#: A node that gets two messages and answers the second.
PAIR = """\
from clew.simulation import *


class Pair(Node):
    def on_start(self, ctx):
        self.got = []

    def on_message(self, ctx, sender, message):
        self.got.append(message)
        if len(self.got) == 2:
            ctx.log("full")
            ctx.send("b", "answer")


def short(nodes):
    return "b was answered" if "b" in nodes and nodes["b"].got else None


scenario = Scenario(
    nodes={"a": Pair, "b": Pair}, running=["a", "b"], before=[Send("a", 1), Send("a", 2)], invariants=[short]
)
"""


def test_what_was_recorded_happens_again(tmp_path: Path) -> None:
    scenario = scenario_file(tmp_path, TOKENS)
    broken = 0
    for seed in range(6):
        recording = record(scenario, seed)
        replayed = replay(recording)
        assert (replayed.outcome, replayed.difference) == (ReplayOutcome.SAME, None)
        assert (replayed.execution.broken, replayed.execution.identity) == (recording.broken, recording.identity)
        broken += recording.broken is not None
    assert 0 < broken < 6


def test_from_a_file_and_with_a_scenario_in_its_place(tmp_path: Path) -> None:
    scenario = scenario_file(tmp_path, CRASH)
    file = tmp_path / "rec.json"
    file.write_text(write_recording(record(scenario, 0)), encoding="utf-8")
    assert replay(file).outcome is ReplayOutcome.SAME
    assert replay(str(file), load_scenario(scenario)).outcome is ReplayOutcome.SAME
    made = load_scenario(scenario).scenario
    assert replay(record(made, 0), made).outcome is ReplayOutcome.SAME
    with pytest.raises(UsageError, match="the recording names no scenario"):
        replay(record(made, 0))


# -- differences -------------------------------------------------------------------------------------------------


def on_other_code(folder: Path, old: str, new: str) -> Replayed:
    """Replayed on code that differs, but says that it does not."""
    recording = record(scenario_file(folder, PAIR), 0)
    loaded = load_scenario(scenario_file(folder, PAIR.replace(old, new), "other.py"))
    return replay(recording, replace(loaded, code=recording.code))


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (
            "self.got = []",
            "self.got = [0]",
            "the beginning: the state differs in a.got, b.got",
        ),
        ("append(message)", "append(-message)", "the state differs in got"),
        ('"answer"', '"reply"', "event 4 at a (deliver int from outside to a): something else is sent"),
        ('"full"', '"empty"', "event 4 at a (deliver int from outside to a): something else is logged"),
        ('ctx.log("full")', "pass", "event 4 at a (deliver int from outside to a): nothing is logged"),
        ("== 2", "== 1", "event 3 at a (deliver int from outside to a): something is sent, something is logged"),
        ('ctx.send("b"', 'ctx.send("a"', "event 4 at a (deliver int from outside to a): something else is sent"),
        (
            'return "b was answered"',
            'return Broken("new", "b was answered")',
            "event 5 (deliver str from a to b): when it was recorded, 'short' broke after this event; now 'new'",
        ),
        ('if "b" in nodes and nodes["b"].got', "if False", "now no invariant broke"),
        (
            'nodes["b"].got',
            'nodes["a"].got',
            "event 4 (deliver int from outside to a): it does not come to it: 'short'",
        ),
    ],
)
def test_the_first_event_that_differs(old: str, new: str, says: str, tmp_path: Path) -> None:
    replayed = on_other_code(tmp_path, old, new)
    assert replayed.outcome is ReplayOutcome.DIFFERENT
    assert says in str(replayed.difference)
    assert replayed.cause is not None and replayed.cause.text.startswith("it depends on the process")


def edited(recording: Recording, index: int) -> Recording:
    """Without a step."""
    steps, effects = list(recording.steps), list(recording.effects)
    del steps[index], effects[index]
    return replace(recording, steps=tuple(steps), effects=tuple(effects))


def test_a_recording_whose_steps_were_edited(tmp_path: Path) -> None:
    recording = record(scenario_file(tmp_path, PAIR), 0)
    without_send = replay(edited(recording, 0))
    assert (without_send.outcome, without_send.absent) == (ReplayOutcome.DIFFERENT, 3)
    assert str(without_send.difference).startswith("event 1 (send int to a): something else is sent")
    without_delivery = replay(edited(recording, 3))
    assert without_delivery.outcome is ReplayOutcome.DIFFERENT
    assert without_delivery.difference is not None and without_delivery.difference.number == 3


def test_a_digest_that_was_edited(tmp_path: Path) -> None:
    recording = record(scenario_file(tmp_path, PAIR), 0)
    effect = recording.effects[0]
    assert isinstance(effect, Effect)
    changed = (effect._replace(all="0" * 12), *recording.effects[1:])
    replayed = replay(replace(recording, effects=changed))
    assert str(replayed.difference).endswith("it rests on other events, or its digest was edited")


# -- likely causes -----------------------------------------------------------------------------------------------


def test_code_that_differs_all_the_time_is_not_recorded(tmp_path: Path) -> None:
    text = PAIR.replace("self.got = []", "self.got = []\n        self.at = time.perf_counter()")
    file = scenario_file(
        tmp_path,
        "import time\n" + text.replace('running=["a", "b"], before=[', 'before=[Start("a"), Start("b"), '),
    )
    with pytest.raises(UsageError) as caught:
        fuzz(file)
    assert caught.value.message == (
        "the same execution twice is not the same: event 1 at a (start a): the state differs in at\n"
        "  likely cause: it differs from one execution to the next, as the clock, random, id() and global "
        "variables do\n"
        f"    {file}:8:19: time.perf_counter(): the clock"
    )


def test_code_that_depends_on_the_process(tmp_path: Path) -> None:
    text = PAIR.replace("self.got.append(message)", 'self.got.append([x for x in {"p", "q", "r", "s", "t"}])')
    file = scenario_file(tmp_path, text)
    program = (
        "from clew.simulation.fuzzing.fuzz import record\n"
        "from clew.simulation.recordings.recording import write_recording\n"
        f"print(write_recording(record({file!r}, 0)))"
    )
    answers = []
    for seed in "123":
        done = subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        )
        recording = tmp_path / "rec.json"
        recording.write_text(done.stdout, encoding="utf-8")
        answers.append(replay(recording))
    different = [answer for answer in answers if answer.outcome is ReplayOutcome.DIFFERENT]
    assert len(different) >= 2  # five strings may be in the order of this process once, by chance
    for answer in different:
        assert "event 3 at a" in str(answer.difference) and "differs in got" in str(answer.difference)
        assert answer.cause is not None and "PYTHONHASHSEED" in answer.cause.text
        assert [(place.line, what) for place, what in answer.cause.places] == [
            (9, "goes through a set: its order differs from process to process")
        ]


@pytest.mark.parametrize(
    ("code", "what"),
    [
        ("import time\ntime.time()", "time.time(): the clock"),
        ("from time import time as now\nnow()", "time.time(): the clock"),
        ("import random\nrandom.choice([1])", "random.choice(): random numbers"),
        ("import random as r\nr.random()", "random.random(): random numbers"),
        ("import datetime\ndatetime.datetime.now()", "datetime.datetime.now(): the clock"),
        ("from datetime import datetime\ndatetime.now()", "datetime.datetime.now(): the clock"),
        ("import uuid\nuuid.uuid4()", "uuid.uuid4(): random numbers"),
        ("import os\nos.environ['X']", "os.environ: the environment"),
        ("import os\nos.environ.get('X')", "os.environ.get(): the environment"),
        ("import os\nos.urandom(3)", "os.urandom(): random numbers"),
        ("x = 1\nid(x)", "id(): the address of an object"),
        ("x = 1\nhash(x)", "hash(): the hash of a string differs from process to process"),
        ("x = 1\nfor y in {x, 2}: pass", "goes through a set: its order differs from process to process"),
        ("x = 1\n[y for y in set([x])]", "goes through a set: its order differs from process to process"),
        ("import threading\nthreading.Lock()", "threading.Lock(): threads"),
    ],
)
def test_suspects(code: str, what: str, tmp_path: Path) -> None:
    ((position, found),) = find_suspects([scenario_file(tmp_path, code)])
    assert (position.line, found) == (2, what)


@pytest.mark.parametrize(
    "code",
    ["import random\nrandom.Random(3)", "for x in sorted({1, 2}): pass", "self.time()", "x = = 1", "id = 3"],
)
def test_what_is_not_suspicious(code: str, tmp_path: Path) -> None:
    assert find_suspects([scenario_file(tmp_path, code), str(tmp_path / "missing.py")]) == ()


def test_a_few_suspects_are_enough(tmp_path: Path) -> None:
    assert len(find_suspects([scenario_file(tmp_path, "hash(1)\n" * 50)])) == 5


# -- other code --------------------------------------------------------------------------------------------------


def changed(folder: Path, old: str, new: str) -> Replayed:
    recording = record(scenario_file(folder, PAIR), 0)
    return replay(recording, scenario_file(folder, PAIR.replace(old, new), "other.py"), changed_code=True)


def test_a_recording_of_other_code_is_refused(tmp_path: Path) -> None:
    recording = record(scenario_file(tmp_path, CRASH), 0)
    other = scenario_file(tmp_path, CALM, "other.py")
    with pytest.raises(UsageError, match=r"this is a recording of other code: .* has changed since") as caught:
        replay(recording, other)
    assert caught.value.remedy is not None and "--changed-code" in caught.value.remedy


def test_whether_a_change_helped(tmp_path: Path) -> None:
    same = changed(tmp_path, '"full"', '"more than full"')
    assert (same.outcome, same.execution.identity) == (ReplayOutcome.STILL_FAILS, "short")
    fixed = changed(tmp_path, 'return "b was answered"', "return None")
    assert (fixed.outcome, fixed.execution.broken) == (ReplayOutcome.FIXED, None)
    lost = changed(tmp_path, 'ctx.send("b", "answer")', "pass")
    assert (lost.outcome, lost.absent, len(lost.execution.moments)) == (ReplayOutcome.LOST, 6, 4)
