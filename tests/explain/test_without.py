"""What each fault of a counterexample does.  The law: every statement is true of the two runs it compares, as the
naive interpreter executes them, and no fault of a counterexample is passed over."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from clew import parse_program, run
from clew.budgets.deadline import Deadline
from clew.engine.runs import Runs
from clew.explain.explanation import Event, Explanation, explain_rows
from clew.explain.failure_free import FailureFree
from clew.explain.steps import MessageStep, NodeStep, PhaseStep, RowStep, Step
from clew.explain.without import Account, Without
from clew.faults import (
    Crash,
    Delay,
    Duplicate,
    FailureSpec,
    Fault,
    FaultSet,
    Input,
    Loss,
    Partition,
    Pause,
    Pick,
    Restart,
    Stop,
)
from clew.program.assertions import PRE
from clew.program.checks import check_program
from clew.program.ir import Program
from clew.report.verdict.why_text import rows_to_explain, why_lines
from clew.report.verdict.wording import step_text
from clew.violation import Violation
from counterexamples import BROKEN, minimal_counterexamples
from example_verdicts import verdict_of
from generators import fault_sets, few_mixed_specs, lasting_programs, mixed_specs, problems

NO_DEADLINE = Deadline(None)


# -- the law ----------------------------------------------------------------------------------------------------


class Reference:
    """What the naive interpreter says about runs of one program."""

    def __init__(self, program: Program, spec: FailureSpec) -> None:
        self.program = program
        self.spec = spec
        self.rows = cache(lambda faults: reference.evaluate(program, spec, faults))
        self.sendings = cache(lambda faults: reference.sendings(program, spec, faults))
        self.violations = cache(lambda faults: reference.violations(program, spec, faults))

    def violates(self, violation: Violation, faults: FaultSet) -> bool:
        named = violation.row if violation.relation == PRE else (violation.relation, *violation.row)
        return named in self.violations(faults)

    def has(self, relation: str, row: tuple[object, ...], time: int, faults: FaultSet) -> bool:
        return row in self.rows(faults)[time][relation]


@given(problems())
def test_every_fault_of_a_minimal_counterexample_is_accounted_for(problem: tuple[Program, FailureSpec]) -> None:
    known = Reference(*problem)
    failure_free = FailureFree(*problem, NO_DEADLINE)
    for counterexample in minimal_counterexamples(*problem).counterexamples:
        faults = counterexample.faults
        for runs in (Runs.of(*problem, faults, NO_DEADLINE), failure_free.runs(faults)):
            for row in explain_rows(runs, counterexample.violations):
                assert row.account.needed == faults
                assert_true(row, faults, known)


@given(problems())
def test_every_fault_of_a_minimal_counterexample_is_named(problem: tuple[Program, FailureSpec]) -> None:
    """On the terminal, below "Why"."""
    for counterexample in minimal_counterexamples(*problem).counterexamples:
        faults = counterexample.faults
        rows = list(
            rows_to_explain(explain_rows(Runs.of(*problem, faults, NO_DEADLINE), counterexample.violations))
        )
        lines = list(why_lines(rows, faults, problem[1].eot))
        for fault in faults:
            assert any(line.startswith(f"  without {fault}: ") for line in lines)


@given(problems(), st.data())
def test_of_other_faults_some_are_needed_and_the_rest_is_not(
    problem: tuple[Program, FailureSpec], data: st.DataObject
) -> None:
    """Such as random search finds: more than it takes."""
    known = Reference(*problem)
    faults = data.draw(fault_sets(problem[1]))
    runs = Runs.of(*problem, faults, NO_DEADLINE)
    violations = [Violation(*named) for named in broken(known, faults)]
    for row in explain_rows(runs, violations):
        assert_true(row, faults, known)


@st.composite
def mixed_problems(draw: st.DrawFn) -> tuple[Program, FailureSpec]:
    """Programs within bounds that admit all kinds of faults, few of each."""
    program = draw(lasting_programs())
    return program, draw(few_mixed_specs(program))


@given(mixed_problems())
def test_every_fault_of_any_kind_is_accounted_for(problem: tuple[Program, FailureSpec]) -> None:
    checked = check_program(problem[0]).program, problem[1]
    known = Reference(*problem)
    failure_free = FailureFree(*checked, NO_DEADLINE)
    for counterexample in minimal_counterexamples(*problem, find_all=False).counterexamples:
        faults = counterexample.faults
        for runs in (Runs.of(*checked, faults, NO_DEADLINE), failure_free.runs(faults)):
            for row in explain_rows(runs, counterexample.violations):
                assert row.account.needed == faults
                assert_true(row, faults, known)
                told = list(why_lines([row._replace(like=None)], faults, problem[1].eot))
                for fault in faults:
                    assert any(line.startswith(f"  without {fault}: ") for line in told)


@given(st.data())
def test_of_other_faults_of_any_kind_some_are_needed_and_the_rest_is_not(data: st.DataObject) -> None:
    program = data.draw(lasting_programs())
    spec = data.draw(mixed_specs(program))
    faults = data.draw(fault_sets(spec))
    known = Reference(program, spec)
    runs = Runs.of(check_program(program).program, spec, faults, NO_DEADLINE)
    for row in explain_rows(runs, [Violation(*named) for named in broken(known, faults)]):
        assert_true(row, faults, known)


def broken(known: Reference, faults: FaultSet) -> list[tuple[str, reference.Row]]:
    asserted = any(clause.relation == PRE for clause in known.program.clauses)
    rows = sorted(known.violations(faults), key=str)
    return [(PRE, row) if asserted else (str(row[0]), row[1:]) for row in rows]


def assert_true(row: Explanation, faults: FaultSet, known: Reference) -> None:
    account = row.account
    assert tuple(line.fault for line in account.without) == faults.faults
    assert known.violates(account.violation, account.needed)
    assert account.needed.faults == tuple(line.fault for line in account.without if line.needed)
    for line in account.without:
        if line.needed:
            without = FaultSet.of(set(account.needed) - {line.fault})
            assert not known.violates(account.violation, without)
            assert_chain(line, account, without, known)
    for event in row.events:
        assert_event(event, account.needed, known)


def assert_chain(line: Without, account: Account, without: FaultSet, known: Reference) -> None:
    """Each step is so in the run without the fault, and not in the failing run."""
    for step in line.steps:
        if isinstance(step, NodeStep):
            assert isinstance(line.fault, Crash | Restart | Stop)
            assert (step.node, step.time) == (line.fault.node, line.fault.time)
            continue
        time = step.arrives if isinstance(step, MessageStep) else step.time
        assert known.has(step.relation, step.row, time, without) == step.there
        assert known.has(step.relation, step.row, time, account.needed) != step.there
        if isinstance(step, MessageStep):
            having = without if step.there else account.needed
            assert (step.relation, step.source, step.row, step.time) in known.sendings(having)
            assert not step.hit or hits(line.fault, step)
            sent = known.sendings(without) | known.sendings(account.needed)
            like_it = {m for m in sent if (m[0], m[1], m[2][0], m[3]) == message_of(step)}
            assert step.one_of_several == (len(like_it) > 1)
    if line.fault.message is not None or isinstance(line.fault, Crash):
        assert is_hit(line.steps[0]), "it begins with what the fault does"
    times = [step.time for step in line.steps if not isinstance(step, NodeStep)]
    assert times == sorted(times)
    outcome = line.outcome
    assert known.has(outcome.relation, outcome.row, known.spec.eot, without) == line.holds
    assert known.has(outcome.relation, outcome.row, known.spec.eot, account.needed) != line.holds
    assert outcome.row == account.violation.row


def message_of(step: MessageStep) -> tuple[object, ...]:
    """Return all of a message but its row."""
    return step.relation, step.source, step.target, step.time


def is_hit(step: Step | PhaseStep) -> bool:
    return isinstance(step, NodeStep) or (isinstance(step, MessageStep) and step.hit)


def hits(fault: Fault, step: MessageStep) -> bool:
    match fault:
        case Crash(node, time):
            return step.source == node and step.time >= time
        case Loss() | Delay() | Duplicate():
            return fault.message == (step.source, step.target, step.time)
        case Partition():
            return fault.prevents((step.source, step.target, step.time))
        case Restart(node, time, until) | Pause(node, time, until):
            # Either it is not sent, or its receiver does not run when it comes.
            sends = step.source == node and time <= step.time < until
            return sends or (step.target == node and step.time < until and time <= step.arrives)
        case Stop(node, time):
            return (step.source == node and step.time >= time) or (step.target == node and step.arrives >= time)
        case Input() | Pick():
            return False


def assert_event(event: Event, faults: FaultSet, known: Reference) -> None:
    step = event.step
    assert event.time == step.time
    if isinstance(step, PhaseStep):
        assert event.fault is not None and event.fault in faults
        assert (step.time, step.words) in event.fault.phases
    elif event.fault is not None:
        assert event.fault in faults and is_hit(step)
        assert isinstance(step, NodeStep) or (isinstance(step, MessageStep) and hits(event.fault, step))
    else:
        assert isinstance(step, RowStep | MessageStep)
        time = step.arrives if isinstance(step, MessageStep) else step.time
        assert known.has(step.relation, step.row, time, faults)


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_said_of_the_counterexample_of_an_example_is_true(name: str) -> None:
    verdict = verdict_of(name)
    assert verdict.program is not None
    found = verdict.counterexamples[0]
    runs = Runs.of(verdict.program, verdict.spec, found.faults, NO_DEADLINE)
    for row in explain_rows(runs, found.violations[:3]):
        assert row.account.needed == found.faults
        assert_true(row, found.faults, Reference(verdict.program, verdict.spec))


# -- exact accounts ---------------------------------------------------------------------------------------------


def brief(step: Step | PhaseStep) -> str:
    if isinstance(step, PhaseStep):
        return step.words
    if isinstance(step, NodeStep):
        return f"{step.node} up"
    sign = "" if step.there else "no "
    if isinstance(step, RowStep):
        return f"{sign}{step.relation}({', '.join(map(str, step.row))})@{step.time}{'...' if step.passing else ''}"
    hit = "!" if step.hit else ""
    return f"{sign}{step.relation} {step.source}->{step.target}@{step.time}-{step.arrives}{hit}"


def explained(text: str, spec: FailureSpec, *faults: Fault) -> list[Explanation]:
    program = check_program(parse_program(text)).program
    runs = Runs.of(program, spec, FaultSet.of(faults), NO_DEADLINE)
    rows = list(explain_rows(runs, tuple(run(program, faults, nodes=spec.nodes, eot=spec.eot).violations)))
    known = Reference(program, spec)
    for row in rows:
        assert_true(row, FaultSet.of(faults), known)
    return rows


def lines(row: Explanation) -> list[str]:
    return [f"{line.fault}: {', '.join(map(brief, line.steps))}" for line in row.account.without]


def test_a_retry_that_only_another_fault_brings_about() -> None:
    """The second attempt is made because the first one is lost; without its loss that one delivers."""
    text = """
        cast(a, b)@1;  cast(X, Y)@next :- cast(X, Y), notin ack(X);
        log(Y, X)@async :- cast(X, Y);  log(X, Y)@next :- log(X, Y);
        ack(X)@async :- log(Y, X);  ack(X)@next :- ack(X);
        pre(Y) :- cast(_, Y)@1;  post(Y) :- log(Y, _);
    """
    spec = FailureSpec(("a", "b"), 4, eff=4)
    (row,) = explained(text, spec, *(Loss("a", "b", time) for time in (1, 2, 3)))
    assert lines(row) == [
        "O(a,b,1): log a->b@1-2!",
        "O(a,b,2): log a->b@2-3!",
        "O(a,b,3): log a->b@3-4!",
    ]
    assert {line.outcome for line in row.account.without} == {Violation("post", ("b",))}
    assert row.events == (), "nothing was derived, it was only lost"


def test_all_that_an_outcome_takes_is_told() -> None:
    """Both halves are lost with the one message, and a is asked for both."""
    text = """
        cast(a, b)@1;  cast(a, c)@1;  all(a)@1;  all(X)@next :- all(X);
        left(Y, X)@async :- cast(X, Y), Y == "b";  left(X, Y)@next :- left(X, Y);
        right("c", X)@async :- left(X, Y);  right(X, Y)@next :- right(X, Y);
        pre(X) :- all(X);  post(X) :- all(X), left(_, X), right(_, "b");
    """
    (row,) = explained(text, FailureSpec(("a", "b", "c"), 4, eff=2), Loss("a", "b", 1))
    assert lines(row) == ["O(a,b,1): left a->b@1-2!, right b->c@2-3"]


def test_one_of_several_ways_is_told_the_shorter_one() -> None:
    text = """
        cast(a, b)@1;  cast(a, c)@1;  here(a)@1;  here(X)@next :- here(X);
        log(Y)@async :- cast(X, Y);  log(X)@next :- log(X);
        far(Y, X) :- log(X), cast(_, Y)@1;
        pre(X) :- here(X);  post(X) :- here(X), far("b", "b"), log("b");  post(X) :- here(X), log("b");
    """
    (row,) = explained(text, FailureSpec(("a", "b", "c"), 3, eff=2), Loss("a", "b", 1))
    assert lines(row) == ["O(a,b,1): log a->b@1-2!"]


def test_what_stays_away_is_told_for_every_way_in_which_it_came_about() -> None:
    """Either token raises the alarm; without the crash neither is sent."""
    text = """
        watch(a, b)@1;  watch(a, c)@1;  here(d)@1;  beat(e, a)@1;  here(X)@next :- here(X);
        watch(X, Y)@next :- watch(X, Y);
        alive(Y)@async :- beat(X, Y);  alive(X)@next :- alive(X);
        token(Y, X)@async :- watch(X, Y), watch(X, Y)@2, notin alive(X);  token(X, Y)@next :- token(X, Y);
        alarm(Y) :- token(X, Y);
        pre(X) :- here(X);  post(X) :- here(X), notin alarm("a");
    """
    nodes = ("a", "b", "c", "d", "e")
    (row,) = explained(text, FailureSpec(nodes, 4, crashes=1), Crash("e", 1))
    assert lines(row) == [
        "C(e,1): alive e->a@1-2!, no token a->b@2-3, no token a->c@2-3, no alarm(a)@4",
    ]
    assert [(event.time, brief(event.step), event.fault) for event in row.events] == [
        (1, "alive e->a@1-2!", Crash("e", 1)),
        (2, "no token a->b@2-3", None),
        (2, "no token a->c@2-3", None),
        (4, "no alarm(a)@4", None),
    ]


def test_a_message_that_must_not_come_late() -> None:
    """The note is gone by the end; one step later it is not, and promises what nobody keeps."""
    text = """
        start(a, x)@1;  peer(a, b)@1;
        note(M, V)@async :- start(N, V), peer(N, M);
        pre(V) :- note(_, V);  post(V) :- nothing(_, V);  nothing(N, V)@next :- nothing(N, V);
    """
    (row,) = explained(text, FailureSpec(("a", "b"), 3, delays=1), Delay("a", "b", 1, 1))
    (line,) = row.account.without
    assert (line.outcome, line.holds) == (Violation("pre", ("x",)), False)
    assert lines(row) == ["D(a,b,1,1): no note a->b@1-3!"]


def test_enough_of_many_votes() -> None:
    """Two of three are a majority: one more is enough, and only one is told."""
    text = """
        ask(a, x)@1;  ask(b, x)@1;  ask(c, x)@1;  here(d, x)@1;  here(X, V)@next :- here(X, V);
        vote("d", X, V)@async :- ask(X, V);  vote(X, Y, V)@next :- vote(X, Y, V);
        votes(X, V, count<Y>) :- vote(X, Y, V);  won(X, V) :- votes(X, V, N), N >= 2;
        pre(X, V) :- here(X, V);  post(X, V) :- here(X, V), won(X, V);
    """
    spec = FailureSpec(("a", "b", "c", "d"), 3, eff=2)
    (row,) = explained(text, spec, Loss("a", "d", 1), Loss("b", "d", 1))
    assert lines(row) == [
        "O(a,d,1): vote a->d@1-2!, votes(d, x, 2)@3..., won(d, x)@3",
        "O(b,d,1): vote b->d@1-2!, votes(d, x, 2)@3..., won(d, x)@3",
    ]


def test_rows_that_confirm_each_other_are_not_each_others_cause() -> None:
    text = """
        start(a, x)@1;  peer(a, b)@1;  here(a, x)@1;  here(X, V)@next :- here(X, V);
        got(Y, V)@async :- start(X, V), peer(X, Y);
        heard(Y, V) :- got(Y, V);  heard(X, V) :- told(X, V);  told(X, V) :- heard(X, V);
        got(X, V)@next :- got(X, V);
        pre(X, V) :- here(X, V);  post(X, V) :- here(X, V), told("b", V);
    """
    (row,) = explained(text, FailureSpec(("a", "b"), 3, eff=2), Loss("a", "b", 1))
    assert lines(row) == ["O(a,b,1): got a->b@1-2!, heard(b, x)@3..., told(b, x)@3"]


def test_without_assertions_the_row_comes_back() -> None:
    text = """
        start(a, x)@1;  peer(a, b)@1;
        got(M, V)@async :- start(N, V), peer(N, M);  got(N, V)@next :- got(N, V);
    """
    spec = FailureSpec(("a", "b"), 3, eff=2, crashes=1)
    (row,) = explained(text, spec, Loss("a", "b", 1))
    (line,) = row.account.without
    assert (line.outcome, line.holds) == (Violation("got", ("b", "x")), True)
    assert lines(row) == ["O(a,b,1): got a->b@1-2!"]


def test_of_two_faults_that_are_enough_each_the_last_one_is_needed() -> None:
    text = """
        start(a, x)@1;  peer(a, b)@1;
        got(M, V)@async :- start(N, V), peer(N, M);  got(N, V)@next :- got(N, V);
    """
    spec = FailureSpec(("a", "b"), 3, eff=2, crashes=1)
    (row,) = explained(text, spec, Loss("a", "b", 1), Crash("a", 1))
    assert row.account.needed == FaultSet((Crash("a", 1),))
    assert [line.needed for line in row.account.without] == [False, True]
    assert lines(row)[1] == "C(a,1): got a->b@1-2!"


def test_what_fails_anyway_needs_no_fault() -> None:
    text = """
        start(a, x)@1;  start(N, V)@next :- start(N, V);
        pre(N, V) :- start(N, V);  post(N, V) :- nothing(N, V);
        nothing(M, V)@async :- nothing(N, V), start(N, M);
    """
    (row,) = explained(text, FailureSpec(("a", "b"), 3, eff=2, crashes=1), Crash("a", 1))
    assert (row.account.needed, row.events) == (FaultSet(), ())
    assert [line.needed for line in row.account.without] == [False]


def test_rows_that_are_violated_alike() -> None:
    """Only the assertion tells them apart."""
    verdict = verdict_of("3pc")
    assert verdict.program is not None
    found = verdict.counterexamples[0]
    runs = Runs.of(verdict.program, verdict.spec, found.faults, NO_DEADLINE)
    first, *others = explain_rows(runs, found.violations)
    assert first.like is None and len(others) == 2
    assert {row.like for row in others} == {first.violation}


def test_helpers_of_a_translation_are_not_told() -> None:
    source = parse_program("""
        start(a, x)@1;  peer(a, b)@1;
        got(M, V)@async :- start(N, V), peer(N, M);  got(N, V)@next :- got(N, V);
        hidden(N, V) :- got(N, V);  shown(N, V)@next :- hidden(N, V);  shown(N, V)@next :- shown(N, V);
        pre(M, V) :- start(N, V)@1, peer(N, M)@1;  post(N, V) :- shown(N, V);
    """)
    program = replace(check_program(source).program, helpers=frozenset({"hidden"}))
    runs = Runs.of(program, FailureSpec(("a", "b"), 4, eff=2), FaultSet((Loss("a", "b", 1),)), NO_DEADLINE)
    (row,) = explain_rows(runs, [Violation("pre", ("b", "x"))])
    assert lines(row) == ["O(a,b,1): got a->b@1-2!, shown(b, x)@3"]


def test_a_fault_that_another_one_made_necessary_is_not_needed_without_it() -> None:
    """Tried one by one: with y lost, x must be lost as well; but y need not be."""
    text = """
        s(p, t)@1;  s(q, t)@1;  s(r, t)@1;
        x(T)@async :- s("p", T);  y(T)@async :- s("q", T);  z(T)@async :- s("r", T);
        pre(T) :- s(_, T)@1;  post(T) :- z(T);  post(T) :- x(T), notin y(T);
    """
    faults = [Loss("p", "t", 1), Loss("q", "t", 1), Loss("r", "t", 1)]
    (row,) = explained(text, FailureSpec(("p", "q", "r", "t"), 2, eff=2), *faults)
    assert row.account.needed == FaultSet.of([Loss("r", "t", 1)])


VOTING = """
    ask(b, a)@1;  due(a)@2;  here(c)@1;  here(X)@next :- here(X);
    well(Y)@async :- ask(X, Y);
    vote("c", X, "yes")@async :- due(X), well(X);  vote("c", X, "no")@async :- due(X), notin well(X);
    refused(X)@next :- vote(X, _, "no");  refused(X)@next :- refused(X);
    pre(X) :- here(X);  post(X) :- here(X), notin refused(X);
