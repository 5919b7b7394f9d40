"""Promises that cannot be broken whatever the protocol does."""

from __future__ import annotations

import pytest

from clew import check, parse_program

PROTOCOL = """
n(a, b)@1;  n(X, Y)@next :- n(X, Y);  log(a, p)@1;  log(X, P)@next :- log(X, P);
log(Y, P)@async :- log(X, P), n(X, Y);
"""


def following(assertions: str) -> list[bool | None]:
    found = check(parse_program(PROTOCOL + assertions), nodes=["a", "b"], eot=4, eff=2, coverage=True).survey
    assert found is not None
    return [p.follows for p in found.promises if p.part.value == "rule"]


@pytest.mark.parametrize(
    "assertions",
    [
        "pre(X, P) :- log(X, P);  post(X, P) :- pre(X, P);",
        "pre(X, P) :- log(X, P), notin crash(_, X, _);  post(X, P) :- log(X, P);",
        "both(X, P) :- log(X, P), n(X, _);  pre(X, P) :- both(X, P);  post(X, P) :- log(X, P);",
        "pre(X, P) :- log(X, P), X == \"a\";  post(X, P) :- log(X, P), X != \"z\";",
        "bad(X) :- log(X, P), X != X;  pre(X, P) :- log(X, P);  post(X, P) :- log(X, P), notin bad(X);",
    ],
)  # fmt: skip
def test_post_follows_from_pre(assertions: str) -> None:
    assert following(assertions)[0] is True


@pytest.mark.parametrize(
    "assertions",
    [
        # what the protocol has to bring about
        "pre(X, P) :- log(X, P);  post(X, P) :- log(Y, P), n(X, Y), log(X, P);",
        # 'broken' never happens here, but a protocol could do it
        "broken(X)@next :- broken(X);  pre(X, P) :- log(X, P);  post(X, P) :- log(X, P), notin broken(X);",
        "missing(Y, P) :- log(X, P), n(X, Y), notin log(Y, P);  pre(X, P) :- log(X, P);"
        "post(X, P) :- log(X, P), notin missing(_, P);",
        "pre(X, P) :- log(X, P);  post(X, P) :- log(X, P), notin crash(_, X, _);",
    ],
)
def test_what_the_protocol_could_break_is_no_tautology(assertions: str) -> None:
    assert True not in following(assertions)


def test_each_rule_is_looked_at_by_itself() -> None:
    text = 'pre("own", X) :- log(X, _);  pre("all", X) :- n(X, _);  post("own", X) :- log(X, _);'
    text += 'post("all", X) :- n(X, Y), log(Y, _);'
    assert following(text) == [True, False]


def test_it_is_said() -> None:
    text = PROTOCOL + "pre(X, P) :- log(X, P);  post(X, P) :- log(X, P);"
    verdict = check(parse_program(text), nodes=["a", "b"], eot=4, eff=2)
    assert verdict.cautions == (
        "a rule for 'pre' (<text>:4) cannot be broken: 'post' follows from 'pre' alone, whatever happens",
    )
