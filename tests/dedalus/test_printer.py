"""The program as text: reading it again gives an equal program."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clew.dedalus.loader import load, parse_program
from clew.dedalus.parser import AGGREGATES, COMPARISONS
from clew.dedalus.printer import print_clause, print_expr, print_program, print_value
from clew.errors import ProgramError
from clew.program.ir import (
    LARGEST_NUMBER,
    Aggregate,
    AggregateName,
    ArithmeticOp,
    BinOp,
    Comparison,
    ComparisonOp,
    Const,
    Expr,
    Fact,
    HeadArg,
    Premise,
    Program,
    Rule,
    Term,
    Timing,
    Value,
    Var,
    Wildcard,
)
from generators import programs

EXAMPLES = Path(__file__).parents[2] / "examples"

# Everything that the grammar can express, whether it makes sense or not.

#: Two dots in a row are an interval, and no part of a name.
NAMES = st.from_regex(r"(?:[A-Za-z0-9_?]|\.(?!\.)){1,8}", fullmatch=True)
RELATIONS = st.sampled_from(["p", "include", "P", "1", "_", "next"]) | NAMES
POSITIVE_RELATIONS = RELATIONS.filter(lambda name: name != "notin")
VARIABLES = st.from_regex(r"[A-Z](?:[A-Za-z0-9_?]|\.(?!\.)){0,5}", fullmatch=True).map(Var)
STRINGS = st.sampled_from(
    [
        "",
        "a",
        "X",
        "_",
        "1",
        "-1",
        "a // b",
        "/* b */",
        "/*",
        "back\\slash\\",
        "\\n",
        "é→🙂",
        "a;b",
        "p(X) :-",
        "\t\r",
    ]
) | st.text(st.characters(exclude_categories=["Cc", "Cs"], exclude_characters='"'), max_size=8)
NUMBERS = st.integers(-LARGEST_NUMBER, LARGEST_NUMBER)
TIMES = st.integers(1, LARGEST_NUMBER)
VALUES: st.SearchStrategy[Value] = STRINGS | NUMBERS
CONSTANTS = VALUES.map(Const)
OPERATORS: tuple[ArithmeticOp, ...] = ("+", "-", "*", "/")
FUNCTIONS: tuple[AggregateName, ...] = ("count", "sum", "min", "max", "avg")
COMPARATORS: tuple[ComparisonOp, ...] = ("==", "!=", "<", "<=", ">", ">=")


def _operations(operands: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    return st.builds(BinOp, st.sampled_from(OPERATORS), operands, operands)


PLAIN: st.SearchStrategy[Expr] = CONSTANTS | VARIABLES
EXPRESSIONS: st.SearchStrategy[Expr] = st.recursive(PLAIN, _operations, max_leaves=12)
WILDCARDS = st.builds(Wildcard)
TERMS: st.SearchStrategy[Term] = CONSTANTS | VARIABLES | WILDCARDS
HEAD_ARGS: st.SearchStrategy[HeadArg] = (
    EXPRESSIONS | WILDCARDS | st.builds(Aggregate, st.sampled_from(FUNCTIONS), VARIABLES)
)


def _rows(column: st.SearchStrategy[object]) -> st.SearchStrategy[tuple[object, ...]]:
    return st.lists(column, min_size=1, max_size=4).map(tuple)


PREMISES = st.builds(
    Premise, POSITIVE_RELATIONS, _rows(TERMS), st.just(False), st.none() | TIMES | VARIABLES
) | st.builds(Premise, RELATIONS, _rows(TERMS), st.just(True), st.none() | TIMES | VARIABLES)
ELEMENTS = PREMISES | st.builds(Comparison, st.sampled_from(COMPARATORS), EXPRESSIONS, EXPRESSIONS)
BODIES = st.tuples(st.lists(ELEMENTS, max_size=3), PREMISES, st.lists(ELEMENTS, max_size=2)).map(
    lambda parts: (*parts[0], parts[1], *parts[2])
)
FACTS = st.builds(Fact, RELATIONS, _rows(VALUES), TIMES)
RULES = st.builds(Rule, RELATIONS, _rows(HEAD_ARGS), st.sampled_from(list(Timing)), BODIES)
ANY_PROGRAMS = st.lists(FACTS | RULES, max_size=4).map(lambda clauses: Program(tuple(clauses)))


@given(program=ANY_PROGRAMS)
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_whatever_the_grammar_can_express_is_read_back(program: Program) -> None:
    assert parse_program(print_program(program)) == program


@given(program=programs())
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_plausible_program_is_read_back(program: Program) -> None:
    assert parse_program(print_program(program)) == program


@pytest.mark.parametrize("path", sorted(EXAMPLES.rglob("*.ded")), ids=lambda path: path.name)
def test_an_example_is_read_back(path: Path) -> None:
    # What is on disk is said of a program, in a file beside it.
    beside = [EXAMPLES / "ack-deliv.ded"] if path.parent.name == "disks" else []
    program = load([*beside, path]).program
    assert program.clauses
    assert parse_program(print_program(program)) == program


def test_the_strategy_knows_every_operator_of_the_parser() -> None:
    assert FUNCTIONS == AGGREGATES
    assert COMPARATORS == COMPARISONS


@pytest.mark.parametrize(
    "expression",
    [
        "+".join(["X"] * 51),
        "-1" + " * 1" * 50,
        "1 + -1" + " * 1" * 50,
        "1 + (" * 45 + "X" + " * X" * 45 + ")" * 45,
    ],
    ids=["sums", "products of a negative number", "a product in a sum", "products within parentheses"],
)
def test_the_deepest_expressions_that_are_accepted_are_read_back(expression: str) -> None:
    """What the parser accepts can be printed and read again; what is too deep for that, it refuses."""
    try:
        program = parse_program(f"p(X, {expression}) :- q(X);")
    except ProgramError as error:
        assert "nested more than 50 deep" in error.message
    else:
        assert parse_program(print_program(program)) == program


# The exact text.


@pytest.mark.parametrize(
    "text",
    [
        'p("a", -1)@2;',
        'p(X, _)@next :- q(X, "a // b", 3)@5, notin r(X, _)@N;',
        "p(Y, count<X>)@async :- q(X, Y), X != Y;",
        "p(X, (X + 1) * (Y - -2)) :- q(X, Y), X / 2 <= 0 - Y;",
        "p(X, 1 - (2 - 3)) :- q(X);",
        "p(X, (1 - 2) - 3) :- q(X);",
    ],
)
def test_this_is_how_clauses_are_written(text: str) -> None:
    (clause,) = parse_program(text).clauses
    assert print_clause(clause) == text


def test_one_clause_a_line_in_order() -> None:
    assert print_program(parse_program("q(b); p(X) :- q(X); q(a)@3;")) == 'q("b")@1;\np(X) :- q(X);\nq("a")@3;\n'
    assert print_program(Program(())) == ""


def test_an_expression_alone() -> None:
    assert print_expr(BinOp("*", BinOp("+", Var("X"), Const(1)), Const(-2))) == "(X + 1) * -2"
    assert print_expr(Aggregate("max", Var("X"))) == "max<X>"


@pytest.mark.parametrize("value", ['say "hi"', "two\nlines"])
def test_a_string_that_the_language_cannot_write_is_refused(value: str) -> None:
    with pytest.raises(ValueError, match="no way to write the string"):
        print_value(value)
