"""What explanations say of restarts, pauses, partitions and duplicates: to the letter, below "Why"."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew import check, parse_program, run
from clew.budgets.deadline import Deadline
from clew.engine.runs import Runs
from clew.explain.explainer import Explainer
from clew.explain.explanation import explain_rows
from clew.explain.why import Running, Support
from clew.faults import FailureSpec, Fault, FaultSet, Partition, Pause, Restart
from clew.program.checks import check_program
from clew.report.lineage.words import goal_times, goal_title
from clew.report.verdict.explaining import explain_verdict
from clew.report.verdict.page import run_page
from clew.report.verdict.why_text import why_lines
from clew.report.verdict.wording import support_words
from counterexamples import minimal_counterexamples
from generators import fault_sets, few_mixed_specs, lasting_programs, mixed_specs

NO_DEADLINE = Deadline(None)

VOTES = """
    durable node;
    node("a","b")@1; node("a","c")@1; node("b","a")@1; node("b","c")@1; node("c","a")@1; node("c","b")@1;
    timeout("a")@1; timeout("b")@3;
    node(X,Y)@next :- node(X,Y);
    voted(X,C)@next :- voted(X,C);
    has(X) :- voted(X,_);
    free(X) :- node(X,_), notin has(X);
    want(X,C) :- ask(X,C);
    want(X,X) :- timeout(X);
    pick(X,min<C>) :- want(X,C), free(X);
    voted(X,C)@next :- pick(X,C);
    ask(Y,X)@async :- pick(X,X), node(X,Y);
    grant(C,X)@async :- pick(X,C), X != C;
    got(C,C)@next :- pick(C,C);
    got(C,X)@next :- grant(C,X);
    got(C,X)@next :- got(C,X);
    leader(C,count<X>) :- got(C,X);
    elected(C)@next :- leader(C,N), N >= 2;
    elected(C)@next :- elected(C);
    two(C,D) :- elected(C), elected(D), C != D;
    pre(C) :- elected(C);
    post(C) :- elected(C), notin two(C,_);
"""


def why(text: str, **bounds: int) -> list[str]:
    """The lines about the first violated row of the smallest counterexample."""
    verdict = check(parse_program(text), **bounds)  # type: ignore[arg-type]
    lines = list(explain_verdict(verdict).lines)
    begin = next(number for number, line in enumerate(lines) if line.startswith("Why"))
    end = next(n for n, line in enumerate(lines[begin + 1 :], begin + 1) if not line.startswith("  "))
    return lines[begin:end]


def test_a_vote_that_a_restart_forgets() -> None:
    """Crashes are outside the bounds: that nobody crashes is not what the votes rest on."""
    assert why(VOTES, eot=8, eff=5, crashes=0, restarts=1) == [
        "Why pre(a): given 'pre', post(a) had 4 supports without faults; each is cut:",
        "  O(a,b,1) cuts ✗ ask a→b@1, a not down at 2, b not down at 1, 3",
        "  O(a,b,1) cuts ✗ ask a→b@1, a not down at 3, b not down at 1, 3",
        "  R(c,3,4) cuts ask a→c@1, a not down at 2 to 4, ✗ c not down at 1, 3 to 4",
        "  O(a,b,1), R(c,3,4) cut ✗ ask a→b@1, ask a→c@1, b not down at 1, 3, ✗ c not down at 1, 3 to 4",
        "  without O(a,b,1): ask a→b@1 arrives, pick(b, a)@2, has(b)@3, no pick(b, b)@3, no got(b, b)@4,",
        "    no leader(b, 2)@6, no elected(b)@7, no two(a, b)@8: post(a) holds",
        "  without R(c,3,4): voted(c, a)@3, has(c)@4, no free(c)@4, no pick(c, b)@4, no grant c→b@4,",
        "    no got(b, c)@6, no leader(b, 2)@6, no elected(b)@7, no two(a, b)@8: post(a) holds",
        "  How it arose:",
        "    1  ask a→b is lost: O(a,b,1)",
        "    3  c goes down: R(c,3,4); free(b); pick(b, b)",
        "    4  c restarts; got(b, b); free(c); pick(c, b); grant c→b",
        "    6  leader(b, 2); got(b, c)",
        "    7  elected(b)",
        "    8  two(a, b); pre(a) holds, post(a) does not",
    ]


def test_a_message_that_counts_twice() -> None:
    text = """
        put("a", 1)@1;
        inc("b", V)@async :- put(X, V);
        seen(Y, V)@next :- inc(Y, V);  seen(Y, V)@next :- seen(Y, V);
        twice(Y, V)@next :- inc(Y, V), seen(Y, V);  twice(Y, V)@next :- twice(Y, V);
        pre(Y, V) :- seen(Y, V);  post(Y, V) :- seen(Y, V), notin twice(Y, V);
    """
    assert why(text, eot=6, eff=5, crashes=0, duplicates=1) == [
        "Why pre(b, 1): given 'pre', post(b, 1) had one support without faults; it is cut:",
        "  U(a,b,1,1) cuts ✗ what a sends b at 1 arrives only once",
        "  without U(a,b,1,1): inc a→b@1 arrives only once, at 2, no twice(b, 1)@4: post(b, 1) holds",
        "  How it arose:",
        "    1  inc a→b arrives at 2, and again at 3: U(a,b,1,1)",
        "    4  twice(b, 1)",
        "    6  pre(b, 1) holds, post(b, 1) does not",
    ]


LEASE = """
    held("l")@1;  held("l")@2;  held("l")@3;  write("s", X)@async :- ask(X), held(X);
    ask("l")@3;  expired("s")@5;  expired(S)@next :- expired(S);
    stale(S)@next :- write(S, X), expired(S);  stale(S)@next :- stale(S);
    up("s")@1;  up(S)@next :- up(S);
    pre(S) :- up(S);  post(S) :- up(S), notin stale(S);
