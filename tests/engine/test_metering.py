"""What grounding, solving and executing cost, and that half a search is never taken for a whole one."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from typing import Never

import pytest

from clew import FailureSpec, FaultSet, parse_program
from clew.budgets.deadline import Deadline
from clew.budgets.effort import ATOM, CONFLICT, GROUND_PROGRAM, Effort
from clew.checker.bounds import complete
from clew.checker.model import Model
from clew.checker.traced import TracedModel
from clew.dedalus.loader import load
from clew.engine import fewest, solving
from clew.engine.fewest import ever_fewer_faults, minimal_faults
from clew.engine.ground import GroundProgram
from clew.errors import EffortExhaustedError
from clew.lineage.negation import Negation
from clew.program.checks import check_program
from clew.program.ir import Program
from clew.search import exact, exhaustive, lineage
from clew.search.verdict import Answer, Ledger, conduct
from command import ROOT

#: Every row meets every other one, three times.
EXPLODING = (
    "".join(f"n(a, {k}); " for k in range(60))
    + "n(X, K)@next :- n(X, K); m(Y, K)@async :- n(X, K), n(Y, _);"
    + "all(X, A, B, C, D) :- m(X, A), m(X, B), m(X, C), m(X, D); all(X, A, B, C, D)@next :- all(X, A, B, C, D);"
)


def _kafka() -> tuple[Program, FailureSpec]:
    """Its smallest counterexample takes some hundred conflicts to find at these bounds."""
    loaded = load([ROOT / "examples" / "kafka.ded"])
    program = check_program(loaded.program).program
    return program, replace(complete(program, loaded.defaults), eot=10, eff=7, crashes=2)


def _ground(effort: Effort) -> GroundProgram:
    return GroundProgram(*_kafka(), deadline=Deadline(None, effort))


def test_a_grounding_that_explodes_is_ended() -> None:
    effort = Effort(50_000)
    with pytest.raises(EffortExhaustedError, match="used up"):
        GroundProgram(parse_program(EXPLODING), FailureSpec(("a",), eot=4), deadline=Deadline(None, effort))
    assert effort.spent == 50_000


def test_a_ground_program_costs_by_its_size() -> None:
    first, second = Effort(10**9), Effort(10**9)
    ground = _ground(first)
    atoms = len(list(ground._control.symbolic_atoms))
    assert first.spent == GROUND_PROGRAM + ATOM * atoms
    _ground(second)
    assert second.spent == first.spent


def test_executions_cost_something() -> None:
    effort = Effort(10**9)
    ground = _ground(effort)
    before = effort.spent
    ground.violations(FaultSet())
    once = effort.spent - before
    ground.run(FaultSet())
    assert effort.spent - before == 2 * once > 0


def test_conflicts_are_charged_for() -> None:
    effort = Effort(10**9)
    ground = _ground(effort)
    before = effort.spent
    assert len(list(ever_fewer_faults(ground))[-1]) == 3
    assert ground.figures is not None and ground.figures.conflicts > 50
    assert effort.spent - before == CONFLICT * ground.figures.conflicts


@pytest.mark.parametrize("conflicts", [1, 10, 50])
def test_a_search_that_is_cut_short_says_so(conflicts: int) -> None:
    """Nothing found so far is not: nothing there."""
    effort = Effort(10**9)
    ground = _ground(effort)
    effort.most = effort.spent + conflicts * CONFLICT
    with pytest.raises(EffortExhaustedError):
        list(ever_fewer_faults(ground))
    assert effort.exhausted
    assert ground.violations(FaultSet()) == ()  # it can still execute


def _with_answers(questions: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the solver answer so many questions, and stop in the middle of all others."""
    answers = iter([solving._models] * questions)
    monkeypatch.setattr(solving, "_models", lambda *question: next(answers, _stop)(*question))


