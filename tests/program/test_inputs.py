"""What ``input`` declarations may say, ``choose``, ``successor``, ``persist``: read, or refused."""

from __future__ import annotations

import pytest

from clew import Answer, check, run
from clew.dedalus.loader import parse_program
from clew.dedalus.printer import print_program
from clew.errors import ProgramError, UsageError
from clew.faults import Input, Pick
from clew.program.checks import check_program

FACTS = 'client("c"); value(1); value(2); link("c", "s");\n'
KEPT = "link(X, Y)@next :- link(X, Y); got(Y, V)@async :- put(X, V), link(X, Y); got(X, V)@next :- got(X, V);\n"
PROMISE = "pre(C, V) :- put(C, V); post(C, V) :- put(C, V), got(_, V);\n"


def refusal(text: str) -> ProgramError:
    with pytest.raises(ProgramError) as caught:
        check_program(parse_program(FACTS + text, "p.ded"))
    return caught.value


@pytest.mark.parametrize(
    ("text", "at", "message", "remedy"),
    [
        ("input put(C, V)@T :- got(C, V); " + KEPT, "2:22", "reads 'got', which messages bring", "facts alone"),
        ("input p(C)@T :- q(C); q(C) :- client(C);", "2:17", "reads 'q', which rules conclude", "facts alone"),
        ("input p(C)@T :- clients(C);", "2:17", "reads 'clients', which has no facts", "did you mean 'client'?"),
        ("input p(C)@T :- crash(C, C, T);", "2:17", "reads 'crash', which has no facts", "given as facts"),
        ("input p(C)@T :- client(C)@1;", "2:17", "reads 'client', at a time", "leave the time out"),
        ("input p(C, V)@T :- client(C);", "2:7", "the variable V in the input 'p' is not bound", "contains V"),
        (
            "input p(C) :- client(C), T <= 3;",
            "2:28",
            "the variable T in a comparison is not bound",
            "input p(...)@T",
        ),
        ("input p(C)@T :- client(C), notin link(C, D);", "2:34", "the variable D in 'notin link'", "contains D"),
        ("input p(_)@T :- client(_);", "2:7", "'_' in the input 'p' has no value", "a variable that a premise"),
        ("input p(count<C>)@T :- client(C);", "2:7", "'count' in the input 'p' has no value", "a premise binds"),
        ("input pre(C)@T :- client(C); post(C) :- client(C);", "2:7", "'pre' is what must hold", "let rules"),
        ("input p(C)@T :- link(C, S), choose((C), (S));", "2:29", "the input 'p' chooses", "is a choice already"),
        ("input crash(C, C, T)@T :- client(C);", "2:7", "'crash' is built in", "read them"),
        ("input client(C, V)@T :- client(C), value(V);", "2:7", "'client' is used with", "two names"),
        ("p(X) :- link(X, Y), choose((X), (Z));", "2:21", "the variable Z in 'choose' is not bound", "bind"),
        ("p(X) :- link(X, Y), choose((X), (X));", "2:21", "'choose' cannot choose X", "one Y for each X"),
        ("p(X) :- link(X, Y), choose((), (X));", "2:21", "cannot choose the place of the rule", "one Y"),
        ("p(X) :- link(X, Y), choose((X), (Y, Y));", "2:21", "'choose' cannot choose Y", "one Y for each X"),
        (
            "p(X) :- link(X, Y), value(V), choose((X), (Y)), choose((X), (V));",
            "2:49",
            "chooses twice",
            "choose((X), (Y, Z))",
        ),
        ("p(X, count<Y>) :- link(X, Y), choose((X), (Y));", "2:31", "chooses and aggregates", "a rule of its own"),
        (
            "pre(X) :- link(X, Y), choose((X), (Y)); post(X) :- link(X, _);",
            "2:23",
            "'pre' chooses",
            "a rule of the protocol",
        ),
        ("p(a, B) :- successor(1, B);", "2:1", "no premise but 'successor'", "first column is the location"),
        ("p(X, B)@next :- link(X, Y), successor(A, B);", "2:29", "neither side of 'successor' is bound", "bind A"),
        ("p(X) :- link(X, A), notin successor(A, 3);", "2:27", "B == A + 1, and nothing else", "B != A + 1"),
        (
            "p(X) :- link(X, A), successor(A, B), notin link(X, B);",
            "2:44",
            "looks for what 'successor' computes",
            "own",
        ),
        ("p(X, sum<B>) :- link(X, A), successor(A, B);", "2:1", "over what 'successor' computes", "of its own"),
    ],
)
def test_what_is_refused(text: str, at: str, message: str, remedy: str) -> None:
    error = refusal(text)
    assert str(error.position) == f"p.ded:{at}"
    assert message in error.message
    assert remedy in (error.remedy or "")