"""


def test_rows_that_are_violated_in_different_ways_are_not_told_as_alike() -> None:
    """Who did not hear of the other leads; both then know two leaders, each for its own reason."""
    text = """
        tell(s, a)@1;  tell(s, b)@1;  here(a)@1;  here(b)@1;  here(X)@next :- here(X);
        who(Y)@async :- tell(X, Y);  who(X)@next :- who(X);
        lead(X)@next :- here(X)@2, notin who(X);
        split(X) :- lead(X), lead(Y), X != Y;
        pre(X) :- lead(X);  post(X) :- lead(X), notin split(X);
    """
    rows = explained(text, FailureSpec(("a", "b", "s"), 3, eff=2), Loss("s", "a", 1), Loss("s", "b", 1))
    assert [row.like for row in rows] == [None, None]
    ends = [[(line.outcome.relation, line.holds) for line in row.account.without] for row in rows]
    assert ends == [[("pre", False), ("post", True)], [("post", True), ("pre", False)]]
    assert all(row.events for row in rows), "that somebody leads is of the protocol, though only 'pre' reads it"


def test_a_vote_is_told_with_what_it_says_where_there_is_another() -> None:
    spec = FailureSpec(("a", "b", "c"), 4, eff=2)
    (row,) = explained(VOTING, spec, Loss("b", "a", 1))
    (line,) = row.account.without
    assert [step_text(step, line.fault) for step in line.steps] == [
        "well b→a@1 arrives",
        "no vote(a, no) a→c@2",
        "no refused(c)@4",
    ]


def test_a_message_that_is_late_is_told_once() -> None:
    """It is what one fault hits, and a consequence of the other."""
    text = """
        item(c, k)@1;  del(a, c)@2;  peer(c, a)@1;  peer(X, Y)@next :- peer(X, Y);
        tomb(Y)@async :- del(X, Y);  tomb(X)@next :- tomb(X);
        item(X, K)@next :- item(X, K), notin tomb(X);
        gossip(Y, K)@async :- item(X, K), peer(X, Y), notin tomb(X);
        item(X, K)@next :- gossip(X, K), gossip(X, K)@5;
        pre(X) :- peer(X, _);  post(X) :- peer(X, _), notin item("a", _);
    """
    faults = Delay("a", "c", 2, 1), Delay("c", "a", 3, 1)
    (row,) = explained(text, FailureSpec(("a", "c"), 7, delays=1), *faults)
    assert [(brief(event.step), event.fault) for event in row.events if isinstance(event.step, MessageStep)] == [
        ("tomb a->c@2-3!", faults[0]),
        ("no gossip c->a@3-5!", faults[1]),
    ]
