"""The lineage graph: exact for the protocols of Figure 4, and for any program true to its failure-free run."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import pytest
from hypothesis import given

from clew import parse_program
from clew.budgets.deadline import Deadline
from clew.explain.failure_free import FailureFree
from clew.explain.lineage_builder import build_lineage_graph
from clew.explain.lineage_graph import Firing, Goal, LineageGraph
from clew.explain.why import find_why
from clew.faults import Crash, FailureSpec, FaultSet, SentMessage
from clew.program.assertions import PRE, is_never, is_pre, post_of
from clew.program.checks import check_program
from clew.program.ir import CRASH, Program, Timing, as_place
from clew.violation import Violation
from example_verdicts import NAMES, explainer_of
from generators import failure_specs, problems

NO_DEADLINE = Deadline(None)


@cache
def failure_free(name: str) -> FailureFree:
    known = explainer_of(name)
    return FailureFree(known.program, known.spec, NO_DEADLINE)


def whole(name: str, *row: str) -> LineageGraph:
    return build_lineage_graph(failure_free(name), Violation(PRE, row))


def of_text(text: str, spec: FailureSpec) -> FailureFree:
    return FailureFree(check_program(parse_program(text)).program, spec, NO_DEADLINE)


def links(graph: LineageGraph) -> set[SentMessage]:
    """Of the messages that were sent; a graph also shows messages that were not."""
    return {f.transfer.link for f in graph.firings if f.transfer and (f.fired or f.punctual)}


@dataclass(frozen=True)
class Named:
    """A graph as text: goals by label and time, firings by the line of their rule, or the message they sent."""

    graph: LineageGraph
    program: Program

    def goal(self, number: int) -> str:
        goal = self.graph.goals[number]
        times = str(goal.last) if goal.first == goal.last else f"{goal.first}..{goal.last}"
        return f"{goal.label} {times}{' given' if goal.given else ''}"

    def firing(self, number: int) -> str:
        firing = self.graph.firings[number]
        rule = self.program.rules[firing.rule]
        if firing.transfer:
            source, target, sent = firing.transfer.link
            name = f"{firing.transfer.relation} {source}->{target}@{sent}"
        else:
            name = f"{rule.relation}{rule.timing.value}"
        kind = "" if firing.fired else "punctual " if firing.punctual else "not "
        return f"{kind}{name}"

    def lines(self) -> list[str]:
        """``goal <- firing: goals it needs``, one for each firing."""
        found = []
        for number, behind in enumerate(self.graph.why):
            for firing in behind:
                needs = ", ".join(map(self.goal, self.graph.needs[firing]))
                found.append(f"{self.goal(number)} <- {self.firing(firing)}: {needs}".rstrip(": "))
        return found


def told(name: str, *row: str) -> list[str]:
    return Named(whole(name, *row), explainer_of(name).program).lines()


# -- exact graphs -----------------------------------------------------------------------------------------------


def test_a_single_broadcast_as_in_figure_4a() -> None:
    assert told("simple-deliv", "b", "data") == [
        "post(b, data) 4 <- post: log(b, data) 4 given, no missing(c, data) 4",
        "no missing(c, data) 4 <- not missing: log(c, data) 2..4",
        "log(c, data) 2..4 <- log a->c@1: bcast(a, data) 1 given",
    ]


def test_both_messages_of_a_broadcast_support_its_sender() -> None:
    graph = whole("simple-deliv", "a", "data")
    assert [(g.label, g.first, g.last, g.present, g.given) for g in graph.goals] == [
        ("post(a, data)", 4, 4, True, False),
        ("log(a, data)", 4, 4, True, True),
        ("no missing(b, data)", 4, 4, False, False),
        ("no missing(c, data)", 4, 4, False, False),
        ("log(b, data)", 2, 4, True, False),
        ("log(c, data)", 2, 4, True, False),
        ("bcast(a, data)", 1, 1, True, True),
    ]
    rules = [explainer_of("simple-deliv").program.rules[f.rule] for f in graph.firings]
    assert [(rule.relation, rule.timing) for rule in rules] == [
        ("post", Timing.SAME),
        ("missing", Timing.SAME),
        ("missing", Timing.SAME),
        ("log", Timing.ASYNC),
        ("log", Timing.ASYNC),
    ]
    assert [(f.time, f.fired) for f in graph.firings] == [(4, True), (4, False), (4, False), (1, True), (1, True)]
    assert [f.transfer and (f.transfer.row, f.transfer.link) for f in graph.firings] == [
        None,
        None,
        None,
        (("b", "data"), ("a", "b", 1)),
        (("c", "data"), ("a", "c", 1)),
    ]
    assert graph.why == ((0,), (), (1,), (2,), (3,), (4,), ())
    assert graph.needs == ((1, 2, 3), (4,), (5,), (6,), (6,))
    assert not graph.truncated


def test_retries_as_in_figure_4b_are_not_one_chain() -> None:
    """Every step has a message of its own, besides what is kept from the step before."""
    assert told("retry-deliv", "c", "data") == [
        "post(c, data) 4 <- post: log(c, data) 4 given, no missing(b, data) 4",
        "no missing(b, data) 4 <- not missing: log(b, data) 4",
        "log(b, data) 4 <- log a->b@3",
        "log(b, data) 4 <- log@next: log(b, data) 3",
        "log(b, data) 3 <- log a->b@2",
        "log(b, data) 3 <- log@next: log(b, data) 2",
        "log(b, data) 2 <- log a->b@1",
    ]


def test_a_row_that_merely_persists_is_one_goal() -> None:
    graph = whole("simple-deliv", "a", "data")
    (number,) = (n for n, goal in enumerate(graph.goals) if goal.label == "log(b, data)")
    assert (graph.goals[number].first, graph.goals[number].last) == (2, 4)
    assert [graph.firings[n].transfer is not None for n in graph.why[number]] == [True]
    assert not any(g.relation == "node" for g in graph.goals), "no fault touches who knows whom"


def test_a_row_that_a_node_sends_to_itself_is_no_chain() -> None:
    """It looks like persistence, but a chain says that a rule with @next kept it."""
    text = """
        start(a, x)@1;  peer(a, b)@1;
        got(M, V)@async :- start(N, V), peer(N, M);  got(N, V)@async :- got(N, V);
        pre(V) :- start(_, V)@1;  post(V) :- got(b, V);
    """
    reason = of_text(text, FailureSpec(("a", "b"), 3, eff=2))
    graph = build_lineage_graph(reason, Violation(PRE, ("x",)))
    assert [(g.label, g.first, g.last) for g in graph.goals if g.relation == "got"] == [
        ("got(b, x)", 3, 3),
        ("got(b, x)", 2, 2),
    ]
    assert links(graph) == {("a", "b", 1)}


def test_votes_are_counted() -> None:
    assert told("2pc", "termination", "a", "t1") == [
        "post(termination, a, t1) 5 <- post: decision(a, t1, commit) 4..5",
        "decision(a, t1, commit) 4..5 <- decision: outcome(a, t1, commit) 4",
        "outcome(a, t1, commit) 4 <- outcome C->a@3: decision(C, t1, commit) 3",
        "decision(C, t1, commit) 3 <- decision: outcome(C, t1, commit) 3",
        "outcome(C, t1, commit) 3 <- outcome: in_favour(C, t1, 3) 3",
        "in_favour(C, t1, 3) 3 <- in_favour: vote(C, a, t1, yes) 3, vote(C, b, t1, yes) 3, vote(C, d, t1, yes) 3",
        "vote(C, a, t1, yes) 3 <- vote a->C@2: prepare(a, C, t1) 2 given",
        "vote(C, b, t1, yes) 3 <- vote b->C@2: prepare(b, C, t1) 2",
        "vote(C, d, t1, yes) 3 <- vote d->C@2: prepare(d, C, t1) 2",
        "prepare(b, C, t1) 2 <- prepare C->b@1: begin(C, t1) 1 given",
        "prepare(d, C, t1) 2 <- prepare C->d@1: begin(C, t1) 1 given",
    ]


def test_all_votes_of_three_phase_commit_are_counted_twice() -> None:
    lines = told("3pc", "agreement", "a", "t1")
    counted = [line for line in lines if line.startswith(("votes(C, t1, 3)", "acks(C, t1, 3)"))]
    assert counted
    for line in counted:
        relation = "vote" if line.startswith("votes") else "ack"
        assert all(f"{relation}(C, {agent}, t1)" in line for agent in "abd"), line


def test_staying_up_is_a_goal() -> None:
    graph = whole("kafka", "C", "w1")
    up = [g for g in graph.goals if g.crashes]
    assert [g.label for g in up] == ["a stays up", "b stays up", "c stays up"]
    for goal in up:
        assert goal.crashes == tuple(Crash(as_place(goal.row[0]), t) for t in range(1, 6))
        assert (goal.relation, goal.first, goal.last, goal.present) == (CRASH, 1, 6, False)
        assert graph.why[graph.goals.index(goal)] == ()


def test_what_pre_implies_is_given() -> None:
    """Kafka promises something only for acknowledged writes: how the acknowledgment came about does not matter."""
    graph = whole("kafka", "C", "w1")
    given_goals = [(goal.label, graph.why[n]) for n, goal in enumerate(graph.goals) if goal.given]
    assert given_goals == [("acked(C, w1)", ())]


def test_only_some_messages() -> None:
    reason, violation = failure_free("retry-deliv"), Violation(PRE, ("c", "data"))
    graph = build_lineage_graph(reason, violation, {("a", "b", 2)})
    assert links(graph) == {("a", "b", 2)}
    assert Named(graph, reason.program).lines() == [
        "post(c, data) 4 <- post: log(c, data) 4 given, no missing(b, data) 4",
        "no missing(b, data) 4 <- not missing: log(b, data) 3..4",
        "log(b, data) 3..4 <- log a->b@2",
    ]
    assert links(build_lineage_graph(reason, violation, set())) == set()


@pytest.mark.parametrize("most", [1, 2, 5, 10, 49])
def test_a_graph_that_is_too_large_is_cut_off(most: int) -> None:
    reason, violation = failure_free("kafka"), Violation(PRE, ("C", "w1"))
    everything = build_lineage_graph(reason, violation)
    assert (len(everything.goals), everything.truncated) == (50, False)
    graph = build_lineage_graph(reason, violation, most_goals=most)
    assert graph.truncated
    assert len(graph.goals) == most
    assert graph.goals[0] == everything.goals[0]
    assert_consistent(graph, reason, violation)
    assert not build_lineage_graph(reason, violation, most_goals=50).truncated


QUIET = """
    call(a, b)@1;  call(b, a)@1;  call(N, M)@next :- call(N, M);
    quiet(M)@async :- call(N, M);  quiet(N)@next :- quiet(N);
    heard(M, N)@async :- call(N, M), notin quiet(N);
    pre(N) :- call(N, _);
