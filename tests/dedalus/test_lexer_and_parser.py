"""Text to clauses: what is read, and where and why the rest is refused."""

from __future__ import annotations

import pytest

from clew.dedalus.clauses import Include
from clew.dedalus.expressions import DEEPEST_EXPRESSION
from clew.dedalus.loader import parse_program
from clew.dedalus.parser import parse_clauses
from clew.errors import Position, ProgramError
from clew.program.ir import (
    Aggregate,
    BinOp,
    Comparison,
    Const,
    Expr,
    Fact,
    Premise,
    Rule,
    Timing,
    Value,
    Var,
    Wildcard,
)

X, Y = Var("X"), Var("Y")


def fact(text: str) -> Fact:
    (clause,) = parse_program(text).clauses
    assert isinstance(clause, Fact)
    return clause


def rule(text: str) -> Rule:
    (clause,) = parse_program(text).clauses
    assert isinstance(clause, Rule)
    return clause


def head(expression: str) -> object:
    """The second head argument of a rule that binds X and Y."""
    return rule(f"p(X, {expression}) :- q(X, Y);").args[1]


def refusal(text: str) -> ProgramError:
    with pytest.raises(ProgramError) as caught:
        parse_program(text, "p.ded")
    assert caught.value.remedy
    return caught.value


def where(error: ProgramError) -> tuple[int, int]:
    assert error.position is not None
    assert error.position.file == "p.ded"
    return error.position.line, error.position.column


# What is read.


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a", "a"),
        ("a.b?c_1", "a.b?c_1"),
        ("?x", "?x"),
        (".x", ".x"),
        ("1", 1),
        ("007", 7),
        ("-1", -1),
        ("- -1", 1),
        ("(1)", 1),
        ("2147483647", 2147483647),
        ("-2147483647", -2147483647),
        ("1.5", "1.5"),
        ("1a", "1a"),
        ('"1"', "1"),
        ('"Upper"', "Upper"),
        ('""', ""),
        ('"a // b"', "a // b"),
        ('"a /* b */"', "a /* b */"),
        ('"a;b"', "a;b"),
        ('"back\\slash\\"', "back\\slash\\"),
        ('"é→🙂"', "é→🙂"),
        ('"tab\there"', "tab\there"),
    ],
)
def test_a_constant_is_read(text: str, value: Value) -> None:
    assert fact(f"p({text});").args == (value,)
    assert rule(f"p({text}) :- q({text});").args == (Const(value),)


@pytest.mark.parametrize(("text", "when"), [("p(a);", 1), ("p(a)@1;", 1), ("p(a)@12;", 12), ("p(a) @ 3 ;", 3)])
def test_a_fact_holds_at_its_time_or_at_1(text: str, when: int) -> None:
    assert fact(text) == Fact("p", ("a",), when)


@pytest.mark.parametrize(
    ("suffix", "timing"),
    [("", Timing.SAME), ("@next", Timing.NEXT), ("@async", Timing.ASYNC), ("@ next", Timing.NEXT)],
)
def test_the_timing_of_a_rule(suffix: str, timing: Timing) -> None:
    assert rule(f"p(X){suffix} :- q(X);") == Rule("p", (X,), timing, (Premise("q", (X,)),))


def test_every_kind_of_body_element_in_order() -> None:
    assert rule("p(X) :- q(X, _)@5, notin r(X, a)@N, X != Y + 1, s(Y);").body == (
        Premise("q", (X, Wildcard()), at=5),
        Premise("r", (X, Const("a")), negated=True, at=Var("N")),
        Comparison("!=", X, BinOp("+", Y, Const(1))),
        Premise("s", (Y,)),
    )


@pytest.mark.parametrize("op", ["==", "!=", "<", "<=", ">", ">="])
def test_every_comparison(op: str) -> None:
    (comparison,) = rule(f"p(X) :- q(X), X {op} 3;").comparisons
    assert (comparison.op, comparison.left, comparison.right) == (op, X, Const(3))


@pytest.mark.parametrize("function", ["count", "sum", "min", "max", "avg"])
def test_every_aggregate(function: str) -> None:
    aggregate = head(f"{function}<Y>")
    assert isinstance(aggregate, Aggregate)
    assert (aggregate.function, aggregate.var) == (function, Y)


