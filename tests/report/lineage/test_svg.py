"""The lineage graph as SVG: valid, harmless, and drawn as the graph says."""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew import check, parse_program
from clew.budgets.deadline import Deadline
from clew.explain.explainer import Explainer
from clew.explain.lineage_graph import Firing, Goal, LineageGraph, Transfer
from clew.explain.overview import BoxKind, Overview, overview
from clew.faults import Crash, FailureSpec
from clew.program.checks import check_program
from clew.program.ir import Const, Fact, Premise, Program, Rule, Timing, Var
from clew.report.lineage.marks import Marks
from clew.report.lineage.svg import MOST_WIDTH, lineage_svg
from clew.violation import Violation

EXAMPLES = Path(__file__).parents[3] / "examples"
NAMES = [
    "simple-deliv",
    "retry-deliv",
    "kafka",
    "2pc",
    "3pc",
    "bully-le-lossy",
    "redun-deliv",
    "flux",
    "chain",
    "reservation",
]
#: With delays the graphs of these have staircases of what was not sent.
LATE = ["3pc", "2pc-timeout", "kafka", "chain", "ack-deliv"]
NO_DEADLINE = Deadline(None)
SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = [
    "<script>alert(1)</script>",
    "\"'&<>",
    "]]></style><svg onload=alert(1)>",
    "n" * 200,
    "two\nlines",
    "写真 é",
    "‮evil",
]


@cache
def explainer(name: str, delays: int | None = None) -> Explainer:
    found = check(EXAMPLES / f"{name}.ded", delays=delays)
    assert found.program is not None
    return Explainer(found.program, found.spec, NO_DEADLINE)


@cache
def graph_of(name: str, whole: bool = False, delays: int | None = None) -> LineageGraph:
    lineage = explainer(name, delays).lineage(explainer(name, delays).outcomes()[0])
    return lineage.whole if whole else lineage.focused


@cache
def seen_of(name: str, whole: bool = False, delays: int | None = None) -> Overview:
    return overview(graph_of(name, whole, delays), explainer(name, delays).program.rules)


def drawn(
    name: str,
    *,
    whole: bool = False,
    delays: int | None = None,
    marks: Marks | None = None,
    standalone: bool = False,
) -> str:
    return lineage_svg(
        graph_of(name, whole, delays),
        seen_of(name, whole, delays),
        explainer(name, delays).program.rules,
        title=f"Lineage of {name}",
        marks=marks,
        standalone=standalone,
    )


def drawn_graph(graph: LineageGraph, title: str = "any", standalone: bool = False) -> str:
    return lineage_svg(graph, overview(graph, [ANY_RULE]), [ANY_RULE], title=title, standalone=standalone)


def parsed(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg)


def of_class(root: ElementTree.Element, kind: str) -> list[ElementTree.Element]:
    return [e for e in root.iter() if kind in e.get("class", "").split()]


def goals_in(root: ElementTree.Element) -> dict[int, ElementTree.Element]:
    """The goals of the graph, wherever they are drawn: in a box of their own, or in one with others."""
    found = [e for e in of_class(root, "goal") if "data-goal" in e.attrib]
    assert len({e.attrib["data-goal"] for e in found}) == len(found)
    return {int(e.attrib["data-goal"]): e for e in found}


def firings_in(root: ElementTree.Element) -> dict[int, ElementTree.Element]:
    found = [e for e in of_class(root, "firing") if "data-firing" in e.attrib]
    assert len({e.attrib["data-firing"] for e in found}) == len(found)
    return {int(e.attrib["data-firing"]): e for e in found}


def boxes_in(root: ElementTree.Element) -> dict[int, ElementTree.Element]:
    return {int(e.attrib["data-box"]): e for e in root.iter() if e.tag.endswith("g") and "data-box" in e.attrib}


def joints_in(root: ElementTree.Element) -> dict[int, ElementTree.Element]:
    return {int(e.attrib["data-joint"]): e for e in of_class(root, "firing") if "data-joint" in e.attrib}


def title_of(element: ElementTree.Element) -> str:
    title = element.find("title")
    assert title is not None and title.text
    return title.text


def words_of(element: ElementTree.Element) -> str:
    """What is written in a box."""
    text = element.find("text")
    assert text is not None
    return "".join(text.itertext())


