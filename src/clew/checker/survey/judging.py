"""From what a search found to the answer: a certificate is none where nothing is promised."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from clew.budgets.deadline import Deadline
from clew.checker.strategies import Examined
from clew.engine.ground import GroundProgram
from clew.errors import BudgetExhaustedError
from clew.faults import FailureSpec
from clew.program.ir import ADDING, Program
from clew.search.verdict import Answer, Findings

if TYPE_CHECKING:  # a counterexample needs no survey, and a cold start should not pay for it
    from clew.checker.survey.survey import Survey

_HOLLOW = "nothing is promised: what must hold applies in no admissible execution (--allow-hollow permits that)"
_UNKNOWN = "the budget ended before it was known whether anything is promised"


class Demands(NamedTuple):
    """What a certificate has to be, and what else is asked for."""

    allow_hollow: bool = False
    strict: bool = False
    coverage: bool = False


class Judgment(NamedTuple):
    """The answer and what it rests on; ``survey`` is None where nothing was looked up."""

    answer: Answer
    reason: str | None
    survey: Survey | None = None
    cautions: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


def judge(
    program: Program, spec: FailureSpec, examined: Examined, demands: Demands, deadline: Deadline
) -> Judgment:
    """Look up what the findings rest on, and answer."""
    findings = examined.findings
    survey = _look_up(program, spec, examined, demands, deadline)
    if findings.answer is Answer.COUNTEREXAMPLE:
        return Judgment(findings.answer, findings.reason, survey)
    # Not at the top: a counterexample stands by itself, and its cold start does not pay for this.
    from clew.checker.survey.survey import find_cautions, find_remarks

    cautioned = (*findings.cautions, *find_cautions(survey, program, spec, vacuous=examined.vacuous))
    answer, reason = _answer(findings, survey, cautioned, demands)
    return Judgment(answer, reason, survey, cautioned, tuple(find_remarks(survey)))


def _look_up(
    program: Program, spec: FailureSpec, examined: Examined, demands: Demands, deadline: Deadline
) -> Survey | None:
    found = examined.findings.answer is Answer.COUNTEREXAMPLE
    kept = bool(examined.findings.kept)
    if deadline.passed() or (found and not demands.coverage and not _adds_up(program) and not kept):
        return None
    from clew.checker.survey.survey import look_at_promises, look_at_sums, take_survey

    try:
        with deadline.listening():
            ground = examined.ground or GroundProgram(program, spec, deadline=deadline)
            if found and not demands.coverage and kept:
                return look_at_promises(ground)
            if found and not demands.coverage:
                return look_at_sums(ground)
            return take_survey(ground, deadline, count=demands.coverage)
    except BudgetExhaustedError:
        return None


def _adds_up(program: Program) -> bool:
    return any(a.function in ADDING for rule in program.rules for a in rule.aggregates)


def hollow_reason(survey: Survey) -> str:
    """Say that nothing is promised, or by which of several promises."""
    if not survey.hollow_promises:
        return _HOLLOW
    names = " and ".join(f"'{name}'" for name in survey.hollow_promises)
    applies = "applies" if len(survey.hollow_promises) == 1 else "apply"
    return (
        f"nothing is promised by {names}, which {applies} in no admissible execution (--allow-hollow permits that)"
    )


def _answer(
    findings: Findings, survey: Survey | None, cautioned: Sequence[str], demands: Demands
) -> tuple[Answer, str | None]:
    """Return the answer, and why it is incomplete if it is."""
    if findings.answer is not Answer.CERTIFIED:
        return findings.answer, findings.reason
    if not demands.allow_hollow:
        if survey is None or not survey.known:
            return Answer.INCOMPLETE, _UNKNOWN
        if survey.hollow:
            return Answer.INCOMPLETE, hollow_reason(survey)
    # Last: without --strict a caution changes nothing, and what is hollow has a reason of its own.
    if cautioned and demands.strict:
        return Answer.INCOMPLETE, f"strict: {cautioned[0]}"
    return findings.answer, findings.reason
