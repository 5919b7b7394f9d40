"""Promises that cannot be broken whatever the protocol does."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

import reference
from clew import check, parse_program
from clew.faults import FailureSpec, FaultSet
from clew.program.ir import Fact, Program, Value

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
        # at times, counted, and kept
        "pre(X, P) :- log(X, P)@3;  post(X, P) :- log(X, P)@3;",
        "pre(X, P) :- log(X, P)@T, T > 3;  post(X, P) :- log(X, P)@T, T > 2;",
        "pre(X, P) :- log(X, P), crash(_, X, T), T > 2;  post(X, P) :- log(X, P), crash(_, X, T), T > 1;",
        "pre(X, count<P>) :- log(X, P);  post(X, count<P>) :- log(X, P);",
        "pre(X, P) :- log(X, P);  post(X, P) :- log(X, P);  post(X, P)@next :- post(X, P);",
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
        # there is no other payload, but another protocol could have one
        "pre(X) :- log(X, _);  post(X) :- log(X, p);",
        "two(X) :- log(X, P), log(X, Q), P != Q;  pre(X) :- log(X, _);  post(X) :- log(X, _), notin two(X);",
        "pre(X, P) :- log(X, P)@3;  post(X, P) :- log(X, P);",
        "pre(X, count<P>) :- log(X, P);  post(X, 1) :- log(X, _);",
        "pre(X, P) :- log(X, P);  post(X, P)@next :- log(X, P);  post(X, P)@next :- post(X, P);",
    ],
)
def test_what_the_protocol_could_break_is_no_tautology(assertions: str) -> None:
    assert True not in following(assertions)


NUMBERS = """
sold(a, s, 1)@1;  sold(X, S, V)@next :- sold(X, S, V);  holds(S, X, V)@async :- sold(X, S, V);
holds(S, X, V)@next :- holds(S, X, V);
"""


def numbers_following(assertions: str) -> list[bool | None]:
    found = check(parse_program(NUMBERS + assertions), nodes=["a", "s"], eot=4, eff=2, coverage=True).survey
    assert found is not None
    return [p.follows for p in found.promises if p.part.value == "rule"]


@pytest.mark.parametrize(
    "assertions",
    [
        "never(V) :- holds(_, _, V), V > 7;",
        "never(V) :- holds(_, _, V), V < 0 - 9;",
        "never(V) :- holds(_, _, V), V + 3 > 20;",
        "never(V) :- holds(X, _, V), holds(Y, _, W), V > W + 30;",
        "pre(V) :- holds(_, _, V);  post(V) :- holds(_, _, V), V < 50;",
        "many(S, count<V>) :- holds(_, S, V);  never(S) :- many(S, N), N > 7;",
        "many(S, count<V>) :- holds(_, S, V);  never(S) :- many(S, 9);",
        "total(S, sum<V>) :- holds(_, S, V);  never(S) :- total(S, N), N > 70;",
        "last(S, max<V>) :- holds(_, S, V);  never(S) :- last(S, N), N > 70;",
        "double(S, V * 2) :- holds(_, S, V);  never(S) :- double(S, N), N > 90;",
    ],
)
def test_numbers_far_from_those_of_the_protocol_break_a_promise_about_them(assertions: str) -> None:
    assert numbers_following(assertions) == [False]


@pytest.mark.parametrize(
    ("assertions", "follows"),
    [
        ("never(V) :- holds(_, _, V), V > 7, V < 8;", True),  # there is no number between them
        ("never(V) :- holds(_, _, V), V > V;", True),
        # Where values are computed, no few of them stand for all, so that it is a suspicion: 45 breaks the first.
        ("double(S, V * 2) :- holds(_, S, V);  never(S) :- double(S, 90);", None),
        ("never(V) :- holds(_, _, V), V + 1 < V;", None),
        ("many(S, count<V>) :- holds(_, S, V);  never(S) :- many(S, N), N > 50;", None),
        ("total(S, sum<V>) :- holds(_, S, V);  never(S) :- total(S, N), N > 70, N < 71;", None),
    ],
)
def test_only_where_some_values_stand_for_all_it_is_said_for_certain(
    assertions: str, follows: bool | None
) -> None:
    assert numbers_following(assertions) == [follows]


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


def test_one_rule_that_looks_at_a_time_does_not_hide_the_others() -> None:
    text = 'pre("first", P) :- log(_, P)@1;  pre("own", P) :- log("b", P);'
    text += 'post("first", P) :- log("a", P);  post("own", P) :- log("b", P);'
    assert following(text) == [False, True]


def test_many_values_do_not_hide_it() -> None:
    rows = " ".join(f"v(a, {k})@1;" for k in range(90))
    text = f"{rows}  v(X, N)@next :- v(X, N);  to(a, b)@1;  got(Y, N)@async :- v(X, N), to(X, Y);  "
    text += "pre(X, N, M) :- got(X, N), got(X, M);  post(X, N, M) :- got(X, M), got(X, N);  "
    text += "got(X, N)@next :- got(X, N);"
    (caution,) = check(parse_program(text), nodes=["a", "b"], eot=3, eff=2).cautions
    assert caution.endswith("cannot be broken: 'post' follows from 'pre' alone, whatever happens")


def test_what_would_take_too_much_is_said_as_a_suspicion() -> None:
    """A hundred values, of which any two may be compared by their size."""
    rows = " ".join(f"v(a, {k})@1;" for k in range(90))
    text = f"{rows}  v(X, N)@next :- v(X, N);  to(a, b)@1;  to(X, Y)@next :- to(X, Y);  "
    text += "pair(X, N, M)@next :- v(X, N), v(X, M), N < M;  pair(X, N, M)@next :- pair(X, N, M);"
    text += "got(Y, N)@async :- v(X, N), to(X, Y);  pre(N, M) :- pair(_, N, M), got(_, N);"
    text += "post(N, M) :- pair(_, N, M), N < M;  post(N, M) :- pair(_, N, M), N >= M;"
    verdict = check(parse_program(text), nodes=["a", "b"], eot=3, eff=2, allow_hollow=True)
    assert [c for c in verdict.cautions if "pre" in c] == [
        "a rule for 'pre' (<text>:1) can perhaps not be broken: 'post' may follow from 'pre' alone"
    ]


def test_a_rule_without_a_place_is_looked_at_as_well() -> None:
    text = PROTOCOL + "pre(X, P) :- log(X, P);  post(X, P) :- log(X, P);"
    program = parse_program(text)
    nowhere = Program(tuple(replace(clause, position=None) for clause in program.clauses))
    assert check(nowhere, nodes=["a", "b"], eot=4, eff=2).cautions == (
        "a rule for 'pre' cannot be broken: 'post' follows from 'pre' alone, whatever happens",
    )


# -- against the naive interpreter, on protocols that do anything ------------------------------------------------


@st.composite
def bodies(draw: st.DrawFn) -> str:
    """A conjunction in which X and P are bound."""
    premises = [draw(st.sampled_from(["log(X, P)", "log(X, P), n(X, Y)", "n(X, P)", "log(X, _), n(_, P)"]))]
    for _ in range(draw(st.integers(0, 2))):
        relation, first = draw(st.sampled_from(["log", "n", "gap"])), draw(st.sampled_from(["X", "_", '"a"']))
        bound = ["P", "_", '"a"', '"p"'] if "Y" not in premises[0] else ["P", "Y", "_", '"p"']
        negated = draw(st.booleans())
        premises.append(f"{'notin ' if negated else ''}{relation}({first}, {draw(st.sampled_from(bound))})")
    if draw(st.booleans()):
        premises.append(draw(st.sampled_from(["X != P", 'P == "p"', 'X != "b"'])))
    return ", ".join(premises)


@st.composite
def assertions(draw: st.DrawFn) -> str:
    pre = draw(bodies())
    posts = [draw(bodies()) for _ in range(draw(st.integers(1, 2)))]
    if draw(st.booleans()):
        posts[0] = pre  # otherwise it follows too rarely
    if draw(st.booleans()):
        posts[0] = ", ".join(posts[0].split(", ")[:2]) if posts[0].startswith("log(X, P)") else posts[0]
    gap = f"gap(X, P) :- log(X, P), {draw(st.sampled_from(['notin n(X, P)', 'n(_, P)', 'X != P']))};"
    rules = [f"pre(X, P) :- {pre};", *(f"post(X, P) :- {post};" for post in posts), gap]
    return "\n".join(rules)


@given(assertions(), st.data())
def test_what_follows_holds_for_whatever_rows_there_are(text: str, data: st.DataObject) -> None:
    program = parse_program(PROTOCOL + text)
    survey = check(program, nodes=["a", "b"], eot=4, eff=2, coverage=True, allow_hollow=True).survey
    assert survey is not None
    follows = next(p.follows for p in survey.promises if p.part.value == "rule")
    values: st.SearchStrategy[Value] = st.sampled_from(["a", "b", "p", "q", 1, 2])
    rows = st.lists(st.tuples(st.sampled_from(["log", "n"]), st.sampled_from(["a", "b"]), values), max_size=6)
    kept = tuple(rule for rule in program.rules if rule.relation in ("pre", "post", "gap"))
    broken = False
    for _ in range(5):
        facts = tuple(Fact(relation, (place, value)) for relation, place, value in data.draw(rows))
        other = Program((*facts, *kept))
        broken |= bool(reference.violations(other, FailureSpec(("a", "b"), 1), FaultSet()))
    event(f"follows: {follows}, broken: {broken}")
    assert not (follows and broken), text