@st.composite
def any_graphs(draw: st.DrawFn) -> LineageGraph:
    """Whatever the names and numbers: goals and firings in turns, without cycles."""
    printable = st.characters(codec="utf-8", exclude_categories=["C"])
    text = st.one_of(st.sampled_from(HOSTILE), st.text(printable, min_size=1, max_size=20))
    count = draw(st.integers(1, 8))
    goals = []
    for number in range(count):
        first = draw(st.integers(1, 9))
        row = tuple(draw(st.lists(st.one_of(text, st.integers(-3, 99)), max_size=3)))
        last = first + draw(st.sampled_from([0, 0, 3]))
        present, given_too = draw(st.booleans()), draw(st.booleans())
        up = () if number == 0 or draw(st.integers(0, 3)) else (Crash(draw(text), 1),)
        goals.append(Goal(draw(text), row or ("a",), first, last, present, given_too, up))
    firings: list[Firing] = []
    why: list[tuple[int, ...]] = []
    needs: list[tuple[int, ...]] = []
    for number in range(count):
        behind = []
        for _ in range(draw(st.integers(0, 2))):
            transfer = Transfer(draw(text), ("a",), draw(text), draw(text), 1) if draw(st.booleans()) else None
            behind.append(len(firings))
            firings.append(Firing(0, 1, draw(st.booleans()), transfer))
            later = st.integers(number + 1, count - 1) if number + 1 < count else st.nothing()
            needs.append(tuple(draw(st.lists(later, max_size=3, unique=True))) if number + 1 < count else ())
        why.append(tuple(behind))
    return LineageGraph(tuple(goals), tuple(firings), tuple(why), tuple(needs), False)


ANY_RULE = Rule("p", (Var("X"),), Timing.NEXT, (Premise("p", (Var("X"),)),))


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


# -- places -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_boxes_of_one_layer_do_not_overlap(name: str, whole: bool) -> None:
    assert_apart(parsed(drawn(name, whole=whole)))


