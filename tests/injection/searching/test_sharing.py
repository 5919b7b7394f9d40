"""Checks of code whose sets of faults are run by workers: the same verdict as by one process, in every respect."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import clew
from clew.errors import UsageError
from clew.injection.result import CodeVerdict
from clew.simulation import Scenario
from clew.simulation.recordings.recording import write_recording
from command import ROOT
from command import clew as command
from injection import impatient
from injection.systems import draw_system, scenario_of

LOSSY = f"{ROOT / 'examples' / 'replication' / 'replication.py'}:lossy"

#: A counter that executions leave behind, and a node that does not look at it.
FORGETFUL = """\
from clew.simulation import *

COUNTS = {"runs": 0}


class Counting(Node):
    def on_start(self, ctx):
        COUNTS["runs"] += 1
        self.seen = 0

    def on_message(self, ctx, sender, message):
        self.seen += 1
        if message < 3:
            ctx.send("b" if ctx.me == "a" else "a", message + 1)


def alive(nodes):
    return None


scenario = Scenario(
    nodes={"a": Counting, "b": Counting},
    running=["a", "b"],
    before=[Send("a", 0)],
    promises=[alive],
    time=VirtualTime(latency=0.1, until=2),
)
"""


def told(verdict: CodeVerdict) -> object:
    """Return all of a verdict but the clock."""
    found = verdict.counterexample
    if found is None or found.recording is None:
        return replace(verdict, seconds=0.0)
    without = replace(verdict, seconds=0.0, counterexample=None)
    return without, found.faults, found.broken, found.found_with, write_recording(found.recording)


def check(source: Scenario | str, **how: Any) -> object:
    """Return the verdict, or what is refused."""
    try:
        return told(clew.check_scenario(source, strategy="exhaustive", **how))
    except UsageError as error:
        return str(error)


@given(st.integers(0, 10_000), st.sampled_from([1, 7, 150]))
@settings(max_examples=12)
def test_forks_come_to_the_same(number: int, max_runs: int) -> None:
    scenario = scenario_of(draw_system(number))
    # In this process: its forks are what is looked at, and not a child that has others.
    alone, shared = (check(scenario, in_process=True, max_runs=max_runs, workers=n) for n in (1, 2))
    assert shared == alone


@pytest.mark.parametrize(
    "how",
    [{"losses": 1, "crashes": 0}, {"losses": 2, "max_runs": 150}, {"crashes": 1, "partitions": 1, "max_runs": 40}],
)
def test_an_executor_comes_to_the_same(how: dict[str, Any]) -> None:
    with ThreadPoolExecutor(2) as executor:
        assert check(LOSSY, executor=executor, **how) == check(LOSSY, **how)


def test_a_counterexample_is_the_first_of_them(tmp_path: Path) -> None:
    file = shutil.copy(impatient.__file__, tmp_path / "s.py")
    with ThreadPoolExecutor(2) as executor:
        for how in ({"workers": 3}, {"executor": executor}):
            # The process of a worker, and the child of this one, are ended by what is found.
            assert check(str(file), losses=2, **how) == check(str(file), losses=2)


class Losing(ThreadPoolExecutor):
    """Loses every other piece of work."""

    turn = 0

    def submit(self, work: Any, *given: Any, **more: Any) -> Future[Any]:  # type: ignore[override]
        self.turn += 1
        if self.turn % 2:
            return super().submit(work, *given, **more)
        lost: Future[Any] = Future()
        lost.set_exception(ConnectionError("the worker is gone"))
        return lost


def test_what_is_lost_is_done_here() -> None:
    with Losing(2) as executor:
        assert check(LOSSY, losses=1, crashes=0, executor=executor) == check(LOSSY, losses=1, crashes=0)
        assert executor.turn > 2


def test_a_checkpoint_goes_on_with_any_number_of_workers(tmp_path: Path) -> None:
    bounds: dict[str, Any] = {"losses": 2, "max_runs": 300}
    checkpoint = tmp_path / "checkpoint"
    with ThreadPoolExecutor(2) as executor:
        ways: list[dict[str, Any]] = [{"workers": 2}, {"executor": executor}, {}]
        for way in ways:
            check(LOSSY, checkpoint=checkpoint, time_limit=0.2, in_process=True, **bounds, **way)
        assert checkpoint.exists()
        assert check(LOSSY, checkpoint=checkpoint, executor=executor, **bounds) == check(LOSSY, **bounds)
    assert not checkpoint.exists()


def test_what_executions_leave_behind_elsewhere_is_seen(tmp_path: Path) -> None:
    file = tmp_path / "s.py"
    file.write_text(FORGETFUL)
    alone = check(str(file), losses=2)
    assert "executions have changed COUNTS" in str(alone)
    with ThreadPoolExecutor(2) as executor:
        assert check(str(file), losses=2, workers=2) == alone
        assert check(str(file), losses=2, executor=executor) == alone


def test_code_that_depends_on_the_machine_is_refused_at_the_worker(tmp_path: Path) -> None:
    file = tmp_path / "s.py"
    file.write_text(FORGETFUL.replace("self.seen = 0", "import os; self.seen = os.getppid()"))
    with ThreadPoolExecutor(1) as executor, pytest.raises(UsageError) as caught:
        clew.check_scenario(str(file), strategy="exhaustive", losses=1, executor=executor, in_process=True)
    assert "cannot do this: the execution without faults is not the same there as here" in caught.value.message


@pytest.mark.parametrize("strategy", ["lineage", "random"])
def test_strategies_that_learn_from_run_to_run_are_not_shared(strategy: str) -> None:
    attempts: list[Callable[[Executor], dict[str, Any]]] = [lambda e: {"workers": 2}, lambda e: {"executor": e}]
    for attempt in attempts:
        with (
            ThreadPoolExecutor(1) as executor,
            pytest.raises(UsageError, match="does not support --workers") as caught,
        ):
            clew.check_scenario(LOSSY, strategy=strategy, **attempt(executor))
        assert caught.value.remedy == "leave them out, or use --strategy exhaustive"
    assert clew.check_scenario(LOSSY, strategy=strategy, workers=1, max_runs=2).runs == 2


def test_the_command_says_the_same(tmp_path: Path) -> None:
    shutil.copy(impatient.__file__, tmp_path / "s.py")
    given = ("check", "s.py", "--losses", "2", "--strategy", "exhaustive")
    alone, shared = command(*given, cwd=tmp_path), command(*given, "--workers", "2", cwd=tmp_path)
    assert (shared.returncode, shared.stdout, shared.stderr) == (alone.returncode, alone.stdout, alone.stderr)
