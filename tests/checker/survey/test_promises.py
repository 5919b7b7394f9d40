"""Which promises apply: the whole, each rule, each tag; in the failure-free run, under faults, or never."""

from __future__ import annotations

from typing import Any

import pytest

from clew import Answer, Verdict, check, parse_program
from clew.checker.survey.promises import Part
from clew.engine.conditions import Occurrence

FREE, FAULTS, NEVER = Occurrence.FAILURE_FREE, Occurrence.UNDER_FAULTS, Occurrence.NEVER

#: b stores what a writes; a read returns what b has.  'fresh' holds; 'monotonic' waits for a second read that
#: nobody makes, so that a wrong read protocol was certified with it.
READS = """
write(a, b, v1)@1;  write(A, B, V)@next :- write(A, B, V);
stored(B, V)@async :- write(A, B, V);  stored(B, V)@next :- stored(B, V);
read(b, r1)@4;
returned(B, R, V)@next :- read(B, R), stored(B, V);  returned(B, R, V)@next :- returned(B, R, V);
pre("fresh", R) :- returned(_, R, _);
pre("monotonic", R) :- returned(_, R, _), returned(_, S, _), R != S;
post("fresh", R) :- returned(_, R, V), stored(_, V);
post("monotonic", R) :- returned(_, R, V), stored(_, V);
"""


def survey(text: str, **bounds: Any) -> list[tuple[Part, str, Occurrence]]:
    found = check(parse_program(text), **bounds).survey
    assert found is not None and found.finished
    return [(p.part, p.name, p.applies) for p in found.promises]


def reads(**options: Any) -> Verdict:
    return check(parse_program(READS), nodes=["a", "b"], eot=6, eff=2, **options)


def test_a_tag_that_never_applies_does_not_hide_behind_another() -> None:
    verdict = reads()
    assert verdict.answer is Answer.CERTIFIED
    assert verdict.cautions == (
        "a rule for 'pre' with monotonic (<text>:7) never applies within these bounds: nothing is promised by it",
    )
    assert survey(READS, nodes=["a", "b"], eot=6, eff=2) == [
        (Part.WHOLE, "pre", FREE),
        (Part.RULE, "fresh", FREE),
        (Part.RULE, "monotonic", NEVER),
        (Part.TAG, "fresh", FREE),
        (Part.TAG, "monotonic", NEVER),
    ]


def test_strict_makes_every_caution_incomplete() -> None:
    verdict = reads(strict=True)
    assert (verdict.answer, verdict.ruled_out) == (Answer.INCOMPLETE, True)
    assert verdict.reason == f"strict: {verdict.cautions[0]}"


def test_tags_are_found_behind_relations_of_the_assertions_alone() -> None:
    text = READS.replace("pre(", "promised(").replace("post(", "kept(")
    text += "pre(T, R) :- promised(T, R);  post(T, R) :- kept(T, R);"
    assert survey(text, nodes=["a", "b"], eot=6, eff=2) == [
        (Part.WHOLE, "pre", FREE),
        (Part.RULE, "pre", FREE),
        (Part.RULE, "fresh", FREE),
        (Part.RULE, "monotonic", NEVER),
        (Part.TAG, "fresh", FREE),
        (Part.TAG, "monotonic", NEVER),
    ]


#: a tries b first, and c if it has heard nothing from b.
FALLBACK = """
send(a, b, c)@1;  send(A, B, C)@next :- send(A, B, C);
first(B, A)@async :- send(A, B, C);  heard(A, B)@async :- first(B, A);  heard(A, B)@next :- heard(A, B);
tick(a)@3;  second(C, A)@async :- send(A, B, C), tick(A), notin heard(A, B);
second(C, A)@next :- second(C, A);
pre("b", A) :- heard(A, _);  pre("c", C) :- second(C, _);
post("b", A) :- heard(A, _);  post("c", C) :- second(C, A), send(A, _, C);
"""


def test_a_promise_that_applies_only_under_faults_is_a_remark() -> None:
    verdict = check(parse_program(FALLBACK), nodes=["a", "b", "c"], eot=6, eff=3)
    assert verdict.answer is Answer.CERTIFIED
    assert verdict.remarks == ("a rule for 'pre' with c (<text>:6) applies only under faults",)
    without_losses = check(parse_program(FALLBACK), nodes=["a", "b", "c"], eot=6, eff=0, crashes=0, delays=0)
    assert [p.name for p in without_losses.survey.promises if p.applies is NEVER] == ["c", "c"]  # type: ignore[union-attr]


@pytest.mark.parametrize("strategy", ["exact", "lineage", "exhaustive"])
def test_what_promises_nothing_is_not_certified(strategy: str) -> None:
    text = "n(a, b)@1; n(X, Y)@next :- n(X, Y); m(Y)@async :- n(X, Y); pre(X) :- n(X, _), m(X); post(X) :- m(X);"
    hollow = check(parse_program(text), nodes=["a", "b"], eot=4, eff=2, strategy=strategy)
    assert (hollow.answer, hollow.ruled_out) == (Answer.INCOMPLETE, True)
    assert hollow.reason is not None and hollow.reason.startswith("nothing is promised")
    allowed = check(parse_program(text), nodes=["a", "b"], eot=4, eff=2, strategy=strategy, allow_hollow=True)
    assert (allowed.answer, allowed.cautions) == (
        Answer.CERTIFIED,
        ("nothing is promised within these bounds",),
    )


def test_without_assertions_a_relation_without_rows_promises_nothing() -> None:
    text = (
        "n(a, b)@1; m(Y)@async :- n(X, Y); m(Y)@next :- m(Y), n(Y, Y); k(X)@next :- k(X); k(X) :- m(X), n(X, X);"
    )
    verdict = check(parse_program(text), nodes=["a", "b"], eot=4, eff=2)
    assert verdict.answer is Answer.INCOMPLETE
    assert [(p.part, p.name, p.applies) for p in verdict.survey.promises] == [(Part.RELATION, "k", NEVER)]  # type: ignore[union-attr]


def test_a_promise_that_arrives_as_a_message_at_the_very_end() -> None:
    """``pre`` may be sent: its rule applies if the message arrives at the last time, also late."""
    text = "n(a, b)@1; pre(Y)@async :- n(X, Y); post(Y) :- pre(Y), n(Y, Y);"
    assert survey(text, nodes=["a", "b"], eot=3, eff=0, allow_hollow=True)[:2] == [
        (Part.WHOLE, "pre", NEVER),
        (Part.RULE, "pre", NEVER),
    ]
    late = check(parse_program(text), nodes=["a", "b"], eot=3, delays=1)
    assert (late.answer, str(late.counterexamples[0].faults)) == (Answer.COUNTEREXAMPLE, "D(a,b,1,1)")
    kept = text.replace(", n(Y, Y)", "")
    assert survey(kept, nodes=["a", "b"], eot=3, delays=1)[:2] == [
        (Part.WHOLE, "pre", FAULTS),
        (Part.RULE, "pre", FAULTS),
    ]