def test_a_choice_must_not_rest_on_itself() -> None:
    text = "p(X, Y) :- link(X, Y); p(X, Y) :- q(X, Y); q(X, Y) :- p(X, Y), choose((X), (Y));"
    error = refusal(text)
    assert error.message == "'q' depends on a choice of 'p', which depends on 'q' in the same time step"
    assert str(error.position) == "p.ded:2:55"


def test_programs_with_inputs_say_what_must_hold() -> None:
    text = FACTS + "input put(C, V)@T :- client(C), value(V);" + KEPT
    with pytest.raises(ProgramError, match="does not say what must hold whatever they are"):
        check(parse_program(text), eot=4)


def test_what_is_given_is_there_at_its_time_only() -> None:
    program = parse_program(FACTS + "input put(C, V)@T :- client(C), value(V), T >= 2;" + KEPT + PROMISE)
    execution = run(program, [Input("put", ("c", 2), 3)], eot=5)
    assert [execution.rows("put", t) for t in range(1, 6)] == [(), (), (("c", 2),), (), ()]
    assert execution.rows("got", 4) == (("s", 2),)
    assert run(program, eot=5).rows("got", 5) == ()


@pytest.mark.parametrize(
    ("fault", "remedy"),
    [
        (Input("put", ("c", 2), 1), "at time 1 it offers nothing"),
        (Input("put", ("c", 3), 3), "did you mean I(put(c, 1),3)?"),
        (Input("putt", ("c", 1), 3), "did you mean I(put(c, 1),3)?"),
        (Pick("put", ("c", 1), 3), "at time 3 it offers nothing"),
    ],
)
def test_what_no_declaration_offers_is_refused(fault: Input | Pick, remedy: str) -> None:
    program = parse_program(FACTS + "input put(C, V)@T :- client(C), value(V), T >= 2;" + KEPT + PROMISE)
    with pytest.raises(UsageError) as caught:
        run(program, [fault], eot=5)
    assert caught.value.remedy == remedy


def test_the_least_is_chosen_unless_something_is_picked() -> None:
    text = """
        link("a", "c"); link("a", "b"); link("a", 7); link("b", "b");
        one(X, Y)@next :- link(X, Y), choose((X), (Y));
        pre(X, Y) :- one(X, Y); post(X, Y) :- one(X, Y);
    """
    program = parse_program(text)
    assert run(program, eot=2).rows("one", 2) == (("a", 7), ("b", "b"))
    picked = run(program, [Pick("one", ("a", "c"), 1)], eot=2)
    assert picked.rows("one", 2) == (("a", "c"), ("b", "b"))
    two = run(program, [Pick("one", ("a", "c"), 1), Pick("one", ("a", "b"), 1)], eot=2)
    assert two.rows("one", 2) == (("a", "b"), ("b", "b"))  # the least of those that are picked


def test_the_second_rule_that_chooses_has_a_number() -> None:
    text = """
        link("a", "b"); link("a", "c");
        one(X, Y) :- link(X, Y), choose((X), (Y));
        one(X, Y)@next :- link(X, Y), choose((X), (Y));
        pre(X, Y) :- one(X, Y); post(X, Y) :- one(X, Y);
    """
    execution = run(parse_program(text), [Pick("one.2", ("a", "c"), 1)], eot=2)
    assert (execution.rows("one", 1), execution.rows("one", 2)) == ((("a", "b"),), (("a", "c"),))


def test_no_more_inputs_are_given_than_the_bounds_allow() -> None:
    text = FACTS + "input put(C, V)@T :- client(C), value(V), T <= 2;" + KEPT
    both = "seen(C, V) :- put(C, V); seen(C, V)@next :- seen(C, V); pre(C) :- seen(C, 1), seen(C, 2);"
    program = parse_program(f"{text}{both} post(C) :- pre(C), link(_, C);")
    found = check(program, eot=4, eff=0)
    assert found.counterexamples[0].faults.weight == (0, 2)
    assert check(program, eot=4, eff=0, inputs=2).counterexamples[0].faults.weight == (0, 2)
    assert check(program, eot=4, eff=0, inputs=1).counterexamples == ()