@given(any_graphs())
@settings(max_examples=settings().max_examples // 2)
def test_boxes_of_one_layer_never_overlap(graph: LineageGraph) -> None:
    assert_apart(parsed(drawn_graph(graph)))


def assert_apart(root: ElementTree.Element) -> None:
    """Neither within a layer nor between layers, and all within the picture; also inside of boxes."""
    outer = [*boxes_in(root).values(), *joints_in(root).values()]
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    layers = assert_layers_apart(outer, width, height)
    assert sorted(layers) == list(range(len(root.attrib["data-heights"].split())))
    assert all(int(e.attrib["data-layer"]) in layers for e in outer)
    for bundle in of_class(root, "bundle"):
        (inside,) = of_class(bundle, "inside")
        shift, down = moved(inside)
        wide, high = map(float, bundle.attrib["data-opened"].split())
        assert -wide / 2 <= shift and down >= 24
        assert_layers_apart([e for e in inside if e.tag.endswith("g")], wide / 2 - shift, high - down)


def moved(element: ElementTree.Element) -> tuple[float, float]:
    found = re.fullmatch(r"translate\((\S+),(\S+)\)", element.attrib["transform"])
    assert found is not None
    return float(found[1]), float(found[2])


def assert_layers_apart(boxes: list[ElementTree.Element], width: float, height: float) -> list[int]:
    """Boxes with the same top are a layer; returns the layers."""
    layers: dict[float, list[tuple[float, float, float]]] = {}
    for box in boxes:
        rect = box.find("rect")
        assert rect is not None
        x, top = moved(box)
        left = x + float(rect.attrib["x"])
        right, bottom = left + float(rect.attrib["width"]), top + float(rect.attrib["height"])
        assert left >= -2 and right <= width and bottom <= height
        layers.setdefault(top, []).append((left, right, bottom))
    for row in layers.values():
        assert all(after[0] - before[1] >= 12 for before, after in pairwise(sorted(row)))
    tops = sorted(layers)
    assert all(max(bottom for *_, bottom in layers[upper]) < lower for upper, lower in pairwise(tops))
    return list(range(len(tops)))


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize(
    ("name", "delays"), [*((name, None) for name in NAMES), *((name, 1) for name in LATE)], ids=str
)
def test_a_closed_drawing_and_each_open_box_fit_a_window_of_1280_pixels(
    name: str, delays: int | None, whole: bool
) -> None:
    """Less what the page needs: 48 for its margins, 14 for the frame, 15 for a scroll bar, twice."""
    root = parsed(drawn(name, whole=whole, delays=delays))
    fits = 1280 - 48 - 14 - 2 * 15
    assert float(root.attrib["width"]) <= fits
    for bundle in of_class(root, "bundle"):
        assert float(bundle.attrib["data-opened"].split()[0]) <= fits - 24


@given(any_graphs())
@settings(max_examples=settings().max_examples // 2)
def test_no_drawing_is_wider_than_it_has_to_be(graph: LineageGraph) -> None:
    """Unless the edges that pass a layer need more room: eight goals have not so many."""
    assert float(parsed(drawn_graph(graph)).attrib["width"]) <= MOST_WIDTH + 24


@given(any_graphs())
@settings(max_examples=settings().max_examples // 2)
def test_words_fit_into_their_boxes(graph: LineageGraph) -> None:
    root = parsed(drawn_graph(graph))
    for boxes, size in ((goals_in(root), 12), (firings_in(root), 10.5)):
        for box in boxes.values():
            rect = box.find("rect")
            assert rect is not None
            assert float(rect.attrib["width"]) >= len(words_of(box)) * size * 0.55 + 6


def test_edges_go_from_the_bottom_of_a_box_to_the_top_of_the_next() -> None:
    root = parsed(drawn("retry-deliv"))
    boxes, joints = boxes_in(root), joints_in(root)
    for edge in of_class(root, "edge"):
        upper = (
            boxes[int(edge.attrib["data-box"])]
            if "data-box" in edge.attrib
            else joints[int(edge.attrib["data-joint"])]
        )
        lower = (joints if "data-box" in edge.attrib else boxes)[int(edge.attrib["data-below"])]
        points = [tuple(map(int, p.split(","))) for p in edge.attrib["data-route"].split()]
        assert points[0][1] == int(upper.attrib["data-layer"])
        assert points[-1][1] == int(lower.attrib["data-layer"])
        assert [layer for _, layer in points] == list(range(points[0][1], points[-1][1] + 1))
        assert edge.attrib["d"].startswith("M")


# -- harmless ---------------------------------------------------------------------------------------------------


@given(any_graphs(), st.sampled_from(HOSTILE))
@settings(max_examples=settings().max_examples // 2)
def test_names_never_become_markup(graph: LineageGraph, title: str) -> None:
    for standalone in (False, True):
        svg = drawn_graph(graph, title, standalone)
        tags = {e.tag.removeprefix(SVG) for e in parsed(svg).iter()}
        assert tags <= {"svg", "g", "path", "rect", "text", "tspan", "title", "style"}
        assert "<script" not in svg and "onload=alert(1)>" not in svg.replace("&gt;", "")


def test_long_names_are_shortened_and_told_in_full_when_pointed_at() -> None:
    long = "n" * 200
    goals = (Goal("p", (long,), 1, 1, True), Goal("q", (long, long), 1, 1, True))
    graph = LineageGraph(
        goals, (Firing(0, 1, True, Transfer("q", (long,), long, "b", 1)),), ((0,), ()), ((1,),), False
    )
    root = parsed(drawn_graph(graph, "long"))
    for element in [*goals_in(root).values(), *firings_in(root).values()]:
        assert len(words_of(element)) <= 40 and "…" in words_of(element)
        assert long in title_of(element)
    assert float(root.attrib["width"]) < 400


def test_control_characters_are_replaced() -> None:
    graph = LineageGraph((Goal("p\x1b[31m", ("\x00\x07", "\ufffe"), 1, 1, True),), (), ((),), (), False)
    root = parsed(drawn_graph(graph, "\x1b"))
    assert words_of(goals_in(root)[0]).isprintable()


def test_a_program_with_hostile_names_written_in_dedalus() -> None:
    text = """
        start("<script>alert(1)</script>", "&lt;b")@1;  peer("<script>alert(1)</script>", "b'\\")@1;
        log(M, V)@async :- start(N, V), peer(N, M);  log(N, V)@next :- log(N, V);
    """
    program = check_program(parse_program(text)).program
    spec = FailureSpec(("<script>alert(1)</script>", "b'\\"), 3, eff=2)
    assert_drawn_harmlessly(program, spec, Violation("log", ("b'\\", "&lt;b")), "log(b'\\, &lt;b)")


def test_a_program_with_strings_that_dedalus_cannot_write() -> None:
    nodes, value = ('a"', "b\n</text>"), 'x"\n<'
    columns = (Var("N"), Var("V"))
    program = Program(
        (
            Fact("start", (nodes[0], value)),
            Rule("log", (Const(nodes[1]), Var("V")), Timing.ASYNC, (Premise("start", columns),)),
            Rule("log", columns, Timing.NEXT, (Premise("log", columns),)),
        )
    )
    row = (nodes[1], value)
    assert_drawn_harmlessly(program, FailureSpec(nodes, 3, eff=2), Violation("log", row), f"log({', '.join(row)})")


def assert_drawn_harmlessly(program: Program, spec: FailureSpec, violation: Violation, label: str) -> None:
    graph = Explainer(program, spec, NO_DEADLINE).lineage(violation).whole
    assert [goal.label for goal in graph.goals] == [label, *(g.label for g in graph.goals[1:])]
    seen = overview(graph, program.rules)
    svg = lineage_svg(graph, seen, program.rules, title=f"Lineage of {violation}", standalone=True)
    assert "<script" not in svg
    root = ElementTree.fromstring(svg.replace(' xmlns="http://www.w3.org/2000/svg"', ""))
    assert words_of(goals_in(root)[0]).startswith(label)
    assert title_of(goals_in(root)[0]).startswith(label)
    assert (
        root.attrib["aria-label"]
        .replace(" ", "")
        .startswith(f"Lineageof{violation}".replace(" ", "").replace("\n", ""))
    )


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