"""


def of_run(text: str, fault: Fault, eot: int, nodes: str = "ab") -> list[str]:
    """The lines about the first row that a run with one fault violates."""
    program = check_program(parse_program(text)).program
    found = run(program, [fault], eot=eot, nodes=list(nodes))
    rows = explain_rows(Runs.of(program, found.spec, found.faults, NO_DEADLINE), found.violations)
    return list(why_lines([next(iter(rows))], found.faults, eot))


def test_a_lease_that_is_held_too_long() -> None:
    assert why(LEASE, eot=7, eff=6, crashes=0, pauses=1) == [
        "Why pre(s): given 'pre', post(s) had one support without faults; it is cut:",
        "  Z(l,3,4) cuts ✗ l not paused at 3, s not paused at 4",
        "  without Z(l,3,4): no held(l)@4, no write l→s@4, no stale(s)@6: post(s) holds",
        "  How it arose:",
        "    3  l pauses: Z(l,3,4)",
        "    4  l goes on; held(l); write l→s",
        "    6  stale(s)",
        "    7  pre(s) holds, post(s) does not",
    ]


def test_a_message_that_waits_at_a_paused_node() -> None:
    assert of_run(LEASE, Pause("s", 4, 5), 7, "ls") == [
        "Why pre(s): it takes one fault:",
        "  without Z(s,4,5): write l→s@3 does not wait until 5, no stale(s)@6: post(s) holds",
        "  How it arose:",
        "    3  write l→s waits until 5: Z(s,4,5)",
        "    4  s pauses: Z(s,4,5)",
        "    5  s goes on",
        "    6  stale(s)",
        "    7  pre(s) holds, post(s) does not",
    ]


NOTES = """
    durable peer;
    peer("a", "b")@1;  peer(X, Y)@next :- peer(X, Y);  once("a")@1;
    note(Y, X)@async :- peer(X, Y), once(X);
    log(Y, X)@next :- note(Y, X);  log(Y, X)@next :- log(Y, X);
    pre(Y, X) :- peer(X, Y)@1;  post(Y, X) :- log(Y, X);
"""


def test_a_message_that_finds_its_receiver_down() -> None:
    assert of_run(NOTES, Restart("b", 2, 3), 5) == [
        "Why pre(b, a): it takes one fault:",
        "  without R(b,2,3): note a→b@1 arrives, log(b, a)@3: post(b, a) holds",
    ]


def test_a_message_whose_sender_is_down() -> None:
    assert of_run(NOTES.replace('once("a")@1', 'once("a")@2'), Restart("a", 2, 3), 5) == [
        "Why pre(b, a): it takes one fault:",
        "  without R(a,2,3): once(a)@2, note a→b@2 is sent, log(b, a)@4: post(b, a) holds",
    ]


def test_a_node_that_is_cut_off() -> None:
    text = """
        beat("a", "b")@1;  beat(X, Y)@next :- beat(X, Y);
        alive(Y)@async :- beat(X, Y);
        old("b")@3;  old(Y)@next :- old(Y);
        alone(Y)@next :- old(Y), notin alive(Y);  alone(Y)@next :- alone(Y);
        pre(Y) :- old(Y);  post(Y) :- old(Y), notin alone(Y);
    """
    assert of_run(text, Partition(("a",), 2, 4), 6) == [
        "Why pre(b): it takes one fault:",
        "  without P({a},2,4): alive a→b@2 arrives, alive a→b@3 arrives, no alone(b)@4: post(b) holds",
        "  How it arose:",
        "    2  a is cut off: P({a},2,4); alive a→b is lost: P({a},2,4)",
        "    3  alive a→b is lost: P({a},2,4)",
        "    4  a is no longer cut off; alone(b)",
        "    6  pre(b) holds, post(b) does not",
    ]


WATCH = """
    durable peer;
    peer("a", "b")@1;  peer(X, Y)@next :- peer(X, Y);
    gone(X, Y)@next :- peer(X, Y), down(X, Y);  gone(X, Y)@next :- gone(X, Y);
    pre(X, Y) :- peer(X, Y);  post(X, Y) :- peer(X, Y), notin gone(X, Y);
