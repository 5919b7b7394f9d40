"""Lamport diagrams as SVG: valid, harmless, compact, the same in light and dark, and no text on another."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given

from clew import Crash, Delay, Fault, Loss, run
from clew.report.diagrams.lamport import Arrow, CrashMark, Diagram, Fate, lamport_of
from clew.report.diagrams.lamport_layout import TEXT_SIZES
from clew.report.diagrams.lamport_svg import STYLE, LegendItem, diagram_svg, legend_items
from diagrams import NAMES, diagrams

EXAMPLES = Path(__file__).parents[3] / "examples"
FAULTS: dict[str, list[Fault]] = {
    "kafka": [Loss("b", "Z", 1), Loss("c", "Z", 1), Crash("a", 4)],
    "3pc": [Loss("C", "a", 6), Loss("C", "b", 6), Crash("d", 3)],
    "2pc": [Crash("C", 3)],
    "ack-deliv": [Loss("a", "b", 1), Loss("c", "a", 2), Crash("b", 4)],
    "flux": [Loss("s", "q", 2), Crash("p", 7)],
    "bully-le-lossy": [Loss("b", "a", 6), Loss("a", "b", 7), Crash("c", 2)],
    "paxos-forgetful": [Loss("a", "b", 1), Delay("b", "a", 3, 2), Crash("c", 2)],
    "redun-deliv": [*(Loss("a", x, t) for x in "bc" for t in range(1, 10)), Crash("a", 10)],
}
CASES = [(name, failing) for name in FAULTS for failing in (True, False)]
Box = tuple[float, float, float, float]


@cache
def diagram(name: str, failing: bool) -> Diagram:
    if failing:
        return lamport_of(run(EXAMPLES / f"{name}.ded", FAULTS[name]))
    return lamport_of(run(EXAMPLES / f"{name}.ded"), FAULTS[name])


def parsed(svg: str) -> ElementTree.Element:
    """Without the namespace, which only a file of its own has."""
    return ElementTree.fromstring(svg.replace(' xmlns="http://www.w3.org/2000/svg"', ""))


def placed(
    element: ElementTree.Element, x: float = 0, y: float = 0
) -> Iterator[tuple[ElementTree.Element, float, float]]:
    """Every element with the offset of the groups that it is in."""
    moved = re.fullmatch(r"translate\((\S+) (\S+)\)", element.get("transform", ""))
    if moved:
        x, y = x + float(moved[1]), y + float(moved[2])
    yield element, x, y
    for child in element:
        yield from placed(child, x, y)


def number(element: ElementTree.Element, name: str) -> float:
    return float(element.get(name, "0"))


#: Where texts are anchored that a rule of the style anchors.
ANCHORS = {"name": "middle", "badge": "middle", "crash": "middle", "halt": "middle", "time": "end", "band": "end"}


def text_boxes(svg: str) -> list[tuple[str, str, Box]]:
    """Class, text and estimated bounding box of every line of text."""
    found = []
    for element, dx, dy in placed(parsed(svg)):
        if element.tag != "text":
            continue
        kind = element.get("class", "")
        anchor = ANCHORS.get(kind, element.get("text-anchor", "start"))
        x, y = number(element, "x") + dx, number(element, "y") + dy
        title = element.find("title")
        lines = [(title.tail if title is not None else element.text) or ""]
        lines += [span.text or "" for span in element.findall("tspan")]
        for line in lines:
            found.append((kind, line, _box(line, x, y, TEXT_SIZES[kind], anchor)))
            y += number(element.findall("tspan")[0], "dy") if len(lines) > 1 else 0
    return found


def _box(line: str, x: float, y: float, size: float, anchor: str) -> Box:
    width = len(line) * size * 0.62
    left = x - {"start": 0.0, "middle": width / 2, "end": width}[anchor]
    return left, y - 0.8 * size, left + width, y + 0.2 * size


def marks(svg: str) -> Iterator[Box]:
    """The boxes of badges, crashes, and of processes that do not run for a while."""
    for element, dx, dy in placed(parsed(svg)):
        if element.tag == "g" and element.get("class", "").startswith(("badge", "crash", "halt")):
            for shape in element:
                if shape.tag == "circle":
                    x, y, r = number(shape, "cx") + dx, number(shape, "cy") + dy, number(shape, "r")
                    yield x - r, y - r, x + r, y + r
                elif shape.tag == "rect":
                    x, y = number(shape, "x") + dx, number(shape, "y") + dy
                    yield x, y, x + number(shape, "width"), y + number(shape, "height")


def overlap(one: Box, other: Box) -> bool:
    slack = 0.1  # coordinates are rounded to a tenth
    return (
        one[0] + slack < other[2]
        and other[0] + slack < one[2]
        and one[1] + slack < other[3]
        and other[1] + slack < one[3]
    )


def assert_nothing_overlaps(svg: str) -> None:
    boxes = text_boxes(svg)
    width, height = (float(n) for n in (parsed(svg).get("width", ""), parsed(svg).get("height", "")))
    for _, line, (left, top, right, bottom) in boxes:
        assert left >= 0, line
        assert top >= 0, line
        assert right <= width, line
        assert bottom <= height, line
    for (_, one, box), (_, other, second) in combinations(boxes, 2):
        assert not overlap(box, second), (one, other)
    for mark in marks(svg):
        for kind, line, box in boxes:
            assert kind in ("badge", "crash", "halt") or not overlap(mark, box), line


@pytest.mark.parametrize(("name", "failing"), CASES)
@pytest.mark.parametrize("standalone", [True, False])
def test_no_text_is_on_another(name: str, failing: bool, standalone: bool) -> None:
    assert_nothing_overlaps(diagram_svg(diagram(name, failing), title=name, standalone=standalone))


@given(diagrams(NAMES.filter(str.isascii), most=12, busiest=40))
def test_no_text_is_on_another_in_any_diagram(random: Diagram) -> None:
    assert_nothing_overlaps(diagram_svg(random, title="random", standalone=True))


@given(diagrams(NAMES))
def test_every_diagram_is_valid_and_complete(random: Diagram) -> None:
    root = parsed(diagram_svg(random, title='<"&>', standalone=True))
    assert {e.tag for e in root.iter()} <= {
        "svg",
        "style",
        "rect",
        "path",
        "circle",
        "text",
        "tspan",
        "g",
        "title",
    }
    assert not [a for e in root.iter() for a in e.attrib if a.startswith("on") or a in ("id", "href")]
    arrows = [g for g in root.findall("g") if g.get("class", "").startswith("arrow ")]
    assert len(arrows) == len(random.arrows)
    assert sum(g.get("class") == "arrow lost" for g in arrows) == sum(a.fate is Fate.LOST for a in random.arrows)
    assert [t.text for t in root.iter("text") if t.get("class") == "crash"] == ["CRASHED"] * len(random.crashes)
    words = [t.text for t in root.iter("text") if t.get("class") == "halt"]
    assert words == [halt.kind.value.upper() for halt in random.halts]
    assert len([g for g in root.findall("g") if g.get("class") == "band"]) == len(random.bands)


@pytest.mark.parametrize(("name", "failing"), CASES)
def test_drawings_are_compact(name: str, failing: bool) -> None:
    assert len(diagram_svg(diagram(name, failing), title=name, standalone=True).encode()) < 25_000


def test_an_arrow_tells_everything_when_it_is_pointed_at() -> None:
    titles = [t.text for t in parsed(diagram_svg(diagram("kafka", True), title="kafka")).iter("title")]
    assert "report(Z, b)\nb → Z, sent 1, lost; because of O(b,Z,1)" in titles
    assert "isr(a, a)\nleader(a, a)\nZ → a, sent 2, arrived 3" in titles
    assert "a crashes at time 4: C(a,4)" in titles
    foreseen = [t.text for t in parsed(diagram_svg(diagram("kafka", False), title="kafka")).iter("title")]
    assert "acked(C, w1)\na → C, sent 5, arrived 6; to be hit by C(a,4)" in foreseen


def badges(svg: str) -> list[tuple[str | None, str | None]]:
    groups = [g for g in parsed(svg).findall("g") if g.get("class", "").startswith("badge")]
    return [(g.get("class"), text.text) for g in groups for text in g.findall("text")]


def test_every_fault_has_its_number() -> None:
    assert badges(diagram_svg(diagram("kafka", True), title="")) == [
        ("badge lost", "1"),
        ("badge lost", "2"),
        ("badge crash", "3"),
    ]
    hit = badges(diagram_svg(diagram("kafka", False), title=""))
    assert hit == [("badge hit", "1"), ("badge hit", "2"), *[("badge hit", "3")] * 7]


def test_labels_say_to_whom_only_where_it_matters() -> None:
    labels = [
        line for kind, line, _ in text_boxes(diagram_svg(diagram("kafka", True), title="")) if kind == "label"
    ]
    assert labels[:4] == ["report", "report", "report", "write"]
    assert labels.count("isr, leader") == 4
    assert [line for line in labels if "→" in line] == ["acked → C", "report → Z"]


def test_the_summary_is_for_those_who_cannot_see_it() -> None:
    def label(shown: Diagram) -> str | None:
        root = parsed(diagram_svg(shown, title="Durability <broken>"))
        assert root.get("role") == "img"
        return root.get("aria-label")

    assert label(diagram("kafka", True)) == (
        "Durability <broken>: 5 processes, 6 steps, faults O(b,Z,1), O(c,Z,1), C(a,4)."
    )
    assert label(diagram("2pc", False)) == (
        "Durability <broken>: 4 processes, 5 steps, no fault; marked is what C(C,3) will hit."
    )
    assert label(Diagram(("a",), 1, ())) == "Durability <broken>: 1 process, 1 step, no fault."


def test_the_legend_explains_what_occurs() -> None:
    assert legend_items(diagram("kafka", True)) == (
        LegendItem("ok", "delivered"),
        LegendItem("lost", "lost"),
        LegendItem("crash", "crashed"),
    )
    assert [item.kind for item in legend_items(diagram("kafka", False))] == ["ok", "hit"]
    assert [item.kind for item in legend_items(diagram("paxos-forgetful", True))] == [
        "ok",
        "lost",
        "late",
        "crash",
    ]
    standalone = text_boxes(diagram_svg(diagram("2pc", True), title="", standalone=True))
    assert [line for kind, line, _ in standalone if kind == "key"] == ["delivered", "crashed", "C(C,3)"]
    assert not [line for kind, line, _ in text_boxes(diagram_svg(diagram("2pc", True), title="")) if kind == "key"]


def test_a_page_brings_the_style_a_file_has_its_own() -> None:
    embedded = diagram_svg(diagram("kafka", True), title="kafka")
    assert "<style>" not in embedded
    assert "xmlns" not in embedded
    alone = diagram_svg(diagram("kafka", True), title="kafka", standalone=True)
    assert alone.startswith('<svg xmlns="http://www.w3.org/2000/svg" class="lamport" viewBox="0 0 ')
    # All but the rules of what it does not show.
    assert [rule for rule in STYLE.splitlines() if rule not in alone] == [
        rule for rule in STYLE.splitlines() if re.search(r"\.(loop|gift|badge\.input)\b", rule)
    ]
    assert "@media (prefers-color-scheme:dark)" in alone


def test_colours_can_be_set_and_have_fallbacks() -> None:
    used = re.findall(r"var\(--(\w+)(,#[0-9a-f]{6})?\)", STYLE)
    assert {name for name, _ in used} == {"ink", "soft", "muted", "faint", "paper", "cut", "hit"}
    assert all(fallback for _, fallback in used)
    assert all(rule.startswith(".lamport ") for rule in STYLE.splitlines())


@pytest.mark.parametrize(("name", "failing"), CASES)
def test_every_class_has_its_style(name: str, failing: bool) -> None:
    root = parsed(diagram_svg(diagram(name, failing), title="", standalone=True))
    used = {c for e in root.iter() for c in e.get("class", "").split()} - {"lamport"}
    assert used <= set(re.findall(r"\.([a-z]+)", STYLE))


def test_diagrams_side_by_side_have_their_times_at_the_same_heights() -> None:
    failing, free = diagram("flux", True), diagram("flux", False)

    def heights(svg: str) -> list[str | None]:
        return [e.get("y") for e in parsed(svg).iter("text") if e.get("class") == "time"]

    together = heights(diagram_svg(failing, title="", beside=free))
    assert together == heights(diagram_svg(free, title="", beside=failing))
    assert together != heights(diagram_svg(failing, title=""))


def test_markup_in_a_program_stays_text() -> None:
    evil = "<script>alert(1)</script>" + '"><img onerror=x ' * 10 + "]]>\x00"
    arrow = Arrow(evil, "b", 1, None, (evil,), (f"{evil}(b)",), Fate.LOST, 1)
    shown = Diagram((evil, "b"), 2, (arrow,), (CrashMark("b", 1, 2),), (f"O({evil},b,1)", "C(b,1)"))
    svg = diagram_svg(shown, title=evil, standalone=True)
    assert "<script" not in svg
    assert "<img" not in svg
    assert [e.text for e in parsed(svg).iter("title") if "lost" in (e.text or "")] == [
        f"{evil}(b)\n{evil} → b, sent 1, lost; because of O({evil},b,1)".replace("\x00", "\ufffd")
    ]
