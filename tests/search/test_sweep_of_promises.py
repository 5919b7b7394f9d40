"""Sweeps of programs with several promises: what a run comes to at each time, and what the settings say."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, note, reject, settings
from hypothesis import strategies as st

from clew import Answer, check, parse_program
from clew.budgets.deadline import Deadline
from clew.checker.answers import Standing
from clew.checker.strategies import STRATEGIES, Options
from clew.checker.sweeping import ProgramSweep
from clew.dedalus.printer import print_program
from clew.duration import State
from clew.errors import ProgramError
from clew.faults import FailureSpec
from clew.program.checks import check_program
from generators import fault_sets, program_nodes
from named_promises import promising_programs
from reference import broken_promises

UNTIL = 8


@settings(max_examples=settings().max_examples // 8 + 1)
@given(st.data())
def test_a_run_is_bad_when_the_interpreter_says_so_of_an_execution_that_ends_then(data: st.DataObject) -> None:
    program = check_program(data.draw(promising_programs())).program
    base = FailureSpec(
        program_nodes(program), 1, crashes=1, restarts=1, pauses=1, partitions=1, duplicates=1, stops=1
    )
    faults = data.draw(fault_sets(replace(base, eot=4, eff=3)))
    note(f"{faults}\n{print_program(program)}\n{program.durable}")
    system = ProgramSweep(program, base, STRATEGIES["exact"], Options(), Deadline(None))
    try:
        course = system.follow(faults, UNTIL)
    except ProgramError:
        reject()
    # A fault that is still to come has no part in an execution that ends before, but a crash is seen before.
    last = max((fault.last for fault in faults), default=1)
    for time in range(max(last, 2), UNTIL + 1):
        spec = replace(base, eot=time, eff=time)
        broken = broken_promises(program, spec, faults)
        assert (course.states[time - 1] is State.BAD) == bool(broken), time


LATE_CLASH = """
    start(a, b); start(X, Y)@next :- start(X, Y);
    step(X, 1) :- start(X, _), notin later(X); later(X)@next :- start(X, _);
    step(X, N+1)@next :- step(X, N), N < 9;
    ping(Y)@async :- start(X, Y);
    heard(X)@next :- ping(X); heard(X)@next :- heard(X);
"""


def test_what_has_held_once_is_not_made_good_by_what_comes_after() -> None:
    """The run of ``pre`` recovers and is no counterexample; what was wrong at time 3 alone stays one."""
    text = LATE_CLASH + "never(X) :- step(X, 3), notin ping(b), start(X, _);"
    verdict = check(parse_program(text), nodes=["a", "b"], crashes=0)
    assert verdict.answer is Answer.COUNTEREXAMPLE
    assert [str(c.faults) for c in verdict.counterexamples] == ["O(a,b,2)"]
    assert [str(v) for v in verdict.counterexamples[0].violations] == ["never(a) at time 3"]


def test_a_pair_whose_violation_passes_is_not_decided_beside_one_that_lasts() -> None:
    text = LATE_CLASH + (
        "start(a, c); never(X) :- step(X, 3), notin ping(c), start(X, _);"
        "pre_heard(b) :- start(_, b); post_heard(X) :- heard(X);"
    )
    verdict = check(parse_program(text), nodes=["a", "b", "c"], crashes=0)
    assert (verdict.answer, verdict.spec.eot, verdict.spec.eff) == (Answer.COUNTEREXAMPLE, 4, 3)
    assert [str(c.faults) for c in verdict.counterexamples] == ["O(a,c,2)"]
    found = {a.assertion.relation: (a.standing, a.reason) for a in verdict.promises}
    assert found["never"] == (Standing.VIOLATED, None)
    # Within these bounds two losses break it, but their run recovers: neither violated nor certified.
    assert found["pre_heard"] == (Standing.UNDECIDED, "the search ended at a counterexample for another promise")


def test_a_program_that_only_says_what_must_never_hold_is_swept() -> None:
    text = LATE_CLASH + "never(X) :- heard(X), start(X, _);"
    verdict = check(parse_program(text), nodes=["a", "b"], effort=0.02)
    assert verdict.answer is Answer.INCOMPLETE  # nobody both hears and starts
    assert [a.standing for a in verdict.promises] == [Standing.VACUOUS]
    sound = check(parse_program(LATE_CLASH + "never(X) :- heard(X), notin ping(X), step(X, 1);"), effort=0.02)
    assert sound.swept[0].eot == 2


def test_every_pair_is_followed() -> None:
    """The first of two holds in every run; what breaks the second is no false alarm for that."""
    text = """
        start(a, b); want(b); want(X)@next :- want(X);
        ping(Y)@async :- start(X, Y);
        heard(X)@next :- ping(X); heard(X)@next :- heard(X);
        pre_a(X) :- want(X); post_a(X) :- want(X);
        pre_heard(X) :- want(X); post_heard(X) :- heard(X);
    """
    verdict = check(parse_program(text), nodes=["a", "b"], crashes=0)
    assert [str(c.faults) for c in verdict.counterexamples] == ["O(a,b,1)"]
    assert [a.standing for a in verdict.promises] == [Standing.CERTIFIED, Standing.VIOLATED]


def test_a_run_is_followed_until_named_promises_settle() -> None:
    """What is said once more at time 12 makes good what was lost, although nothing else changes before."""
    text = """
        want(b); want(X)@next :- want(X); step(a, 1); step(X, N+1)@next :- step(X, N), N < 15;
        ping(b)@async :- step(a, 1); ping(b)@async :- step(a, 12);
        heard(X)@next :- ping(X); heard(X)@next :- heard(X);
        pre_heard(X) :- want(X); post_heard(X) :- heard(X);
    """
    verdict = check(parse_program(text), nodes=["a", "b"], crashes=0, effort=0.02)
    assert [(s.eot, s.answer) for s in verdict.swept[:3]] == [
        (3, Answer.CERTIFIED),
        (3, Answer.COUNTEREXAMPLE),
        (14, Answer.CERTIFIED),
    ]
