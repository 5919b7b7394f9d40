"""The reader of EDN: what it reads, and where it says what is wrong."""

from __future__ import annotations

import pytest

from clew.errors import UsageError
from clew.histories.inputs.edn import EdnReader
from clew.histories.values import FALSE, TRUE, Pairs, Symbol, Tagged, show_value


def read(text: str) -> list[object]:
    return [value for _, value in EdnReader(text, "h.edn").values()]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("", []),
        ("1 -2 +3 4N 1.5 2e3 3M", [1, -2, 3, 4, 1.5, 2000.0, 3]),
        ("nil true false", [None, TRUE, FALSE]),
        (':a/b c "d\\n\\"\\u0041"', [Symbol(":a/b"), Symbol("c"), 'd\n"A']),
        ("[1 [2]] (3)", [(1, (2,)), (3,)]),
        ("#{1 2}", [frozenset({1, 2})]),
        ("{:a 1, :b [2]}", [Pairs(((Symbol(":a"), 1), (Symbol(":b"), (2,))))]),
        ("; a comment\n1 #_ [2 3] 4", [1, 4]),
        ("#jepsen.history.Op{:a 1}", [Pairs(((Symbol(":a"), 1),))]),
        ('#inst "2024"', [Tagged("inst", "2024")]),
        ("\\a \\newline \\u0041", [Symbol("\\a"), Symbol("\\newline"), Symbol("\\u0041")]),
        ("1/2", [Symbol("1/2")]),
    ],
)
def test_what_is_read(text: str, values: list[object]) -> None:
    assert read(text) == values


def test_true_is_not_one() -> None:
    assert TRUE != 1 and FALSE != 0 and TRUE == True and bool(FALSE) is False  # noqa: E712
    assert show_value((TRUE, None, Symbol(":a"), "b c", frozenset({10, 9}))) == '[true, nil, :a, "b c", {9, 10}]'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[1 2", "h.edn:1:5: error: not EDN: expected ']', found the end of the file"),
        ("1\n [2)", "h.edn:2:5: error: not EDN: expected ']', found ')'"),
        ("]", "not EDN: expected a value, found ']'"),
        ("{:a}", "not EDN: expected a value for each key of a map"),
        ("{:a 1 :a 2}", "not EDN: expected each key of a map once"),
        ("12x", "not EDN: expected a number, found '12x'"),
        ('"a', "not EDN: expected a value, found '\"'"),
        ('"\\q"', "expected an escape that EDN knows, found '\\\\q'"),
        ("#tag", "expected a value, found the end of the file"),
        ("[" * 200, "expected at most 100 levels of nesting"),
        ("#_" * 200, "expected at most 100 levels of nesting"),
        ("#_", "expected a value, found the end of the file"),
    ],
)
def test_what_is_no_edn(text: str, message: str) -> None:
    with pytest.raises(UsageError) as refused:
        read(text)
    assert message in str(refused.value)


def test_a_history_may_be_one_vector_and_nothing_after_it() -> None:
    assert [v for _, v in EdnReader("[1 2]", "h.edn").members()] == [1, 2]
    assert list(EdnReader("1\n\n2", "h.edn").members()) == [(1, 1), (3, 2)]
    with pytest.raises(UsageError, match="expected nothing after the end of the history"):
        list(EdnReader("[1 2] 3", "h.edn").members())
