"""What is said about the future of an execution, against the reference interpreter, which goes there."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

import reference
from clew.dedalus.loader import parse_program
from clew.dedalus.printer import print_program
from clew.engine.ground import GroundProgram
from clew.engine.recurrence import Recurrence, find_recurrence
from clew.faults import FailureSpec, FaultSet
from clew.program.checks import check_program
from clew.program.ir import Program
from generators import fault_sets, programs, tiny_specs

OUTCOMES = ("pre", "post")


def _recurrence(program: Program, spec: FailureSpec, faults: FaultSet) -> Recurrence | None:
    ground = GroundProgram(program, spec, expect_outcomes=False)
    return find_recurrence(program, OUTCOMES, faults, [ground.run(faults)])


def _of(text: str, eot: int = 40) -> Recurrence | None:
    return _recurrence(check_program(parse_program(text)).program, FailureSpec(("a", "b"), eot), FaultSet())


PROMISE = "n(a, b); n(X, Y)@next :- n(X, Y); pre(X) :- n(X, _); "


@pytest.mark.parametrize(
    ("rules", "found"),
    [
        ("post(X) :- n(X, _);", Recurrence(2, 1)),
        ("post(X) :- n(X, _); f(a, 1)@9; post(X) :- f(X, _);", Recurrence(10, 1)),
        # a toggle
        ("odd(a); even(X)@next :- odd(X); odd(X)@next :- even(X); post(X) :- odd(X);", Recurrence(2, 2)),
        # a counter that nobody asks about, and one that goes round
        ("c(a, 0); c(X, T + 1)@next :- c(X, T); post(X) :- n(X, _);", Recurrence(2, 1)),
        (
            "c(a, 0); c(X, T + 1)@next :- c(X, T), T < 4; c(X, 0)@next :- c(X, 4); post(X) :- c(X, 2);",
            Recurrence(2, 5),
        ),
        # a timer that can go off until it has passed 7: the gap must be wider than two steps of 1
        ("c(a, 0); c(X, T + 1)@next :- c(X, T); post(X) :- c(X, 7);", Recurrence(11, 1)),
        ("c(a, 0); c(X, T + 1)@next :- c(X, T); post(X) :- c(X, T), T < 7;", Recurrence(11, 1)),
        # two timers, one ahead of the other by 3, compared with each other
        (
            "c(a, 0); d(a, 3); c(X, T + 1)@next :- c(X, T); d(X, T + 1)@next :- d(X, T);"
            "post(X) :- c(X, T), d(X, U), U == T + 4;",
            Recurrence(14, 1),
        ),
        # the clock itself
        ("post(X) :- n(X, _)@T, T > 5;", Recurrence(6, 1)),
        ("post(X) :- n(X, _)@T, T > 5, T != 20;", Recurrence(21, 1)),
        # counts do not grow when what they count does
        ("c(a, 0); c(X, T + 1)@next :- c(X, T); k(X, count<T>) :- c(X, T); post(X) :- k(X, 1);", Recurrence(5, 1)),
    ],
)
def test_executions_that_repeat_themselves(rules: str, found: Recurrence) -> None:
    assert _of(PROMISE + rules) == found


@pytest.mark.parametrize(
    "rules",
    [
        # a timer that is still to go off
        "c(a, 0); c(X, T + 1)@next :- c(X, T); post(X) :- c(X, 50);",
        "c(a, 0); c(X, T + 1)@next :- c(X, T); post(X) :- c(X, T), T < 50;",
        "post(X) :- n(X, _)@T, T > 50;",
        # timers of different speed meet some time
        "c(a, 0); d(a, 60); c(X, T + 2)@next :- c(X, T); d(X, T + 1)@next :- d(X, T);post(X) :- c(X, T), d(X, T);",
        "c(a, 60); c(X, T - 1)@next :- c(X, T); post(X) :- c(X, 0);",
        # numbers that are multiplied, added up or compared with such
        "c(a, 0); c(X, T + 1)@next :- c(X, T); post(X) :- c(X, T), T * 2 > 100;",
        "c(a, 0); c(X, T + 1)@next :- c(X, T); s(X, sum<T>) :- c(X, T); post(X) :- s(X, S), S > 50;",
        "c(a, 0); c(X, T + 1)@next :- c(X, T); k(a, 10); k(X, K)@next :- k(X, K);"
        "post(X) :- c(X, T), k(X, K), T < K * 5;",
        # everything is remembered
        "c(a, 0); c(X, T + 1)@next :- c(X, T); seen(X, T) :- c(X, T); seen(X, T)@next :- seen(X, T);"
        "k(X, count<T>) :- seen(X, T); post(X) :- k(X, 50);",
        # what is given later, and rules that wait
        "f(a)@50; post(X) :- f(X);",
        "post(X) :- n(X, _)@50;",
    ],
)
def test_executions_whose_future_is_open(rules: str) -> None:
    """Each of them changes its outcome after the 40 steps that are looked at, or could."""
    assert _of(PROMISE + rules) is None


# -- against the reference -------------------------------------------------------------------------------------


def _failures(program: Program, spec: FailureSpec, faults: FaultSet, eot: int) -> list[int]:
    """How many rows of ``pre`` there are at each time, and how many of these are not in ``post``."""
    history = reference.evaluate(
        program, FailureSpec(spec.nodes, eot, spec.eff, spec.crashes, spec.delays), faults
    )
    return [
        1000 * len(tables["pre"]) + len(tables["pre"] - tables["post"]) for _, tables in sorted(history.items())
    ]


def _assert_foretold(program: Program, spec: FailureSpec, faults: FaultSet, further: int) -> bool:
    found = _recurrence(program, spec, faults)
    if found is None:
        return False
    seen = _failures(program, spec, faults, spec.eot + further)
    for time in range(found.time, spec.eot + further - found.period + 1):
        assert seen[time - 1] == seen[time + found.period - 1], f"time {time} and a period of {found.period} later"
    return True


@given(st.data())
def test_generated_programs_go_on_as_foretold(data: st.DataObject) -> None:
    program = check_program(data.draw(programs())).program
    if not {"pre", "post"} <= {c.relation for c in program.clauses}:
        return
    spec = data.draw(tiny_specs(program))
    faults = data.draw(fault_sets(spec))
    note(f"{spec} {faults}\n{print_program(program)}")
    longer = FailureSpec(spec.nodes, spec.eot + 8, spec.eff, spec.crashes, spec.delays)
    _assert_foretold(program, longer, faults, further=8)


COUNTERS = 200


def _timed_program(random: Random) -> str:
    """Timers, toggles and the clock, which decide whether a promise is kept."""
    pick = random.choice
    parts = ["n(a, b); n(X, Y)@next :- n(X, Y); pre(X) :- n(X, _);"]
    for timer in "cd":
        start, step = random.randrange(4), pick([1, 1, 1, 2])
        parts.append(f"{timer}(a, {start}); {timer}(X, T + {step})@next :- {timer}(X, T){_unless(random)};")
        if random.random() < 0.3:
            parts.append(f"{timer}(X, {start})@next :- {timer}(X, {random.randrange(12)});")
    parts.append("m(X, min<T>) :- c(X, T); x(X, max<T>) :- d(X, T); k(X, count<T>) :- c(X, T);")
    for _ in range(random.randrange(1, 4)):
        parts.append(f"post(X) :- {_condition(random)};")
    if random.random() < 0.3:
        parts.append(
            f"pre(Y) :- n(X, Y), {_condition(random)}, n(X, Y); post(Y) :- n(X, Y), {_condition(random)};"
        )
    return "\n".join(parts)


def _unless(random: Random) -> str:
    return random.choice(["", "", "", f", T < {random.randrange(9)}", f", T != {random.randrange(9)}"])


def _condition(random: Random) -> str:
    k, op = random.randrange(24), random.choice(["<", "<=", ">", ">=", "==", "!="])
    return random.choice(
        [
            f"c(X, {k})",
            f"c(X, T), T {op} {k}",
            f"c(X, T), d(X, U), T {op} U + {k % 5}",
            f"m(X, T), x(X, U), U - {k % 4} {op} T",
            f"k(X, K), d(X, T), T {op} K",
            f"n(X, _)@T, T {op} {k}",
            f"d(X, D), n(X, _)@T, T + {k % 3} {op} D",
            "n(X, _)@T, c(X, T)",
            f"k(X, K), n(X, _)@T, K * {k} {op} T",
        ]
    )


def test_timers_go_on_as_foretold(request: pytest.FixtureRequest) -> None:
    """Many of these recur, and some only seem to: none may do anything else in the time that follows."""
    foretold = 0
    cases = COUNTERS * (50 if request.config.getoption("--thorough") else 1)
    for seed in range(cases):
        text = _timed_program(Random(seed))
        program = check_program(parse_program(text)).program
        try:
            foretold += _assert_foretold(program, FailureSpec(("a", "b"), 24), FaultSet(), further=60)
        except AssertionError as wrong:
            raise AssertionError(f"seed {seed}: {wrong}\n{text}") from None
    assert foretold > cases // 4
