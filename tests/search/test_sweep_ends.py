"""How a sweep ends: certified by its own bounds, incomplete by limits of the user."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import Any

import pytest

from clew import Answer, Verdict, check, parse_program
from clew.errors import UsageError
from clew.search.verdict import Setting

RELIABLE = """
    node(a, b); node(a, c); node(b, a); node(b, c); node(c, a); node(c, b);
    node(X, Y)@next :- node(X, Y);
    bcast(a, data)@1;
    bcast(X, P)@next :- bcast(X, P);
    log(X, P) :- bcast(X, P);
    log(X, P)@next :- log(X, P);
    log(Y, P)@async :- bcast(X, P), node(X, Y);
    bcast(X, P) :- log(X, P);
    missing(Y, P) :- log(X, P), node(X, Y), notin log(Y, P);
    pre(X, P) :- log(X, P), notin crash(_, X, _);
    post(X, P) :- log(X, P), notin missing(_, P);
"""

#: The second attempt comes after 70 steps, later than any run is followed.
LATE = """
    peer(a, b); peer(X, Y)@next :- peer(X, Y); hello(a, b)@1;
    clock(a, 0); clock(X, T + 1)@next :- clock(X, T);
    got(Y, X)@async :- hello(X, Y);
    got(Y, X)@async :- peer(X, Y), clock(X, 70);
    got(X, Y)@next :- got(X, Y);
    pre(Y, X) :- peer(X, Y); post(X, Y) :- got(X, Y);
"""


def _settings(verdict: Verdict) -> list[tuple[int, int, str]]:
    return [(s.eot, s.eff, s.answer.value) for s in verdict.swept]


# -- bounds of its own -----------------------------------------------------------------------------------------


def test_the_effort_leaves_the_largest_setting_certified() -> None:
    verdict = check(parse_program(RELIABLE), effort=0.01)
    assert verdict.answer is Answer.CERTIFIED
    eot = verdict.spec.eot
    assert 6 < eot < 20
    assert verdict.spec.eff == eot - 1
    assert verdict.certified == Setting(eot, eot - 1, Answer.CERTIFIED)
    assert verdict.swept[-1] == Setting(eot + 1, eot, Answer.INCOMPLETE)
    assert verdict.reason == (
        f"the effort of the sweep is used up at EOT {eot + 1}, EFF {eot}; "
        "to go on, give a larger --effort (1 is the usual one), or --eot and --eff"
    )


def test_more_effort_goes_further_the_same_way() -> None:
    short, long = (check(parse_program(RELIABLE), effort=e) for e in (0.005, 0.02))
    assert len(short.swept) < len(long.swept)
    certified = [s for s in short.swept if s.answer is Answer.CERTIFIED]
    assert list(long.swept[: len(certified)]) == certified


def test_the_length_of_executions_leaves_the_largest_setting_certified() -> None:
    verdict = check(parse_program(RELIABLE))
    assert (verdict.answer, verdict.certified) == (Answer.CERTIFIED, Setting(64, 63, Answer.CERTIFIED))
    assert verdict.reason == "a sweep goes up to 64 steps; for longer executions, give --eot and --eff"


@pytest.mark.parametrize("strategy", ["exact", "lineage", "exhaustive"])
def test_an_effort_that_is_used_up_before_anything_is_certified(strategy: str) -> None:
    verdict = check(parse_program(RELIABLE), nodes=["a", "b", "c"], effort=0.000_5, strategy=strategy)
    assert (verdict.answer, verdict.certified) == (Answer.INCOMPLETE, None)
    assert verdict.reason is not None
    assert verdict.reason.startswith("the effort of the sweep is used up at EOT ")
    assert "; nothing is certified; to go on" in verdict.reason


def test_a_program_that_is_too_large_to_find_its_nodes() -> None:
    rows = "".join(f"n(a, {k}); " for k in range(60))
    explodes = "p(X, A, B, C) :- n(X, A), n(X, B), n(X, C); p(X, A, B, C)@next :- p(X, A, B, C);"
    verdict = check(parse_program(f"{rows} n(X, K)@next :- n(X, K); {explodes}"), effort=0.01)
    assert verdict.answer is Answer.INCOMPLETE
    assert verdict.reason == (
        "the effort of the sweep is used up before the nodes were known; name them with --nodes"
    )
    assert verdict.swept == ()


# -- limits of the user ----------------------------------------------------------------------------------------


class _Clock:
    """Stands still until it is told that an hour has passed."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    def strike(self) -> None:
        self.now += 3600


def _when(stage: str, act: Callable[[], None]) -> Callable[[int, str], None]:
    return lambda runs, now: act() if now == stage else None


