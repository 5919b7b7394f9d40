"""Sweeps whose settings workers examine ahead: the same answer, at the same cost."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, Self
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import clew
from clew.budgets.deadline import Deadline
from clew.checker import sweeping_ahead
from clew.checker.result import Verdict
from clew.checker.sweeping_ahead import SweepJob, open_sweep
from clew.errors import ClewError, UsageError
from clew.program.ir import Program
from clew.workers.crew import Done
from command import ROOT
from generators import programs

EXAMPLES = ROOT / "examples"


class Immediate:
    """A crew that does in this process what it is asked, at once, and loses some of it."""

    def __init__(self, job: SweepJob, loses: int) -> None:
        self._serve = open_sweep(job, None)
        self._done: list[Done] = []
        self._loses = loses
        self.asked = 0

    @property
    def block_seconds(self) -> float:
        return 1.0

    @property
    def room(self) -> int:
        return 2 - len(self._done)

    def ask(self, number: int, request: Any) -> None:
        self.asked += 1
        lost = self._loses and self.asked % self._loses == 0
        failure = UsageError("lost") if lost else None
        self._done.append(Done(number, None if lost else self._serve(request), 0.1, failure))

    def collect(self, seconds: float) -> list[Done]:
        return [self._done.pop()] if self._done else []

    def describe(self) -> str:
        return ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        pass


def check_file(file: str | Path, **how: Any) -> Verdict:
    return clew.check(file, **how)


def told(verdict: Verdict) -> object:
    """Return all of a verdict but the clock, and what is not compared: the lineage that one process holds."""
    return replace(verdict, seconds=0.0, survey=None), str(verdict)


def check(program: Program, **how: Any) -> object:
    try:
        return told(clew.check(program, **how))
    except ClewError as error:
        return str(error)


@given(
    programs(),
    st.sampled_from([0.0005, 0.001, 0.002]),
    st.sampled_from(["exact", "lineage"]),
    st.data(),
)
@settings(max_examples=8)
def test_any_program_has_the_same_answer(
    program: Program, effort: float, strategy: str, data: st.DataObject
) -> None:
    """Also where the effort ends in the middle of something."""
    crews: list[Immediate] = []

    def start(job: SweepJob, team: object, deadline: Deadline) -> Immediate:
        crews.append(Immediate(job, data.draw(st.sampled_from([0, 2, 3]))))
        return crews[-1]

    alone = check(program, effort=effort, strategy=strategy)
    with mock.patch.object(sweeping_ahead, "_start", start):
        assert check(program, effort=effort, strategy=strategy, workers=2) == alone


@pytest.mark.parametrize(
    ("file", "how"),
    [
        ("raft-vote.ded", {"effort": 0.2}),
        ("2pc.ded", {"effort": 0.1, "strategy": "lineage"}),
    ],
)
def test_forks_and_executors_give_the_same_answer(file: str, how: dict[str, Any]) -> None:
    alone = check_file(EXAMPLES / file, **how)
    with ThreadPoolExecutor(2) as executor:
        ways: list[dict[str, Any]] = [{"workers": 2}, {"executor": executor}]
        for way in ways:
            assert told(check_file(EXAMPLES / file, **how, **way)) == told(alone)


def test_a_checkpoint_is_the_same(tmp_path: Path) -> None:
    file, how = EXAMPLES / "raft-vote.ded", {"effort": 0.2}
    checkpoint = tmp_path / "checkpoint"
    cut: dict[str, Any] = {"time_limit": 0.3, "checkpoint": checkpoint}
    check_file(file, workers=2, **how, **cut)
    alone = check_file(file, **how)
    assert told(check_file(file, workers=2, checkpoint=checkpoint, **how)) == told(alone)


def test_one_question_is_for_one_process() -> None:
    with pytest.raises(UsageError, match="are for a grid or a sweep") as caught:
        clew.check(EXAMPLES / "kafka.ded", eot=5, eff=2, workers=2)
    assert caught.value.remedy == "leave them out, or add what varies, as in --grid crashes=0..2"


def test_a_bloom_program_is_sent_as_what_it_was_translated_to() -> None:
    bloom = f"{EXAMPLES / 'bloom' / 'checked_delivery.py'}:BestEffort"
    with ThreadPoolExecutor(1) as executor:
        assert told(clew.check(bloom, effort=0.02, executor=executor)) == told(clew.check(bloom, effort=0.02))