ONE, TWO, THREE = Const(1), Const(2), Const(3)


@pytest.mark.parametrize(
    ("text", "expression"),
    [
        ("X + 1", BinOp("+", X, ONE)),
        ("X+1", BinOp("+", X, ONE)),
        ("1 + 2 * 3", BinOp("+", ONE, BinOp("*", TWO, THREE))),
        ("1 * 2 + 3", BinOp("+", BinOp("*", ONE, TWO), THREE)),
        ("1 - 2 - 3", BinOp("-", BinOp("-", ONE, TWO), THREE)),
        ("1 / 2 / 3", BinOp("/", BinOp("/", ONE, TWO), THREE)),
        ("1 - (2 - 3)", BinOp("-", ONE, BinOp("-", TWO, THREE))),
        ("(1 + 2) * 3", BinOp("*", BinOp("+", ONE, TWO), THREE)),
        ("X - -1", BinOp("-", X, Const(-1))),
        ("-X", BinOp("-", Const(0), X)),
        ("-X * 2", BinOp("*", BinOp("-", Const(0), X), TWO)),
        ("-(1)", Const(-1)),
        ("((X))", X),
    ],
)
def test_the_usual_precedence(text: str, expression: Expr) -> None:
    assert head(text) == expression


@pytest.mark.parametrize(
    "text",
    [
        "p(a); // the end",
        "// the start\np(a);",
        "/* a\n * b */ p(a);",
        "p(/* inside */a);",
        "p(a)/**/;",
        "/* // */ p(a);",
        "// /*\np(a);",
        '/* " */ p(a);',
        "p(a);\r\n",
        "\ufeffp(a);",
        "\tp\f(\na )\n;",
    ],
)
def test_comments_and_blanks_mean_nothing(text: str) -> None:
    assert fact(text) == Fact("p", ("a",))


@pytest.mark.parametrize("text", ["", " \n", "// nothing", "/* nothing */"])
def test_nothing_has_no_clauses(text: str) -> None:
    assert parse_program(text).clauses == ()


def test_an_include_is_left_to_the_loader_with_the_place_of_its_path() -> None:
    assert parse_clauses('p(a);\n include "x y.ded";', "p.ded") == [
        Fact("p", ("a",)),
        Include("x y.ded", Position("p.ded", 2, 10)),
    ]


def test_include_and_notin_are_also_names() -> None:
    assert fact("include(a);").relation == "include"
    assert fact("notin(a);").relation == "notin"
    assert rule("p(X) :- q(X), notin notin(X);").negative == (Premise("notin", (X,), negated=True),)
    assert rule("p(X) :- include(X);").positive == (Premise("include", (X,)),)


def test_positions_are_those_of_names_and_operators() -> None:
    text = "\n  p(X) :- q(X),\n\tnotin r(X), X\n == 1;"
    clause = rule(text)
    assert clause.position == Position("<text>", 2, 3)
    assert [b.position for b in clause.body] == [
        Position("<text>", 2, 11),
        Position("<text>", 3, 8),
        Position("<text>", 4, 2),
    ]


def test_positions_do_not_count_in_equality() -> None:
    assert parse_program("p(a);\nq(X):-p(X);") == parse_program("\n\n  p( a )@1 ;  q(X) :- p(X) ;", "other.ded")


# What is refused: text, line, column, message, remedy.

