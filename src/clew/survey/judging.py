"""From what a search found to the answer: a certificate is none where nothing is promised."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from clew.engine.ground import GroundProgram
from clew.engine.occurrence import Occurrence
from clew.errors import BudgetExhaustedError
from clew.faults import FailureSpec
from clew.interrupt import Deadline
from clew.program.ir import Program
from clew.search.verdict import Answer, Findings
from clew.strategies import Examined
from clew.survey.survey import Survey, take_survey

_HOLLOW = "nothing is promised: what must hold applies in no admissible execution (--allow-hollow permits that)"
_UNKNOWN = "the time ended before it was known whether anything is promised"


@dataclass(frozen=True)
class Demands:
    """What a certificate has to be, and what else is asked for."""

    allow_hollow: bool = False
    strict: bool = False
    coverage: bool = False


def look_up(
    program: Program, spec: FailureSpec, examined: Examined, demands: Demands, deadline: Deadline
) -> Survey | None:
    """Look up what the answer rests on; a counterexample needs no such foundation."""
    if deadline.passed() or (examined.findings.answer is Answer.COUNTEREXAMPLE and not demands.coverage):
        return None
    try:
        with deadline.listening():
            ground = examined.ground or GroundProgram(program, spec, deadline=deadline)
            return take_survey(ground, deadline, count=demands.coverage)
    except BudgetExhaustedError:
        return None


def judge(
    findings: Findings, survey: Survey | None, cautioned: Sequence[str], demands: Demands
) -> tuple[Answer, str | None]:
    """Return the answer, and why it is incomplete if it is."""
    if findings.answer is not Answer.CERTIFIED:
        return findings.answer, findings.reason
    if not demands.allow_hollow:
        if survey is None or survey.whole is Occurrence.UNKNOWN:
            return Answer.INCOMPLETE, _UNKNOWN
        if survey.hollow:
            return Answer.INCOMPLETE, _HOLLOW
    if cautioned and demands.strict:
        return Answer.INCOMPLETE, f"strict: {cautioned[0]}"
    return findings.answer, findings.reason
