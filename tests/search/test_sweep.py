"""The sweep: from the smallest bounds that achieve something to the smallest that break it."""

from __future__ import annotations

from pathlib import Path

import pytest

from clew import Answer, Crash, Loss, check
from clew.dedalus.loader import parse_program
from clew.errors import UsageError
from clew.program.ir import Program

EXAMPLES = Path(__file__).parents[2] / "examples"

DELIVERY = """
    node(a, b); node(a, c); node(b, a); node(b, c); node(c, a); node(c, b);
    node(X, Y)@next :- node(X, Y);
    bcast(a, data)@1;
    log(X, P) :- bcast(X, P);
    log(X, P)@next :- log(X, P);
    log(Y, P)@async :- bcast(X, P), node(X, Y);
"""
ASSERTIONS = """
    missing(Y, P) :- log(X, P), node(X, Y), notin log(Y, P);
    pre(X, P) :- log(X, P), notin crash(_, X, _);
    post(X, P) :- log(X, P), notin missing(_, P);
"""
RETRY = "bcast(X, P)@next :- bcast(X, P);"
RELAY = "bcast(X, P) :- log(X, P);"


def _program(*parts: str) -> Program:
    return parse_program("".join(parts))


def test_the_smallest_setting_that_breaks_simple_delivery() -> None:
    verdict = check(_program(DELIVERY, ASSERTIONS), crashes=0)
    assert verdict.answer is Answer.COUNTEREXAMPLE
    assert (verdict.spec.eot, verdict.spec.eff) == (3, 2)
    assert verdict.counterexamples[0].faults.faults in ((Loss("a", "b", 1),), (Loss("a", "c", 1),))
    assert [(s.eot, s.eff, s.answer.value) for s in verdict.swept] == [
        (2, 0, "certified"),
        (2, 1, "certified"),
        (3, 2, "counterexample"),
    ]


def test_what_only_lacks_time_to_recover_is_not_reported() -> None:
    """With retries a lost message is made good one step later: EOT grows, and no loss ever breaks it."""
    verdict = check(_program(DELIVERY, RETRY, ASSERTIONS), crashes=0)
    assert verdict.answer is Answer.CERTIFIED
    assert (verdict.spec.eot, verdict.spec.eff) == (64, 63)


def test_a_sweep_without_a_word_on_crashes_explores_one() -> None:
    """Retries alone do not survive a crash of the sender after a partial broadcast (Figure 4b)."""
    verdict = check(_program(DELIVERY, RETRY, ASSERTIONS))
    assert verdict.answer is Answer.COUNTEREXAMPLE
    assert verdict.spec.crashes == 1
    faults = verdict.counterexamples[0].faults
    assert faults.crashes == (Crash("a", 2),)
    assert len(faults.losses) == 1


def test_a_fixed_eff_is_kept() -> None:
    verdict = check(_program(DELIVERY, RETRY, RELAY, ASSERTIONS), eff=3, crashes=1)
    assert verdict.answer is Answer.CERTIFIED
    assert [(s.eot, s.eff) for s in verdict.swept] == [(eot, 3) for eot in range(4, 65)]


def test_a_failure_free_run_that_never_gets_there_needs_no_fault() -> None:
    program = _program(
        "want(a, x); want(X, P)@next :- want(X, P); pre(X, P) :- want(X, P); post(X, P) :- got(X, P);"
    )
    verdict = check(program)
    assert verdict.answer is Answer.COUNTEREXAMPLE
    assert not verdict.counterexamples[0].faults


def test_a_program_that_achieves_nothing_is_not_certified() -> None:
    program = _program("idle(a); idle(X)@next :- idle(X); pre(X) :- never(X); post(X) :- idle(X);")
    verdict = check(program)
    assert verdict.answer is Answer.INCOMPLETE
    assert verdict.reason is not None and "without faults 'pre' stays empty" in verdict.reason


def test_outcomes_without_assertions_are_swept_too() -> None:
    verdict = check(_program(DELIVERY), crashes=0)
    assert verdict.answer is Answer.COUNTEREXAMPLE
    assert {v.relation for v in verdict.counterexamples[0].violations} == {"log"}


def test_lineage_sweeps_to_the_same_setting_as_exact() -> None:
    program = _program(DELIVERY, RETRY, ASSERTIONS)
    found = [check(program, strategy=s) for s in ("exact", "lineage")]
    assert found[0].spec == found[1].spec
    assert [c.faults for c in found[0].counterexamples] != []


def test_random_cannot_sweep() -> None:
    with pytest.raises(UsageError, match="does not support --sweep"):
        check(_program(DELIVERY), strategy="random", sweep_seconds=1)
    with pytest.raises(UsageError, match="cannot sweep"):
        check(_program(DELIVERY), strategy="random")


def test_a_property_that_needs_a_crash_to_say_anything_is_examined() -> None:
    """Who crashes must be suspected; nobody ever is, and without a crash nothing is asked."""
    program = _program(
        "peer(a, b); peer(b, a); peer(X, Y)@next :- peer(X, Y);"
        "pre(X, Y) :- peer(X, Y), crash(X, Y, _); post(X, Y) :- suspect(X, Y);"
    )
    verdict = check(program)
    assert verdict.answer is Answer.COUNTEREXAMPLE
    assert len(verdict.counterexamples[0].faults.crashes) == 1


def test_violations_that_recover_are_not_listed() -> None:
    """b is told once, c again and again: losing c's first message does no lasting harm."""
    program = _program(
        "want(a, b); want(a, c); want(X, Y)@next :- want(X, Y); once(a, b)@1; again(a, c);"
        "again(X, Y)@next :- again(X, Y); got(Y)@async :- once(X, Y); got(Y)@async :- again(X, Y);"
        "got(X)@next :- got(X); pre(Y) :- want(_, Y); post(Y) :- got(Y);"
    )
    verdict = check(program, find_all=True, crashes=0)
    assert [str(c.faults) for c in verdict.counterexamples] == ["O(a,b,1)"]


def test_only_a_flag_fixes_eff_and_eot_is_not_for_sweeps(tmp_path: Path) -> None:
    file = tmp_path / "p.ded"
    file.write_text("//! eot=9 eff=2" + DELIVERY + RETRY + RELAY + ASSERTIONS)
    assert [s.eff for s in check(file, effort=0.01).swept[:4]] == [0, 1, 2, 3]
    for sweeping in ({"sweep_seconds": 1}, {"effort": 2}):
        with pytest.raises(UsageError, match="finds its own EOT"):
            check(file, eot=5, **sweeping)  # type: ignore[arg-type]


def test_the_figures_of_the_solver_are_those_of_the_setting_that_is_reported() -> None:
    """Not of the last one tried, which the effort did not suffice for."""
    program = _program(DELIVERY, RETRY, RELAY, ASSERTIONS)
    swept = check(program, effort=0.01)
    alone = check(program, eot=swept.spec.eot, eff=swept.spec.eff, crashes=1)
    assert swept.solver == alone.solver is not None
