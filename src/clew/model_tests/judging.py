"""Compare what became of a model with what it expects."""

from __future__ import annotations

from dataclasses import replace

from clew.expectation import COUNTEREXAMPLE, Expectation
from clew.model_tests.model import Kind, Model, ModelOutcome, Status
from clew.model_tests.performing import Finding, Refusal
from clew.model_tests.processes import Ended
from clew.search.verdict import Answer

_KEEP_PROCESS = "let no code end the process it runs in"


def judge(
    model: Model, ended: Ended[Finding | Refusal], seconds: float | None, cut_short: str | None
) -> ModelOutcome:
    """Return what became of a model; ``cut_short``: what ended all that did not come to its end."""
    if isinstance(ended.value, Finding):
        outcome = _judge_finding(model, ended.value)
    elif isinstance(ended.value, Refusal):
        outcome = judge_refusal(model, ended.value)
    elif ended.died is not None:
        outcome = judge_death(model, ended.died)
    else:
        late = (
            f"the time limit of {seconds:g} s ran out, in code that nothing can interrupt" if ended.late else None
        )
        outcome = ModelOutcome(model, Status.INCOMPLETE, reason=late or f"not checked: {cut_short}")
    if model.expectation is None and outcome.status is not Status.BROKEN:
        outcome = replace(outcome, status=Status.NO_EXPECTATION)
    return with_printed(outcome, ended.printed)


def judge_refusal(model: Model, refusal: Refusal) -> ModelOutcome:
    """Return what became of a model that has no answer."""
    return ModelOutcome(model, refusal.status, reason=refusal.reason, remedy=refusal.remedy)


def judge_death(model: Model, how: str) -> ModelOutcome:
    """Return what became of a model whose process has ended: by its code, or, where it has none, by ours."""
    if model.kind is Kind.DEDALUS:
        return ModelOutcome(model, Status.BROKEN, reason=how)
    return ModelOutcome(model, Status.FAILED, reason=how, remedy=_KEEP_PROCESS)


def with_printed(outcome: ModelOutcome, printed: str) -> ModelOutcome:
    """Add what code has printed, which is for those who look for a mistake."""
    return outcome if outcome.status is Status.AS_EXPECTED else replace(outcome, printed=printed)


def _judge_finding(model: Model, found: Finding) -> ModelOutcome:
    status = Status.NO_EXPECTATION if model.expectation is None else _compare(model.expectation, found)
    return ModelOutcome(model, status, found.answer, found.faults, found.spec, found.runs, found.reason)


def _compare(expectation: Expectation, found: Finding) -> Status:
    # "incomplete" is expected of a search that comes to its end without an answer; the clock is no such end.
    if found.limited:
        return Status.INCOMPLETE
    if expectation.is_met_by(found.answer, found.faults):
        return Status.AS_EXPECTED
    # A search that was cut short may have shown a counterexample, and not the smallest.
    is_unfinished = found.answer == expectation.answer == COUNTEREXAMPLE and found.reason is not None
    return Status.INCOMPLETE if is_unfinished or found.answer == Answer.INCOMPLETE.value else Status.DIFFERS
