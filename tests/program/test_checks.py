"""What makes a text a program: every refusal with its place, every notice, every rewrite."""

from __future__ import annotations

import pytest

from clew.checker.api import check
from clew.dedalus.loader import parse_program
from clew.errors import Notice, ProgramError
from clew.program.checks import check_program
from clew.program.ir import Premise, Program, Var, Wildcard
from clew.program.outcomes import assertion_relations

#: Facts that define what the rules below read, on one line, so that rules start on line 2.
GIVEN = 'n("a", "b"); k("a", 1); l("a");\n'


def refusal(text: str) -> ProgramError:
    with pytest.raises(ProgramError) as caught:
        check_program(parse_program(text))
    return caught.value


def notices(text: str) -> tuple[Notice, ...]:
    return check_program(parse_program(GIVEN + text)).notices


# Refusals: rule on line 2, column, message, remedy.

REFUSED = [
    # unbound variables
    ("p(X, Y) :- l(X);", 1, "the variable Y in the head of 'p' is not bound", "contains Y"),
    ("p(X, Y + 1) :- l(X);", 1, "the variable Y in the head of 'p' is not bound", "contains Y"),
    ("p(X, count<Y>) :- l(X);", 1, "the variable Y in the head of 'p' is not bound", "contains Y"),
    ("p(X, Y)@async :- l(X);", 1, "the variable Y in the head of 'p' is not bound", "contains Y"),
    ("p(X, Y) :- l(X), notin n(X, Y);", 1, "the variable Y in the head of 'p' is not bound", "without notin"),
    ("p(X, Y) :- l(X), Y == 1;", 1, "the variable Y in the head of 'p' is not bound", "contains Y"),
    ("p(X, _) :- l(X);", 1, "'_' in the head of 'p' has no value", "a variable that a premise binds"),
    ("p(X) :- l(X), Y > 1;", 17, "the variable Y in a comparison is not bound", "contains Y"),
    ("p(X) :- l(X), X == 1 + Y * 2;", 17, "the variable Y in a comparison is not bound", "contains Y"),
    ("p(X) :- l(X), notin n(Y, Y);", 21, "the variable Y in 'notin n' is not bound", "contains Y"),
    ("p(X) :- l(X), notin n(X, Y), notin k(X, Y);", 21, "the variable Y in 'notin n' is not bound", "contains Y"),
    ("p(X) :- l(X), notin n(X, Y), Y != X;", 32, "the variable Y in a comparison is not bound", "contains Y"),
    # places
    ('p("a") :- notin l(_);', 1, "the rule for 'p' has no place to run", "a location instead of _"),
    # arities
    ("p(X) :- l(X, X);", 9, "'l' is used with 2 columns here and with 1 elsewhere", "at <text>:1:25"),
    ("p(X) :- l(X), notin n(X);", 21, "'n' is used with 1 columns here and with 2 elsewhere", "at <text>:1:1"),
    ("l(X, Y) :- n(X, Y);", 1, "'l' is used with 2 columns here and with 1 elsewhere", "two names"),
    ("p(X) :- q(X), q(X, X);", 15, "'q' is used with 2 columns here and with 1 elsewhere", "at <text>:2:9"),
    (
        "p(X) :- l(X), crash(X, Y);",
        15,
        "'crash' is used with 2 columns here and with 3",
        "crash(Observer, Node, Time)",
    ),
    # the built-in relation
    ('crash("a", "b", 1);', 1, "'crash' is built in and cannot be defined", "--crashes"),
    ("crash(X, Y, 1) :- n(X, Y);", 1, "'crash' is built in and cannot be defined", "--crashes"),
    # order within a time step (more in test_strata.py)
    ("p(X) :- l(X), notin p(X);", 21, "'p' depends on the absence", "@next"),
    ("p(X, count<Y>) :- p(X, Y);", 19, "'p' depends on an aggregate of 'p'", "@next"),
    ("p(X, Y + 1) :- p(X, Y);", 1, "'p' computes new values from its own", "@next"),
]


