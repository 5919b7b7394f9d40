"""``--lasting`` by hand: what it finds, what it certifies, and what it refuses."""

from __future__ import annotations

import pytest

import clew
from clew import Answer, parse_program
from clew.duration import Persistence
from clew.errors import ProgramError, UsageError

#: b keeps what it gets; a sends it for some steps, the last time at 4.
RETRY = """
    link(a, b); link(X, Y)@next :- link(X, Y);
    left(a, 4); left(X, N - 1)@next :- left(X, N), N > 1;
    got(Y)@async :- left(X, _), link(X, Y);
    got(Y)@next :- got(Y);
    pre(Y) :- link(_, Y);
    post(Y) :- got(Y);
"""
#: a and b pass a token; who has it is fine, and a second one is made when it is lost.
TOKEN = """
    link(a, b); link(b, a); link(X, Y)@next :- link(X, Y);
    token(a);
    token(Y)@async :- token(X), link(X, Y);
    pre(a) :- link(a, _);
    post(a) :- token(a);
"""


def test_losing_every_attempt_lasts_and_losing_some_does_not() -> None:
    found = clew.check(parse_program(RETRY), eot=10, eff=6, lasting=True)
    assert [str(c.faults) for c in found.counterexamples] == ["O(a,b,1) O(a,b,2) O(a,b,3) O(a,b,4)"]
    certified = clew.check(parse_program(RETRY), eot=10, eff=4, lasting=True)
    assert (certified.answer, certified.horizon) == (Answer.CERTIFIED, 4)


def test_an_eot_that_is_too_short_is_no_certificate() -> None:
    short = clew.check(parse_program(RETRY), eot=5, eff=4, lasting=True)
    assert (short.answer, short.reason) == (
        Answer.INCOMPLETE,
        "with no fault the run has not come back to itself by EOT 5: what happens up to time 4 leaves it no time; "
        "give a larger --eot",
    )


def test_numbers_that_grow_leave_it_incomplete() -> None:
    counting = RETRY + "n(a, 0); n(X, K + 1)@next :- n(X, K); post(Y) :- link(X, Y), n(X, 3);"
    found = clew.check(parse_program(counting), eot=10, eff=4, lasting=True)
    assert found.answer is Answer.INCOMPLETE
    assert found.reason is not None
    assert "numbers in it grow" in found.reason
    # Of what has no part in the promise, nothing has to come back.
    idle = RETRY + "n(a, 0); n(X, K + 1)@next :- n(X, K); m(X, K) :- n(X, K);"
    assert clew.check(parse_program(idle), eot=10, eff=4, lasting=True).answer is Answer.CERTIFIED


def test_a_fact_that_is_still_to_come_is_waited_for() -> None:
    later = RETRY + "got(b)@20;"
    found = clew.check(parse_program(later), eot=10, eff=6, lasting=True)
    assert (found.answer, found.counterexamples) == (Answer.INCOMPLETE, ())
    found = clew.check(parse_program(later), eot=22, eff=6, lasting=True)
    assert found.answer is Answer.CERTIFIED


@pytest.mark.parametrize("strategy", ["exact", "exhaustive"])
def test_what_comes_and_goes_for_ever_does_not_last_and_is_warned_about(strategy: str) -> None:
    found = clew.check(parse_program(TOKEN), eot=9, eff=2, lasting=True, strategy=strategy)
    # Once it is lost it is gone for ever; without a loss, a has it every other time.
    assert [str(c.faults) for c in found.counterexamples] == ["O(a,b,1)"]
    quiet = clew.check(parse_program(TOKEN), eot=9, eff=1, lasting=True, strategy=strategy)
    assert quiet.answer is Answer.CERTIFIED
    told = "with no fault something is violated again and again for ever, if not throughout"
    assert quiet.cautions[0] == told
    strict = clew.check(parse_program(TOKEN), eot=9, eff=1, lasting=True, strategy=strategy, strict=True)
    assert (strict.answer, strict.reason) == (Answer.INCOMPLETE, f"strict: {told}")


def test_a_violation_that_recurs_is_called_so() -> None:
    found = clew.check(parse_program(TOKEN), eot=8, eff=1)
    (counterexample,) = found.counterexamples
    assert counterexample.duration is not None
    assert counterexample.duration.persistence is Persistence.RECURRING
    assert "recurs: not violated at time 9, violated again at 10, and so on, every 2 steps" in str(found)