"""


def test_the_lineage_of_a_watcher_says_when_nobody_was_down() -> None:
    spec = FailureSpec(("a", "b"), 3, 3, restarts=1)
    explainer = Explainer(check_program(parse_program(WATCH)).program, spec, NO_DEADLINE)
    (outcome,) = explainer.outcomes()
    goals = [goal for goal in explainer.lineage(outcome).whole.goals if goal.crashes]
    assert sorted(map(goal_title, goals)) == [
        "b is not down at time 1, otherwise: R(b,1,2), R(b,1,3)",
        "b is not down at time 2, otherwise: R(b,1,3), R(b,2,3)",
    ]
    assert sorted(map(goal_times, goals)) == ["@1", "@2"]


def test_who_looks_whether_a_node_is_down() -> None:
    assert of_run(WATCH, Restart("b", 2, 3), 5) == [
        "Why pre(a, b): it takes one fault:",
        "  without R(b,2,3): b stays up, no gone(a, b)@3: post(a, b) holds",
        "  How it arose:",
        "    2  b goes down: R(b,2,3)",
        "    3  b restarts; gone(a, b)",
        "    5  pre(a, b) holds, post(a, b) does not",
    ]


# -- when a node had to run ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("running", "words"),
    [
        ([Running("c", (3,), False, True)], [("c not down at 3", True)]),
        ([Running("c", (3, 4, 6), True, False)], [("c not paused at 3 to 4, 6", False)]),
        ([Running("c", (1, 2, 3), False, False)], [("c not down at 1 to 3", False)]),
        ([Running("c", (3, 4, 5, 6, 7), False, False)], [("c not down from 3 on", False)]),
        ([Running("c", tuple(range(1, 8)), False, False)], [("c never down", False)]),
        ([Running("c", tuple(range(1, 8)), True, False)], [("c never paused", False)]),
        ([Running("c", (3, 4), False, False), Running("c", (3, 4), True, True)], [("c runs at 3 to 4", True)]),
        ([Running("c", (3, 4), False, True, throughout=True)], [("c not down at one of 3 to 4", True)]),
    ],
)
def test_when_a_node_had_to_run(running: list[Running], words: list[tuple[str, bool]]) -> None:
    support = Support((), (), (), (), (), (), running=tuple(running))
    assert support_words(support, FaultSet(), 8) == words


# -- any program --------------------------------------------------------------------------------------------------


@given(st.data())
def test_every_fault_of_a_counterexample_is_named_on_the_terminal(data: st.DataObject) -> None:
    program = data.draw(lasting_programs())
    verdict = minimal_counterexamples(program, data.draw(few_mixed_specs(program)), find_all=False)
    lines = list(explain_verdict(verdict, on_failure=_raise).lines)
    begin = next((number for number, line in enumerate(lines) if line.startswith("Why")), len(lines))
    diagram, reasons = "\n".join(lines[:begin]), "\n".join(lines[begin:])
    for fault in verdict.counterexamples[0].faults if verdict.counterexamples else ():
        assert str(fault) in diagram
        assert f"without {fault}: " in reasons


def _raise(failure: Exception) -> None:
    raise failure


@settings(max_examples=max(25, settings().max_examples // 4))
@given(st.data())
def test_the_page_of_any_run_can_be_made(data: st.DataObject) -> None:
    program = data.draw(lasting_programs())
    spec = data.draw(mixed_specs(program))
    faults = data.draw(fault_sets(spec))
    explainer = Explainer(check_program(program).program, spec, NO_DEADLINE)
    page = run_page(explainer.run(faults), ["any.ded"], explainer, lambda stage: None)
    codes = re.findall(r'"code":"([^"]*)"', page)
    assert codes == [str(fault) for fault in faults]


@given(st.data())
def test_a_counterexample_cuts_every_support_and_the_words_show_where(data: st.DataObject) -> None:
    program = data.draw(lasting_programs())
    spec = data.draw(few_mixed_specs(program))
    explainer = Explainer(check_program(program).program, spec, NO_DEADLINE)
    for found in minimal_counterexamples(program, spec, find_all=False).counterexamples:
        for violation in found.violations[:2] if found.faults else ():
            for support in explainer.why(violation, found.faults).supports:
                assert support.cut_by
                assert any(cut for _, cut in support_words(support, found.faults, spec.eot))