def test_inputs_without_a_declaration_are_refused() -> None:
    with pytest.raises(UsageError, match="declares no inputs"):
        check(parse_program(FACTS + "link(X, Y)@next :- link(X, Y);"), eot=3, inputs=1)


def test_a_node_that_is_only_named_by_an_input_is_a_node() -> None:
    program = parse_program(
        "value(1); place(d); input put(P, V)@T :- place(P), value(V); kept(P, V)@next :- put(P, V);"
        "kept(P, V)@next :- kept(P, V); pre(P) :- kept(P, _); post(P) :- kept(P, _);"
    )
    assert check(program, eot=3).spec.nodes == ("d",)


@pytest.mark.parametrize(
    ("marked", "plain"),
    [
        ("persist[p];", "p(A1, A2)@next :- p(A1, A2);"),
        ("persist[p, gone];", "p(A1, A2)@next :- p(A1, A2), notin gone(A1, A2);"),
        ("persist[p, gone, 2]", "p(A1, A2)@next :- p(A1, A2), notin gone(A1, A2);"),
        (
            "persist[p]; p_neg(X, Y) :- gone(X, Y);",
            "p(A1, A2)@next :- p(A1, A2), notin p_neg(A1, A2); p_neg(X, Y) :- gone(X, Y);",
        ),
        ("q(#X, Y) :- p(#X, Y);", "q(X, Y) :- p(X, Y);"),
        ("q(@Y, X)@async :- p(#X, Y), notin gone(@X, Y);", "q(Y, X)@async :- p(X, Y), notin gone(X, Y);"),
        ("p(#a, b)@2;", "p(a, b)@2;"),
    ],
)
def test_notations_of_the_thesis_stand_for_rules(marked: str, plain: str) -> None:
    given = "p(a, b)@1; gone(a, c)@1;\n"
    assert parse_program(given + marked).clauses == parse_program(given + plain).clauses


@pytest.mark.parametrize(
    ("with_it", "without"),
    [
        ("s(X, B)@next :- s(X, A), successor(A, B);", "s(X, A + 1)@next :- s(X, A);"),
        ("s(X, A)@next :- s(X, B), successor(A, B), A > 0;", "s(X, B - 1)@next :- s(X, B), B - 1 > 0;"),
        ("r(X) :- s(X, A), s(X, B), successor(A, B);", "r(X) :- s(X, A), s(X, B), B == A + 1;"),
        ("s(X, C)@next :- s(X, A), successor(A, B), successor(B, C);", "s(X, A + 1 + 1)@next :- s(X, A);"),
        ("r(X) :- s(X, A), successor(A, 3);", "r(X) :- s(X, A), 3 == A + 1;"),
        ("r(X) :- s(X, A), successor(A, _);", "r(X) :- s(X, A);"),
        ("r(X, N) :- s(X, A)@T, successor(T, N);", "r(X, T + 1) :- s(X, A)@T;"),
    ],
)
def test_successor_is_arithmetic(with_it: str, without: str) -> None:
    given = "s(a, 1)@1; t(a)@1;\n"
    expanded, plain = (check_program(parse_program(given + text)).program for text in (with_it, without))
    assert print_program(expanded) == print_program(plain)


def test_a_relation_called_successor_is_a_relation() -> None:
    program = parse_program("successor(a, b)@1; r(X, Y) :- successor(X, Y); r(X, Y)@next :- r(X, Y);")
    assert check_program(program).program.clauses == program.clauses


def test_what_is_printed_is_what_was_read() -> None:
    text = FACTS + "input put(C, V)@T :- client(C), value(V), T >= 2;\ninput tick(C)@3 :- client(C);\n" + KEPT
    text += "one(X, Y) :- link(X, Y), choose((X), (Y));"
    program = parse_program(text)
    assert parse_program(print_program(program)) == program


def test_inputs_alone_can_break_a_program() -> None:
    text = FACTS + "input put(C, V)@T :- client(C), value(V), T >= 2;" + KEPT + PROMISE
    found = check(parse_program(text), eot=4, eff=0)
    assert found.answer is Answer.COUNTEREXAMPLE
    assert str(found.counterexamples[0].faults) in ("I(put(c, 1),4)", "I(put(c, 2),4)")