def test_without_assertions_the_failure_free_run_must_come_back_too() -> None:
    program = parse_program(
        "link(a, b); log(a, 1); link(X, Y)@next :- link(X, Y); log(X, V)@next :- log(X, V);"
        "log(Y, V)@async :- log(X, V), link(X, Y), notin told(X); told(X)@next :- log(X, _);"
        "told(X)@next :- told(X);"
    )
    found = clew.check(program, eot=6, eff=3, lasting=True, find_all=True)
    assert [str(c.faults) for c in found.counterexamples] == ["O(a,b,1)"]


def test_inputs_are_covered_as_far_as_they_are_declared() -> None:
    program = RETRY + "want(b); input more(Y)@T :- want(Y), T <= {last}; off(Y) :- more(Y); off(Y)@next :- off(Y);"
    program += "post(Y) :- off(Y);"
    bounded = clew.check(parse_program(program.format(last=5)), eot=10, eff=4, lasting=True)
    assert (bounded.answer, bounded.horizon) == (Answer.CERTIFIED, 5)
    assert "whatever fails, is given or is chosen by time 5:" in str(bounded)
    endless = clew.check(parse_program(program.format(last=99)), eot=10, eff=4, lasting=True)
    assert (endless.answer, endless.horizon) == (Answer.CERTIFIED, 4)
    with pytest.raises(UsageError, match="leaves no room for inputs"):
        clew.check(parse_program(program.format(last=99)), eot=10, eff=0, lasting=True)


def test_a_rule_that_reads_the_clock_is_refused_with_its_place() -> None:
    reading = parse_program(RETRY + "post(Y) :- link(X, Y)@T, T > 7;", "clock.ded")
    with pytest.raises(ProgramError, match=r"clock.ded:8:.*reads the clock"):
        clew.check(reading, eot=10, eff=4, lasting=True)
    # A time that is bound and not used tells nothing.
    clew.check(parse_program(RETRY + "post(Y) :- link(X, Y)@T, got(Y)@T;"), eot=10, eff=4, lasting=True)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"crashes": 1, "eff": 1}, "no room for crashes"),
        ({"delays": 1, "eff": 0}, "no room for delays"),
        ({"strategy": "lineage"}, "the lineage strategy does not support --lasting"),
        ({"strategy": "random"}, "the random strategy does not support --lasting"),
        ({"checkpoint": "saved.json"}, "--lasting does not support --checkpoint"),
        ({"eot": None}, "a sweep ends only at a violation that does not pass"),
    ],
)
def test_what_cannot_be_asked_is_refused(options: dict[str, object], told: str) -> None:
    given: dict[str, object] = {"eot": 10, "eff": 4, "lasting": True, **options}
    with pytest.raises(UsageError, match=told):
        clew.check(parse_program(RETRY), **given)  # type: ignore[arg-type]


def test_crashes_are_searched_up_to_the_end_and_covered_up_to_eff() -> None:
    # a crash of a before it has sent anything is for good.
    found = clew.check(parse_program(RETRY), eot=10, eff=2, crashes=1, lasting=True, find_all=True)
    assert [str(c.faults) for c in found.counterexamples] == ["C(a,1)", "O(a,b,1) C(a,2)"]
    assert found.reason is None


def test_time_that_is_over_leaves_it_open() -> None:
    from clew.budgets.deadline import Deadline
    from clew.checker.durations import find_duration
    from clew.faults import FailureSpec, FaultSet

    duration = find_duration(parse_program(RETRY), FailureSpec(("a", "b"), 3), FaultSet(), Deadline(0))
    assert (duration.persistence, duration.reason) == (
        Persistence.OPEN,
        "no time was left to execute the run further",
    )


def test_a_run_whose_sums_explode_is_not_followed_into_that() -> None:
    """Sums of sums have some 400 values at time 5, and so many at time 6 that grounding them takes minutes."""
    text = """
        give(a, 4)@2; give(a, 0)@1; give(a, -4)@1; peer(a, b)@1; peer(X, Y)@next :- peer(X, Y);
        value(M, V)@async :- give(N, V), peer(N, M);
        value(N, V)@next :- value(N, V), notin lost(N);
        lost(N) :- total(N, V), V > 5;
        total(N, sum<V>) :- value(N, V);
        value(N, V - 1)@next :- total(N, V);
        pre(N, 0) :- peer(_, N)@1; post(N, V) :- total(N, V);
    """
    verdict = clew.check(parse_program(text), nodes=["a", "b"], eot=4, eff=3)
    (found,) = verdict.counterexamples
    assert found.duration is not None
    assert (found.duration.persistence, found.duration.followed) == (Persistence.OPEN, 4)
    assert found.duration.reason == "the sums of the run grow too fast to execute it further"
