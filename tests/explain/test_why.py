"""Why a violation happens.  The law: the faults of a counterexample cut every support, and while one support is
left the violation cannot happen, whatever else does."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew import Verdict, parse_program
from clew.budgets.deadline import Deadline
from clew.explain.failure_free import FailureFree
from clew.explain.why import Support, Why, find_why
from clew.faults import Crash, Delay, FailureSpec, Fault, FaultSet, Loss
from clew.program.checks import check_program
from clew.program.ir import Program
from clew.violation import Violation
from counterexamples import BROKEN, minimal_counterexamples
from example_verdicts import verdict_of
from generators import fault_sets, problems
from long_mode import first_of

#: Counterexamples of bully-le-lossy are too many to list; those of the last ones take seconds.
LISTED = [*sorted({*BROKEN} - {"bully-le-lossy", "flux-eager-ack", "3pc"}), "flux-eager-ack", "3pc"]
EACH = pytest.mark.parametrize("name", first_of(LISTED, len(LISTED) - 2))
NO_DEADLINE = Deadline(None)
_HALF = settings().max_examples // 2


@cache
def failure_free(name: str) -> FailureFree:
    found = verdict_of(name)
    assert found.program is not None
    return FailureFree(found.program, found.spec, NO_DEADLINE)


def explained(name: str) -> list[Why]:
    """Every row that the first counterexample of an example violates."""
    first = verdict_of(name).counterexamples[0]
    return [find_why(failure_free(name), violation, first.faults) for violation in first.violations]


def of_text(text: str, spec: FailureSpec) -> FailureFree:
    return FailureFree(check_program(parse_program(text)).program, spec, NO_DEADLINE)


def needed(support: Support) -> set[Fault]:
    return {*support.falsifier, *support.out_of_reach}


def brief(support: Support) -> str:
    """``relation a->b@1`` for every message, what is not late, who stays up, and after the bar what cut it."""
    words = [f"{m.relation} {m.source}->{m.target}@{m.sent}" for m in support.messages]
    words += [f"{source}->{target}@{sent} not late" for source, target, sent in support.punctual]
    words += [f"{node} up {time}" for node, time in support.up]
    return f"{', '.join(words)} | {' '.join(map(str, support.cut_by))}"


# -- the law ----------------------------------------------------------------------------------------------------


@given(problems())
def test_a_counterexample_cuts_every_support(problem: tuple[Program, FailureSpec]) -> None:
    reason = FailureFree(*problem, NO_DEADLINE)
    assert_every_support_is_cut(reason, minimal_counterexamples(*problem))


@EACH
def test_a_counterexample_of_an_example_cuts_every_support(name: str) -> None:
    assert_every_support_is_cut(failure_free(name), verdict_of(name, find_all=True))


def assert_every_support_is_cut(reason: FailureFree, found: Verdict) -> None:
    for counterexample in found.counterexamples:
        for violation in counterexample.violations:
            told = find_why(reason, violation, counterexample.faults)
            assert told.violation == violation
            assert bool(told.supports) == (violation not in reason.execution.violations)
            for support in told.supports:
                assert support.cut_by
                assert set(support.cut_by) == set(counterexample.faults) & set(support.falsifier)


@settings(max_examples=_HALF)
@given(problems(), st.data())
def test_while_a_support_is_left_the_violation_cannot_happen(
    problem: tuple[Program, FailureSpec], data: st.DataObject
) -> None:
    """Whatever else happens, also beyond the budget: faults that leave one support alone do no harm."""
    program, spec = problem
    reason = FailureFree(program, spec, NO_DEADLINE)
    drawn = [data.draw(fault_sets(replace(spec, eff=eff))) for eff in (spec.eff, spec.eot, spec.eff, spec.eot)]
    for violation in reason.supports:
        for support in find_why(reason, violation, FaultSet()).supports:
            for faults in drawn:
                harmless = FaultSet.of(set(faults) - needed(support))
                assert violation not in reason.model.run(harmless).violations


@EACH
def test_a_counterexample_without_the_faults_that_cut_one_support_violates_nothing(name: str) -> None:
    reason = failure_free(name)
    for counterexample in verdict_of(name, find_all=True).counterexamples:
        for violation in counterexample.violations:
            for support in find_why(reason, violation, counterexample.faults).supports:
                rest = FaultSet.of(set(counterexample.faults) - needed(support))
                assert violation not in reason.model.run(rest).violations


@settings(max_examples=_HALF)
@given(problems())
def test_a_support_says_what_it_rests_on(problem: tuple[Program, FailureSpec]) -> None:
    """Its messages got through in the failure-free run, and they are what its losses and delays would hit."""
    reason = FailureFree(*problem, NO_DEADLINE)
    for violation in reason.supports:
        told = find_why(reason, violation, FaultSet())
        assert told.by_pre == (not reason.pre_held(violation))
        assert told.supports, "something kept it away"
        for support in told.supports:
            assert_consistent(support, reason)
        assert all(len(a.messages) <= len(b.messages) for a, b in pairwise(told.supports))
        assert not any(needed(a) < needed(b) for a in told.supports for b in told.supports), "all are minimal"


def assert_consistent(support: Support, reason: FailureFree) -> None:
    for message in support.messages:
        assert message in reason.execution.messages
        assert message.arrived == message.sent + 1
    hit = {f.message for f in needed(support) if not isinstance(f, Crash)}
    carried = {(m.source, m.target, m.sent) for m in support.messages}
    assert carried | set(support.punctual) == hit
    assert carried.isdisjoint(support.punctual)
    assert not {f.message for f in needed(support) if isinstance(f, Loss)} & set(support.punctual)
    for fault in support.falsifier:
        assert reason.spec.admits(FaultSet.of([fault]))
    for fault in support.out_of_reach:
        assert not reason.spec.admits(FaultSet.of([fault]))
    for node, time in support.up:
        assert Crash(node, time) in needed(support)
        assert all(m.sent < time for m in support.messages if m.source == node)
    crashing = {f.node for f in needed(support) if isinstance(f, Crash)}
    assert crashing <= {m.source for m in support.messages} | {node for node, _ in support.up}
    assert support.cut_by == ()


# -- exact explanations -----------------------------------------------------------------------------------------


def test_the_nine_supports_of_kafka() -> None:
    (told,) = explained("kafka")
    assert (str(told.violation), told.by_pre, told.more) == ("pre(C, w1)", False, False)
    at_2, at_3 = "isr Z->a@2, isr Z->a@2, leader Z->a@2", "isr Z->a@3, isr Z->a@3, leader Z->a@3"
    late_write = "report a->Z@1, leader Z->C@2"
    assert [brief(support) for support in told.supports] == [
        "write C->a@1, a up 5 | C(a,4)",
        f"{late_write}, write C->a@3, a up 5 | C(a,4)",
        "report a->Z@2, leader Z->C@3, write C->a@4, a up 5 | C(a,4)",
        f"write C->a@1, report a->Z@1, report b->Z@1, {at_2}, forward a->b@3, b up 5 | O(b,Z,1)",
        f"write C->a@1, report a->Z@1, report c->Z@1, {at_2}, forward a->c@3, c up 5 | O(c,Z,1)",
        f"write C->a@1, report a->Z@2, report b->Z@2, {at_3}, forward a->b@4, b up 5 | C(a,4)",
        f"write C->a@1, report a->Z@2, report c->Z@2, {at_3}, forward a->c@4, c up 5 | C(a,4)",
        f"{late_write}, report a->Z@2, report b->Z@2, write C->a@3, {at_3}, forward a->b@4, b up 5 | C(a,4)",
        f"{late_write}, report a->Z@2, report c->Z@2, write C->a@3, {at_3}, forward a->c@4, c up 5 | C(a,4)",
    ]


def test_the_falsifiers_of_kafka() -> None:
    (told,) = explained("kafka")
    first, third = told.supports[0], told.supports[2]
    assert " ".join(map(str, first.falsifier)) == "O(C,a,1) C(C,1) C(a,1) C(a,2) C(a,3) C(a,4) C(a,5)"
    assert first.out_of_reach == ()
    assert third.out_of_reach == (Loss("C", "a", 4),)
    assert Loss("C", "a", 4) not in third.falsifier


def test_retries_are_supports_of_their_own() -> None:
    (told,) = explained("retry-deliv")
    lost = told.supports[0].cut_by[0]
    assert isinstance(lost, Loss)
    (peer,) = {m.target for s in told.supports for m in s.messages}
    assert [brief(s) for s in told.supports] == [
        f"log a->{peer}@1 | O(a,{peer},1)",
        f"log a->{peer}@2 | C(a,2)",
        f"log a->{peer}@3 | C(a,2)",
    ]
    assert [" ".join(map(str, s.falsifier)) for s in told.supports] == [
        f"O(a,{peer},1) C(a,1)",
        "C(a,1) C(a,2)",
        "C(a,1) C(a,2) C(a,3)",
    ]
    assert [s.out_of_reach for s in told.supports] == [(), (Loss("a", peer, 2),), (Loss("a", peer, 3),)]


@pytest.mark.parametrize(
    ("name", "numbers", "by_pre"),
    [
        ("simple-deliv", {1}, False),
        ("retry-deliv", {3}, False),
        ("classic-deliv", {7}, False),
        ("2pc", {1}, False),
        ("2pc-timeout", {8}, False),
        ("3pc", {8}, False),
        ("kafka", {9}, False),
        ("redun-deliv-late", {46}, False),
        ("bully-le-lossy", {2}, True),
    ],
)
def test_numbers_of_supports(name: str, numbers: set[int], by_pre: bool) -> None:
    told = explained(name)
    assert {len(w.supports) for w in told} == numbers
    assert {w.by_pre for w in told} == {by_pre}
    assert not any(w.more for w in told)
    assert all(support.cut_by for w in told for support in w.supports)


def test_both_kinds_of_reason_in_one_counterexample() -> None:
    """In the failure-free run apple is chosen, and banana is not: one is upheld, the other kept away."""
    told = {str(w.violation): (w.by_pre, len(w.supports)) for w in explained("paxos-forgetful")}
    assert told == {"pre(apple)": (False, 1), "pre(banana)": (True, 3)}


def test_more_supports_than_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("clew.explain.why.MOST_SUPPORTS", 4)
    (told,) = explained("kafka")
    assert (len(told.supports), told.more) == (4, True)
    assert all(support.cut_by for support in told.supports)
    monkeypatch.setattr("clew.explain.why.MOST_SUPPORTS", 9)
    (told,) = explained("kafka")
    assert (len(told.supports), told.more) == (9, False)


def test_without_assertions_a_lost_row_is_explained() -> None:
    text = """
        start(a, x)@1;  peer(a, b)@1;
        got(M, V)@async :- start(N, V), peer(N, M);
        got(N, V)@next :- got(N, V);
    """
    reason = of_text(text, FailureSpec(("a", "b"), 3, eff=2, crashes=1))
    lost = Violation("got", ("b", "x"))
    told = find_why(reason, lost, FaultSet.of([Loss("a", "b", 1)]))
    assert [brief(s) for s in told.supports] == ["got a->b@1 | O(a,b,1)"]
    assert told.supports[0].falsifier == (Loss("a", "b", 1), Crash("a", 1))
    assert not told.by_pre


def test_a_violation_that_needs_no_fault_has_no_support() -> None:
    text = """
        start(a, x)@1;  start(N, V)@next :- start(N, V);
        pre(N, V) :- start(N, V);  post(N, V) :- nothing(N, V);
        nothing(M, V)@async :- nothing(N, V), start(N, M);
    """
    reason = of_text(text, FailureSpec(("a", "b"), 3, eff=2, crashes=1))
    violation = Violation("pre", ("a", "x"))
    assert violation in reason.execution.violations
    assert find_why(reason, violation, FaultSet()) == Why(violation, False, (), False)


def test_what_no_fault_can_touch_has_the_empty_support() -> None:
    text = """
        start(a, x)@1;  start(N, V)@next :- start(N, V);
        heard(M, V)@async :- start(N, V), peer(N, M);  peer(a, b)@1;
        pre(N, V) :- start(N, V);  pre(N, V) :- heard(N, V);  post(M, V) :- start(N, V), node(M);
        node(a)@1;  node(b)@1;  node(N)@next :- node(N);
    """
    reason = of_text(text, FailureSpec(("a", "b"), 3, eff=2, crashes=1))
    told = find_why(reason, Violation("pre", ("a", "x")), FaultSet())
    assert told.supports == (Support((), (), (), (), (), ()),)


def test_who_only_has_to_be_seen_alive_is_listed_as_up() -> None:
    text = """
        start(a, x)@1;  start(N, V)@next :- start(N, V);
        pre(V) :- start(_, V);  post(V) :- start(N, V), notin crash(_, N, _);
    """
    reason = of_text(text, FailureSpec(("a", "b"), 4, crashes=1))
    told = find_why(reason, Violation("pre", ("x",)), FaultSet.of([Crash("a", 2)]))
    assert [brief(s) for s in told.supports] == ["a up 3 | C(a,2)"]
    assert told.supports[0].falsifier == tuple(Crash("a", t) for t in (1, 2, 3))


def test_only_messages_in_the_lineage_are_named() -> None:
    """Two messages share a link and a time: the loss hits both, but only one of them is what it takes."""
    text = """
        start(a, x)@1;  peer(a, b)@1;  other(c, x)@1;  to(c, b)@1;  start(N, V)@next :- start(N, V);
        kept(M, V)@async :- start(N, V)@1, peer(N, M);  kept(N, V)@next :- kept(N, V);
        asked(M, V)@async :- start(N, V)@1, peer(N, M);  asked(M, V)@async :- other(N, V), to(N, M);
        asked(N, V)@next :- asked(N, V);
        noise(M, V)@async :- start(N, V)@1, peer(N, M);  noise(N, V)@next :- noise(N, V);
        gone(b, V) :- start(_, V), notin kept(b, V);
        bad(V) :- noise(N, V), gone(N, V);
    """
    spec = FailureSpec(("a", "b", "c"), 3, eff=2)
    given = of_text(text + "pre(V) :- asked(_, V);  post(V) :- asked(_, V), kept(_, V);", spec)
    told = find_why(given, Violation("pre", ("x",)), FaultSet())
    assert [brief(s) for s in told.supports] == ["kept a->b@1 | "]
    negated = of_text(text + "pre(V) :- start(_, V);  post(V) :- start(_, V), notin bad(V);", spec)
    told = find_why(negated, Violation("pre", ("x",)), FaultSet())
    assert [brief(s) for s in told.supports] == ["kept a->b@1 | "]


def test_a_message_that_only_must_not_be_late() -> None:
    """The note is gone by the end; one step later it would not be."""
    text = """
        start(a, x)@1;  peer(a, b)@1;
        note(M, V)@async :- start(N, V), peer(N, M);
        pre(V) :- note(_, V);  post(V) :- nothing(_, V);  nothing(N, V)@next :- nothing(N, V);
    """
    reason = of_text(text, FailureSpec(("a", "b"), 3, eff=2, delays=1))
    told = find_why(reason, Violation("pre", ("x",)), FaultSet.of([Delay("a", "b", 1, 1)]))
    assert told.by_pre
    assert [brief(s) for s in told.supports] == ["a->b@1 not late | D(a,b,1,1)"]
    assert told.supports[0].falsifier == (Delay("a", "b", 1, 1),)


@pytest.mark.parametrize("function", ["sum", "avg"])
def test_sums_of_negative_numbers_that_are_summed_again(function: str) -> None:
    """clingo writes such sums as rules that support each other."""
    text = f"""
        give(a, -3)@1;  give(a, 2)@1;  peer(a, b)@1;
        value(M, V)@async :- give(N, V), peer(N, M);  value(N, V)@next :- value(N, V);
        total(N, {function}<V>) :- value(N, V);  value(N, V)@next :- total(N, V);
        pre(N, V) :- value(N, V);  post(N, V) :- value(N, V), total(N, _);
    """
    reason = of_text(text, FailureSpec(("a", "b"), 4, eff=3, crashes=1))
    for violation in reason.supports:
        assert find_why(reason, violation, FaultSet()).supports
