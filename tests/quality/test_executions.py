"""The examples of Bloom executions, with their exact verdicts: which faults, and in how many executions."""

from __future__ import annotations

from pathlib import Path

import pytest

from clew.injection.checking import check_scenario

LIKES = Path(__file__).parents[2] / "examples" / "bloom" / "likes.py"


@pytest.mark.parametrize(
    ("name", "faults", "executions"),
    [
        ("eager", ["O(a,b,gossip,3)", "O(a,c,gossip,3)", "C(a,5)"], 2),
        ("careful", ["R(a,2,0.2 s)"], 2),
    ],
)
def test_likes_that_get_lost(name: str, faults: list[str], executions: int) -> None:
    verdict = check_scenario(f"{LIKES}:{name}", in_process=True)
    assert verdict.counterexample is not None
    assert [str(fault) for fault in verdict.counterexample.faults] == faults
    assert verdict.runs == executions


def test_likes_on_disk_are_kept_whatever_restarts() -> None:
    verdict = check_scenario(f"{LIKES}:durable", in_process=True, strategy="exhaustive")
    assert (verdict.answer.value, verdict.runs) == ("certified", 55)