"""


def test_leaving_out_messages_keeps_what_kept_others_from_being_sent() -> None:
    """Nothing is heard at the end because a was told to be quiet: that message is what the outcome rests on."""
    reason = of_text(QUIET + "post(N) :- call(N, _), notin heard(b, a);", FailureSpec(("a", "b"), 3))
    violation = Violation(PRE, ("a",))
    graph = build_lineage_graph(reason, violation, {("b", "a", 1)})
    assert Named(graph, reason.program).lines() == [
        "post(a) 3 <- post: no heard(b, a) 3",
        "no heard(b, a) 3 <- not heard a->b@2: quiet(a) 2",
        "quiet(a) 2 <- quiet b->a@1",
    ]


def test_one_of_several_rows_that_fit_a_premise_is_enough() -> None:
    text = """
        start(a, x)@1;  start(c, x)@1;  peer(a, b)@1;  peer(c, b)@1;
        copy(M, N, V)@async :- start(N, V), peer(N, M);
        log(N, V) :- copy(N, _, V);
        pre(V) :- start(_, V)@1;  post(V) :- log(_, V);
    """
    reason = of_text(text, FailureSpec(("a", "b", "c"), 2, eff=2))
    graph = build_lineage_graph(reason, Violation(PRE, ("x",)), {("a", "b", 1)})
    assert Named(graph, reason.program).lines() == [
        "post(x) 2 <- post: log(b, x) 2",
        "log(b, x) 2 <- log: copy(b, a, x) 2",
        "copy(b, a, x) 2 <- copy a->b@1",
    ]


def test_messages_that_stay_away_go_where_they_would_have_gone() -> None:
    """What is heard through others stays away only together with all of it: also messages to other places."""
    closure = "heard(X, Z) :- heard(X, Y), heard(Y, Z);"
    reason = of_text(f"{QUIET} {closure} post(N) :- call(N, _), notin heard(N, N);", FailureSpec(("a", "b"), 3))
    graph = build_lineage_graph(reason, Violation(PRE, ("a",)))
    unsent = {f.transfer.link for f in graph.firings if f.transfer and not f.fired}
    assert unsent == {("a", "b", 2), ("b", "a", 2)}


def test_a_message_that_was_in_time_is_not_called_unsent() -> None:
    text = """
        start(a, x)@1;  peer(a, b)@1;
        note(M, V)@async :- start(N, V), peer(N, M);
        pre(V) :- note(_, V);  post(V) :- nothing(_, V);  nothing(N, V)@next :- nothing(N, V);
    """
    reason = of_text(text, FailureSpec(("a", "b"), 3, delays=1))
    graph = build_lineage_graph(reason, Violation(PRE, ("x",)))
    assert Named(graph, reason.program).lines() == [
        "no pre(x) 3 <- not pre: no note(b, x) 3",
        "no note(b, x) 3 <- punctual note a->b@1",
    ]


def test_very_many_ways_are_all_shown_or_the_graph_says_that_it_is_cut_off() -> None:
    senders = [f"n{number}" for number in range(60)]
    text = " ".join(f"start({node}, x)@1;  peer({node}, b)@1;" for node in senders)
    text += """
        copy(M, N, V)@async :- start(N, V), peer(N, M);
        log(N, V) :- copy(N, _, V);
        pre(V) :- start(_, V)@1;  post(V) :- log(b, V);
    """
    reason = of_text(text, FailureSpec((*senders, "b"), 2, eff=2))
    graph = build_lineage_graph(reason, Violation(PRE, ("x",)))
    assert graph.truncated or links(graph) == {(node, "b", 1) for node in senders}


# -- any graph --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_graphs_of_examples_are_consistent(name: str) -> None:
    reason = failure_free(name)
    for violation in list(reason.supports)[:6]:
        assert_explained(reason, violation)


@pytest.mark.parametrize("name", NAMES)
def test_the_focused_graph_of_an_example_has_all_that_minimal_supports_need(name: str) -> None:
    reason = failure_free(name)
    for violation in list(reason.supports)[:6]:
        assert_focused(reason, violation)


@given(problems(failure_specs))
def test_graphs_are_consistent(problem: tuple[Program, FailureSpec]) -> None:
    program, spec = problem
    reason = FailureFree(program, spec, NO_DEADLINE)
    for violation in reason.supports:
        assert_explained(reason, violation)


@given(problems(failure_specs))
def test_focused_graphs_have_all_that_minimal_supports_need(problem: tuple[Program, FailureSpec]) -> None:
    program, spec = problem
    reason = FailureFree(program, spec, NO_DEADLINE)
    for violation in reason.supports:
        assert_focused(reason, violation)


def assert_explained(reason: FailureFree, violation: Violation) -> None:
    """The whole graph is consistent, and has all that minimal supports need."""
    graph = build_lineage_graph(reason, violation)
    assert_consistent(graph, reason, violation)
    assert_nothing_is_missing(graph, reason, violation)


def assert_focused(reason: FailureFree, violation: Violation) -> None:
    """It shows the messages that minimal supports need, all of them and no others."""
    needed = arriving(reason, violation)
    graph = build_lineage_graph(reason, violation, needed)
    assert_consistent(graph, reason, violation)
    assert {f.transfer.link for f in graph.firings if f.transfer and f.fired} <= needed
    assert_nothing_is_missing(graph, reason, violation)


def assert_nothing_is_missing(graph: LineageGraph, reason: FailureFree, violation: Violation) -> None:
    if graph.truncated or shows_half(reason, violation):
        return
    assert arriving(reason, violation) <= links(graph)
    not_late = {link for s in find_why(reason, violation, FaultSet()).supports for link in s.punctual}
    assert not_late <= {f.transfer.link for f in graph.firings if f.transfer}


def arriving(reason: FailureFree, violation: Violation) -> set[SentMessage]:
    """Over which something has to arrive."""
    supports = find_why(reason, violation, FaultSet()).supports
    return {(m.source, m.target, m.sent) for s in supports for m in s.messages}


def shows_half(reason: FailureFree, violation: Violation) -> bool:
    """``pre`` stays away, and ``post`` holds all the same: the graph shows the first of the two reasons."""
    if not is_pre(violation.relation) or reason.pre_held(violation):
        return False
    return violation.row in reason.execution.rows(post_of(violation.relation))


def assert_consistent(graph: LineageGraph, reason: FailureFree, violation: Violation) -> None:
    assert_well_formed(graph)
    outcome = graph.goals[0]
    promised = is_pre(violation.relation) and reason.pre_held(violation)
    relation = post_of(violation.relation) if promised else violation.relation
    time = violation.time or reason.spec.eot
    assert (outcome.relation, outcome.row, outcome.last) == (relation, violation.row, time)
    # What keeps a violation away is that something is there, or that 'pre' or what must never hold is not.
    assert outcome.present == (promised or not (is_pre(violation.relation) or is_never(violation.relation)))
    for number, goal in enumerate(graph.goals):
        assert_true(goal, reason)
        assert not (graph.why[number] and (goal.given or goal.crashes))
        for firing in graph.why[number]:
            needs = [graph.goals[n] for n in graph.needs[firing]]
            assert_fits(graph.firings[firing], goal, needs, reason)


def assert_well_formed(graph: LineageGraph) -> None:
    assert len(graph.why) == len(graph.goals)
    assert len(graph.needs) == len(graph.firings)
    assert sorted(f for behind in graph.why for f in behind) == list(range(len(graph.firings)))
    assert {n for needs in graph.needs for n in needs} == set(range(1, len(graph.goals))), (
        "all lead to the outcome"
    )
    assert len(set(graph.goals)) == len(graph.goals)
    done: set[int] = set()
    waiting = set(range(len(graph.goals)))
    while waiting:
        ready = {g for g in waiting if all(set(graph.needs[f]) <= done for f in graph.why[g])}
        assert ready, "no goal rests on itself"
        done |= ready
        waiting -= ready


def assert_true(goal: Goal, reason: FailureFree) -> None:
    """It says of the failure-free run what is so."""
    assert 1 <= goal.first <= goal.last <= reason.spec.eot
    if goal.crashes:
        assert goal.relation == CRASH and not goal.present
        assert {c.node for c in goal.crashes if isinstance(c, Crash)} == {goal.row[0]}
        return
    for time in range(goal.first, goal.last + 1):
        assert (goal.row in reason.execution.rows(goal.relation, time)) == goal.present


def in_cycle(goal: Goal, reason: FailureFree) -> bool:
    """Rows that stay away and could only support each other have one reason together: what could bring in any."""
    rows = {a.literal: a for a in reason.model.ground.row_atoms if a.literal in reason.graph.cycles}
    return not goal.present and (goal.relation, goal.row, goal.first) in {a[1:] for a in rows.values()}


def assert_fits(firing: Firing, goal: Goal, needs: list[Goal], reason: FailureFree) -> None:
    """The rule concludes the goal from goals that its body names."""
    rule = reason.program.rules[firing.rule]
    sent = firing.transfer
    if not in_cycle(goal, reason):
        assert rule.relation == goal.relation
        assert sent is None or (sent.relation, sent.row) == (goal.relation, goal.row)
    assert firing.fired == goal.present
    if goal.present or sent is None:
        assert firing.time in (goal.first, goal.first - 1) and not firing.punctual
    else:  # not sent, or not late
        spec = reason.spec
        # Explanations do not end with EFF, so that a message may arrive again at any later time.
        latest = spec.eot if spec.duplicates else firing.time + 1 + spec.delays
        assert firing.time + 1 + firing.punctual <= goal.first <= latest
    assert all(need.first <= goal.first for need in needs)
    for need in needs:
        negated = {p.negated for p in rule.premises if p.relation == need.relation}
        if need.crashes:
            assert any(p.relation == CRASH for p in rule.premises)
        else:
            # A count stays away also because there is one more to be counted.
            assert (need.present != firing.fired) in negated or (negated and rule.aggregates)
    if sent is None:
        return
    assert rule.timing is Timing.ASYNC
    assert sent.relation == rule.relation
    assert sent.source != sent.target == sent.row[0]
    assert sent.sent == firing.time
    messages = {(m.relation, m.row, m.source, m.target, m.sent) for m in reason.execution.messages}
    assert ((sent.relation, sent.row, *sent.link) in messages) == (firing.fired or firing.punctual)
