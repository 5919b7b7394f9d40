"""Candidates tried by several processes: the answer is that of one, whatever happens in them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.budgets.deadline import Deadline
from clew.errors import BudgetExhaustedError, ClewError
from clew.minimization.search import CandidateList, Search, Success
from clew.minimization.searching.parallel_search import ParallelSearch
from clew.minimization.searching.search import SequentialSearch
from clew.minimization.trial import Schedule, Target
from clew.simulation.execution.watchdog import step_limit
from minimization.scenarios import Scripted, keepers

Told = list[tuple[int, Schedule | None]]
Parallel = ParallelSearch[Target, Schedule]

TARGET = Target(keepers(step_seconds=0.5), 0, (), "")

SCRIPTS = st.lists(st.sampled_from(["fail"] * 6 + ["succeed", "refuse"]), max_size=40)


@contextmanager
def together(
    workers: int, seconds: float | None = None
) -> Iterator[tuple[ParallelSearch[Target, Schedule], Told]]:
    told: Told = []
    search: ParallelSearch[Target, Schedule] = ParallelSearch(
        TARGET, Deadline(seconds), lambda *what: told.append(what), workers
    )
    try:
        with step_limit(TARGET.scenario.step_seconds) as limit:
            search.set_limit(limit)
            yield search, told
    finally:
        search.close()


def family(scripts: list[str]) -> CandidateList:
    return CandidateList(Scripted(number, what) for number, what in enumerate(scripts))


def answer(search: Search, scripts: list[str]) -> Success | str | None:
    try:
        return search.first(family(scripts))
    except ClewError as error:
        return error.message


@pytest.mark.parametrize("workers", [2, 3])
def test_the_answer_is_that_of_one_process(workers: int) -> None:
    """Also where a later candidate would be refused, and after an earlier search was."""
    with together(workers) as (search, told):

        @given(SCRIPTS)
        @settings(max_examples=60)
        def compared(scripts: list[str]) -> None:
            told.clear()
            expected: Told = []
            alone: Search = SequentialSearch(TARGET, Deadline(None), lambda *what: expected.append(what))
            assert answer(search, scripts) == answer(alone, scripts)
            assert told == expected

        compared()


def test_nothing_to_try() -> None:
    with together(2) as (search, told):
        assert search.first(CandidateList()) is None
        assert told == []


def test_a_process_that_dies_is_an_error() -> None:
    with together(2) as (search, _), pytest.raises(ClewError, match="a worker process died"):
        search.first(family(["die"] * 100))


def test_what_never_returns_is_an_error() -> None:
    with together(2) as (search, _), pytest.raises(ClewError, match=r"something has not returned for 0\.5 s"):
        search.first(family(["fail", "stuck", "fail"]))


def test_what_is_too_large_to_hand_out_is_tried_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """No worker sees any of it: there, it would die."""
    monkeypatch.setattr("clew.minimization.searching.parallel_search._BOARD_BYTES", 1 << 12)
    with together(2) as (search, told):
        assert search.first(family(["die"] * 1000 + ["succeed"])) == Success(1000, (1000,))
        assert len(told) == 1001
        assert search.executed == sum(executed for executed, _ in told)


def test_the_deadline_does_not_wait_for_anybody() -> None:
    with together(2, seconds=0.3) as (search, _), pytest.raises(BudgetExhaustedError):
        search.first(family(["sleep", "sleep", "sleep"]))
