"""What must hold: ``pre`` and ``post``, or the persistent relations."""

from __future__ import annotations

import pytest

from clew.dedalus.loader import parse_program
from clew.errors import ProgramError
from clew.program.outcomes import assertion_definitions, has_assertions, persistent_relations, rests_on_messages


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        ("pre(X) :- l(X); post(X) :- l(X);", True),
        ("post(X, Y) :- n(X, Y); pre(X, Y) :- n(X, Y);", True),
        ('pre("a"); post(X) :- l(X);', True),
        ("p(X) :- l(X);", False),
        ("p(X) :- pre(X), post(X);", False),
        ("", False),
    ],
)
def test_whether_a_program_states_assertions(text: str, stated: bool) -> None:
    assert has_assertions(parse_program(text)) is stated


@pytest.mark.parametrize(
    ("text", "place", "message", "remedy"),
    [
        ("l(a);\npre(X) :- l(X);", "2:1", "the program defines 'pre' but not 'post'", "add rules for 'post'"),
        ("l(a);\n post(X) :- l(X);", "2:2", "the program defines 'post' but not 'pre'", "add rules for 'pre'"),
        ("pre(X) :- l(X);\npre(X) :- k(X);", "1:1", "the program defines 'pre' but not 'post'", "'post'"),
        ("pre(X) :- post(X);", "1:1", "the program defines 'pre' but not 'post'", "add rules for 'post'"),
        (
            "post(X, Y) :- n(X, Y);\npre(X) :- l(X);",
            "1:1",
            "'pre' has 1 columns and 'post' has 2",
            "a row of 'pre' is looked up in 'post'",
        ),
        ("pre(X) :- l(X);\n  post(X, Y) :- n(X, Y);", "2:3", "'pre' has 1 columns and 'post' has 2", "the same"),
    ],
)
def test_half_an_assertion_is_refused(text: str, place: str, message: str, remedy: str) -> None:
    with pytest.raises(ProgramError) as caught:
        has_assertions(parse_program(text))
    assert message in caught.value.message
    assert str(caught.value.position) == f"<text>:{place}"
    assert remedy in (caught.value.remedy or "")


@pytest.mark.parametrize(
    "text",
    [
        "p(X)@next :- p(X);",
        "p(X, Y)@next :- p(X, Y);",
        "p(X, 1)@next :- p(X, 1);",
        "p(a); p(X) :- q(X); p(X)@next :- p(X); p(X)@next :- q(X);",
    ],
)
def test_a_persistent_relation(text: str) -> None:
    assert persistent_relations(parse_program(text)) == ("p",)


@pytest.mark.parametrize(
    "text",
    [
        "p(X) :- p(X);",
        "p(X)@async :- p(X);",
        "p(X)@next :- q(X);",
        "p(X, Y)@next :- p(Y, X);",
        "p(X)@next :- p(X), q(X);",
        "p(X)@next :- p(X), notin q(X);",
        "p(X)@next :- p(X), X != 1;",
        "p(X)@next :- p(X)@1;",
        "p(X)@next :- p(X)@N;",
        "p(X)@next :- notin p(X);",
        "p(X, Y + 1)@next :- p(X, Y);",
        "p(X, max<Y>)@next :- p(X, Y);",
        "",
    ],
)
def test_no_persistent_relation(text: str) -> None:
    assert persistent_relations(parse_program(text)) == ()


def test_persistent_relations_come_once_and_in_source_order() -> None:
    text = "z(X)@next :- z(X); a(X)@next :- a(X); z(X)@next :- z(X); m(X)@next :- a(X);"
    assert persistent_relations(parse_program(text)) == ("z", "a")


# -- what the assertions are made of, and what they rest on --

PROTOCOL = """
node(a, b)@1;  node(X, Y)@next :- node(X, Y);
log(Y, X)@async :- node(X, Y);  log(X, Y)@next :- log(X, Y);
"""


def test_what_is_kept_is_of_the_protocol_though_only_assertions_read_it() -> None:
    text = (
        PROTOCOL
        + "gap(Y) :- node(_, Y), notin log(Y, _);  pre(X) :- node(_, X);  post(X) :- log(X, _), notin gap(X);"
    )
    assert assertion_definitions(parse_program(text)) == {"pre", "post", "gap"}


@pytest.mark.parametrize(
    ("assertions", "rests"),
    [
        ("pre(X) :- node(X, _);  post(X) :- node(X, _), node(_, X);", False),
        ("pre(X) :- log(X, _);  post(X) :- node(_, X);", True),
        ("pre(X) :- node(_, X);  post(X) :- log(X, _);", True),
        ("pre(X) :- node(X, _);  post(X) :- node(X, _), notin crash(_, X, _);", True),
        ("", True),
    ],
)
def test_on_what_a_promise_rests(assertions: str, rests: bool) -> None:
    assert rests_on_messages(parse_program(PROTOCOL + assertions)) is rests


def test_what_survives_without_any_message() -> None:
    text = (
        "node(a, b)@1;  node(X, Y)@next :- node(X, Y);  log(Y)@async :- relay(X), node(X, Y);  relay(X) :- log(X);"
    )
    assert not rests_on_messages(parse_program(text))
