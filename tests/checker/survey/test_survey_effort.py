"""A survey that is ended by its effort says less, and nothing else; and the same every time."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from clew import Answer, check, parse_program
from clew.budgets.deadline import Deadline
from clew.budgets.effort import Effort
from clew.checker.bounds import complete
from clew.checker.survey.survey import Survey, take_survey
from clew.dedalus.loader import load
from clew.engine.conditions import Occurrence
from clew.engine.ground import GroundProgram
from clew.errors import BudgetExhaustedError
from clew.faults import FailureSpec
from clew.program.checks import check_program
from clew.program.ir import Program
from command import ROOT
from generators import problems


def _survey(program: Program, spec: FailureSpec, effort: int) -> Survey | None:
    deadline = Deadline(None, Effort(effort))
    try:
        return take_survey(GroundProgram(program, spec, deadline=deadline), deadline)
    except BudgetExhaustedError:
        return None


def _agrees(part: Survey, whole: Survey) -> bool:
    """Whether everything that is known in part of a survey is so in the whole."""
    same = all(
        p.applies in (Occurrence.UNKNOWN, w.applies) and p.follows in (None, w.follows)
        for p, w in zip(part.promises, whole.promises, strict=bool(part.promises))
    )
    fires = all(
        p.fires in (Occurrence.UNKNOWN, w.fires)
        for p, w in zip(part.coverage, whole.coverage, strict=bool(part.coverage))
    )
    return same and fires and set(part.notices) <= set(whole.notices)


@given(problems(), st.integers(800, 4_000))
def test_part_of_a_survey_agrees_with_the_whole(problem: tuple[Program, FailureSpec], effort: int) -> None:
    whole = _survey(*problem, 10**9)
    part = _survey(*problem, effort)
    assert whole is not None and whole.finished
    assert part == _survey(*problem, effort)
    if part is not None:
        assert _agrees(part, whole)
        assert part.finished == (part == whole)
        assert not part.hollow or whole.hollow


def test_the_less_effort_the_less_is_known() -> None:
    loaded = load([ROOT / "examples" / "paxos-synod.ded"])
    program = check_program(loaded.program).program
    spec = replace(complete(program, loaded.defaults), eot=9, eff=8)
    surveys = [_survey(program, spec, effort) for effort in (1, 7_000, 9_000, 12_000, 10**9)]
    whole = surveys[-1]
    assert whole is not None and whole.finished
    known = [s for s in surveys if s is not None]
    assert all(_agrees(s, whole) for s in known)
    assert surveys[0] is None
    assert [s.finished for s in known] == sorted(s.finished for s in known)
    assert not known[0].finished


#: ``p`` is gone after the first step; ``got`` has to survive where there is any.
FORGETFUL = (
    "p(a, b); m(Y)@async :- p(X, Y); p(X, Y)@next :- p(X, Y), notin q(X, Y); q(X, Y)@next :- p(X, Y);"
    "got(Y)@async :- go(X, Y); got(Y)@next :- got(Y);"
)


def test_a_sweep_in_which_nothing_ever_has_to_survive_certifies_nothing() -> None:
    verdict = check(parse_program(FORGETFUL + "go(a, b) :- never(a, b);"), nodes=["a", "b"], crashes=0)
    assert (verdict.answer, verdict.certified) == (Answer.INCOMPLETE, None)
    assert verdict.reason is not None and "what must survive" in verdict.reason


def test_settings_at_which_nothing_has_to_survive_yet_are_passed_over() -> None:
    """Messages arrive before, but the first row that is kept comes at time 10."""
    verdict = check(parse_program(FORGETFUL + "go(a, b)@9;"), nodes=["a", "b"], crashes=0)
    assert (verdict.answer, verdict.spec.eot, verdict.spec.eff) == (Answer.COUNTEREXAMPLE, 11, 10)
    assert verdict.certified == (10, 9, Answer.CERTIFIED)
    assert min(setting.eot for setting in verdict.swept) == 10
