"""Promises by name: which relations state them, and which programs are refused."""

from __future__ import annotations

import pytest

from clew.dedalus.loader import parse_program
from clew.errors import ProgramError
from clew.program.assertions import Assertion, find_assertions, is_never, is_pre, post_of, stem_of, told_apart
from clew.program.checks import check_program
from clew.program.outcomes import has_assertions, persistent_relations, stated_outcomes

RULES = "l(a); l(X)@next :- l(X);\n"


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        ("pre(X) :- l(X); post(X) :- l(X);", [("pre", "post")]),
        ("post_x(X) :- l(X); never(X) :- l(X); pre_x(X) :- l(X);", [("pre_x", "post_x"), ("never", None)]),
        ("never_y(X) :- l(X); never(X) :- l(X); never(X) :- k(X);", [("never_y", None), ("never", None)]),
        ("pre_a_b(X) :- l(X); post_a_b(X) :- l(X);", [("pre_a_b", "post_a_b")]),
        ("prex(X) :- l(X); nevermore(X) :- l(X); pre_(X) :- l(X); postx(X) :- l(X);", []),
        ("k(X) :- never(X);", []),
        ("pre_commit(X)@async :- l(X); k(X) :- pre_commit(X);", []),
    ],
)
def test_which_promises_a_program_states(text: str, stated: list[tuple[str, str | None]]) -> None:
    program = parse_program(RULES + text)
    assert list(find_assertions(program)) == [Assertion(*one) for one in stated]
    assert has_assertions(program) == bool(stated)
    assert told_apart(program) == (tuple(name for name, _ in stated) if len(stated) > 1 else ())


def test_without_promises_what_persists_is_the_outcome_and_with_one_it_is_not() -> None:
    assert stated_outcomes(parse_program(RULES)) == persistent_relations(parse_program(RULES)) == ("l",)
    assert stated_outcomes(parse_program(RULES + "never(X) :- l(X), k(X);")) == ("never",)


def test_names() -> None:
    assert [stem_of(n) for n in ("pre", "post_x", "never_x_y", "pre_", "prefix", "x_pre")] == [
        "pre", "post", "never", None, None, None,
    ]  # fmt: skip
    assert is_pre("pre_x") and not is_pre("post_x") and is_never("never") and not is_never("nevers")
    assert (post_of("pre"), post_of("pre_pre")) == ("post", "post_pre")


@pytest.mark.parametrize(
    ("text", "place", "message", "remedy"),
    [
        ("pre_x(X) :- l(X);", "2:1", "the program defines 'pre_x' but not 'post_x'", "add rules for 'post_x'"),
        ("post_x(X) :- l(X);", "2:1", "the program defines 'post_x' but not 'pre_x'", "add rules for 'pre_x'"),
        (
            "pre_safe(X) :- l(X);\npost_saf(X) :- pre_safe(X);",
            "3:1",
            "the program defines 'post_saf' but not 'pre_saf'",
            "did you mean 'pre_saf' by 'pre_safe'?",
        ),
        (
            "pre_a(X) :- l(X);\npre_b(X) :- pre_a(X); post_b(X) :- l(X);",
            "2:1",
            "the program defines 'pre_a' but not 'post_a'",
            "if no promise is meant, use another name",
        ),
        ("pre_x(X)@next :- pre_x(X); pre_x(X) :- l(X);", "2:1", "'pre_x' but not 'post_x'", "'post_x'"),
        (
            "pre_x(X)@next :- pre_x(X); pre_x(X) :- l(X); m(X)@async :- pre_x(X);",
            "2:1",
            "'pre_x' but not 'post_x'",
            "use another name",
        ),
        (
            "pre_x(X) :- l(X);\n post_x(X, Y) :- n(X, Y);",
            "3:2",
            "'pre_x' has 1 columns and 'post_x' has 2",
            "a row of 'pre_x' is looked up in 'post_x'",
        ),
        ("never(a);", "2:1", "'never' must never hold, and this fact says that it does", "never(X) :- ...;"),
        ("never_x(a)@3;", "2:1", "'never_x' must never hold", "use another name"),
        ("never(X)@next :- l(X);", "2:1", "'never' is concluded with @next", "leave out @next"),
        ("never(X) :- l(X);\nnever(X)@next :- never(X);", "3:1", "'never' is concluded with @next", "@next"),
        ("never_x(Y)@async :- n(X, Y);", "2:1", "'never_x' is sent with @async", "leave out @async"),
        (
            "never(X) :- l(X), k(X);\nk(X)@next :- l(X), notin never(X);",
            "3:26",
            "the rule for 'k' reads 'never', which states what must hold",
            "no node knows that",
        ),
        (
            "pre_commit(X)@async :- l(X); post_commit(X)@async :- l(X);\nm(X)@next :- pre_commit(X);",
            "3:14",
            "the rule for 'm' reads 'pre_commit', which states what must hold",
            "use another name: 'never' and names that begin with 'pre_', 'post_' or 'never_'",
        ),
        ("never(Y) :- n(X, Y), choose((X), (Y));", "2:22", "'never' chooses, and an assertion", "of the protocol"),
        ("input never(X)@1 :- l(X);", "2:7", "'never' is what must hold, and nobody gives it", "declare"),
    ],
)
def test_what_is_refused(text: str, place: str, message: str, remedy: str) -> None:
    with pytest.raises(ProgramError) as caught:
        check_program(parse_program(RULES.replace("l(X)@next :- l(X);", "") + text))
    assert message in caught.value.message
    assert str(caught.value.position) == f"<text>:{place}"
    assert remedy in (caught.value.remedy or "")


@pytest.mark.parametrize(
    "text",
    [
        "never(X) :- l(X), k(X); post(X) :- l(X), notin never(X); pre(X) :- l(X);",
        "never(X) :- l(X), k(X); never_y(X) :- never(X), l(X);",
        "pre_x(X) :- l(X); post_x(X) :- pre_x(X), k(X);",
        "pre_x(a); post_x(X) :- l(X);",
        "pre_x(X) :- l(X); pre_x(X)@next :- pre_x(X); post_x(X) :- l(X);",
    ],
)
def test_promises_may_look_at_each_other_and_pairs_may_be_kept_or_given(text: str) -> None:
    check_program(parse_program(RULES + text))
