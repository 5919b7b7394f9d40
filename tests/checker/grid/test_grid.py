"""Grids: each row is what a check of this setting alone says, whoever did it, and none is dropped."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import clew
from clew.checker.grid import examining
from clew.checker.grid.examining import Grid
from clew.checker.grid.result import GridResult, GridRow, RowAnswer
from clew.dedalus.printer import print_program
from clew.errors import ProgramError, UsageError
from clew.program.ir import Program
from command import ROOT
from generators import programs

#: 1 tells the others, each as often as it says; who has heard of it and is up wants everybody to have.
RETRY = """\
//! nodes=1..n eot=4
param n = 3;
param retries = 1;
node(1, 2..n); node(X, Y)@next :- node(X, Y);
log(1, word); log(X, P)@next :- log(X, P);
left(1, retries); left(X, K - 1)@next :- left(X, K), K > 1;
log(Y, P)@async :- log(X, P), node(X, Y), left(X, _);
missing(Y, P) :- log(X, P), node(X, Y), notin log(Y, P);
pre(X, P) :- log(X, P), notin crash(_, X, _);
post(X, P) :- log(X, P), notin missing(_, P);
"""


@pytest.fixture
def retry(tmp_path: Path) -> Path:
    file = tmp_path / "retry.ded"
    file.write_text(RETRY, encoding="utf-8")
    return file


def answers(result: GridResult) -> dict[str, str]:
    return {row.words: row.answer.value for row in result.rows}


def test_a_grid_answers_for_each_setting(retry: Path) -> None:
    found = clew.check_grid(retry, {"retries": [1, 2], "eff": [0, 2], "crashes": [0, 1]}, params={"n": 2})
    assert answers(found) == {
        "retries=1 eff=0 crashes=0": "certified",
        "retries=1 eff=0 crashes=1": "certified",
        "retries=1 eff=2 crashes=0": "counterexample",
        "retries=1 eff=2 crashes=1": "counterexample",
        "retries=2 eff=0 crashes=0": "certified",
        "retries=2 eff=0 crashes=1": "certified",
        "retries=2 eff=2 crashes=0": "certified",
        "retries=2 eff=2 crashes=1": "certified",
    }
    assert [row.words for row in found.smallest] == ["retries=1 eff=2 crashes=0"]
    assert found.ordered[0] is found.smallest[0]
    assert sorted(row.words for row in found.ordered) == sorted(answers(found))
    assert (found.answer, found.reason, found.exit_code) == (clew.Answer.COUNTEREXAMPLE, None, 1)
    assert str(found.rows[2].verdict and found.rows[2].verdict.counterexamples[0].faults) == "O(1,2,1)"


def test_the_rows_are_those_of_checks_of_one_setting_each(retry: Path) -> None:
    found = clew.check_grid(retry, {"n": [2, 3], "eff": [0, 3], "crashes": [0, 1, 2]}, strategy="lineage")
    for row in found.rows:
        bounds: dict[str, Any] = dict(row.setting)
        alone = clew.check(retry, params={"n": bounds.pop("n")}, strategy="lineage", **bounds)
        assert row.verdict is not None and alone.program is not None
        for name in ("answer", "spec", "strategy", "counterexamples", "runs", "reason", "notices", "cautions"):
            assert getattr(row.verdict, name) == getattr(alone, name), name
        assert row.params == alone.program.params


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=10)
@given(program=programs(), crashes=st.integers(0, 1))
def test_rows_of_any_program_are_those_of_checks(tmp_path: Path, program: Program, crashes: int) -> None:
    file = tmp_path / "drawn.ded"
    file.write_text(print_program(program), encoding="utf-8")
    axes = {"crashes": [crashes], "eff": [0, 2], "eot": [2, 3]}
    for source in (file, program):
        for row in clew.check_grid(source, axes).rows:
            alone = clew.check(source, **dict(row.setting))  # type: ignore[arg-type]  # all of them are numbers
            assert row.verdict is not None
            assert (row.verdict.answer, row.verdict.counterexamples) == (alone.answer, alone.counterexamples)
            assert (row.verdict.spec, row.verdict.reason) == (alone.spec, alone.reason)


def test_workers_change_nothing_but_who_does_it(retry: Path) -> None:
    axes = {"n": range(1, 5), "eff": [0, 2], "crashes": [0, 3]}
    alone, shared = (clew.check_grid(retry, axes, workers=workers) for workers in (1, 3))
    assert alone.to_json() == shared.to_json()
    assert str(alone) == str(shared)
    assert len(alone.rows) == 16


def test_a_setting_that_makes_no_sense_is_a_row_that_says_so(retry: Path) -> None:
    found = clew.check_grid(retry, {"n": [1, 2], "crashes": [0, 3]})
    assert answers(found) == {
        "n=1 crashes=0": "invalid",
        "n=1 crashes=3": "invalid",
        "n=2 crashes=0": "certified",
        "n=2 crashes=3": "invalid",
    }
    problems = [row.problem and (row.problem.message, row.problem.of_program) for row in found.rows]
    assert problems[0] == ("the interval 2..1 is empty", True)
    assert problems[3] == ("3 crashes are more than the 2 nodes (1, 2)", False)
    # What was not looked at is not certified.
    assert (found.answer, found.exit_code) == (clew.Answer.INCOMPLETE, 3)
    assert found.reason == "of 4 settings, 3 invalid"


@pytest.mark.parametrize(
    ("axes", "error", "message"),
    [
        ({"crashes": [4, 5]}, UsageError, "4 crashes are more than the 3 nodes"),
        ({"n": [0, 1]}, ProgramError, "the interval 2..0 is empty"),
        ({"eot": [3], "effort": [1]}, UsageError, "unknown axis 'effort'"),
    ],
)
def test_what_is_wrong_with_every_setting_is_raised(
    retry: Path, axes: dict[str, list[int]], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        clew.check_grid(retry, axes)


def test_a_value_that_breaks_what_is_computed_from_it_is_a_row(tmp_path: Path) -> None:
    file = tmp_path / "p.ded"
    file.write_text(RETRY.replace("param retries = 1;", "param retries = 2 / n;"), encoding="utf-8")
    found = clew.check_grid(file, {"n": [0, 2]})
    assert answers(found) == {"n=0": "invalid", "n=2": "certified"}
    assert found.rows[0].why == "a division by zero"


def test_what_contradicts_the_grid_is_refused(retry: Path) -> None:
    with pytest.raises(UsageError, match="'n' is an axis of the grid, and --set n gives it one value"):
        clew.check_grid(retry, {"n": [2]}, params={"n": 3})
    with pytest.raises(UsageError, match="'eff' is an axis of the grid, and --eff gives it one value"):
        clew.check_grid(retry, {"eff": [2]}, eff=3)
    with pytest.raises(UsageError, match="'n' is set to x, and it is a number"):
        clew.check_grid(retry, {"n": [2, "x"]})
    with pytest.raises(UsageError, match="unknown param 'm'"):
        clew.check_grid(retry, {"n": [2]}, params={"m": 3})
    with pytest.raises(UsageError, match="--workers is 0"):
        clew.check_grid(retry, {"n": [2]}, workers=0)
    with pytest.raises(UsageError, match="--time-limit-each is 0"):
        clew.check_grid(retry, {"n": [2]}, time_limit_each=0)
    with pytest.raises(TypeError, match="unexpected keyword argument 'coverage'"):
        clew.check_grid(retry, {"n": [2]}, coverage=True)  # type: ignore[call-arg]


def test_a_bloom_program_has_bounds_to_vary_and_no_params() -> None:
    bloom = f"{ROOT}/examples/bloom/broadcast.py:Simple"
    assert answers(clew.check_grid(bloom, {"eff": [0, 2]})) == {"eff=0": "certified", "eff=2": "counterexample"}
    with pytest.raises(UsageError, match="unknown axis 'n'"):
        clew.check_grid(bloom, {"n": [1]})
    with pytest.raises(UsageError, match="'n' is set, and only files in Dedalus have params"):
        clew.check(bloom, params={"n": 1})
    with pytest.raises(UsageError, match="'n' is set") as caught:
        clew.check(clew.parse_program("p(a);"), params={"n": 1})
    assert caught.value.remedy == "give them to clew.parse_program"


# -- limits ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("workers", [1, 2])
def test_settings_that_are_not_reached_are_incomplete(retry: Path, workers: int) -> None:
    found = clew.check_grid(retry, {"eff": range(4)}, workers=workers, time_limit=1e-9)
    assert [row.answer for row in found.rows] == [RowAnswer.INCOMPLETE] * 4
    assert found.rows[3].why == "not reached: the time limit of 1e-09 s ran out"
    assert (found.exit_code, found.reason) == (3, "of 4 settings, 4 incomplete")


def test_each_setting_may_have_a_limit(retry: Path) -> None:
    found = clew.check_grid(retry, {"eff": [0, 2]}, time_limit_each=1e-9, strategy="exhaustive")
    assert [row.answer for row in found.rows] == [RowAnswer.INCOMPLETE] * 2
    for row in found.rows:
        assert row.verdict is not None
        assert (row.why or "").startswith("the time limit of 1e-09 s ran out")


def interrupt_at(monkeypatch: pytest.MonkeyPatch, words: str, signalled: int) -> None:
    """Press Ctrl-C, at a process, before the search of a setting."""
    examine = Grid.examine

    def interrupted(self: Grid, setting: Any, progress: Any = None) -> GridRow:
        if GridRow(setting).words == words:
            os.kill(signalled, signal.SIGINT)
        return examine(self, setting, progress)

    monkeypatch.setattr(Grid, "examine", interrupted)


def test_what_is_done_when_it_is_interrupted_is_told(retry: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    interrupt_at(monkeypatch, "eff=2", os.getpid())
    found = clew.check_grid(retry, {"eff": range(4)})
    assert [row.answer.value for row in found.rows][:2] == ["certified", "certified"]
    assert found.rows[3].why == "not reached: interrupted"
    assert found.count(RowAnswer.INCOMPLETE) in (1, 2)


def test_workers_end_when_it_is_interrupted(retry: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    interrupt_at(monkeypatch, "eff=0 crashes=1", os.getpid())
    found = clew.check_grid(retry, {"eff": range(4), "crashes": range(4)}, workers=2)
    assert found.rows[-1].why == "not reached: interrupted"
    assert len(found.rows) == 16


def test_an_interrupt_reaches_the_grid_through_the_search_that_listens() -> None:
    """Ctrl-C in the midst of a search ends that search and all that would come after it."""
    outer, inner = clew_deadline(), clew_deadline()
    with outer.listening():
        with inner.listening():
            os.kill(os.getpid(), signal.SIGINT)
            wait_for_signal(inner)
        assert (inner.interrupted, outer.interrupted) == (True, True)
    later = clew_deadline()
    with later.listening():
        assert not later.interrupted


def clew_deadline() -> Any:
    from clew.budgets.deadline import Deadline

    return Deadline(None)


def wait_for_signal(deadline: Any) -> None:
    assert threading.current_thread() is threading.main_thread()
    latest = time.monotonic() + 10
    while not deadline.interrupted and time.monotonic() < latest:
        time.sleep(0.001)


def test_a_worker_that_dies_leaves_its_setting_incomplete(retry: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    examine, own = Grid.examine, os.getpid()

    def dying(self: Grid, setting: Any, progress: Any = None) -> GridRow:
        if GridRow(setting).words == "eff=1" and os.getpid() != own:
            os.kill(os.getpid(), signal.SIGKILL)
        return examine(self, setting, progress)

    monkeypatch.setattr(Grid, "examine", dying)
    found = clew.check_grid(retry, {"eff": range(4)}, workers=2)
    assert [row.answer.value for row in found.rows] == [
        "certified",
        "incomplete",
        "counterexample",
        "counterexample",
    ]
    assert "a worker process died" in (found.rows[1].why or "")
    assert clew.check_grid(retry, {"eff": [1, 2]}, workers=1).reason is None


def test_a_process_in_which_a_search_goes_on_checks_nothing_else(
    retry: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """C code cannot be stopped from outside: whatever outlives its limit ends with its process."""
    expected = clew.check_grid(retry, {"eff": range(4)})
    examine, own = Grid.examine, os.getpid()
    used = Path(f"{retry}.pids")

    def noting(self: Grid, setting: Any, progress: Any = None) -> GridRow:
        with used.open("a") as file:
            file.write(f"{os.getpid()}\n")
        return examine(self, setting, progress)

    monkeypatch.setattr(Grid, "examine", noting)
    monkeypatch.setattr(examining, "has_abandoned_work", lambda: True)
    found = clew.check_grid(retry, {"eff": range(4)}, time_limit_each=100)
    assert found.to_json() == expected.to_json()
    processes = used.read_text().split()
    assert len(set(processes)) == 4 and str(own) not in processes


def test_progress_says_which_setting_is_checked(retry: Path) -> None:
    told: list[tuple[int, str]] = []
    for workers, last in ((1, "setting 2 of 2, eff=2: "), (2, "2 of 2 settings")):
        told.clear()
        clew.check_grid(
            retry, {"eff": [0, 2]}, workers=workers, progress=lambda runs, stage: told.append((runs, stage))
        )
        assert told[-1][1].startswith(last)
        assert [runs for runs, _ in told] == sorted(runs for runs, _ in told)


def test_a_notice_that_not_all_have_names_the_first_setting(tmp_path: Path) -> None:
    file = tmp_path / "p.ded"
    file.write_text(f'{RETRY} odd(1, "n");', encoding="utf-8")
    found = clew.check_grid(file, {"eff": [0, 2], "crashes": [0]})
    assert [str(n.message) for n in found.notices] == [
        "'n' is a string here, and a param (" + f"{file}:2:7)",
        "nothing reads 'odd': what is concluded there changes nothing",
    ]
    partial = GridResult(found.axes, (found.rows[0], _without_notices(found.rows[1])))
    assert partial.notices[1].message.startswith("with eff=0 crashes=0: nothing reads 'odd'")


def _without_notices(row: GridRow) -> GridRow:
    from dataclasses import replace

    assert row.verdict is not None
    return replace(row, verdict=replace(row.verdict, notices=()))
