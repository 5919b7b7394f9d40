"""What the faults of a run do to a lineage: the messages they cut, and what no longer is as it was."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from clew.engine.execution import Execution
from clew.explain.lineage_graph import Goal, LineageGraph
from clew.explain.overview import Box, BoxKind, Overview
from clew.faults import Fault, SentMessage
from clew.report.diagrams.hits import Hits


@dataclass(frozen=True)
class Marks:
    """What the faults of a run do to the parts of a drawing, by number."""

    #: The firings of the graph whose message is cut, and the goals that are gone.
    cut: Collection[int] = ()
    gone: Collection[int] = ()
    #: Boxes of the overview that stand for several goals, and whose label is no longer true.
    boxes: Collection[int] = ()
    #: Joints of the overview that stand for several firings, one of whose messages is cut; or for absences, one of
    #: which is gone.
    joints: Collection[int] = ()


def lineage_marks(graph: LineageGraph, seen: Overview, run: Execution) -> Marks:
    """Return what the faults of ``run`` do to the lineage of the failure-free run."""
    hits = Hits(run.faults)
    # Only messages that were sent can be cut, and those of which it matters that they were not late.
    cut = [
        number
        for number, firing in enumerate(graph.firings)
        if firing.transfer and _is_cut(firing.transfer.link, hits, fired=firing.fired, punctual=firing.punctual)
    ]
    gone = [number for number, goal in enumerate(graph.goals) if not _still_so(goal, run)]
    boxes = [
        n for n, box in enumerate(seen.boxes) if box.kind is not BoxKind.SINGLE and not _holds(box, graph, run)
    ]
    joints = []
    for number, box in enumerate(seen.boxes):
        for joint in seen.why[number] if box.kind is not BoxKind.SINGLE else ():
            inside, marked = (box.goals, gone) if seen.joints[joint].through else (seen.joints[joint].firings, cut)
            if not set(inside).isdisjoint(marked):
                joints.append(joint)
    return Marks(cut, gone, boxes, joints)


def _is_cut(link: SentMessage, hits: Hits, *, fired: bool, punctual: bool) -> bool:
    """Tell whether a message that had to arrive does not, or one that must not come late does, or comes twice."""
    return (fired or punctual) and (
        hits.fault(link) is not None or (punctual and hits.duplicate(link) is not None)
    )


def _still_so(goal: Goal, run: Execution) -> bool:
    if goal.crashes:
        happened: list[Fault] = [f for f in run.faults if f in goal.crashes]
        return not happened
    # A chain that begins later, and is there in the end, still serves.
    return (goal.row in run.rows(goal.relation, goal.last)) == goal.present


def _holds(box: Box, graph: LineageGraph, run: Execution) -> bool:
    """Tell whether what the box says is still so."""
    named = [graph.goals[number] for number in box.named]
    # A row that is kept only has to be there in the end, like a chain.
    if box.kind is BoxKind.KEPT:
        return _still_so(named[-1], run)
    times = (time for goal in named for time in range(goal.first, goal.last + 1))
    return not any(named[0].row in run.rows(named[0].relation, time) for time in times)
