"""How an answer compares with what is expected."""

from __future__ import annotations

from typing import Any

import pytest

from clew.expectation import Expectation
from clew.model_tests.judging import judge
from clew.model_tests.model import Kind, Model, ModelOutcome, Status
from clew.model_tests.performing import Finding, Refusal
from clew.model_tests.processes import Ended
from clew.model_tests.result import ModelTests, ModelTestsAnswer

ANY = Expectation("counterexample")
THREE = Expectation("counterexample", 3)
CERTIFIED = Expectation("certified")
INCOMPLETE = Expectation("incomplete")


@pytest.mark.parametrize(
    ("expected", "found", "status"),
    [
        (ANY, Finding("counterexample", 7), Status.AS_EXPECTED),
        (THREE, Finding("counterexample", 3), Status.AS_EXPECTED),
        (THREE, Finding("counterexample", 2), Status.DIFFERS),
        (THREE, Finding("counterexample", 0), Status.DIFFERS),
        (Expectation("counterexample", 0), Finding("counterexample", 0), Status.AS_EXPECTED),
        (THREE, Finding("certified"), Status.DIFFERS),
        (THREE, Finding("incomplete"), Status.INCOMPLETE),
        # Cut short, a search may not have come to the smallest one.
        (THREE, Finding("counterexample", 4, reason="interrupted"), Status.INCOMPLETE),
        (CERTIFIED, Finding("counterexample", 4, reason="interrupted"), Status.DIFFERS),
        (CERTIFIED, Finding("certified"), Status.AS_EXPECTED),
        (CERTIFIED, Finding("certified", reason="the sweep's effort is spent"), Status.AS_EXPECTED),
        (INCOMPLETE, Finding("incomplete", reason="nothing is promised"), Status.AS_EXPECTED),
        # The clock says nothing about the model.
        (INCOMPLETE, Finding("incomplete", reason="the time limit ...", limited=True), Status.INCOMPLETE),
        (INCOMPLETE, Finding("certified"), Status.DIFFERS),
        (None, Finding("certified"), Status.NO_EXPECTATION),
        (None, Refusal("no program"), Status.NO_EXPECTATION),
        (None, Refusal("KeyError", status=Status.BROKEN), Status.BROKEN),
        (THREE, Refusal("no program"), Status.FAILED),
        (THREE, Refusal("memory ran out", status=Status.INCOMPLETE), Status.INCOMPLETE),
        (THREE, Refusal("KeyError", status=Status.BROKEN), Status.BROKEN),
    ],
)
def test_answers_are_compared(expected: Expectation | None, found: Any, status: Status) -> None:
    outcome = judge(Model("m.ded", Kind.DEDALUS, expected), Ended(found, printed="x"), 9, None)
    assert outcome.status is status
    assert outcome.printed == ("" if status is Status.AS_EXPECTED else "x")


@pytest.mark.parametrize(
    ("kind", "ended", "status", "reason"),
    [
        (Kind.DEDALUS, Ended[Any](died="the process died"), Status.BROKEN, "the process died"),
        (Kind.BLOOM, Ended[Any](died="the process died"), Status.FAILED, "the process died"),
        (Kind.SCENARIO, Ended[Any](late=True), Status.INCOMPLETE, "the time limit of 9 s ran out, in code that "),
        (Kind.BLOOM, Ended[Any](), Status.INCOMPLETE, "not checked: interrupted"),
    ],
)
def test_processes_without_an_answer_are_no_answers(
    kind: Kind, ended: Ended[Any], status: Status, reason: str
) -> None:
    for expected in (CERTIFIED, INCOMPLETE):
        outcome = judge(Model("m", kind, expected), ended, 9, "interrupted")
        assert (outcome.status, outcome.answer) == (status, None)
        assert (outcome.reason or "").startswith(reason)


@pytest.mark.parametrize(
    ("statuses", "answer", "code"),
    [
        ([Status.AS_EXPECTED], ModelTestsAnswer.AS_EXPECTED, 0),
        ([Status.AS_EXPECTED, Status.NO_EXPECTATION], ModelTestsAnswer.AS_EXPECTED, 0),
        ([Status.NO_EXPECTATION], ModelTestsAnswer.INCOMPLETE, 3),  # nothing compared is no success
        ([Status.AS_EXPECTED, Status.INCOMPLETE], ModelTestsAnswer.INCOMPLETE, 3),
        ([Status.INCOMPLETE, Status.DIFFERS], ModelTestsAnswer.DIFFERS, 1),
        ([Status.AS_EXPECTED, Status.FAILED], ModelTestsAnswer.DIFFERS, 1),
        ([Status.BROKEN, Status.DIFFERS, Status.INCOMPLETE], ModelTestsAnswer.FAILED, 4),
    ],
)
def test_the_worst_decides(statuses: list[Status], answer: ModelTestsAnswer, code: int) -> None:
    outcomes = tuple(ModelOutcome(Model("m", Kind.DEDALUS), status) for status in statuses)
    tests = ModelTests((".",), outcomes)
    assert (tests.answer, tests.exit_code) == (answer, code)
    assert (tests.reason is None) is (code == 0)
