"""Names and forms of the literature that Clew does not have: refused with a place, never taken for empty."""

from __future__ import annotations

import pytest

from clew.dedalus.loader import parse_program
from clew.errors import ProgramError
from clew.program.checks import check_program
from clew.program.constructs import CONSTRUCTS, DECLARATIONS
from clew.program.ir import Fact, Premise, Program, Rule, Timing, Var

LINKS = 'n("a", "b");\nn(X, Y)@next :- n(X, Y);\n'


def refusal(text: str) -> ProgramError:
    with pytest.raises(ProgramError) as caught:
        check_program(parse_program(LINKS + text, "p.ded"))
    return caught.value


@pytest.mark.parametrize("name", [*CONSTRUCTS, "f_now", "f_"])
@pytest.mark.parametrize("negation", ["", "notin "])
def test_a_name_of_the_literature_is_refused_where_nothing_defines_it(name: str, negation: str) -> None:
    error = refusal(f"m(X) :- n(X, Y), {negation}{name}(X, Y);")
    assert str(error.position) == f"p.ded:3:{18 + len(negation)}"
    assert error.message.startswith(f"'{name}' is a") or error.message.startswith(f"'{name}' is the")
    assert (error.remedy or "").endswith(". Or define a relation of this name")


@pytest.mark.parametrize("name", [*CONSTRUCTS, "f_now"])
@pytest.mark.parametrize("definition", ['{}("a", "b");', "{}(X, Y) :- n(X, Y);", "{}(Y, X)@async :- n(X, Y);"])
def test_a_program_may_define_it(name: str, definition: str) -> None:
    """Relations are called time or timer in programs that have nothing to do with the papers."""
    text = f"{LINKS}{definition.format(name)} m(X) :- {name}(X, _); m(X)@next :- m(X);"
    assert check_program(parse_program(text)).notices == ()


@pytest.mark.parametrize(
    ("text", "at", "message", "remedy"),
    [
        (
            "m(X) :- n(X, Y), choose(X, Y);",
            "3:18",
            "'choose' is the choice construct of Dedalus",
            "choose((X), (Y))",
        ),
        ("m(X) :- n(X, Y), choice(X, Y);", "3:18", "the choice construct of Datalog", "choose((X), (Y))"),
        ("m(X) :- n(X, Y), notin choice((X), (Y));", "3:24", "'choice' cannot be negated", "leave notin out"),
        ("s(X, B)@next :- s(X, A), succ(A, B);", "3:26", "the successor relation", "successor(A, B)"),
        ("s(X, T) :- n(X, _), time(T);", "3:21", "the time predicate of Dedalus", "@N"),
        ("m(X) :- n(X, Y), periodic(X, 5);", "3:18", "a timer of Overlog", "tick(X)@next"),
        ("m(X, C) :- n(X, Y), count(Y, C);", "3:21", "'count' is an aggregate, no relation", "count<Y>"),
        ("m(X, T) :- n(X, Y), f_now(T);", "3:21", "a function of Overlog", "+ - * /"),
        # Declarations.
        ("timer(ticker, 1000ms); m(X) :- n(X, _);", "3:1", "'timer' declares a timer in Overlog", "tick(X)@next"),
        ("materialize(n, 10, 20); m(X) :- n(X, _);", "3:1", "declares a table in Overlog", "@next"),
        ("define(n, 2); m(X) :- n(X, _);", "3:1", "declares a table in Overlog", "@next"),
        ("watch(n, a); m(X) :- n(X, _);", "3:1", "asks for a trace in Overlog", "clew run"),
        ("persist(n, 2); m(X) :- n(X, _);", "3:1", "keeps a relation in Dedalus", "@next"),
        # Strings are not joined, and @ is a time.
        ('m(X, Y + "x") :- n(X, Y);', "3:1", 'computes with the string "x"', "strings not be joined"),
        ('m(X, 1 + (Y * "x")) :- n(X, Y);', "3:1", 'computes with the string "x"', "strings not be joined"),
        ("m(X) :- n(X, Y), Y == x + 1;", "3:20", 'computes with the string "x"', "start with a capital"),
        ("m(Y, X)@async :- n(X, Y)@X;", "3:18", "after '@' stands a time, and X is a place", "first column"),
        ("m(X) :- n(X, Y), n(Y, X)@X;", "3:18", "after '@' stands a time, and X is a place", "first column"),
    ],
)
def test_what_is_written_for_other_systems_is_refused(text: str, at: str, message: str, remedy: str) -> None:
    error = refusal(text)
    assert str(error.position) == f"p.ded:{at}"
    assert message in error.message
    assert remedy in (error.remedy or "")


@pytest.mark.parametrize("name", DECLARATIONS)
def test_what_looks_like_a_declaration_is_a_fact_if_a_rule_reads_it(name: str) -> None:
    text = f'{LINKS}{name}("a", x); m(X, V) :- {name}(X, V); m(X, V)@next :- m(X, V);'
    assert check_program(parse_program(text)).notices == ()


@pytest.mark.parametrize(
    "text",
    [
        LINKS + "m(X, N) :- n(X, Y)@N; m(X, N)@next :- m(X, N);",
        # Nodes that are numbers may take turns.
        "n(1, 2); n(2, 1); n(X, Y)@next :- n(X, Y); m(X) :- n(X, _)@X; m(X)@next :- m(X);",
        "n(a, 1); n(X, Y)@next :- n(X, Y); t(Y)@async :- n(X, Y); m(X) :- t(X)@X; m(X)@next :- m(X);",
    ],
)
def test_a_time_that_can_be_one_is_fine(text: str) -> None:
    assert check_program(parse_program(text)).notices == ()


def test_collections_of_other_languages_are_called_what_their_author_likes() -> None:
    """A Bloom program declares its collections; one without any row is an input that nobody gives."""
    x = Var("X")
    rule = Rule("log", (x,), Timing.SAME, (Premise("timer", (x,)),), text="log <= timer")
    found = check_program(Program((Fact("log", ("a",)), Fact("watch", ("a",)), rule)))
    assert [notice.message for notice in found.notices] == ["no fact or rule defines 'timer': it is always empty"]
