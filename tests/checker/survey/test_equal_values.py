"""Sums over equal values: they count once, and the author is told where that happens."""

from __future__ import annotations

import pytest

from clew import check, parse_program, run

BOOK = """
entry(a, 1, 5)@1;  entry(a, 2, 5)@1;  entry(a, 3, 7)@1;  entry(A, I, K)@next :- entry(A, I, K);
total(A, {}) :- entry(A, I, K);  total(A, N)@next :- total(A, N);
"""


def notices(text: str, *, eot: int = 3, eff: int = 0) -> list[str]:
    verdict = check(parse_program(text), eot=eot, eff=eff, coverage=True)
    return [str(n) for n in verdict.notices]


def test_equal_values_of_different_rows_are_noticed_with_the_form_that_counts_each() -> None:
    assert notices(BOOK.format("sum<K>")) == [
        "<text>:3:1: warning: sum<K> adds equal values once, and in the failure-free run different rows of a "
        "group have the same K\n"
        "  remedy: write sum<K per I> to count each row, or keep it if distinct values are meant"
    ]


@pytest.mark.parametrize(
    ("form", "value"),
    [
        ("sum<K>", 12),
        ("sum<K per I>", 17),
        ("count<K>", 2),
        ("count<K per I>", 3),
        ("avg<K per I>", 5),
        ("avg<K>", 6),
    ],
)
def test_what_is_told_apart_counts(form: str, value: int) -> None:
    assert run(parse_program(BOOK.format(form)), eot=2).rows("total", 1) == (("a", value),)


def test_no_notice_where_each_row_counts_or_values_differ() -> None:
    assert notices(BOOK.format("sum<K per I>")) == []
    assert notices(BOOK.format("count<K>")) == []
    assert notices(BOOK.format("sum<K>").replace("entry(a, 2, 5)@1;", "")) == []
    assert notices(BOOK.format("sum<K>").replace(", 5)", ", 0)")) == []  # zero, however often, is zero
    # the same row in several matches of the rule is one row
    text = BOOK.format("sum<K>").replace("entry(A, I, K);  total(A, N)", "entry(A, I, K), n(A, _);  total(A, N)")
    assert notices(text.replace("entry(a, 2, 5)@1;", "n(a, b)@1; n(a, c)@1; n(A, B)@next :- n(A, B);")) == []


def test_rows_that_differ_in_a_column_nobody_looks_at_are_different_rows() -> None:
    (notice,) = notices(BOOK.format("sum<K>").replace(" :- entry(A, I, K);  total", " :- entry(A, _, K);  total"))
    assert "write sum<K per Id> to count each row" in notice


def test_under_faults_only() -> None:
    """Without a fault one entry arrives; a late acknowledgment brings a second with the same amount."""
    text = """
    pay(a, b, 5)@1;  pay(A, B, K)@next :- pay(A, B, K), notin acked(A);
    entry(B, T, K)@async :- pay(A, B, K)@T;  acked(A)@async :- entry(B, T, K), peer(B, A);  peer(b, a)@1;
    peer(B, A)@next :- peer(B, A);  acked(A)@next :- acked(A);  entry(B, T, K)@next :- entry(B, T, K), T > 2;
    total(B, sum<K>) :- entry(B, T, K);  total(B, N)@next :- total(B, N);
    """
    assert [n.partition(" different")[0] for n in notices(text, eot=6, eff=4)] == [
        "<text>:5:5: warning: sum<K> adds equal values once, and under some faults"
    ]


def test_a_counterexample_is_told_with_the_sum_that_may_be_why() -> None:
    text = BOOK.format("sum<K>") + "pre(A) :- total(A, _);  post(A) :- total(A, 17);"
    verdict = check(parse_program(text), eot=3, eff=0)
    assert verdict.counterexamples and [n.message[:31] for n in verdict.notices] == [
        "sum<K> adds equal values once, "
    ]
