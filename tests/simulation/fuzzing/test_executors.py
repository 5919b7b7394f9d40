"""Fuzzing on the workers of an executor: the same result as alone, whatever becomes of them."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from clew.budgets.deadline import Deadline
from clew.errors import UsageError
from clew.simulation import Node, Scenario
from clew.simulation.fuzzing import serving
from clew.simulation.fuzzing.fuzz import fuzz
from clew.simulation.fuzzing.serving import FuzzJob, make_job
from clew.simulation.loading import load_scenario
from clew.simulation.sending import SentScenario, read_files, send_scenario
from clew.workers.blocks import Block
from clew.workers.executors import ExecutorCrew, Team, as_team
from clew.workers.tasks import Job, perform
from scenario_files import TOKENS, scenario_file

ENDLESS = TOKENS.replace("LIMIT = 40", "LIMIT = 10**9")


@pytest.fixture
def endless(tmp_path: Path) -> str:
    return scenario_file(tmp_path, ENDLESS)


class Losing(Executor):
    """An executor that loses some of what it is given."""

    def __init__(self, inner: Executor, is_lost: Callable[[int], bool]) -> None:
        self._inner = inner
        self._is_lost = is_lost
        self.submitted = 0

    def submit(self, work: Any, *given: Any, **more: Any) -> Future[Any]:  # type: ignore[override]
        self.submitted += 1
        if self._is_lost(self.submitted):
            lost: Future[Any] = Future()
            lost.set_exception(BrokenProcessPool("it was killed"))
            return lost
        return self._inner.submit(work, *given, **more)


@pytest.mark.parametrize("pool", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_the_result_is_the_same_as_alone(endless: str, pool: type[Executor], tmp_path: Path) -> None:
    with pool(2) as executor:  # type: ignore[call-arg]
        assert fuzz(endless, runs=60, steps=100, executor=executor) == fuzz(endless, runs=60, steps=100)
        found = fuzz(scenario_file(tmp_path, TOKENS), seed=3, at_least=120, executor=executor)
    assert found == fuzz(scenario_file(tmp_path, TOKENS), seed=3, at_least=120)
    assert found.recording is not None and found.run is not None and found.run > 0


def test_the_earliest_run_that_ends_its_process_is_found(tmp_path: Path) -> None:
    evil = "self.tokens.append(message.number)\n        if ctx.random.random() < 0.0001: import os; os._exit(3)"
    file = scenario_file(tmp_path, ENDLESS.replace("self.tokens.append(message.number)", evil))
    alone = fuzz(file, runs=300)
    assert alone.recording is not None and alone.run is not None and alone.run > 2
    assert "exit code 3" in str(alone.recording.broken)
    with ThreadPoolExecutor(2) as executor:
        assert fuzz(file, runs=300, executor=executor) == alone


def test_a_mistake_is_that_of_the_first_run(tmp_path: Path) -> None:
    evil = "self.tokens.append(message.number)\n        if ctx.random.random() < 0.0005: ctx.send('a', object())"
    file = scenario_file(tmp_path, ENDLESS.replace("self.tokens.append(message.number)", evil))
    told = set()
    with ThreadPoolExecutor(2) as executor:
        for how in ({}, {"executor": executor}):
            with pytest.raises(UsageError) as caught:
                fuzz(file, **how)  # type: ignore[arg-type]
            told.add(str(caught.value))
    (message,) = told
    assert "a object cannot be sent" in message


@pytest.mark.parametrize("is_lost", [lambda number: number % 2 == 0, lambda number: number > 3])
def test_what_is_lost_is_done_here(endless: str, is_lost: Callable[[int], bool]) -> None:
    with ThreadPoolExecutor(2) as inner:
        executor = Losing(inner, is_lost)
        fuzzed = fuzz(endless, runs=30, steps=60, executor=executor, workers=2)
    assert replace(fuzzed, notices=()) == fuzz(endless, runs=30, steps=60)
    assert "BrokenProcessPool: it was killed" in fuzzed.notices[-1].message


def test_an_executor_that_takes_no_work_loses_nothing(endless: str) -> None:
    executor = ThreadPoolExecutor(1)
    executor.shutdown()
    fuzzed = fuzz(endless, runs=5, steps=60, executor=executor)
    assert replace(fuzzed, notices=()) == fuzz(endless, runs=5, steps=60)
    assert "the executor takes no more work (RuntimeError:" in fuzzed.notices[-1].message


def test_a_checkpoint_goes_on_where_workers_were(endless: str, tmp_path: Path) -> None:
    checkpoint = tmp_path / "checkpoint"
    with ThreadPoolExecutor(2) as executor:
        first = fuzz(endless, runs=10**6, steps=60, executor=executor, checkpoint=checkpoint, time_limit=1.5)
        assert first.reason is not None and checkpoint.exists()
        runs = first.coverage.runs
        again = fuzz(endless, runs=10**6, steps=60, executor=executor, checkpoint=checkpoint, time_limit=1e-9)
    assert 0 < again.coverage.runs <= runs


def test_a_scenario_without_a_file_cannot_be_sent() -> None:
    scenario = Scenario(nodes={"a": Node}, running=["a"])
    with ThreadPoolExecutor(1) as executor, pytest.raises(UsageError, match="cannot be sent") as caught:
        fuzz(scenario, executor=executor)
    assert caught.value.remedy is not None and "FILE.py:NAME" in caught.value.remedy


# -- workers that are not fit ------------------------------------------------------------------------------------


def _job(file: str) -> Job:
    return make_job(load_scenario(file), 0, 0, 0, in_process=True)


def _ask(job: Job, file: str) -> Any:
    sent = send_scenario(load_scenario(file))
    with ThreadPoolExecutor(1) as executor:
        team = Team(executor, lambda: 1)
        with ExecutorCrew(team, job, Deadline(None), lambda: read_files(sent)) as crew:
            crew.ask(0, Block(1, 2))
            while not (done := crew.collect(0.1)):
                pass
    return done[0].value


def test_a_worker_without_the_files_is_sent_them(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "limits.py").write_text("LIMIT = 10**9\n")
    file = scenario_file(tmp_path, TOKENS.replace("LIMIT = 40", "from inner.limits import LIMIT"))
    job = _job(file)
    given: FuzzJob = job.given
    moved = replace(given.scenario, path="/nowhere/at/all/" + Path(file).name)
    distant = Job.of(job.opener, replace(given, scenario=moved))
    assert [name for name, _ in given.scenario.digests] == ["inner/limits.py", Path(file).name]
    assert _ask(distant, file) == _ask(job, file)


def test_a_worker_with_another_file_is_sent_the_right_one(tmp_path: Path) -> None:
    file = scenario_file(tmp_path, ENDLESS)
    other = tmp_path / "other"
    other.mkdir()
    (other / Path(file).name).write_text("raise SystemExit('never executed')\n")
    job = _job(file)
    moved = replace(job.given.scenario, path=str(other / Path(file).name))
    assert _ask(Job.of(job.opener, replace(job.given, scenario=moved)), file)["tally"]["runs"] == 2


def test_a_worker_that_executes_something_else_is_refused(endless: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "_sample", lambda loaded, seed: "something else")
    with ThreadPoolExecutor(1) as executor, pytest.raises(UsageError) as caught:
        fuzz(endless, runs=5, executor=executor)
    assert "cannot do this: the run with seed 0 is not the same there as here" in caught.value.message


def test_files_that_changed_meanwhile_are_not_sent(tmp_path: Path) -> None:
    file = scenario_file(tmp_path, ENDLESS)
    sent: SentScenario = send_scenario(load_scenario(file))
    Path(file).write_text(TOKENS)
    with pytest.raises(UsageError, match="has changed since it was loaded"):
        read_files(sent)


def test_a_worker_that_has_no_clew_is_told_of(endless: str) -> None:
    class Ignorant(ThreadPoolExecutor):
        def submit(self, work: Any, *given: Any, **more: Any) -> Future[Any]:  # type: ignore[override]
            assert work is perform
            missing: Future[Any] = Future()
            missing.set_exception(ModuleNotFoundError("No module named 'clew'"))
            return missing

    with Ignorant(1) as executor, pytest.raises(UsageError) as caught:
        fuzz(endless, runs=5, executor=executor)
    assert caught.value.message == (
        "a worker cannot load what Clew sends: ModuleNotFoundError: No module named 'clew'"
    )
    assert caught.value.remedy == "install the same Clew, with the same Python, wherever there are workers"


def test_teams_know_their_size() -> None:
    with ThreadPoolExecutor(3) as executor:
        assert as_team(executor).count() == 3
        assert as_team(executor, 5).count() == 5
        assert as_team(Team(executor, lambda: 7)).count() == 7


def test_what_is_sent_is_small(endless: str) -> None:
    """A thousand workers ask for it every few seconds."""
    assert len(pickle.dumps(_job(endless))) < 1000
