"""What can be a node: what flows to the place of a row, to the ends of messages, or into a question of crashes."""

from __future__ import annotations

import pytest
from hypothesis import given, note

from clew.dedalus.loader import parse_program
from clew.dedalus.printer import print_program
from clew.engine.ground import GroundProgram
from clew.faults import FailureSpec
from clew.program.checks import check_program
from clew.program.columns import Domain, possible_locations
from clew.program.ir import Call, Fact, Function, Premise, Program, Rule, Timing, Value, Var
from generators import program_nodes, programs


def locations(text: str) -> Domain:
    return possible_locations(check_program(parse_program(text)).program)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ('p(1, "1");', {1}),
        ('p("1", 1); q(Y)@async :- p(X, Y);', {"1", 1}),
        ("p(a, b); q(X, Y) :- p(X, Y);", {"a"}),
        ("p(a, b); q(Y, X) :- p(X, Y);", {"a", "b"}),
        # Through a column of another relation, and two columns that must agree.
        ("p(a, b, c); q(X, Z) :- p(X, _, Z); m(Z)@async :- q(X, Z);", {"a", "c"}),
        ("p(a, b); p(a, c); r(a, c); m(Y)@async :- p(X, Y), r(X, Y);", {"a", "c"}),
        # Constants.
        ('p(a); m("b")@async :- p(X);', {"a", "b"}),
        ('p(a); q(X) :- p(X), notin p("b");', {"a", "b"}),
        ('p(a); q("c") :- p("c");', {"a", "c"}),
        # Who is looked at when somebody crashes.
        ("p(a, b); q(X) :- p(X, Y), notin crash(_, Y, _);", {"a", "b"}),
        ('p(a); q(X) :- p(X), crash("b", "c", _);', {"a", "b", "c"}),
        ("p(a); q(N) :- p(X), crash(X, N, _);", {"a"}),
        # The smallest of several names.
        ("p(a, b); p(a, c); m(min<Y>)@async :- p(X, Y);", {"a", "b", "c"}),
    ],
)
def test_what_can_be_a_node(text: str, values: set[Value]) -> None:
    assert locations(text) == Domain(frozenset(values))


@pytest.mark.parametrize(
    "text",
    [
        "p(a, b); m(X + 1)@async :- p(X, _);",
        "p(a, b); m(count<Y>)@async :- p(X, Y);",
        "p(a, b); m(N)@async :- p(X, _)@N;",
        "p(a, b); q(X, T) :- p(X, _), crash(_, _, T); m(T)@async :- q(X, T);",
    ],
)
def test_what_is_computed_can_be_any_number(text: str) -> None:
    found = locations(text)
    assert found == Domain(frozenset({"a"}), numbers=True)
    assert (7 in found, "7" in found) == (True, False)


def test_what_a_function_returns_can_be_anything() -> None:
    function = Function("anywhere", lambda args: [args])
    body = (Premise("p", (Var("X"),)), Call(function, (Var("X"),), (Var("Y"),)))
    found = possible_locations(Program((Fact("p", ("a",)), Rule("m", (Var("Y"),), Timing.ASYNC, body))))
    assert found == Domain(frozenset({"a"}), anything=True)
    assert (7 in found, "7" in found) == (True, True)


def test_the_first_column_of_an_assertion_is_no_place() -> None:
    assert locations('p(1, "1"); pre(Y) :- p(X, Y); post(Y) :- p(X, Y);') == Domain(frozenset({1}))


def test_a_message_that_only_assertions_read_has_two_ends() -> None:
    text = "p(a, b); q(Y) :- p(X, Y); m(c)@async :- q(Y); pre(X) :- m(X); post(X) :- m(X);"
    assert locations(text) == Domain(frozenset({"a", "b", "c"}))


@given(programs())
def test_no_message_starts_or_ends_anywhere_else(program: Program) -> None:
    note(print_program(program))
    prepared = check_program(program).program
    spec = FailureSpec(program_nodes(program), 4, 4, 2, 1)
    reached = GroundProgram(prepared, spec, expect_outcomes=False).message_locations()
    found = possible_locations(prepared)
    assert {place for place in reached if place not in found} == set()
