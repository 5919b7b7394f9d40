"""Fuzzing: the same violation whatever the number of processes, and what was covered on the way to it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from clew.errors import UsageError
from clew.simulation import Broken, CodeBlock, Context, Node, Scenario, Send, Start, WaitCondition, WaitQuiescence
from clew.simulation.fuzzing.coverage import Coverage
from clew.simulation.fuzzing.fuzz import Fuzzed, fuzz, record
from clew.simulation.loading import load_scenario
from clew.simulation.recordings.recording import write_recording
from clew.simulation.recordings.replaying import ReplayOutcome, replay
from clew.workers import processes
from scenario_files import CALM, CRASH, TOKENS, scenario_file


@pytest.fixture
def tokens(tmp_path: Path) -> str:
    return scenario_file(tmp_path, TOKENS)


def test_the_first_violation(tokens: str) -> None:
    scenario = load_scenario(tokens).scenario
    first = next(seed for seed in range(100) if record(tokens, seed).broken is not None)
    fuzzed = fuzz(tokens)
    assert (fuzzed.run, fuzzed.reason, fuzzed.early, fuzzed.trace) == (first, None, 0, None)
    assert fuzzed.recording == record(tokens, first)
    assert fuzzed.recording.broken is not None and fuzzed.recording.broken.invariant == "few"
    assert replay(fuzzed.recording).outcome is ReplayOutcome.SAME
    assert fuzzed.coverage.runs == first + 1
    assert fuzzed.coverage.types == ("Hello", "Token")
    assert fuzzed.coverage.steps > fuzzed.coverage.deliveries > 100
    assert fuzzed.coverage.states > 3
    from_the_next = fuzz(scenario, seed=first + 1)
    assert from_the_next.recording is not None and from_the_next.recording.seed > first


def test_no_violation_and_what_was_covered(tmp_path: Path) -> None:
    fuzzed = fuzz(scenario_file(tmp_path, CALM), runs=5)
    coverage = Coverage(5, 15, 5, ("str",), 0)
    where = f"{tmp_path / 's.py'}:scenario"
    assert fuzzed == Fuzzed(None, None, None, coverage, 0, None, (), scenario=where)


def test_an_exception_with_its_trace(tmp_path: Path) -> None:
    fuzzed = fuzz(scenario_file(tmp_path, CRASH))
    assert fuzzed.recording is not None and fuzzed.recording.broken == Broken(
        "no uncaught exception", "ValueError: no thanks (in Fragile.on_message)", ("a",)
    )
    assert fuzzed.trace is not None and fuzzed.trace.endswith("ValueError: no thanks\n")


def test_a_violation_that_comes_too_early_does_not_count(tokens: str) -> None:
    everything = fuzz(tokens)
    assert everything.recording is not None
    deliveries = everything.recording.deliveries
    later = fuzz(tokens, at_least=deliveries + 1)
    assert later.recording is not None and later.recording.deliveries > deliveries
    assert later.run is not None and everything.run is not None and later.run > everything.run
    assert 1 <= later.early <= later.run


def test_a_bound_on_steps(tokens: str) -> None:
    fuzzed = fuzz(tokens, steps=20, runs=3)
    assert (fuzzed.recording, fuzzed.coverage.runs) == (None, 3)
    assert 50 <= fuzzed.coverage.steps <= 60


def test_looking_rarely_finds_the_same_event(tokens: str) -> None:
    loaded = load_scenario(tokens)
    rarely = replace(loaded, scenario=replace(loaded.scenario, check_every=7))
    assert fuzz(rarely).recording == fuzz(loaded).recording


# -- the beginning, and how far runs come ------------------------------------------------------------------------


class Quiet(Node):
    """Does nothing but set a timer when it starts, if it has one."""

    def __init__(self, timer: str = "") -> None:
        self._timer = timer

    def on_start(self, ctx: Context) -> None:
        if self._timer:
            ctx.set_timer(self._timer)

    def on_timer(self, ctx: Context, name: str) -> None:
        ctx.set_timer(name)


def nobody(nodes: Mapping[str, Any]) -> str | None:
    return None if nodes else "nobody is up"


def test_a_violation_before_the_first_event_is_found_at_once() -> None:
    scenario = Scenario(nodes={"a": Quiet}, before=[Start("a"), Send("a", 1)], invariants=[nobody])
    fuzzed = fuzz(scenario)
    assert fuzzed.recording is not None
    assert (fuzzed.recording.steps, fuzzed.recording.broken) == ((), Broken("nobody", "nobody is up"))
    assert fuzzed.coverage == Coverage(1, 0, 0, (), 0)
    too_early = fuzz(scenario, runs=3, at_least=1)
    assert (too_early.recording, too_early.early, too_early.coverage) == (None, 3, Coverage(3, 0, 0, (), 0))


@pytest.mark.parametrize("workers", [1, 2])
def test_how_far_runs_came_is_counted(workers: int) -> None:
    never = WaitCondition("never", lambda world: False)
    waiting = Scenario(nodes={"a": lambda: Quiet("tick")}, running=["a"], after=[never], steps=10)
    unfinished = (("'never' did not hold at the end", 6),)
    assert fuzz(waiting, runs=6, workers=workers).coverage == Coverage(6, 60, 60, (), 0, unfinished)
    driven = fuzz(replace(waiting, after=[WaitQuiescence()]), runs=6, workers=workers).coverage
    assert driven == Coverage(6, 60, 60, (), 0, driven_by_timers=6)
    idle = fuzz(Scenario(nodes={"a": Quiet}, running=["a"]), runs=6, workers=workers).coverage
    assert idle == Coverage(6, 0, 0, (), 0, idle=6)


# -- workers -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("at_least", [0, 230])
def test_the_result_does_not_depend_on_the_number_of_workers(tokens: str, at_least: int) -> None:
    alone = fuzz(tokens, at_least=at_least)
    assert alone.recording is not None
    for workers in (2, 3):
        assert fuzz(tokens, workers=workers, at_least=at_least) == alone


def test_nothing_found_by_workers_is_the_same_nothing(tokens: str) -> None:
    assert fuzz(tokens, steps=50, runs=40, workers=2) == fuzz(tokens, steps=50, runs=40)


def test_a_worker_that_dies_is_reported_where_nothing_is_isolated(tmp_path: Path) -> None:
    text = CALM.replace("self.last = message", "import os; os.kill(os.getpid(), 9)")
    with pytest.raises(UsageError) as caught:
        fuzz(scenario_file(tmp_path, text), workers=2, in_process=True)
    assert caught.value.message == "a worker process died: it was ended by SIGKILL"


def test_a_mistake_found_by_a_worker_is_that_of_the_first_run(tmp_path: Path) -> None:
    sometimes = "ctx.send(ctx.me, object()) if ctx.random.random() < 0.05 else None"
    text = CALM.replace("self.last = message", sometimes)
    file = scenario_file(tmp_path, text)
    messages = set()
    for workers in (1, 2):
        with pytest.raises(UsageError) as caught:
            fuzz(file, workers=workers)
        messages.add(str(caught.value))
    (message,) = messages
    assert message.startswith(f"{file}:6:1: error: at a, in Fragile.on_message: a object cannot be sent")


def test_without_fork_there_is_one_worker(tokens: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "can_fork", lambda: False)
    fuzzed = fuzz(tokens, workers=2)
    assert [notice.message for notice in fuzzed.notices] == [
        "this system cannot fork a process, so there is one worker only"
    ]
    assert replace(fuzzed, notices=()) == fuzz(tokens)


def test_workers_are_gone_when_the_time_is_over(tmp_path: Path) -> None:
    """In a process of its own, which has no other children."""
    file = scenario_file(tmp_path, TOKENS.replace("LIMIT = 40", "LIMIT = 10**9"))
    script = f"""
