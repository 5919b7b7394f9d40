"""Sums of negative numbers that flow back: clingo writes these as rules that support each other."""

from __future__ import annotations

from hypothesis import given, note, settings
from hypothesis import strategies as st

from clew import check, parse_program

NUMBERS = st.integers(-4, 4)
FLOWING_BACK = ("", "value(N, V)@next :- total(N, V);", "value(N, V - 1)@next :- total(N, V);")
PROMISES = (
    "pre(N, V) :- value(N, V);  post(N, V) :- value(N, V), total(N, _);",
    "pre(N, V) :- total(N, V);  post(N, V) :- total(N, V), V < {limit};",
    "pre(N, V) :- total(N, V), V > {limit};  post(N, V) :- value(N, V), notin lost(N);",
    "pre(N, {limit}) :- peer(_, N)@1;  post(N, V) :- total(N, V);",
)


@st.composite
def sums(draw: st.DrawFn) -> str:
    given_numbers = draw(st.lists(NUMBERS, min_size=1, max_size=3, unique=True))
    function = draw(st.sampled_from(["sum", "avg", "count", "min", "max"]))
    feedback = draw(st.sampled_from(FLOWING_BACK))
    promise = draw(st.sampled_from(PROMISES)).format(limit=draw(NUMBERS))
    return f"""
        {"".join(f"give(a, {n})@{draw(st.integers(1, 2))};  " for n in given_numbers)} peer(a, b)@1;
        peer(X, Y)@next :- peer(X, Y);
        value(M, V)@async :- give(N, V), peer(N, M);
        value(N, V)@next :- value(N, V), notin lost(N);
        lost(N) :- total(N, V), V > 5;
        total(N, {function}<V>) :- value(N, V);
        {feedback}
        {promise}
    """


@settings(max_examples=120)
@given(sums(), st.integers(1, 3), st.integers(0, 1))
def test_three_ways_to_the_answer_agree(text: str, eff: int, crashes: int) -> None:
    note(text)
    program = parse_program(text)
    exact, lineage, exhaustive = (
        check(program, nodes=["a", "b"], eot=4, eff=eff, crashes=crashes, strategy=strategy)
        for strategy in ("exact", "lineage", "exhaustive")
    )
    assert exact.answer is lineage.answer is exhaustive.answer
    if exact.counterexamples:
        sizes = {len(v.counterexamples[0].faults) for v in (exact, exhaustive)}
        assert len(sizes) == 1