@pytest.mark.parametrize("limit", [{"sweep_seconds": 5}, {"time_limit": 5}, {"effort": 1, "time_limit": 5}])
def test_the_clock_leaves_it_incomplete(limit: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    clock = _Clock()
    monkeypatch.setattr("clew.budgets.deadline.time", clock)
    monkeypatch.setattr(
        "clew.budgets.deadline._POLL_SECONDS", 600
    )  # nobody looks at the clock while a setting is examined
    verdict = check(parse_program(RELIABLE), **limit, progress=_when("EOT 5, EFF 4", clock.strike))
    assert verdict.answer is Answer.INCOMPLETE
    assert verdict.reason == "the time limit of 5 s ran out at EOT 6, EFF 5; certified up to EOT 5, EFF 4"
    assert (verdict.spec.eot, verdict.spec.eff) == (5, 4)
    assert verdict.certified == Setting(5, 4, Answer.CERTIFIED)
    assert _settings(verdict)[-1] == (5, 4, "certified")


def test_the_clock_within_a_search_leaves_it_incomplete(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = _Clock()
    monkeypatch.setattr("clew.budgets.deadline.time", clock)
    monkeypatch.setattr("clew.budgets.deadline._POLL_SECONDS", 600)

    def progress(runs: int, stage: str) -> None:
        if runs == 8:
            clock.strike()

    verdict = check(parse_program(RELIABLE), time_limit=5, strategy="lineage", progress=progress)
    assert verdict.reason == "the time limit of 5 s ran out at EOT 4, EFF 3; certified up to EOT 3, EFF 2"
    assert _settings(verdict)[2:] == [(3, 2, "certified"), (4, 3, "incomplete")]


def test_a_sweep_by_the_clock_is_not_ended_by_the_effort(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("clew.budgets.deadline.time", _Clock())
    monkeypatch.setattr("clew.checker.checking.DEFAULT_SWEEP_EFFORT", 1)
    assert check(parse_program(RELIABLE), sweep_seconds=5).certified == Setting(64, 63, Answer.CERTIFIED)
    assert check(parse_program(RELIABLE)).answer is Answer.INCOMPLETE


def test_an_interrupt_leaves_it_incomplete(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("clew.budgets.deadline._POLL_SECONDS", 600)

    def interrupt() -> None:
        os.kill(os.getpid(), signal.SIGINT)

    verdict = check(parse_program(RELIABLE), progress=_when("EOT 5, EFF 4", interrupt))
    assert verdict.answer is Answer.INCOMPLETE
    assert verdict.reason == "interrupted at EOT 6, EFF 5; certified up to EOT 5, EFF 4"
    assert verdict.certified == Setting(5, 4, Answer.CERTIFIED)


def test_a_number_of_runs_leaves_it_incomplete() -> None:
    verdict = check(parse_program(RELIABLE), strategy="lineage", max_runs=12)
    assert verdict.answer is Answer.INCOMPLETE
    assert verdict.reason == "the limit of 12 runs was reached at EOT 5, EFF 4; certified up to EOT 4, EFF 3"
    assert verdict.certified == Setting(4, 3, Answer.CERTIFIED)


def test_effort_and_seconds_exclude_each_other() -> None:
    with pytest.raises(UsageError, match="--effort ends a sweep by the work that is done, --sweep by the clock"):
        check(parse_program(RELIABLE), effort=1, sweep_seconds=1)


# -- what may only lack the time to recover --------------------------------------------------------------------


def test_a_run_that_still_changes_where_it_was_followed_to_is_a_candidate() -> None:
    """It recovers at time 72; that it never does was once said after 64 steps."""
    verdict = check(parse_program(LATE), crashes=0)
    assert (verdict.answer, verdict.counterexamples) == (Answer.INCOMPLETE, ())
    assert [str(c.faults) for c in verdict.candidates] == ["O(a,b,1)"]
    assert verdict.reason == (
        "its run still changes after 64 steps, so it may only lack the time to recover; "
        "certified up to EOT 2, EFF 1"
    )
    assert (verdict.spec.eot, verdict.spec.eff) == (3, 2)
    assert verdict.certified == Setting(2, 1, Answer.CERTIFIED)
    assert check(parse_program(LATE), eot=71, eff=2).answer is Answer.COUNTEREXAMPLE
    assert check(parse_program(LATE), eot=72, eff=2).answer is Answer.CERTIFIED


def test_a_timer_that_has_gone_off_is_no_reason_to_hope() -> None:
    """The counter goes on, but the second attempt was at time 6, and fails if nobody listens any more."""
    once = LATE.replace("clock(X, 70)", "clock(X, 5), notin got(X, X)").replace("T + 1", "T + 1")
    deaf = once.replace("got(X, Y)@next :- got(X, Y);", "got(X, Y)@next :- got(X, Y), notin clock(_, 8);")
    verdict = check(parse_program(deaf), crashes=0)
    assert verdict.answer is Answer.COUNTEREXAMPLE
    assert verdict.reason is None


def test_outcomes_without_assertions_settle_together_with_what_is_expected() -> None:
    """The run with the crash is settled at once; what it is compared with changes until time 30."""
    program = parse_program(
        "t(a, 0); t(X, N + 1)@next :- t(X, N), N < 28; peer(a, b); peer(X, Y)@next :- peer(X, Y);"
        "w(X)@next :- t(X, 28); w(X)@next :- w(X), notin gone(X); gone(X)@next :- t(X, N), N < 0;"
        "m(Y)@async :- peer(X, Y), t(X, 28); m(X)@next :- m(X);"
    )
    verdict = check(program, nodes=["a", "b"], crashes=1)
    assert verdict.answer is Answer.COUNTEREXAMPLE
    assert verdict.spec.eot == 30
    assert {v.relation for v in verdict.counterexamples[0].violations} == {"m"}
