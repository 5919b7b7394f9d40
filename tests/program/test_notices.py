"""What is probably misspelt: constants that no row has, and promises that nobody checks."""

from __future__ import annotations

import pytest

from clew import parse_program
from clew.program.notices import notice_impossible_constants, notice_unread_relations

BROADCAST = """
node(a, b)@1;  node(X, Y)@next :- node(X, Y);  bcast(a, "data")@1;
log(Y, P)@async :- bcast(X, P), node(X, Y);  log(X, P)@next :- log(X, P);
"""


def told(rule: str) -> list[str]:
    return [str(notice) for notice in notice_impossible_constants(parse_program(BROADCAST + rule))]


def test_a_misspelt_constant_is_told_with_the_nearest_one() -> None:
    assert told('bad(X) :- log(X, "dtaa");') == [
        "<text>:4:11: warning: the rule for 'bad' never fires: no row of 'log' has dtaa in column 2\n"
        "  remedy: did you mean data?"
    ]


def test_without_a_near_one_the_writers_are_to_be_checked() -> None:
    (notice,) = told("bad(X) :- node(X, 7);")
    assert notice.endswith("has 7 in column 2\n  remedy: check the constant, and the rules that should write it")


@pytest.mark.parametrize(
    "rule",
    [
        'good(X) :- log(X, "data");',
        'good(X) :- log(X, P), notin log(X, "dtaa");',  # what is absent is not looked for
        'n(X, count<Y>) :- node(X, Y);  good(X) :- n(X, 3);',  # any number may come of counting
        'gone(X, Z) :- node(X, _), crash(X, Z, _);  good(X) :- gone(X, "b");',
        "far(X, Y + 1) :- node(X, _), step(X, Y);  step(a, 1)@1;  g(X) :- far(X, 9);",
    ],
)  # fmt: skip
def test_what_may_be_there_is_not_told(rule: str) -> None:
    assert told(rule) == []


@pytest.mark.parametrize(("name", "meant"), [("nevr", "never"), ("Never", "never"), ("nevr_x", "never_x")])
def test_a_promise_that_is_misspelt_is_told(name: str, meant: str) -> None:
    promised = "p(a, 1); p(X, V)@next :- p(X, V); pre(X) :- p(X, _); post(X) :- p(X, 1); "
    program = parse_program(f"{promised} {name}(X) :- p(X, 1), p(X, V), V > 1;")
    assert [n.remedy for n in notice_unread_relations(program)] == [f"did you mean '{meant}'?"]
