"""What is in the picture of a simulated run, and where."""

from __future__ import annotations

import re
from itertools import combinations
from xml.etree import ElementTree

import pytest

from clew.report.diagrams.lamport import Arrow, Diagram, Fate, MarkKind
from clew.report.diagrams.lamport_events_svg import EventLayout
from clew.report.diagrams.lamport_layout import Box
from clew.report.diagrams.lamport_svg import diagram_svg
from clew.report.simulated.diagram import run_diagram
from clew.report.simulated.run import story_of
from clew.simulation.execution.trace import Execution, execute
from clew.simulation.pool import Envelope
from simulated import EVERYTHING, drawn, eager, everything, hostile, scenario, turned

RUNS = [everything(), eager(), hostile(), turned(), *(drawn(seed) for seed in range(12))]


def picture(execution: Execution, most: int | None = None) -> Diagram:
    return run_diagram(story_of(execution, most=most))


def times(diagram: Diagram) -> dict[int, int]:
    """The time of every event that is in the picture."""
    found = {mark.event: mark.time for mark in diagram.marks}
    return found | {a.event: a.arrived for a in diagram.arrows if a.event is not None and a.arrived is not None}


def test_one_of_everything() -> None:
    diagram = picture(everything())
    assert diagram.processes == ("a", "b", "c")
    assert diagram.down == ("a", "b", "c")
    assert diagram.broken == 21
    assert [(m.event, m.time, m.process, m.kind, m.label) for m in diagram.marks] == [
        (1, 1, "a", MarkKind.START, "start"),
        (2, 1, "b", MarkKind.START, "start"),
        (4, 2, "a", MarkKind.OUTSIDE, "Go"),
        (5, 3, "a", MarkKind.ITSELF, "Note"),
        (6, 4, "a", MarkKind.CUT, "partition"),
        (7, 5, "c", MarkKind.START, "start"),
        (9, 5, "a", MarkKind.TIMER, "again"),
        (12, 6, "", MarkKind.HEAL, "all heals"),
        (14, 8, "b", MarkKind.CUT_ONE_WAY, "partition"),
        (15, 9, "b", MarkKind.HEAL, "heals"),
        (16, 10, "", MarkKind.NOTE, "nothing"),
        (17, 11, "c", MarkKind.RESTART, "restart"),
        (20, 12, "b", MarkKind.STOP, "stop"),
    ]
    assert [(a.event, a.cause, a.source, a.target, a.sent, a.arrived, a.fate) for a in diagram.arrows] == [
        (None, 4, "a", "c", 2, None, Fate.LOST),
        (8, 4, "a", "b", 2, 5, Fate.DELIVERED),
        (11, 9, "a", "b", 5, None, Fate.LOST),
        (13, 9, "a", "c", 5, 7, Fate.DELIVERED),
        (18, 8, "b", "a", 5, 11, Fate.DELIVERED),
        (19, 9, "a", "b", 5, 11, Fate.DELIVERED),
        (21, 13, "c", "a", 7, 13, Fate.DELIVERED),  # the violation comes last
    ]
    assert [(a.process, a.stop and a.stop.event, a.start and a.start.event) for a in diagram.absences()] == [
        ("a", None, 1),
        ("b", None, 2),
        ("c", None, 7),
        ("b", 20, None),
    ]


def test_what_was_sent_before_the_first_event_comes_from_above() -> None:
    (first, second) = picture(eager()).arrows
    assert (first.sent, first.arrived, first.cause) == (1, 2, None)
    assert (second.sent, second.arrived, second.cause) == (2, 3, 1)
    assert picture(eager()).down == ()


def test_what_was_sent_by_an_event_that_is_left_out_comes_from_above() -> None:
    (arrow,) = picture(everything(), most=1).arrows
    assert (arrow.event, arrow.cause, arrow.sent, arrow.arrived) == (21, 13, 1, 2)


