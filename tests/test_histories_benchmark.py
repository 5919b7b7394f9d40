"""The benchmark of histories: what it makes is what it says, and its bars can fail."""

from __future__ import annotations

import pytest
from benchmarks import histories
from benchmarks.effort import QUICK

from clew.histories import HistoryAnswer, check_history


@pytest.mark.parametrize("unique", [False, True])
def test_the_histories_of_registers_are_linearizable_until_they_are_spoiled(unique: bool) -> None:
    made = histories.register_history(400, 2, 4, unique=unique)
    assert len(made.operations) == 400
    assert {op.function for op in made.operations} == {"read", "write", "cas"}
    assert check_history(made).answer is HistoryAnswer.HOLDS
    assert check_history(histories.spoil(made)).answer is HistoryAnswer.VIOLATED


def test_the_transactions_are_strict_serializable() -> None:
    made = histories.transaction_history(300)
    verdict = check_history(made, "strict-serializable")
    assert (verdict.answer, verdict.operations) == (HistoryAnswer.HOLDS, 300)


def test_a_bar_fails_for_the_wrong_answer_and_for_too_long_a_time() -> None:
    made = histories.register_history(50, 1, 3, unique=False)
    assert histories._bar("b", made, HistoryAnswer.HOLDS, 100.0, QUICK).passed
    assert not histories._bar("b", made, HistoryAnswer.VIOLATED, 100.0, QUICK).passed
    assert not histories._bar("b", made, HistoryAnswer.HOLDS, 0.0, QUICK).passed
