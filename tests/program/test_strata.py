"""Order within one time step: what has no meaning or no end is refused, and nothing else."""

from __future__ import annotations

import pytest

from clew.dedalus.loader import parse_program
from clew.errors import ProgramError
from clew.program.strata import check_growth, check_strata


def accepted(text: str) -> bool:
    """Whether both checks let the program pass; raises otherwise."""
    program = parse_program(text)
    check_strata(program)
    check_growth(program)
    return True


@pytest.mark.parametrize(
    ("text", "place", "head", "premise", "cycle"),
    [
        ("p(X) :- q(X), notin p(X);", "1:21", "p", "p", "'p'"),
        ("p(X, count<Y>) :- p(X, Y);", "1:19", "p", "p", "'p'"),
        ("p(X) :- q(X), notin r(X);\nr(X) :- p(X);", "1:21", "p", "r", "'p', 'r'"),
        ("p(X) :- r(X);\nr(X) :- q(X), notin p(X);", "2:21", "r", "p", "'p', 'r'"),
        ("p(X) :- q(X), notin r(X);\nr(X) :- q(X), notin p(X);", "1:21", "p", "r", "'p', 'r'"),
        ("a(X) :- b(X); b(X) :- c(X);\nc(X) :- q(X), notin a(X);", "2:21", "c", "a", "'a', 'b', 'c'"),
        ("p(X, sum<Y>) :- q(X, Y), r(X);\nr(X) :- p(X, _);", "1:26", "p", "r", "'p', 'r'"),
        ("p(X) :- q(X), notin p(X)@1;", "1:21", "p", "p", "'p'"),
        ("p(X, N) :- q(X)@N, notin p(X, _)@N;", "1:26", "p", "p", "'p'"),
    ],
)
def test_a_negation_or_aggregation_on_a_cycle_is_refused(
    text: str, place: str, head: str, premise: str, cycle: str
) -> None:
    with pytest.raises(ProgramError) as caught:
        check_strata(parse_program(text))
    error = caught.value
    how = "the absence" if "notin" in text else "an aggregate"
    assert error.message == (
        f"'{head}' depends on {how} of '{premise}', which depends on '{head}' in the same time step"
    )
    assert str(error.position) == f"<text>:{place}"
    assert error.remedy == f"let one rule of the cycle {cycle} conclude @next"


@pytest.mark.parametrize(
    "text",
    [
        "p(X, Z) :- p(X, Y), p(Y, Z);",
        "p(X) :- r(X); r(X) :- p(X);",
        "p(X)@next :- q(X), notin p(X);",
        "p(X)@async :- q(X), notin p(X);",
        "p(X) :- q(X), notin r(X); r(X)@next :- p(X);",
        "p(X) :- q(X), notin r(X); r(X)@async :- p(X);",
        "p(X, count<Y>)@next :- p(X, Y);",
        "p(X, count<Y>) :- q(X, Y);",
        "p(X, Z) :- p(X, Y), q(Y, Z); c(X, count<Y>) :- p(X, Y); d(X) :- q(X, _), notin c(X, 2);",
        "p(X) :- q(X), notin crash(X, X, _);",
        "low(X) :- q(X), notin base(X); mid(X) :- q(X), notin low(X); top(X) :- q(X), notin mid(X);",
        "p(X) :- p(X), notin q(X);",
    ],
)
def test_other_cycles_and_other_negations_are_accepted(text: str) -> None:
    assert accepted(text)


@pytest.mark.parametrize(
    ("text", "place", "head"),
    [
        ("p(X, Y + 1) :- p(X, Y);", "1:1", "p"),
        ("p(X, 1 + Y) :- p(X, Y);", "1:1", "p"),
        ("p(X, Y - 1) :- p(X, Y);", "1:1", "p"),
        ("p(X, Y * 2) :- p(X, Y);", "1:1", "p"),
        ("p(X, Y + Z) :- p(X, Y), p(X, Z);", "1:1", "p"),
        ("p(X, Y + Z) :- p(X, Y), q(X, Z);", "1:1", "p"),
        ("p(X, Y + 1) :- q(X, Y);\nq(X, Y) :- p(X, Y);", "1:1", "p"),
        ("q(X, Y) :- p(X, Y);\n p(X, Y + 1) :- q(X, Y);", "2:2", "p"),
        ("p(X, Y + 1) :- p(X, Y), Y > 0;", "1:1", "p"),
        ("p(X, Y + 1) :- p(X, Y), Y != 10;", "1:1", "p"),
        ("p(X, Y - 1) :- p(X, Y), Y < 10;", "1:1", "p"),
        ("p(X, Y + -1) :- p(X, Y), Y < 10;", "1:1", "p"),
        ("p(X, Y - -1) :- p(X, Y), Y > 0;", "1:1", "p"),
        ("p(X, Y * 2) :- p(X, Y), Y < 10;", "1:1", "p"),
        ("p(X, Y + 1, Z + 1) :- p(X, Y, Z), Y < 10;", "1:1", "p"),
        ('p(X, Y + 1) :- p(X, Y), Y < "z";', "1:1", "p"),
    ],
)
def test_a_cycle_that_builds_ever_new_numbers_is_refused(text: str, place: str, head: str) -> None:
    with pytest.raises(ProgramError) as caught:
        check_growth(parse_program(text))
    error = caught.value
    assert error.message == f"'{head}' computes new values from its own within one time step, without end"
    assert str(error.position) == f"<text>:{place}"
    assert error.remedy == "conclude @next, or bound the variable with a comparison such as X < 10"


@pytest.mark.parametrize(
    "text",
    [
        "p(X, Y + 1)@next :- p(X, Y);",
        "p(X, Y + 1)@async :- p(X, Y);",
        "p(X, Y + 1) :- q(X, Y);",
        "p(X, Y + 1) :- q(X, Y); q(X, Y)@next :- p(X, Y);",
        "p(X, Y + 1) :- p(X, Y), Y < 10;",
        "p(X, Y + 1) :- p(X, Y), Y <= 10;",
        "p(X, Y + 1) :- p(X, Y), 10 > Y;",
        "p(X, Y + 1) :- p(X, Y), Y == 3;",
        "p(X, Y - 1) :- p(X, Y), Y > 0;",
        "p(X, Y - 1) :- p(X, Y), 0 <= Y;",
        "p(X, Y + -1) :- p(X, Y), Y > 0;",
        "p(X, Y * 2) :- p(X, Y), Y < 10, Y > -10;",
        "p(X, Y + 1) :- p(X, Y), q(X, Y);",
        "p(X, Z + 1) :- p(X, Y), q(X, Z);",
        "p(X, Y + 0) :- p(X, Y);",
        "p(X, 1 + 2) :- p(X, Y);",
        "p(X, Y) :- p(X, Y), Y + 1 > 3;",
        "c(X, count<Y>) :- q(X, Y); d(X, N + 1) :- c(X, N);",
    ],
)
def test_arithmetic_that_ends_is_accepted(text: str) -> None:
    assert accepted(text)


def test_a_long_chain_of_relations_needs_no_recursion() -> None:
    rules = "".join(f"p{k + 1}(X) :- p{k}(X);" for k in range(3000))
    assert accepted(rules)
    with pytest.raises(ProgramError, match="'p0' depends on the absence"):
        check_strata(parse_program(rules + "p0(X) :- q(X), notin p3000(X);"))
