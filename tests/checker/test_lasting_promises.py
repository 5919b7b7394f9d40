"""Several promises, and what must never happen, beside the question whether a violation lasts."""

from __future__ import annotations

import pytest

from clew import Answer, check, parse_program
from clew.checker.answers import Standing
from clew.duration import Persistence

#: What a tells b once may be lost for good; what it tells c is repeated.
TWO = """
    peer("a", "b"); other("a", "c"); said("a"); start("a");
    peer(X, Y)@next :- peer(X, Y); other(X, Y)@next :- other(X, Y);
    said(X)@next :- said(X);
    once(Y)@async :- peer(X, Y), start(X);
    once(X)@next :- once(X);
    often(Y)@async :- other(X, Y);
    pre_once(Y) :- peer(_, Y); post_once(Y) :- once(Y);
    pre_often(Y) :- other(_, Y); post_often(Y) :- often(Y);
"""
NEVER = "gone(Y) :- peer(_, Y), notin once(Y); never_late(Y) :- gone(Y), tick(_, 3)@3; tick(a, 3)@3;"


def test_one_of_several_promises_is_violated_for_ever() -> None:
    found = check(parse_program(TWO), nodes=["a", "b", "c"], eot=8, eff=3, lasting=True)
    (counterexample,) = found.counterexamples
    assert str(counterexample.faults) == "O(a,b,1)"
    assert [str(v) for v in counterexample.violations] == ["pre_once(b)"]
    # Nothing is known of the other one: the search was for anything that lasts.
    assert {a.assertion.relation: a.standing for a in found.promises} == {
        "pre_once": Standing.VIOLATED,
        "pre_often": Standing.UNDECIDED,
    }


def test_a_certificate_is_about_every_promise() -> None:
    often = TWO.replace("once(Y)@async :- peer(X, Y), start(X);", "once(Y)@async :- peer(X, Y), said(X);")
    found = check(parse_program(often), nodes=["a", "b", "c"], eot=8, eff=3, lasting=True)
    assert found.answer is Answer.CERTIFIED
    assert {a.standing for a in found.promises} == {Standing.CERTIFIED}


def test_what_must_never_happen_lasts_once_it_has_happened() -> None:
    found = check(parse_program(TWO + NEVER), nodes=["a", "b", "c"], eot=8, eff=3)
    durations = {str(c.violations[0]): c.duration for c in found.counterexamples}
    never = durations["never_late(b) at time 3"]
    assert never is not None
    assert (never.persistence, never.since, never.loop) == (Persistence.LASTING, 3, None)
    assert "lasts: what has happened at time 3 cannot be undone" in str(found)


@pytest.mark.parametrize("strategy", ["exact", "exhaustive"])
def test_what_has_happened_is_among_what_lasts(strategy: str) -> None:
    """Without the pair, which the same loss breaks for ever: the run is at rest and nothing is owed."""
    program = parse_program((TWO + NEVER).replace("pre_once(Y) :- peer(_, Y); post_once(Y) :- once(Y);", ""))
    found = check(program, nodes=["a", "b", "c"], eot=8, eff=2, strategy=strategy, lasting=True)
    (counterexample,) = found.counterexamples
    assert str(counterexample.faults) == "O(a,b,1)"
    assert [str(v) for v in counterexample.violations] == ["never_late(b) at time 3"]
    assert "COUNTEREXAMPLE: 1 fault, lasting for ever, within" in str(found)


#: A clock that ends at 6, and what must never hold then; before that, it cannot.
LATE = """
    peer(a, b); persist[peer]; t(a, 1); t(X, N)@next :- t(X, M), successor(M, N), M < 6;
    t(X, 6)@next :- t(X, 6);
    m(Y)@async :- peer(X, Y), t(X, 1); got(Y)@next :- m(Y); persist[got];
    never(X) :- t(X, 6), peer(X, Y), notin got(Y);
"""


@pytest.mark.parametrize("strategy", ["exact", "exhaustive"])
def test_what_must_never_happen_is_certified_for_all_the_time_to_come(strategy: str) -> None:
    """Within EOT 5 nothing can happen yet: that is no reason to certify it for ever."""
    program = parse_program(LATE)
    assert check(program, nodes=["a", "b"], eot=5, eff=2, allow_hollow=True).answer is Answer.CERTIFIED
    early = check(program, nodes=["a", "b"], eot=5, eff=2, strategy=strategy, lasting=True)
    assert early.answer is Answer.INCOMPLETE
    told = "with no fault the run has not come back to itself by EOT 5, but from time 6 on; give --eot 7 or more"
    assert early.reason == told
    broken = check(program, nodes=["a", "b"], eot=7, eff=2, strategy=strategy, lasting=True)
    assert [str(c.faults) for c in broken.counterexamples] == ["O(a,b,1)"]
    safe = parse_program(LATE.replace("t(X, 1); got", "t(X, _); got"))
    kept = check(safe, nodes=["a", "b"], eot=7, eff=2, strategy=strategy, lasting=True)
    assert kept.answer is Answer.CERTIFIED
    assert (
        "  whatever fails by time 2: every run comes back to itself by EOT 7, "
        "and nothing that must never hold ever does"
    ) in str(kept).splitlines()


def test_what_happens_after_the_end_says_nothing_about_a_pair_that_recovers() -> None:
    text = """
        p(a); persist[p]; peer(a, b); persist[peer];
        m(Y)@async :- p(X), peer(X, Y);
        got(Y)@next :- m(Y); persist[got];
        pre_got(X) :- p(X); post_got(X) :- p(X), got(_);
        t(a, 1); t(X, N)@next :- t(X, M), successor(M, N), M < 8;
        never_late(X) :- t(X, 7), got(_);
    """
    (found,) = check(parse_program(text), nodes=["a", "b"], eot=3, eff=2).counterexamples
    assert [str(v) for v in found.violations] == ["pre_got(a)"]
    assert found.duration is not None
    assert (found.duration.persistence, found.duration.since) == (Persistence.TRANSIENT, 4)
