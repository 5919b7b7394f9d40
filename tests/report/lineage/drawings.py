"""Lineage graphs of examples and at random, drawn, and how to find things in a drawing."""

from __future__ import annotations

from functools import cache
from xml.etree import ElementTree

from hypothesis import strategies as st

from clew.budgets.deadline import Deadline
from clew.explain.lineage_graph import Firing, Goal, LineageGraph, Transfer
from clew.explain.overview import Overview, overview
from clew.faults import Crash
from clew.program.ir import Premise, Rule, Timing, Var
from clew.report.lineage.marks import Marks
from clew.report.lineage.svg import lineage_svg
from example_verdicts import explainer_of

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
def graph_of(name: str, whole: bool = False, delays: int | None = None) -> LineageGraph:
    lineage = explainer_of(name, delays).lineage(explainer_of(name, delays).outcomes()[0])
    return lineage.whole if whole else lineage.focused


@cache
def seen_of(name: str, whole: bool = False, delays: int | None = None) -> Overview:
    return overview(graph_of(name, whole, delays), explainer_of(name, delays).program.rules)


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
        explainer_of(name, delays).program.rules,
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
