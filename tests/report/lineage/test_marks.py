"""What faults do to a lineage, and to the boxes in which it is drawn: read off the run a second time."""

from __future__ import annotations

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from clew.budgets.deadline import Deadline
from clew.dedalus.printer import print_program
from clew.engine.execution import Execution
from clew.explain.explainer import Explainer
from clew.explain.failure_free import FailureFree
from clew.explain.lineage_builder import build_lineage_graph
from clew.explain.lineage_graph import Firing, Goal, LineageGraph
from clew.explain.overview import BoxKind, Overview, overview
from clew.faults import Delay, FaultSet, Loss
from clew.program.checks import check_program
from clew.report.lineage.marks import Marks, lineage_marks
from clew.violation import Violation
from example_verdicts import verdict_of
from generators import failure_specs, fault_sets, programs

NO_DEADLINE = Deadline(None)


# -- exact ------------------------------------------------------------------------------------------------------


class Marked:
    """A lineage of an example with what some faults do to it, by the words on its boxes."""

    def __init__(
        self, name: str, violation: Violation, faults: FaultSet | None = None, delays: int | None = None
    ) -> None:
        found = verdict_of(name, delays=delays)
        assert found.program is not None
        about = Explainer(found.program, found.spec, NO_DEADLINE)
        self.graph = about.lineage(violation).whole
        self.seen = overview(self.graph, found.program.rules)
        run = about.run(found.counterexamples[0].faults if faults is None else faults)
        self.marks = lineage_marks(self.graph, self.seen, run)

    def boxes(self) -> dict[str, bool]:
        """The boxes of several goals, and whether they are gone."""
        return {
            self._label(number): number in self.marks.boxes
            for number, box in enumerate(self.seen.boxes)
            if box.kind is not BoxKind.SINGLE
        }

    def joints(self) -> dict[str, bool]:
        """What is right below them, and whether it is touched or cut."""
        found = {}
        for number, box in enumerate(self.seen.boxes):
            for joint in self.seen.why[number] if box.kind is not BoxKind.SINGLE else ():
                firing = self.graph.firings[self.seen.joints[joint].firings[0]]
                kind = "through" if self.seen.joints[joint].through else "line"
                kind = (
                    f"{firing.transfer.source}->{firing.transfer.target}"
                    if firing.punctual and firing.transfer
                    else kind
                )
                found[f"{self._label(number)}: {kind}"] = joint in self.marks.joints
        return found

    def _label(self, number: int) -> str:
        named = [self.graph.goals[goal] for goal in self.seen.boxes[number].named]
        return f"{named[0].label} {named[0].first}..{named[-1].last}"


CHAIN = Violation("pre", ("C", "w1"))


def test_a_tail_that_is_cut_off_is_bypassed() -> None:
    marked = Marked("chain", CHAIN)
    assert marked.boxes() == {
        "succ(h, m) 5..8": False,
        "succ(m, t) 6..8": True,
        "no bypassed(h, m) 4..7": False,
        "no bypassed(m, t) 5..7": True,
    }
    assert marked.joints() == {
        "succ(h, m) 5..8: line": False,
        "succ(m, t) 6..8: line": False,
        "no bypassed(h, m) 4..7: through": True,  # h waits for its acknowledgment longer
        "no bypassed(m, t) 5..7: through": True,
    }


def test_one_missed_beat_touches_absences_and_leaves_what_they_keep_away() -> None:
    marked = Marked("chain", CHAIN, FaultSet.of([Loss("t", "m", 3)]))
    assert not any(marked.boxes().values())
    assert [name for name, is_marked in marked.joints().items() if is_marked] == [
        "no bypassed(m, t) 5..7: through"
    ]


def test_a_message_that_is_late_is_cut_below_the_box_that_it_belongs_to() -> None:
    agreement = Violation("pre", ("agreement", "a", "t1"))
    marked = Marked("3pc", agreement, FaultSet.of([Delay("C", "b", 1, 1)]), delays=1)
    late = [name for name, is_marked in marked.joints().items() if is_marked]
    assert late == ["no conflict(a, t1) 9..9: through", "no conflict(a, t1) 9..9: C->b"]
    assert marked.boxes() == {"no conflict(a, t1) 9..9": False}


