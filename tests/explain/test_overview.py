"""The overview of a lineage: staircases are one box each, and nothing is lost or said that is not so."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st

from clew import parse_program
from clew.budgets.deadline import Deadline
from clew.explain.failure_free import FailureFree
from clew.explain.lineage_builder import build_lineage_graph
from clew.explain.lineage_graph import Firing, Goal, LineageGraph, Transfer
from clew.explain.overview import FEWEST_ABSENCES, FEWEST_KEPT, Box, BoxKind, Overview, overview
from clew.faults import FailureSpec
from clew.program.checks import check_program
from clew.program.ir import Program, Timing
from clew.violation import Violation
from example_verdicts import NAMES, explainer_of
from generators import failure_specs, problems
from long_mode import first_of

NO_DEADLINE = Deadline(None)


def of_text(text: str, spec: FailureSpec, *row: str) -> tuple[LineageGraph, Program]:
    program = check_program(parse_program(text)).program
    return build_lineage_graph(FailureFree(program, spec, NO_DEADLINE), Violation("pre", row)), program


def told(graph: LineageGraph, seen: Overview) -> list[str]:
    """The boxes of several goals: ``label first..last (number of goals) <- what their joints need``."""
    return [
        f"{_name(graph, box)} <- {' | '.join(_joint(graph, seen, joint) for joint in seen.why[number])}"
        for number, box in enumerate(seen.boxes)
        if box.kind is not BoxKind.SINGLE
    ]


def _name(graph: LineageGraph, box: Box) -> str:
    named = [graph.goals[g] for g in box.named]
    times = f"{named[0].first}..{named[-1].last}"
    return f"{named[0].label} {times}" + (f" ({len(box.goals)})" if box.kind is not BoxKind.SINGLE else "")


def _joint(graph: LineageGraph, seen: Overview, joint: int) -> str:
    firings = [graph.firings[f] for f in seen.joints[joint].firings]
    first = firings[0]
    kind = "through" if seen.joints[joint].through else "kept" if not first.transfer else "not late"
    link = f" {first.transfer.source}->{first.transfer.target}" if kind == "not late" and first.transfer else ""
    times = f"@{','.join(str(f.time) for f in firings)}" if kind != "through" else ""
    return f"{kind}{link}{times}: {', '.join(_name(graph, seen.boxes[b]) for b in seen.needs[joint])}".rstrip(": ")


# -- staircases -------------------------------------------------------------------------------------------------

ALARM = """
    peer(t, m)@1;  peer(N, M)@next :- peer(N, M);  watches(m, t)@1;  watches(N, M)@next :- watches(N, M);
    beat(M, N)@async :- peer(N, M);
    silent(N, M, 1) :- watches(N, M), notin beat(N, M), notin before(N, M, _);
    silent(N, M, K + 1) :- before(N, M, K), notin beat(N, M);
    before(N, M, K)@next :- silent(N, M, K), K < 3;
    alarm(N) :- silent(N, _, 3);
    alarm(N)@next :- alarm(N);
    pre(N) :- watches(N, _);  post(N) :- watches(N, _), notin alarm(N);