def test_a_solver_that_stops_for_no_reason_certifies_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever question it was that it did not search to the end."""
    monkeypatch.setattr(fewest, "FIRST_ATTEMPT", 30)
    stopped = "the solver stopped before it had searched everything"
    expected = [
        (Answer.INCOMPLETE, stopped),  # in the first attempt, and in the search for any counterexample
        (Answer.COUNTEREXAMPLE, f"{stopped}; fewer faults may do"),  # on the way to a subset-minimal one
        (Answer.COUNTEREXAMPLE, f"{stopped}; fewer faults may do"),  # in the search for the smallest
        (Answer.COUNTEREXAMPLE, None),
    ]
    for questions, answer in enumerate(expected):
        model = Model(*_kafka(), deadline=Deadline(None))
        with monkeypatch.context() as patch:
            _with_answers(questions, patch)
            findings = conduct(lambda book, model=model: exact.search(model, book), Ledger())  # type: ignore[misc]
        assert (findings.answer, findings.reason) == answer


def test_a_solver_that_stops_for_no_reason_lists_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    model = Model(*_kafka(), deadline=Deadline(None))
    _with_answers(0, monkeypatch)
    findings = conduct(lambda book: exact.search(model, book, find_all=True), Ledger())
    assert findings.answer is Answer.INCOMPLETE
    assert findings.reason == "the solver stopped before it had searched everything"


def _stop(*question: object) -> Generator[Never, None, bool]:
    """Neither a model nor a proof that there is none."""
    yield from ()
    return False


@pytest.mark.parametrize("limit", [5, 50, 10**6])
def test_the_smaller_limit_counts(limit: int) -> None:
    """A question with a limit of its own that is reached is unanswered; the effort is not used up by that."""
    effort = Effort(10**9)
    ground = _ground(effort)
    assert ground.violated is not None
    found = ground.solutions([ground.violated], "opt", "auto", by_cores=True, conflicts=limit)
    assert solving.last(found, ground.faults_of)[1] == (limit == 10**6)
    assert not effort.exhausted
    effort.most = effort.spent + 3 * CONFLICT
    with pytest.raises(EffortExhaustedError):
        list(ground.solutions([ground.violated], "opt", "auto", conflicts=limit))


def test_a_limit_of_one_search_does_not_hold_for_the_next() -> None:
    effort = Effort(10**9)
    ground = _ground(effort)
    effort.most = effort.spent + 10 * CONFLICT
    with pytest.raises(EffortExhaustedError):
        list(minimal_faults(ground))
    effort.most = 10**9
    assert len(list(ever_fewer_faults(ground))[-1]) == 3


def test_a_counterexample_found_with_the_last_effort_is_confirmed() -> None:
    effort = Effort(10**9)
    model = Model(*_kafka(), deadline=Deadline(None, effort))
    effort.most = effort.spent + 50 * CONFLICT
    findings = conduct(lambda book: exact.search(model, book), Ledger(Deadline(None, effort)))
    assert findings.answer is Answer.COUNTEREXAMPLE
    assert findings.reason == "the effort of the sweep is used up; fewer faults may do"
    assert len(findings.counterexamples) == 1


@pytest.mark.parametrize("share", [0.3, 0.6, 0.9])
def test_lineage_and_exhaustive_search_end_with_the_effort(share: float) -> None:
    """Wherever they are cut, they are incomplete; and at the same execution every time."""
    loaded = load([ROOT / "examples" / "ack-deliv.ded"])
    program = check_program(loaded.program).program
    spec = replace(complete(program, loaded.defaults), eot=6, eff=5)
    whole = _lineage_runs(program, spec, Effort(10**9))
    assert whole[:2] == (Answer.CERTIFIED, None)
    cut = [_lineage_runs(program, spec, Effort(int(whole[3] * share))) for _ in range(2)]
    assert cut[0] == cut[1]
    assert cut[0][:2] == (Answer.INCOMPLETE, "the effort of the sweep is used up")
    assert cut[0][2] < whole[2]
    effort = Effort(20_000)
    model = TracedModel(program, spec, Negation.EXACT, deadline=Deadline(None, effort))
    found = conduct(lambda book: exhaustive.search(model, book), Ledger(Deadline(None, effort)))
    assert (found.answer, found.reason) == (Answer.INCOMPLETE, "the effort of the sweep is used up")


def _lineage_runs(program: Program, spec: FailureSpec, effort: Effort) -> tuple[Answer, str | None, int, int]:
    deadline = Deadline(None, effort)

    def search(ledger: Ledger) -> str | None:
        return lineage.search(TracedModel(program, spec, Negation.EXACT, deadline=deadline), ledger)

    found = conduct(search, Ledger(deadline))
    return found.answer, found.reason, found.runs, effort.spent