import os
from clew.simulation.fuzzing.fuzz import fuzz
for workers in (1, 2):
    fuzzed = fuzz({file!r}, runs=10**9, workers=workers, time_limit=0.6)
    assert fuzzed.reason == "the time limit of 0.6 s ran out"
    assert fuzzed.coverage.runs > 0 and fuzzed.recording is None
try:
    os.waitpid(-1, os.WNOHANG)
except ChildProcessError:
    print("no child is left")
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert (done.stdout, done.stderr) == ("no child is left\n", "")


# -- mistakes ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        ({"runs": 0}, "runs is 0"),
        ({"workers": 0}, "workers is 0"),
        ({"at_least": -1}, "at_least is -1"),
        ({"seed": -1}, "the seed is -1"),
        ({"seed": 2**63 - 1}, f"the seed is {2**63 - 1}"),
        ({"steps": 0}, "steps is 0, check_every 1 and count 0"),
        ({"time_limit": 0}, "the time limit is 0 s"),
    ],
)
def test_flags_that_make_no_sense(flags: dict[str, Any], says: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        fuzz(scenario_file(tmp_path, CALM), **flags)
    assert caught.value.message == says and caught.value.remedy


class Forgetful(Node):
    """Not determined by what it sees: it counts over all executions."""

    calls = 0

    def on_message(self, ctx: Context, sender: str, message: Any) -> None:
        Forgetful.calls += 1
        self.calls = Forgetful.calls
        if Forgetful.calls == 3:
            ctx.send(ctx.me, "again")


def third(nodes: Mapping[str, Any]) -> str | None:
    return "third" if any(node.calls == 3 for node in nodes.values()) else None


def test_code_that_does_not_do_the_same_twice() -> None:
    Forgetful.calls = 0
    scenario = Scenario(nodes={"a": Forgetful}, running=["a"], before=[Send("a", 1)], invariants=[third])
    with pytest.raises(UsageError) as caught:
        fuzz(scenario)
    assert "the same execution twice is not the same: " in caught.value.message
    assert "likely cause: it differs from one execution to the next" in caught.value.message


@pytest.mark.parametrize("event", [CodeBlock("b", lambda world: None), WaitCondition("b", lambda world: True)])
def test_what_makers_make_must_have_a_name(event: Any) -> None:
    scenario = Scenario(
        nodes={"a": Node},
        running=["a"],
        events=[(1, lambda random, world: event)],
        count=1,
        steps=1,
    )
    with pytest.raises(UsageError, match="the scenario's events made 'b', which a recording could not name"):
        record(scenario, 0)
    record(replace(scenario, code=[CodeBlock("b", lambda world: None)], after=[event]), 0)


# -- determinism -------------------------------------------------------------------------------------------------

RECORD = """\
import hashlib
import sys
from clew.simulation.fuzzing.fuzz import record
from clew.simulation.recordings.recording import write_recording
for seed in range(4):
    text = write_recording(record(sys.argv[1], seed))
    print(seed, len(text), hashlib.sha256(text.encode()).hexdigest())
"""


def test_recordings_are_the_same_bytes_in_every_process(tokens: str) -> None:
    outputs = [
        subprocess.run(
            [sys.executable, "-c", RECORD, tokens],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert outputs[0] == outputs[1]
    assert len(set(outputs[0].splitlines())) == 4
    text = write_recording(record(tokens, 3))
    assert outputs[0].splitlines()[3].split()[1] == str(len(text))
