"""``examples/boomfs``: what the guide says that its checks come to."""

from __future__ import annotations

from pathlib import Path

import pytest

import clew
from clew.injection.checking import check_scenario

FILE = Path(__file__).parents[3] / "examples" / "boomfs" / "namenode.py"


def test_answers_in_memory_are_forgotten_and_requests_done_twice() -> None:
    verdict = check_scenario(f"{FILE}:forgetful", in_process=True)
    assert verdict.counterexample is not None
    assert sorted(str(fault)[0] for fault in verdict.counterexample.faults) == ["O", "R"]


@pytest.mark.long
@pytest.mark.parametrize(("name", "executions"), [("restarts", 50), ("losses", 85)])
def test_within_these_bounds_the_namenode_answers_like_one_tree(name: str, executions: int) -> None:
    verdict = check_scenario(f"{FILE}:{name}", in_process=True, strategy="exhaustive")
    assert (verdict.answer.value, verdict.runs) == ("certified", executions)


@pytest.mark.parametrize(
    ("name", "runs"),
    [
        ("alone", 1),
        pytest.param("alone", 100, marks=pytest.mark.long),
        pytest.param("group", 30, marks=pytest.mark.long),
    ],
)
def test_lost_repeated_and_late_messages_and_restarts_show_one_tree(name: str, runs: int) -> None:
    found = clew.fuzz(f"{FILE}:{name}", runs=runs)
    assert found.recording is None
    assert found.coverage.runs == runs
