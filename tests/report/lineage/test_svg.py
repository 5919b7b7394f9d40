"""The lineage graph as SVG: valid, harmless, and drawn as the graph says."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings

from clew.explain.lineage_graph import LineageGraph
from clew.explain.overview import BoxKind, Overview, overview
from clew.report.lineage.marks import Marks
from report.lineage.drawings import (
    ANY_RULE,
    LATE,
    NAMES,
    SVG,
    any_graphs,
    boxes_in,
    drawn,
    drawn_graph,
    firings_in,
    goals_in,
    graph_of,
    joints_in,
    of_class,
    parsed,
    seen_of,
    title_of,
    words_of,
)

# -- what is drawn ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_everything_in_the_graph_is_drawn_once(name: str, whole: bool) -> None:
    assert_complete(graph_of(name, whole), seen_of(name, whole), parsed(drawn(name, whole=whole)))


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("name", LATE)
def test_everything_in_a_graph_with_delays_is_drawn_once(name: str, whole: bool) -> None:
    svg = drawn(name, whole=whole, delays=1)
    assert_complete(graph_of(name, whole, 1), seen_of(name, whole, 1), parsed(svg))


@given(any_graphs())
@settings(max_examples=settings().max_examples // 2)
def test_everything_in_any_graph_is_drawn_once(graph: LineageGraph) -> None:
    assert_complete(graph, overview(graph, [ANY_RULE]), parsed(drawn_graph(graph)))


def assert_complete(graph: LineageGraph, seen: Overview, root: ElementTree.Element) -> None:
    assert sorted(goals_in(root)) == list(range(len(graph.goals)))
    assert sorted(firings_in(root)) == list(range(len(graph.firings)))
    assert sorted(boxes_in(root)) == list(range(len(seen.boxes)))
    assert sorted(joints_in(root)) == list(range(len(seen.joints)))
    edges = [e for e in of_class(root, "edge") if "data-route" in e.attrib]
    found = {
        (kind, int(e.attrib[kind]), int(e.attrib["data-below"]))
        for e in edges
        for kind in ("data-box", "data-joint")
        if kind in e.attrib
    }
    above = {("data-box", box, joint) for box, behind in enumerate(seen.why) for joint in behind}
    below = {("data-joint", joint, box) for joint, needed in enumerate(seen.needs) for box in needed}
    assert found == above | below
    assert len(edges) == len(found)
    for number, box in enumerate(seen.boxes):
        assert_inside_complete(graph, box.goals, boxes_in(root)[number], box.kind)


def assert_inside_complete(
    graph: LineageGraph, members: tuple[int, ...], element: ElementTree.Element, kind: BoxKind
) -> None:
    """A box of several goals has their rules inside, and refers to what they need elsewhere."""
    if kind is BoxKind.SINGLE:
        assert [int(element.attrib["data-goal"])] == list(members) and not of_class(element, "inside")
        return
    (inside,) = of_class(element, "inside")
    firings = [f for goal in members for f in graph.why[goal]]
    needs = [goal for f in firings for goal in graph.needs[f]]
    assert sorted(goals_in(inside)) == sorted(members)
    assert sorted(firings_in(inside)) == sorted(firings)
    elsewhere = [int(e.attrib["data-elsewhere"]) for e in of_class(inside, "elsewhere")]
    assert sorted(elsewhere) == sorted(set(needs) - set(members))
    edges = of_class(inside, "edge")
    assert sorted(int(e.attrib["data-into"]) for e in edges if "data-into" in e.attrib) == sorted(firings)
    assert len(edges) == len(firings) + len(needs)


@pytest.mark.parametrize("name", NAMES)
def test_messages_are_dashed_and_can_be_struck_through(name: str) -> None:
    graph, root = graph_of(name), parsed(drawn(name))
    sent = {number for number, firing in enumerate(graph.firings) if firing.transfer}
    dashed = [e for e in of_class(root, "edge") if "message" in e.attrib["class"].split()]
    assert {int(e.attrib["data-into"]) for e in dashed if "data-into" in e.attrib} == sent
    assert {number for number, e in firings_in(root).items() if "message" in e.attrib["class"].split()} == sent
    strikes = [e for e in of_class(root, "strike") if "data-into" in e.attrib]
    assert sorted(int(e.attrib["data-into"]) for e in strikes) == sorted(sent)


@pytest.mark.parametrize("name", LATE)
def test_messages_that_boxes_share_can_be_struck_through(name: str) -> None:
    """What must not be late stays in sight below a box of absences; one stroke for each link."""
    graph, seen, root = graph_of(name, delays=1), seen_of(name, delays=1), parsed(drawn(name, delays=1))
    shared = {
        joint
        for box, behind in enumerate(seen.why)
        for joint in behind
        if seen.boxes[box].kind is BoxKind.ABSENCES and not seen.joints[joint].through
    }
    assert all(graph.firings[f].punctual for joint in shared for f in seen.joints[joint].firings)
    found = [
        {int(e.attrib[data]) for e in of_class(root, kind) if data in e.attrib and "data-into" not in e.attrib}
        for kind, data in (("strike", "data-joint"), ("message", "data-below"))
    ]
    assert found == [shared, shared]


def test_boxes_say_what_they_are() -> None:
    graph, root = graph_of("kafka"), parsed(drawn("kafka"))
    texts = {number: words_of(e) for number, e in goals_in(root).items()}
    assert texts[0] == "post(C, w1) @6"
    assert "a stays up " in texts.values()
    assert "log(b, w1) ▾@5–6" in texts.values()
    messages = {words_of(e) for n, e in firings_in(root).items() if graph.firings[n].transfer}
    assert {"b → Z @1", "c → Z @1", "C → a @1"} <= messages
    rules = {words_of(e) for n, e in firings_in(root).items() if not graph.firings[n].transfer}
    assert all(re.fullmatch(r"line \d+", text) for text in rules)
    titles = {title_of(e) for e in firings_in(root).values()}
    assert any(t.startswith("report(Z, b) sent by b to Z at time 1\nreport(Z, R)@async :- ") for t in titles)


def test_with_several_files_a_rule_says_in_which_it_is() -> None:
    root = parsed(drawn("simple-deliv"))
    texts = {words_of(e) for e in firings_in(root).values()}
    assert any(re.fullmatch(r"(kept back: )?reliable_delivery\.ded:\d+", text) for text in texts)


def test_classes_tell_kinds_of_goals_apart() -> None:
    graph, root = graph_of("simple-deliv"), parsed(drawn("simple-deliv"))
    for number, element in goals_in(root).items():
        goal, kinds = graph.goals[number], element.attrib["class"].split()
        assert ("outcome" in kinds) == (number == 0)
        assert ("absent" in kinds) == (not goal.present)
        assert ("given" in kinds) == goal.given
        assert ("chain" in kinds) == (goal.last > goal.first)
        assert "gone" not in kinds


def test_a_chain_is_a_button_that_is_closed() -> None:
    graph, root = graph_of("kafka"), parsed(drawn("kafka"))
    chains = 0
    for number, element in goals_in(root).items():
        goal = graph.goals[number]
        chain = goal.last > goal.first and not goal.crashes
        button = chain or bool(graph.why[number])
        assert element.get("role") == ("button" if button else None)
        assert element.get("tabindex") == ("0" if button else None)
        assert element.get("aria-expanded") == (None if not button else "false" if chain else "true")
        steps = of_class(element, "steps")
        assert len(steps) == chain
        if chain:
            chains += 1
            times = [text.text for text in steps[0]]
            assert times[0] == f"@{goal.last} as before" and times[-1] == f"@{goal.first} see below"
            assert len(times) == goal.last - goal.first + 1
    assert chains > 2


# -- marks ------------------------------------------------------------------------------------------------------


def test_marks_cut_messages_and_strike_goals() -> None:
    graph = graph_of("kafka")
    cut = {n for n, f in enumerate(graph.firings) if f.transfer and f.transfer.link == ("b", "Z", 1)}
    gone = {n for n, g in enumerate(graph.goals) if g.label == "report(Z, b)" and g.last == 2}
    assert len(cut) == len(gone) == 1
    root = parsed(drawn("kafka", marks=Marks(sorted(cut), sorted(gone))))
    assert {n for n, e in firings_in(root).items() if "cut" in e.attrib["class"].split()} == cut
    assert {n for n, e in goals_in(root).items() if "gone" in e.attrib["class"].split()} == gone
    marked = [e.attrib for e in of_class(root, "cut")]
    edges = [e for e in marked if "edge" in e["class"].split()]
    strikes = [e for e in marked if "strike" in e["class"].split()]
    assert {int(e["data-into"]) for e in edges} == {int(e["data-into"]) for e in strikes} == cut
    assert all("data-box" in e for e in edges)


def test_without_marks_nothing_is_cut() -> None:
    root = parsed(drawn("kafka"))
    assert not of_class(root, "cut") and not of_class(root, "gone")


# -- a file of its own ------------------------------------------------------------------------------------------


def test_a_file_of_its_own_has_namespace_style_and_background() -> None:
    alone, inside = drawn("kafka", standalone=True), drawn("kafka")
    root = parsed(alone)
    assert root.tag == f"{SVG}svg"
    style = root.find(f"{SVG}style")
    assert style is not None and style.text and "prefers-color-scheme:dark" in style.text
    assert root.find(f"{SVG}rect") is not None
    assert "xmlns" not in inside and "<style" not in inside
    assert re.findall(r'https?://[^"]*', alone) == ["http://www.w3.org/2000/svg"], "nothing is loaded"


def test_the_picture_has_a_name() -> None:
    graph, root = graph_of("simple-deliv"), parsed(drawn("simple-deliv"))
    assert root.attrib["aria-label"] == (
        f"Lineage of simple-deliv: {len(graph.goals)} goals, {len(graph.firings)} rule applications"
    )
    assert root.attrib["role"] == "group"
