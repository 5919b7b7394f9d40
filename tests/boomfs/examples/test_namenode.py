"""``examples/boomfs``: what the guide says that its checks come to."""

from __future__ import annotations

from pathlib import Path

import pytest

import clew
from clew.injection.checking import check_scenario
from clew.injection.faults import MessageLoss, MessageName, NodeRestart

FILE = Path(__file__).parents[3] / "examples" / "boomfs" / "namenode.py"


@pytest.mark.parametrize(("name", "is_broken"), [("forgetful", True), ("remembering", False)])
def test_answers_in_memory_are_forgotten_and_requests_done_twice(name: str, is_broken: bool) -> None:
    lost = MessageLoss(MessageName("x", "clients", "response", 1))
    found = clew.run_scenario(f"{FILE}:{name}", [lost, NodeRestart("x", 8, 50_000)], in_process=True)
    assert None not in found.struck
    assert (found.broken is not None) is is_broken


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