@pytest.mark.parametrize(("text", "column", "message", "remedy"), REFUSED, ids=[r[0] for r in REFUSED])
def test_refused(text: str, column: int, message: str, remedy: str) -> None:
    error = refusal(GIVEN + text)
    assert message in error.message
    assert str(error.position) == f"<text>:2:{column}"
    assert remedy in (error.remedy or "")


def test_an_empty_program_is_refused() -> None:
    error = refusal("// nothing")
    assert (error.message, error.position) == ("the program is empty", None)
    assert "node(a, b)@1;" in (error.remedy or "")


def test_a_program_without_positions_is_refused_without_one() -> None:
    rule = parse_program("p(X, Y) :- l(X);").rules[0]
    bare = Program((type(rule)(rule.relation, rule.args, rule.timing, rule.body),))
    with pytest.raises(ProgramError, match="Y in the head of 'p' is not bound") as caught:
        check_program(bare)
    assert caught.value.position is None


# What is accepted without a word.


@pytest.mark.parametrize(
    "text",
    [
        "p(X) :- l(X);",
        "p(X, N) :- l(X)@N;",
        "p(X, N) :- l(X), notin n(X, _)@N;",
        "p(X) :- l(X), k(X, N)@N;",
        "p(X) :- l(X)@3;",
        "p(Y, X)@async :- n(X, Y);",
        "p(X) :- n(X, _), notin k(X, _);",
        "p(X, Y, T) :- l(X), crash(X, Y, T);",
        "p(X) :- l(X), notin crash(X, X, _);",
        "p(X) :- n(X, Y), crash(Y, X, _);",
        "p(X, 1 + 2) :- l(X), 1 < 2;",
        'p("a") :- notin l("a");',
        "p(X) :- notin k(X, 2), l(X);",
        "p(X, Y) :- n(X, Y), notin n(X, X), Y != X;",
    ],
)
def test_accepted_without_a_notice(text: str) -> None:
    program = parse_program(GIVEN + text)
    result = check_program(program)
    assert result.notices == ()
    assert result.program == program


# Notices.


@pytest.mark.parametrize(
    ("text", "column", "message", "remedy"),
    [
        ("p(X) :- l(X), notin n(X, Y);", 21, "Y occurs only in 'notin n' and is read as _", "write _"),
        ("p(X) :- l(X), r(X);", 15, "no fact or rule defines 'r': it is always empty", "check the spelling"),
        ("p(X) :- l(X), notin r(X);", 21, "no fact or rule defines 'r': it is always empty", "check the spelling"),
        ("p(X) :- l(X), notin r(X);", 21, "it is always empty, and 'notin r' always holds", "check the spelling"),
        (
            "ack(X) :- acks(X);",
            11,
            "no fact or rule defines 'acks'",
            "did you mean 'ack'? Otherwise give the file",
        ),
        ("p(X) :- l(X), notin crashes(X);", 21, "no fact or rule defines 'crashes'", "did you mean 'crash'?"),
        ("p(X) :- r(X), r(X);", 9, "no fact or rule defines 'r': it is always empty", "check the spelling"),
        ("p(X) :- n(X, Y), l(Y);", 18, "the rule for 'p' reads 'l' at another place than its own", "@async"),
        ('p(X) :- l(X), k("b", _);', 15, "the rule for 'p' reads 'k' at another place than its own", "@async"),
        ("p(Y) :- n(X, Y);", 1, "the rule for 'p' concludes at another place than its own without", "@async"),
        ("p(Y)@next :- n(X, Y);", 1, "the rule for 'p' concludes at another place than its own", "@async"),
        ('p("a") :- l(X);', 1, "the rule for 'p' concludes at another place than its own", "@async"),
    ],
)
def test_accepted_with_one_notice(text: str, column: int, message: str, remedy: str) -> None:
    (notice,) = notices(text)
    assert message in notice.message
    assert str(notice.position) == f"<text>:2:{column}"
    assert remedy in (notice.remedy or "")


