"""What the assertions are made of, and what they rest on."""

from __future__ import annotations

import pytest

from clew import parse_program
from clew.program.definitions import assertion_definitions, rests_on_messages

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
