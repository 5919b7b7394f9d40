"""About a certificate: its outcomes, how far they are from failing, and runs under the heaviest faults."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache

import pytest

from clew import Answer, parse_program
from clew.budgets.deadline import Deadline
from clew.engine.extremes import BeyondBudget, Cheapest, Exceeding
from clew.errors import BudgetExhaustedError
from clew.explain.distance import Distance, Undecided, Way
from clew.explain.explainer import Explainer, Margin
from clew.faults import FailureSpec, FaultSet, Loss
from clew.program.checks import check_program
from clew.violation import Violation
from example_verdicts import explainer_of, verdict_of

CERTIFIED = ["ack-deliv", "bully-le", "flux", "paxos-synod", "redun-deliv"]
NO_DEADLINE = Deadline(None)


@cache
def margins(name: str) -> tuple[Margin, ...]:
    return tuple(explainer_of(name).margins())


def of_text(text: str, spec: FailureSpec) -> Explainer:
    return Explainer(check_program(parse_program(text)).program, spec, NO_DEADLINE)


def decided(way: Way) -> Cheapest | None:
    assert not isinstance(way, Undecided)
    return way


def outside(way: Way) -> tuple[int, bool] | None:
    found = decided(way)
    return None if found is None else (found.outside, found.proven)


def ways(distance: Distance) -> tuple[Way, ...]:
    return distance.cheapest, distance.by_losses, distance.by_crashes


# -- margins ----------------------------------------------------------------------------------------------------


def test_the_margins_of_a_redundant_broadcast() -> None:
    """Ten messages from a to each node, nine more from the other that a reached: 19 of 190 share no message."""
    found = margins("redun-deliv")
    assert [str(m.violation) for m in found] == ["pre(a, data)", "pre(b, data)", "pre(c, data)"]
    assert {(m.supports, m.more, m.independent, m.exact, m.needs_messages) for m in found} == {
        (190, False, 19, True, True)
    }
    assert {outside(m.distance.cheapest) for m in found} == {(1, True)}


def test_the_margins_of_acknowledged_broadcast() -> None:
    found = margins("ack-deliv")
    assert [(str(m.violation), m.supports, m.independent, m.exact) for m in found] == [
        ("pre(a, data)", 10, 4, True),
        ("pre(b, data)", 5, 4, True),
        ("pre(c, data)", 5, 4, True),
    ]
    assert {outside(m.distance.cheapest) for m in found} == {(1, True)}
    assert {outside(m.distance.by_losses) for m in found} == {(1, True)}
    assert {m.distance.by_crashes for m in found} == {None}
    for margin in found:
        cheapest = decided(margin.distance.cheapest)
        assert cheapest is not None
        faults = cheapest.faults
        assert [loss.time for loss in faults.losses] == list(range(1, 8)), "EFF is 7: only the last is outside"
        assert len(faults.crashes) == 1


@pytest.mark.parametrize("name", CERTIFIED)
def test_the_cheapest_faults_are_outside_and_do_it(name: str) -> None:
    """In a certified program nothing within the budget does."""
    known = explainer_of(name)
    wide = FailureSpec(known.spec.nodes, known.spec.eot, known.spec.eot, len(known.spec.nodes))
    beyond = Explainer(known.program, wide, NO_DEADLINE)
    for margin in margins(name):
        for way in map(decided, ways(margin.distance)):
            if way is not None:
                assert way.outside > 0
                assert not known.spec.admits(way.faults)
                assert margin.violation in beyond.run(way.faults).violations
                assert way.violated == (margin.violation,)
        cheapest, by_losses, by_crashes = ways(margin.distance)
        assert by_losses is None or cheapest is not None
        assert by_crashes is None or cheapest is not None


@pytest.mark.parametrize("name", ["flux", "paxos-synod"])
def test_no_number_of_faults_suffices(name: str) -> None:
    assert {m.distance for m in margins(name)} == {Distance(None, None, None)}
    assert explainer_of(name).distances.together == Distance(None, None, None)


def test_some_outcomes_need_no_message() -> None:
    needing = {str(m.violation): m.needs_messages for m in margins("flux")}
    assert len(needing) == 17
    assert {row for row, needs in needing.items() if not needs} == {
        "pre(d, 1, order)",
        "pre(d, 2, order)",
        "pre(d, 3, order)",
        "pre(p, 3, state)",
        "pre(q, 3, state)",
    }


def test_one_support_is_one_message_away() -> None:
    found = margins("bully-le")
    assert [(str(m.violation), m.supports, m.independent, m.exact) for m in found] == [
        ("pre(a, c)", 1, 1, True),
        ("pre(b, c)", 1, 1, True),
        ("pre(c, c)", 1, 1, True),
    ]
    broken = found[0].violation
    assert found[0].distance.cheapest == Cheapest(FaultSet.of([Loss("c", "a", 9)]), 1, True, (broken,))


def test_more_supports_than_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("clew.explain.explainer.MOST_SUPPORTS", 100)
    monkeypatch.setattr("clew.explain.why.MOST_SUPPORTS", 100)
    margin = next(iter(explainer_of("redun-deliv").margins()))
    assert (margin.supports, margin.more) == (100, True)
    assert margin.independent <= 19
    assert margin.exact == (margin.independent == 19)


def test_a_question_that_is_too_hard_stays_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """The others are answered."""
    original = BeyondBudget.cheapest

    def too_hard(
        self: BeyondBudget, rows: Collection[Violation], only: Exceeding | None, most_conflicts: int
    ) -> Cheapest | None:
        if only is Exceeding.LOSSES:
            raise BudgetExhaustedError("the effort for this question is used up")
        return original(self, rows, only, most_conflicts)

    monkeypatch.setattr("clew.explain.distance.BeyondBudget.cheapest", too_hard)
    known = explainer_of("ack-deliv")
    fresh = Explainer(known.program, known.spec, NO_DEADLINE)
    margin = next(iter(fresh.margins()))
    assert margin.supports == 10
    for distance in (margin.distance, fresh.distances.together):
        assert distance.by_losses is Undecided.UNDECIDED
        assert (outside(distance.cheapest), distance.by_crashes) == ((1, True), None)


def test_time_that_is_over_is_no_question_that_is_too_hard(monkeypatch: pytest.MonkeyPatch) -> None:
    known = explainer_of("ack-deliv")
    deadline = Deadline(None)
    hurried = Explainer(known.program, known.spec, deadline)

    def interrupted(*_: object) -> None:
        deadline.interrupted = True
        deadline.check()

    monkeypatch.setattr("clew.explain.distance.BeyondBudget.cheapest", interrupted)
    with pytest.raises(BudgetExhaustedError, match="interrupted"):
        next(iter(hurried.margins()))


# -- outcomes ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("simple-deliv", ["pre(a, data)", "pre(b, data)", "pre(c, data)"]),
        ("kafka", ["pre(C, w1)"]),
        ("paxos-synod", ["pre(apple)"]),
        ("bully-le", ["pre(a, c)", "pre(b, c)", "pre(c, c)"]),
        (
            "2pc",
            [
                *(f"pre(agreement, {node}, t1)" for node in "Cabd"),
                *(f"pre(termination, {node}, t1)" for node in "abd"),
            ],
        ),
    ],
)
def test_outcomes_are_what_the_failure_free_run_achieves(name: str, rows: list[str]) -> None:
    known = explainer_of(name)
    assert [str(v) for v in known.outcomes()] == rows
    assert {v.row for v in known.outcomes()} == set(known.failure_free.rows("pre"))
    assert all(known.explains(v) for v in known.outcomes())


def test_outcomes_without_assertions_are_what_persists() -> None:
    text = """
        start(a, x)@1;  peer(a, b)@1;
        got(M, V)@async :- start(N, V), peer(N, M);
        got(N, V)@next :- got(N, V);
    """
    known = of_text(text, FailureSpec(("a", "b"), 3, eff=2))
    assert known.outcomes() == (Violation("got", ("b", "x")),)


def test_a_vacuous_program_achieves_nothing() -> None:
    text = """
        start(a, x)@1;
        pre(N, V) :- nothing(N, V);  post(N, V) :- start(N, V);  nothing(N, V)@next :- nothing(N, V);
    """
    known = of_text(text, FailureSpec(("a", "b"), 3, eff=2))
    assert known.outcomes() == ()
    assert list(known.margins()) == []
    assert known.distances.together == Distance(None, None, None)
    assert known.distance_of_others() is None


def test_what_fails_without_faults_is_no_outcome_and_not_explained() -> None:
    text = """
        start(a, x)@1;  start(N, V)@next :- start(N, V);
        pre(N, V) :- start(N, V);  post(N, V) :- nothing(N, V);  nothing(N, V)@next :- nothing(N, V);
    """
    known = of_text(text, FailureSpec(("a", "b"), 3, eff=2))
    violation = Violation("pre", ("a", "x"))
    assert known.failure_free.violations == (violation,)
    assert known.outcomes() == ()
    assert not known.explains(violation)


# -- the heaviest runs ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CERTIFIED)
def test_three_passing_runs_under_the_heaviest_faults(name: str) -> None:
    known = explainer_of(name)
    runs = list(known.heaviest(3))
    assert len(runs) == 3
    assert all(run.good and run.spec == known.spec for run in runs)
    assert all(known.spec.admits(run.faults) and run.faults.crashes for run in runs)
    assert len({run.faults for run in runs}) == 3


def test_all_but_the_first_messages_of_acknowledged_broadcast_are_lost() -> None:
    """A crash at the last moment, and before that everything that is sent but the first copies."""
    for run in explainer_of("ack-deliv").heaviest(3):
        assert len(run.faults.losses) == 30
        assert [crash.time for crash in run.faults.crashes] == [7]
        assert {loss.time for loss in run.faults.losses} == set(range(2, 7))


# -- lineage ----------------------------------------------------------------------------------------------------


def test_the_focused_lineage_of_kafka_leaves_out_what_no_minimal_support_needs() -> None:
    lineage = explainer_of("kafka").lineage(Violation("pre", ("C", "w1")))
    assert len(lineage.focused.goals) < len(lineage.whole.goals)
    assert lineage.focused.goals[0] == lineage.whole.goals[0]


def test_with_too_many_supports_the_focused_lineage_is_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("clew.explain.why.MOST_SUPPORTS", 3)
    lineage = explainer_of("kafka").lineage(Violation("pre", ("C", "w1")))
    assert lineage.focused == lineage.whole


def test_the_example_programs_are_certified() -> None:
    """The tests above are about certificates."""
    assert {verdict_of(name).answer for name in CERTIFIED} == {Answer.CERTIFIED}