def test_notices_come_in_the_order_of_their_kind_and_place() -> None:
    found = notices("p(Y) :- n(X, Y), r(Y), notin k(X, Z);")
    assert [(str(n.position), n.message.split()[0]) for n in found] == [
        ("<text>:2:30", "Z"),
        ("<text>:2:18", "no"),
        ("<text>:2:18", "the"),
        ("<text>:2:1", "the"),
    ]


def test_a_notice_reads_like_a_compilers() -> None:
    (notice,) = notices("p(X) :- r(X);")
    assert str(notice) == (
        "<text>:2:9: warning: no fact or rule defines 'r': it is always empty\n"
        "  remedy: check the spelling, or give the file that defines it"
    )


@pytest.mark.parametrize(
    "text",
    [
        "pre(X) :- n(X, Y), l(Y); post(Y) :- n(X, Y);",
        "missing(Y) :- n(X, Y), l(Y); pre(X) :- missing(X); post(X) :- missing(X);",
        "deep(Y) :- n(X, Y); missing(X) :- deep(X); pre(X) :- missing(X); post(X) :- l(X);",
        "own(Y) :- n(X, Y); own(X) :- own(X); pre(X) :- own(X); post(X) :- l(X);",
    ],
)
def test_assertions_may_look_at_several_places(text: str) -> None:
    assert notices(text) == ()


def test_what_the_protocol_also_uses_belongs_to_the_protocol() -> None:
    text = "shared(Y) :- n(X, Y); pre(X) :- shared(X); post(X) :- l(X); used(X) :- shared(X);"
    (notice,) = notices(text)
    assert "the rule for 'shared' concludes at another place" in notice.message
    assert assertion_relations(parse_program(GIVEN + text)) == {"pre", "post", "l"}


def test_assertion_relations_are_what_only_they_use() -> None:
    text = "a(X) :- b(X), c(X); pre(X) :- a(X); post(X) :- a(X), d(X); e(X) :- c(X); d(X) :- d(X);"
    assert assertion_relations(parse_program(text)) == {"pre", "post", "a", "b", "d"}


# Notices that need the nodes.

MESSAGE = 'n("a", "b"); n(X, Y)@next :- n(X, Y); m(Y, X)@async :- n(X, Y); m(X, Y)@next :- m(X, Y);'


def test_a_message_to_no_known_node_is_a_notice() -> None:
    (notice,) = check(parse_program(MESSAGE), nodes=["a"], eot=3).notices
    assert notice.message == "messages from or to the unknown node 'b' get lost"
    assert notice.remedy == "add it to --nodes"
    assert check(parse_program(MESSAGE), nodes=["a", "b"], eot=3).notices == ()


def test_a_rule_at_no_known_node_is_a_notice() -> None:
    program = parse_program('l("a"); l("z"); l(X)@next :- l(X);')
    (notice,) = check(program, nodes=["a"], eot=3).notices
    assert "'z'" in notice.message
    assert "unknown node" in notice.message
    assert "--nodes" in (notice.remedy or "")


# Rewrites.


def test_a_lonely_negated_variable_becomes_a_wildcard() -> None:
    program = check_program(parse_program(GIVEN + "p(X) :- l(X), notin n(X, Y), notin k(X, Z);")).program
    x = Var("X")
    assert program.rules[0].negative == (
        Premise("n", (x, Wildcard()), negated=True),
        Premise("k", (x, Wildcard()), negated=True),
    )


def test_a_place_without_a_name_gets_one() -> None:
    program = check_program(parse_program(GIVEN + "p(Y)@async :- n(_, Y), notin l(_);")).program
    (rule,) = program.rules
    assert rule.location == Var("_here")
    assert rule.body == (Premise("n", (Var("_here"), Var("Y"))), Premise("l", (Wildcard(),), negated=True))


def test_the_first_premise_with_a_place_gives_it_when_the_first_says_any() -> None:
    program = check_program(parse_program(GIVEN + "p(X) :- notin k(_, 2), l(X);")).program
    assert program.rules[0].location == Var("X")