REFUSED = [
    # tokens
    ('p("a);', 1, 3, "a string is not closed on its line", 'close it with "'),
    ('p(a);\nq("a\n");', 2, 3, "a string is not closed on its line", 'close it with "'),
    ("p(a); /* x", 1, 7, "a comment is not closed", "close it with */"),
    ("p(a);\n  /*/ q(b);", 2, 3, "a comment is not closed", "close it with */"),
    ("p(é);", 1, 3, "unexpected 'é'", 'put other text in "quotes"'),
    ("p(a)&", 1, 5, "unexpected '&'", "names consist of letters"),
    ("p(X) : - q(X);", 1, 6, "unexpected ':'", "a rule is written"),
    ("p(a);\nq(\0);", 2, 3, "unprintable character U+0000", "give a text file"),
    ('p("\x1b");', 1, 4, "unprintable character U+001B", "give a text file"),
    # clauses
    (";", 1, 1, "unexpected ';'", "expected a fact, a rule or 'include'"),
    ("p(a);;", 1, 6, "unexpected ';'", "expected a fact, a rule or 'include'"),
    ('"p"(a);', 1, 1, "unexpected '\"p\"'", "expected a fact, a rule or 'include'"),
    ("p;", 1, 2, "unexpected ';'", "expected '('"),
    ("p(a)", 1, 5, "unexpected the end of the file", "expected '@', ':-' or ';'"),
    ("p(a)@1", 1, 7, "unexpected the end of the file", "expected ':-' or ';'"),
    ("p(a)\n\n// end\n", 3, 7, "unexpected the end of the file", "expected '@', ':-' or ';'"),
    ("p(a", 1, 4, "unexpected the end of the file", "expected ',' or ')'"),
    ("p(a b);", 1, 5, "unexpected 'b'", "expected ',' or ')'"),
    ("p(a,);", 1, 5, "unexpected ')'", "expected a variable, a constant or an expression"),
    ("p(a) q(b);", 1, 6, "unexpected 'q'", "expected '@', ':-' or ';'"),
    ("include foo;", 1, 9, "unexpected 'foo'", "expected '('"),
    ('include "foo"', 1, 14, "unexpected the end of the file", "expected ';'"),
    ("p(" + "a" * 60 + " b);", 1, 64, "unexpected 'b'", "expected ',' or ')'"),
    ("p(a) " + "b" * 60 + ";", 1, 6, "unexpected '" + "b" * 37 + "...'", "expected '@'"),
    ("p();", 1, 1, "'p' has no columns", "the first column is where the row lives"),
    ("p(X) :- q();", 1, 9, "'q' has no columns", "the first column is where the row lives"),
    # facts
    ("p(a)@0;", 1, 6, "'@0' is not a time at which a fact can hold", "a number from 1 on"),
    ("p(a)@next;", 1, 6, "'@next' is not a time at which a fact can hold", "a number from 1 on"),
    ("p(a)@N;", 1, 6, "'@N' is not a time at which a fact can hold", "a number from 1 on"),
    ("p(a)@;", 1, 6, "unexpected ';'", "expected a time, next or async"),
    ('p(a)@"1";', 1, 6, "unexpected '\"1\"'", "expected a time, next or async"),
    ("p(a)@99999999999;", 1, 6, "the number 99999999999 is too large", "up to 2147483647"),
    ("p(a);\nq(A);", 2, 1, "the fact 'q' contains A, which is not a constant", "quote it"),
    ("p(_);", 1, 1, "the fact 'p' contains _, which is not a constant", "quote it"),
    ("p(1 + 2);", 1, 1, "the fact 'p' contains an expression", "quote it"),
    ("p(count<X>);", 1, 1, "the fact 'p' contains an expression", "quote it"),
    # numbers and names
    ("p(2147483648);", 1, 3, "the number 2147483648 is too large", "up to 2147483647"),
    ("p(" + "9" * 5000 + ");", 1, 3, "the number " + "9" * 40 + " is too large", "up to 2147483647"),
    ("p(_x);", 1, 3, "'_x' is neither a variable nor a constant", '"_x" for a string'),
    # rules
    ("p(X)@5 :- q(X);", 1, 6, "unknown timing '@5' of a rule", "@next"),
    ("p(X)@soon :- q(X);", 1, 6, "unknown timing '@soon' of a rule", "@async"),
    ("p(X) :- ;", 1, 9, "unexpected ';'", "expected"),
    ("p(X) :- q(X),;", 1, 14, "unexpected ';'", "expected"),
    ("p(X) :- q(X)", 1, 13, "unexpected the end of the file", "expected ',' or ';'"),
    ("p(X) :- q(X) r(X);", 1, 14, "unexpected 'r'", "expected ',' or ';'"),
    ("p(X) :- X == 1;", 1, 1, "the rule for 'p' has no premise", "add a premise"),
    ("p(foo<X>) :- q(X);", 1, 3, "unknown aggregate 'foo'", "count, sum, min, max, avg"),
    ("p(count<x>) :- q(x);", 1, 9, "'count<x>' does not aggregate a variable", "count<X>"),
    ("p(count<_>) :- q(X);", 1, 9, "'count<_>' does not aggregate a variable", "count<X>"),
    ("p(count<1>) :- q(X);", 1, 9, "'count<1>' does not aggregate a variable", "count<X>"),
    ("p(count<X) :- q(X);", 1, 10, "unexpected ')'", "expected '>'"),
    ("p(count<>) :- q(X);", 1, 9, "unexpected '>'", "expected a variable"),
    # premises
    ("p(X) :- q(X)@0;", 1, 14, "'@0' is not a time", "@5"),
    ("p(X) :- q(X)@next;", 1, 14, "'@next' is not a time", "@N"),
    ("p(X) :- q(X)@_;", 1, 14, "'@_' is not a time", "@N"),
    ("p(X) :- q(X)@2147483648;", 1, 14, "the number 2147483648 is too large", "up to 2147483647"),
    ("p(X) :- q(X + 1);", 1, 11, "a premise cannot compute in its arguments", "Y == X + 1"),
    ("p(X) :- q(X, -X);", 1, 14, "a premise cannot compute in its arguments", "Y == X + 1"),
    ("p(X) :- q(count<X>);", 1, 16, "unexpected '<'", "expected ',' or ')'"),
    ("p(X) :- notin(X);", 1, 14, "unexpected '('", "expected a relation"),
    ("p(X) :- notin X == 1;", 1, 17, "unexpected '=='", "expected '('"),
    # comparisons and expressions
    ("p(X) :- q(X), X;", 1, 16, "unexpected ';'", "expected a comparison (== != < <= > >=)"),
    ("p(X) :- q(X), X = 1;", 1, 17, "unexpected '='", ""),
    ("p(X) :- q(X), X == ;", 1, 20, "unexpected ';'", "expected a variable, a constant or an expression"),
    ("p(X) :- q(X), _ == 1;", 1, 15, "'_' has no value to compute with", "a variable that a premise binds"),
    ("p(X) :- q(X), X == 1 + _;", 1, 24, "'_' has no value to compute with", "a variable that a premise binds"),
    ("p(_ * 2) :- q(X);", 1, 3, "'_' has no value to compute with", "a variable that a premise binds"),
    ("p(-_) :- q(X);", 1, 3, "'_' has no value to compute with", "a variable that a premise binds"),
    # what the papers and other systems write
    ("persist[p]", 1, 1, "no fact or rule defines 'p', which is to persist", "name a relation of the program"),
    ("p(a, b)@1; persist[p, gone, 3];", 1, 12, "'p' has 2 columns, not 3", "write persist[p]"),
    ("p(a, b)@1; persist[p, gone, two];", 1, 29, "'two' is not a number of columns", "write persist[p]"),
    ("p(a)@1; persist[];", 1, 17, "unexpected ']'", "the name of a relation"),
    ("p(a)@1; persist[p, ];", 1, 20, "unexpected ']'", "what is deleted"),
    ("p[a] :- q(a);", 1, 2, "unexpected '['", "persist alone"),
    ("persist p;", 1, 9, "unexpected 'p'", "p(X, Y)@next :- p(X, Y);"),
    ("p(a);\ndelete p(X) :- q(X);", 2, 8, "unexpected 'p'", "gone at the next time"),
    ("durable p;", 1, 9, "no fact or rule defines 'p', which is to survive restarts", "name a relation"),
    ("q(a)@1; durable q r;", 1, 19, "unexpected 'r'", "',' or ';'"),
    ("q(a)@1; durable q, ;", 1, 20, "unexpected ';'", "the name of a relation"),
    ("durable = p;", 1, 9, "unexpected", "compare with =="),
    ("input p(X)@next :- q(X);", 1, 12, "'@next' is not a time at which an input can be given", "@T"),
    ("input p(X)", 1, 11, "unexpected the end", "'@', ':-' or ';'"),
    ("input p(a)@2", 1, 13, "unexpected the end", "':-' or ';'"),
    ("input;", 1, 6, "unexpected ';'", "input p(X, Y)@T :- q(X, Y)"),
    ("p(X) :- q(X, Y), choose((X), (y));", 1, 31, "'y' is not a variable", "variables that premises bind"),
    ("p(X) :- q(X, Y), choose((X), ());", 1, 18, "'choose' chooses nothing", "one Y for each X"),
    ("p(X) :- q(X, Y), choose((X));", 1, 28, "unexpected ')'", "','"),
    ("table p(X, Y);", 1, 7, "unexpected 'p'", "no declarations"),
    ("define(p, {String});", 1, 11, "unexpected '{'", "no declarations"),
    ("materialize(p, keys(1, 2));", 1, 20, "unexpected '('", "no functions"),
    ("p(X) :- q(Y, #X);", 1, 14, "unexpected '#'", "only the first column may be marked"),
    ("p(X) :- q(Y, @X);", 1, 14, "unexpected '@'", "only the first column may be marked"),
    ("p(X) :- q@X(X, Y);", 1, 10, "unexpected '@'", "only the first column may be marked"),
    ("# a comment", 1, 1, "unexpected '#'", "comments are //"),
    ("p(X) <- q(X);", 1, 6, "unexpected '<'", "head :- body;"),
    ("p(X) ← q(X);", 1, 6, "unexpected '←'", "head :- body;"),
    ("p(X) :- q(X), ¬r(X);", 1, 15, "unexpected '¬'", "notin"),
    ("p(X) :- q(X), ~r(X);", 1, 15, "unexpected '~'", "notin"),
    ("p(X) :- q(X), Y := X;", 1, 17, "unexpected ':'", "compute in the head"),
    ("p(X || Y) :- q(X);", 1, 5, "unexpected '|'", "cannot be joined"),
    ("p(f(X)) :- q(X);", 1, 4, "unexpected '('", "no functions"),
    ("p(count(X)) :- q(X);", 1, 8, "unexpected '('", "count<X>"),
    ("p(X) :- q(X), X == f_now();", 1, 25, "unexpected '('", "no functions"),
    ("p((X) :- q(X);", 1, 7, "unexpected ':-'", "expected ',' or ')'"),
    ("p(X +) :- q(X);", 1, 6, "unexpected ')'", "expected a variable, a constant or an expression"),
]