"""


def test_absences_that_rest_on_each_other_are_one_box() -> None:
    """Alarm is raised after three steps of silence: without it, nobody was silent for three, two or one."""
    graph, program = of_text(ALARM, FailureSpec(("m", "t"), 7, eff=6), "m")
    seen = overview(graph, program.rules)
    assert len(graph.goals) == 1 + 28 + 6
    assert [_name(graph, box) for box in seen.boxes] == [
        "post(m) 7..7",
        "no alarm(m) 3..7 (28)",
        *(f"beat(m, t) {time}..{time}" for time in (7, 6, 5, 4, 3, 2)),
    ]
    beats = ", ".join(f"beat(m, t) {time}..{time}" for time in (7, 6, 5, 4, 3, 2))
    assert told(graph, seen) == [f"no alarm(m) 3..7 (28) <- through: {beats}"]


def test_what_must_not_be_late_stays_in_sight_once_for_each_link() -> None:
    text = """
        call(a, x)@1;  call(a, x)@2;  peer(a, b)@1;  peer(a, c)@1;  peer(N, M)@next :- peer(N, M);
        note(M, V)@async :- call(N, V), peer(N, M);
        late(N, V) :- note(N, V), end(N);  end(b)@4;  end(c)@4;
        seen(N, V)@next :- late(N, V);  seen(N, V)@next :- seen(N, V);
        told(V) :- seen(_, V);
        pre(V) :- call(_, V)@1;  post(V) :- call(_, V)@1, notin told(V);
    """
    graph, program = of_text(text, FailureSpec(("a", "b", "c"), 5, delays=2), "x")
    assert told(graph, overview(graph, program.rules)) == [
        "no told(x) 5..5 (7) <- through | not late a->b@1,2 | not late a->c@1,2",
    ]


def test_a_row_that_is_kept_on_a_condition_is_one_box() -> None:
    """From 3 on it could have been dropped; why it is not is another box."""
    text = """
        peer(b, a)@1;  peer(N, M)@next :- peer(N, M);
        on(a)@1;  on(N)@next :- on(N), notin off(N);
        beat(M)@async :- peer(_, M);  need(a)@1;  need(N)@next :- need(N);
        off(N) :- need(N), notin beat(N), clock(N, K), K > 1;
        clock(a, 1)@1;  clock(N, K + 1)@next :- clock(N, K);
        pre(N) :- need(N);  post(N) :- on(N), need(N);
    """
    graph, program = of_text(text, FailureSpec(("a", "b"), 6, eff=5), "a")
    beats = ", ".join(f"beat(a) {time}..{time}" for time in (5, 4, 3, 2))
    assert told(graph, overview(graph, program.rules)) == [
        "on(a) 3..6 (4) <- kept@5,4,3,2: no off(a) 2..5 (4)",
        f"no off(a) 2..5 (4) <- through: {beats}",
    ]


def test_a_few_absences_are_drawn_one_by_one() -> None:
    text = """
        peer(a, b)@1;  told(M)@async :- peer(N, M);  told(N)@next :- told(N);
        ends(b)@1;  ends(N)@next :- ends(N);  lacks(N) :- ends(N), notin told(N);  bad(N) :- lacks(N);
        pre(N) :- ends(N);  post(N) :- ends(N), notin bad(N);
    """
    graph, program = of_text(text, FailureSpec(("a", "b"), 4, eff=3), "b")
    assert [goal.label for goal in graph.goals] == ["post(b)", "ends(b)", "no bad(b)", "no lacks(b)", "told(b)"]
    seen = overview(graph, program.rules)
    assert [(box.kind, box.goals) for box in seen.boxes] == [(BoxKind.SINGLE, (n,)) for n in range(5)]
    assert [joint.firings for joint in seen.joints] == [(n,) for n in range(4)]
    assert (seen.why, seen.needs) == (graph.why, graph.needs)


def test_three_phase_commit_with_delays_is_a_third_of_its_boxes() -> None:
    about = explainer_of("3pc", 1)
    graph = about.lineage(Violation("pre", ("agreement", "a", "t1"))).focused
    seen = overview(graph, about.program.rules)
    assert (len(graph.goals), len(graph.firings)) == (86, 126)
    assert (len(seen.boxes), len(seen.joints)) == (36, 45)
    (absences,) = (box for box in seen.boxes if box.kind is BoxKind.ABSENCES)
    assert [graph.goals[g].label for g in absences.named] == ["no conflict(a, t1)"]
    assert len(absences.goals) == 51


# -- any graph --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("delays", first_of([None, 1], 1))
@pytest.mark.parametrize("name", NAMES)
def test_overviews_of_examples_are_sound(name: str, delays: int | None) -> None:
    about = explainer_of(name, delays)
    for violation in about.outcomes()[:3]:
        lineage = about.lineage(violation)
        for graph in (lineage.focused, lineage.whole):
            assert_sound(graph, overview(graph, about.program.rules), about.program)


@given(problems(failure_specs))
def test_overviews_are_sound(problem: tuple[Program, FailureSpec]) -> None:
    program, spec = problem
    reason = FailureFree(program, spec, NO_DEADLINE)
    for violation in reason.supports:
        graph = build_lineage_graph(reason, violation)
        assert_sound(graph, overview(graph, program.rules), program)


RULES = check_program(
    parse_program("p(X)@next :- p(X), notin q(X);  q(X)@next :- q(X), notin p(X);  p(X)@async :- q(X);  p(a)@1;")
).program


@st.composite
def tangles(draw: st.DrawFn) -> LineageGraph:
    """Few rows at many times that rest on each other in any way, so that many could be put into one box."""
    rows = draw(st.lists(st.tuples(st.sampled_from("pq"), st.sampled_from("ab")), min_size=1, unique=True))
    present = [draw(st.booleans()) for _ in rows]  # at all times
    goals = [
        Goal(relation, (row,), time, time, there, draw(st.integers(0, 9)) == 0)
        for time in range(draw(st.integers(2, 6)), 0, -1)
        for (relation, row), there in zip(rows, present, strict=True)
        if draw(st.integers(0, 5))
    ] or [Goal("p", ("a",), 1, 1, True)]
    firings: list[Firing] = []
    why: list[tuple[int, ...]] = []
    needs: list[tuple[int, ...]] = []
    for number, goal in enumerate(goals):
        reasons = [] if goal.given else draw(_reasons(goals, number))
        why.append(tuple(range(len(firings), len(firings) + len(reasons))))
        firings += [firing for firing, _ in reasons]
        needs += [needed for _, needed in reasons]
    return LineageGraph(tuple(goals), tuple(firings), tuple(why), tuple(needs), False)


@st.composite
def _reasons(draw: st.DrawFn, goals: list[Goal], number: int) -> list[tuple[Firing, tuple[int, ...]]]:
    """Rules and messages behind a goal; a row is often kept by the rule for its relation."""
    goal, earlier = goals[number], range(number + 1, len(goals))
    some = st.lists(st.sampled_from(earlier), max_size=3, unique=True) if earlier else st.just([])
    rule = "pq".index(goal.relation)
    if goal.present and draw(st.integers(0, 3)):
        row = (goal.relation, goal.row, goal.first - 1)
        before = [n for n in earlier if (goals[n].relation, goals[n].row, goals[n].last) == row]
        absent = [n for n in draw(some) if not goals[n].present]
        return [(Firing(rule, goal.first - 1, True), (*before, *absent))]
    found = []
    for _ in range(draw(st.integers(0, 3))):
        transfer = Transfer("p", ("a",), "a", "b", goal.first - 1) if draw(st.integers(0, 4)) == 0 else None
        punctual = transfer is not None and not goal.present and draw(st.booleans())
        firing = Firing(rule, goal.first - 1, goal.present, transfer, punctual)
        found.append((firing, () if punctual else tuple(draw(some))))
    return found


@given(tangles())
def test_overviews_of_tangles_are_sound(graph: LineageGraph) -> None:
    assert_sound(graph, overview(graph, RULES.rules), RULES)


def test_tangles_have_boxes_of_both_kinds() -> None:
    """Otherwise the test before this one would say little."""
    few = settings(max_examples=200, phases=[Phase.generate], derandomize=True, database=None)
    find(tangles(), lambda graph: _has(graph, BoxKind.ABSENCES), settings=few)
    find(tangles(), lambda graph: _has(graph, BoxKind.KEPT), settings=few)


def _has(graph: LineageGraph, kind: BoxKind) -> bool:
    return any(box.kind is kind for box in overview(graph, RULES.rules).boxes)


def assert_sound(graph: LineageGraph, seen: Overview, program: Program) -> None:
    """What the module promises, read off the graph alone."""
    assert sorted(goal for box in seen.boxes for goal in box.goals) == list(range(len(graph.goals)))
    assert seen.boxes[0].goals == (0,)
    box_of = {goal: number for number, box in enumerate(seen.boxes) for goal in box.goals}
    user = {firing: goal for goal, firings in enumerate(graph.why) for firing in firings}
    assert_no_cycle(seen)
    for number, box in enumerate(seen.boxes):
        joined = sorted(f for joint in seen.why[number] for f in seen.joints[joint].firings)
        assert joined == sorted(f for goal in box.goals for f in graph.why[goal])
        for joint in seen.why[number]:
            needed = {box_of[g] for f in seen.joints[joint].firings for g in graph.needs[f]} - {number}
            assert set(seen.needs[joint]) == needed and len(seen.needs[joint]) == len(needed)
        users = {goal: {user[f] for f, needs in enumerate(graph.needs) if goal in needs} for goal in box.goals}
        match box.kind:
            case BoxKind.SINGLE:
                assert len(box.goals) == 1 and box.named == box.goals
                assert all(
                    len(seen.joints[j].firings) == 1 and not seen.joints[j].through for j in seen.why[number]
                )
            case BoxKind.ABSENCES:
                assert_absences(graph, seen, number)
                hidden = set(box.goals) - set(box.named)
                assert all(users[goal] <= set(box.goals) for goal in hidden), "nothing outside rests on these"
            case BoxKind.KEPT:
                assert_kept(graph, seen, number, program)


def assert_no_cycle(seen: Overview) -> None:
    done: set[int] = set()
    waiting = set(range(len(seen.boxes)))
    while waiting:
        ready = {box for box in waiting if all(set(seen.needs[joint]) <= done for joint in seen.why[box])}
        assert ready, "no box rests on itself"
        done |= ready
        waiting -= ready


def assert_absences(graph: LineageGraph, seen: Overview, number: int) -> None:
    box = seen.boxes[number]
    goals = [graph.goals[goal] for goal in box.goals]
    assert len(goals) >= FEWEST_ABSENCES
    assert not any(goal.present or goal.given or goal.crashes for goal in goals)
    assert_without_gap(graph, box)
    through, *late = (seen.joints[joint] for joint in seen.why[number])
    assert through.through and not any(graph.firings[f].punctual for f in through.firings), "no message is hidden"
    links = []
    for joint in late:
        firings = [graph.firings[f] for f in joint.firings]
        assert not joint.through and all(f.punctual and f.transfer for f in firings)
        (link,) = {(f.transfer.source, f.transfer.target) for f in firings if f.transfer}
        links.append(link)
    assert len(set(links)) == len(links)


def assert_kept(graph: LineageGraph, seen: Overview, number: int, program: Program) -> None:
    box = seen.boxes[number]
    assert set(box.named) == set(box.goals) and len(box.goals) >= FEWEST_KEPT
    assert_without_gap(graph, box)
    (joint,) = seen.why[number]
    assert len({graph.firings[f].rule for f in seen.joints[joint].firings}) == 1
    for goal in (graph.goals[g] for g in box.goals):
        (firing,) = graph.why[graph.goals.index(goal)]
        assert goal.present and not goal.given and not graph.firings[firing].transfer
        assert program.rules[graph.firings[firing].rule].timing is Timing.NEXT
        needs = [graph.goals[n] for n in graph.needs[firing]]
        before = [n for n in needs if n.present]
        assert len(before) < len(needs)
        assert all((n.relation, n.row, n.last) == (goal.relation, goal.row, goal.first - 1) for n in before)


def assert_without_gap(graph: LineageGraph, box: Box) -> None:
    named = [graph.goals[goal] for goal in box.named]
    assert len({(goal.relation, goal.row) for goal in named}) == 1
    assert all(after.first == before.last + 1 for before, after in pairwise(named))