@pytest.mark.parametrize("name", ["chain", "reservation", "3pc", "bully-le-lossy"])
def test_without_faults_nothing_is_marked(name: str) -> None:
    found = verdict_of(name)
    assert found.program is not None
    about = Explainer(found.program, found.spec, NO_DEADLINE)
    graph = about.lineage(about.outcomes()[0]).whole
    seen = overview(graph, found.program.rules)
    assert lineage_marks(graph, seen, about.failure_free) == Marks([], [], [], [])


# -- any program, any faults ------------------------------------------------------------------------------------


@given(st.data())
def test_marks_are_what_the_run_shows(data: st.DataObject) -> None:
    program = check_program(data.draw(programs())).program
    spec = data.draw(failure_specs(program))
    faults = data.draw(fault_sets(spec))
    note(f"{spec} {faults}\n{print_program(program)}")
    reason = FailureFree(program, spec, NO_DEADLINE)
    run = reason.run(faults)
    for violation in reason.supports:
        graph = build_lineage_graph(reason, violation)
        assert_true(graph, overview(graph, program.rules), run)


@pytest.mark.parametrize("name", ["chain", "reservation", "3pc", "2pc-timeout", "paxos-synod"])
def test_marks_of_examples_are_what_the_run_shows(name: str) -> None:
    """Under each single fault, and under those of the counterexample."""
    found = verdict_of(name, delays=1)
    assert found.program is not None
    about = Explainer(found.program, found.spec, NO_DEADLINE)
    graph = about.lineage(about.outcomes()[0]).whole
    seen = overview(graph, found.program.rules)
    tried = [FaultSet.of([fault]) for fault in found.spec.possible_faults()]
    for faults in (*tried[::7], *(c.faults for c in found.counterexamples)):
        assert_true(graph, seen, about.run(faults))


def assert_true(graph: LineageGraph, seen: Overview, run: Execution) -> None:
    marks = lineage_marks(graph, seen, run)
    assert set(marks.gone) == {n for n, goal in enumerate(graph.goals) if has_changed(goal, run)}
    assert set(marks.cut) == {n for n, firing in enumerate(graph.firings) if is_cut(firing, run)}
    boxes, joints = set(), set()
    for number, box in enumerate(seen.boxes):
        named = [graph.goals[goal] for goal in box.named]
        if box.kind is BoxKind.ABSENCES and is_there(named[0], run, range(named[0].first, named[-1].last + 1)):
            boxes.add(number)
        if box.kind is BoxKind.KEPT and not is_there(named[0], run, [named[-1].last]):
            boxes.add(number)
        for joint in seen.why[number] if box.kind is not BoxKind.SINGLE else ():
            if seen.joints[joint].through:
                marked = any(has_changed(graph.goals[goal], run) for goal in box.goals)
            else:
                marked = any(is_cut(graph.firings[firing], run) for firing in seen.joints[joint].firings)
            joints |= {joint} if marked else set()
    assert set(marks.boxes) == boxes
    assert set(marks.joints) == joints
    assert_no_cut_is_hidden(graph, seen, marks)


def assert_no_cut_is_hidden(graph: LineageGraph, seen: Overview, marks: Marks) -> None:
    """Each message that is cut is seen to be, while all boxes are closed."""
    shown = {
        firing
        for number, box in enumerate(seen.boxes)
        for joint in seen.why[number]
        for firing in seen.joints[joint].firings
        if not seen.joints[joint].through and (box.kind is BoxKind.SINGLE or joint in marks.joints)
    }
    assert set(marks.cut) <= shown


def is_there(goal: Goal, run: Execution, times: range | list[int]) -> bool:
    return any(goal.row in run.tables[goal.relation][time - 1] for time in times)


def has_changed(goal: Goal, run: Execution) -> bool:
    if goal.crashes:
        return any(crash in goal.crashes for crash in run.faults.crashes)  # it may be about one time only
    return is_there(goal, run, [goal.last]) != goal.present


def is_cut(firing: Firing, run: Execution) -> bool:
    """What was sent over this link is lost, late, or never sent."""
    if firing.transfer is None or not (firing.fired or firing.punctual):
        return False
    source, _, sent = firing.transfer.link
    lost = firing.transfer.link in [loss.message for loss in run.faults.losses]
    late = firing.transfer.link in [delay.message for delay in run.faults.delays]
    return lost or late or any(c.node == source and c.time <= sent for c in run.faults.crashes)