def test_a_code_block_that_starts_and_stops_nodes_marks_each_of_them() -> None:
    diagram = picture(turned())
    assert [(m.event, m.time, m.process, m.kind) for m in diagram.marks if m.event == 1] == [
        (1, 1, "", MarkKind.NOTE),
        (1, 1, "a", MarkKind.RESTART),
        (1, 1, "b", MarkKind.STOP),
        (1, 1, "c", MarkKind.START),
    ]
    assert diagram.down == ("c",)
    assert [(a.process, a.stop and a.stop.event, a.start and a.start.event) for a in diagram.absences()] == [
        ("c", None, 1),
        ("b", 1, None),
    ]
    svg = diagram_svg(diagram, title="x", link="#e")
    assert [svg.count(f">{word}<") for word in ("restart", "stop", "start")] == [1, 1, 1]


def test_an_empty_run_is_an_empty_picture() -> None:
    assert picture(execute(scenario(), 0, [])) == Diagram((), 1, ())


def test_the_story_knows_what_became_of_every_message() -> None:
    story = story_of(everything())
    assert (story.total, story.left_out, story.under_way, story.dropped) == (len(EVERYTHING), 0, 1, 0)
    assert [(sent.target, sent.fate, sent.event) for sent in story.events[8].sent] == [
        ("b", "lose", 11),
        ("c", "deliver", 13),
    ]
    assert [(sent.target, sent.fate, sent.event) for sent in story.events[18].sent] == [("a", "", None)]


@pytest.mark.parametrize("execution", RUNS)
def test_an_event_stands_below_all_that_it_rests_on(execution: Execution) -> None:
    at = times(picture(execution))
    for moment in execution.moments:
        number = moment.happened.number + 1
        for earlier in moment.happened.depends:
            if number in at and earlier + 1 in at:
                assert at[earlier + 1] < at[number]


@pytest.mark.parametrize("execution", RUNS)
def test_everything_that_happens_at_a_node_is_in_the_picture(execution: Execution) -> None:
    diagram = picture(execution)
    assert set(times(diagram)) >= {m.happened.number + 1 for m in execution.moments if m.happened.node}
    lost = [a for a in diagram.arrows if a.fate is Fate.LOST]
    down = sum(len(m.happened.lost) for m in execution.moments if isinstance(m.happened.what, Envelope))
    assert len([a for a in lost if a.event is None]) == down
    assert all(a.arrived is None or a.sent < a.arrived <= diagram.last for a in diagram.arrows)


@pytest.mark.parametrize("execution", RUNS)
def test_no_pill_and_no_label_covers_another(execution: Execution) -> None:
    diagram = picture(execution)
    layout = EventLayout(diagram)
    labels = [*layout.event_labels.values(), *layout.labels.values()]
    boxes = [label.box for label in labels if label is not None]
    pills = [Box(e.x - 8, e.y - 8, e.x + 8, e.y + 8) for e in layout.events]
    assert [(a, b) for a, b in combinations([*boxes, *pills], 2) if a.overlaps(b)] == []
    assert all(box.left >= 0 and box.right <= layout.width for box in boxes)


@pytest.mark.parametrize("execution", RUNS)
def test_the_drawing_is_valid_and_every_event_is_linked(execution: Execution) -> None:
    diagram = picture(execution)
    root = ElementTree.fromstring(diagram_svg(diagram, title="<&>", link="#e"))
    assert root.get("role") == "group"
    linked = [element.get("href") for element in root.iter("a")]
    numbers = [m.event for m in diagram.marks] + [a.event for a in diagram.arrows if a.event is not None]
    assert linked == [f"#e{number}" for number in sorted(numbers)]
    assert not any(element.tag == "script" for element in root.iter())


def test_as_a_file_it_has_no_links_and_its_own_style() -> None:
    svg = diagram_svg(picture(everything()), title="x", standalone=True)
    root = ElementTree.fromstring(svg)
    assert root.get("role") == "img"
    assert "href" not in svg
    assert ".lamport .event rect" in svg
    # Only where events are numbered: other pictures stay as they are.
    steps = Diagram(("a", "b"), 2, (Arrow("a", "b", 1, 2, ("m",), ("m()",), Fate.DELIVERED),))
    assert ".event" not in diagram_svg(steps, title="x", standalone=True)


def test_the_event_after_which_something_is_wrong_stands_out() -> None:
    svg = diagram_svg(picture(everything()), title="x")
    assert re.findall(r'class="event ([\w -]*broken)" data-event="(\d+)"', svg) == [("message broken", "21")]