@pytest.mark.parametrize(
    ("text", "line", "column", "message", "remedy"), REFUSED, ids=[r[0][:24] for r in REFUSED]
)
def test_refused(text: str, line: int, column: int, message: str, remedy: str) -> None:
    error = refusal(text)
    assert where(error) == (line, column)
    assert message in error.message
    assert remedy in (error.remedy or "")


def test_an_include_in_a_text_is_refused() -> None:
    error = refusal('p(a);\ninclude "q.ded";')
    assert where(error) == (2, 9)
    assert "no folder to include from" in error.message


# Size.


def nested(levels: int) -> str:
    return f"p(X, {'(' * levels}X{')' * levels}) :- q(X);"


def test_nesting_up_to_the_limit_is_read() -> None:
    assert rule(nested(DEEPEST_EXPRESSION)).args == (X, X)


@pytest.mark.parametrize(
    ("expression", "column"),
    [
        ("(" * 51 + "X" + ")" * 51, 56),
        ("(" * 100_000, 56),
        ("-" * 100_000 + "X", 56),
        ("+".join(["X"] * 52), 6),
        ("*".join(["X"] * 100), 6),
    ],
    ids=["51 parentheses", "100000 parentheses", "100000 signs", "51 sums", "99 products"],
)
def test_deeper_nesting_is_refused(expression: str, column: int) -> None:
    error = refusal(f"p(X, {expression}) :- q(X);")
    assert where(error) == (1, column)
    assert "nested more than 50 deep" in error.message
    assert "split it" in (error.remedy or "")


def test_a_long_list_is_not_deep() -> None:
    many = 10_000
    clause = rule(f"p(X) :- q(X), {', '.join(['X != 1'] * many)};")
    assert len(clause.comparisons) == many


def test_a_long_program_is_read_whole() -> None:
    clauses = 12_000
    assert len(parse_program("n(X, Y)@next :- n(X, Y);\n" * clauses).rules) == clauses
