"""One answer for each promise of a program that states several: a verdict is about all of them together.

A promise is *certified* only if no faults within the bounds break it and it says something.  What a search has not
looked at is *not decided*, whatever became of the others.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from clew.checker.survey.judging import hollow_reason
from clew.engine.conditions import Occurrence
from clew.program.assertions import Assertion, find_assertions, states_more_than_one
from clew.program.ir import Program
from clew.search.verdict import Answer, Counterexample

if TYPE_CHECKING:
    from clew.checker.survey.survey import Survey

_NEVER_APPLIES = "it applies in no admissible execution"
_NOT_KNOWN = "no faults break it, but it is not known whether it ever applies"
_OTHER = "the search ended at a counterexample for another promise"


class Standing(enum.Enum):
    """How one promise stands; the values are what JSON calls them."""

    CERTIFIED = "certified"
    VIOLATED = "violated"
    VACUOUS = "vacuous"
    UNDECIDED = "not decided"


@dataclass(frozen=True)
class PromiseAnswer:
    """What is known of one promise: ``pre`` and ``post``, such a pair with a name, or what must ``never`` hold.

    ``counterexamples``: the numbers, from 1 on, of those of the verdict that violate it.  ``reason``: why it is
    vacuous or not decided.
    """

    assertion: Assertion
    standing: Standing
    counterexamples: tuple[int, ...] = ()
    reason: str | None = None


class Answered(Protocol):
    """A verdict, as far as the answers for its promises rest on it."""

    @property
    def answer(self) -> Answer: ...

    @property
    def reason(self) -> str | None: ...

    @property
    def program(self) -> Program | None: ...

    @property
    def counterexamples(self) -> tuple[Counterexample, ...]: ...

    @property
    def candidates(self) -> tuple[Counterexample, ...]: ...

    @property
    def survey(self) -> Survey | None: ...

    @property
    def ruled_out(self) -> bool: ...

    @property
    def kept(self) -> tuple[str, ...]: ...


def answer_promises(verdict: Answered) -> tuple[PromiseAnswer, ...]:
    """Return an answer for each promise; none for ``pre`` and ``post`` alone, where the verdict is the answer."""
    program = verdict.program
    if program is None or not states_more_than_one(program):
        return ()
    return tuple(_answer(assertion, verdict) for assertion in find_assertions(program))


def _answer(assertion: Assertion, verdict: Answered) -> PromiseAnswer:
    relation = assertion.relation
    numbers = tuple(
        number
        for number, found in enumerate(verdict.counterexamples, start=1)
        if any(violation.relation == relation for violation in found.violations)
    )
    if numbers:
        return PromiseAnswer(assertion, Standing.VIOLATED, numbers)
    # A candidate is violated at EOT, and may keep the promise if it goes on.
    if any(v.relation == relation for found in verdict.candidates for v in found.violations):
        return PromiseAnswer(assertion, Standing.UNDECIDED, reason="faults break it, but it may recover later")
    standing, reason = _stand(relation, verdict)
    return PromiseAnswer(assertion, standing, reason=reason)


def _stand(relation: str, verdict: Answered) -> tuple[Standing, str | None]:
    """Return how a promise stands that no counterexample violates."""
    survey, kept = verdict.survey, verdict.ruled_out or relation in verdict.kept
    applies = survey.applies(relation) if survey else Occurrence.UNKNOWN
    # First: that a promise applies means nothing before it is known to be kept.
    if not kept:
        return Standing.UNDECIDED, verdict.reason or _OTHER
    if applies is Occurrence.NEVER:
        return Standing.VACUOUS, _NEVER_APPLIES
    if verdict.answer is Answer.CERTIFIED:
        return Standing.CERTIFIED, None
    if applies is Occurrence.UNKNOWN:
        return Standing.UNDECIDED, _NOT_KNOWN
    # That another promise says nothing takes nothing from this one; what else makes an answer incomplete does.
    hollow = survey is not None and verdict.reason == hollow_reason(survey)
    if verdict.answer is Answer.COUNTEREXAMPLE or hollow:
        return Standing.CERTIFIED, None
    return Standing.UNDECIDED, verdict.reason
