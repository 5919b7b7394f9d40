"""The dataflow as SVG: valid, harmless, and drawn with the signs of figure 3.4."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from xml.etree import ElementTree

import pytest

from analysis.calm import programs
from analysis.calm.analysis import of_class
from clew.analysis.calm.analysis import analyse_dataflow
from clew.analysis.calm.dataflow.graph import Dataflow, Edge, Leaf, Node, NodeKind, Statement
from clew.bloom.language.module import Module
from clew.report.calm.layout import lay_out_dataflow
from clew.report.calm.svg import dataflow_svg

SVG = "{http://www.w3.org/2000/svg}"


def _shapes(program: type[Module]) -> Counter[str]:
    return Counter(box.shape.value for box in lay_out_dataflow(of_class(program)).boxes)


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        (programs.KVSProtocol, {"passing": 3, "open": 1, "end": 2}),
        (programs.BasicKVS, {"passing": 4, "cluster": 1, "end": 2}),
        (programs.CompleteDestructiveCart, {"passing": 7, "cluster": 1, "end": 2}),
        (programs.DisorderlyCart, {"passing": 6, "stored": 1, "end": 2}),
    ],
)
def test_shapes(program: type[Module], expected: dict[str, int]) -> None:
    """Figures 3.5, 3.6, 3.8 and 3.9."""
    assert _shapes(program) == expected


def test_signs_of_the_store() -> None:
    laid = lay_out_dataflow(of_class(programs.BasicKVS))
    names = [box.label for box in laid.boxes]
    signs = {(names[a.start], names[a.end]): (a.sends, a.temporal, a.nonmonotone) for a in laid.arrows}
    assert signs == {
        ("S", "kvput"): (False, False, False),
        ("S", "kvget"): (False, False, False),
        ("kvput", "kvstate"): (False, True, True),
        ("kvget", "getj"): (False, False, False),
        ("kvstate", "getj"): (False, False, False),
        ("getj", "kvget_response"): (False, False, False),
        ("kvget_response", "T"): (False, False, False),
    }


def test_the_underspecified_protocol_leads_through_question_marks() -> None:
    laid = lay_out_dataflow(of_class(programs.KVSProtocol))
    names = [box.label for box in laid.boxes]
    assert [(names[a.start], names[a.end]) for a in laid.arrows] == [
        ("S", "kvput"),
        ("S", "kvget"),
        ("kvput", "??"),
        ("kvget", "??"),
        ("??", "kvget_response"),
        ("kvget_response", "T"),
    ]


def test_only_points_of_order_are_red() -> None:
    laid = lay_out_dataflow(of_class(programs.Absent))
    names = [box.label for box in laid.boxes]
    red = [(names[a.start], names[a.end]) for a in laid.arrows if a.point]
    assert red == [("guard1", "out"), ("guard2", "out")]  # both are read by the one rule
    assert not any(a.point for a in lay_out_dataflow(of_class(programs.TablesJoined)).arrows)


@pytest.mark.parametrize("program", [programs.CompleteDisorderlyCart, programs.CompleteDestructiveCart])
def test_boxes_do_not_overlap(program: type[Module]) -> None:
    laid = lay_out_dataflow(of_class(program))
    placed = list(zip(laid.boxes, laid.layout.places, strict=True))
    for (a, left), (b, right) in combinations(placed, 2):
        assert left.layer != right.layer or abs(left.x - right.x) >= (a.width + b.width) / 2


def test_messages_are_dashed_and_marks_are_drawn() -> None:
    drawn = ElementTree.fromstring(dataflow_svg(of_class(programs.Absent), standalone=True))
    arrows = [g for g in drawn.iter(f"{SVG}g") if "arrow" in (g.get("class") or "").split()]
    assert sum("sends" in (g.get("class") or "") for g in arrows) == 2
    assert sum(len(g.findall(f"{SVG}circle")) for g in arrows) == 1


def test_cycles_and_loops_are_drawn() -> None:
    nodes = (Node("a", NodeKind.TABLE), Node("b", NodeKind.SCRATCH))
    statements = tuple(Statement(t, "rule", "", Leaf(s), False) for s, t in (("a", "b"), ("b", "a"), ("a", "a")))
    edges = tuple(Edge(s, t, k) for k, (s, t) in enumerate((("a", "b"), ("b", "a"), ("a", "a"))))
    laid = lay_out_dataflow(analyse_dataflow(Dataflow("cycle", nodes, statements, edges)))
    assert len(laid.backwards) == 1
    assert [(loop.start, loop.end) for loop in laid.loops] == [(1, 1)]


@pytest.mark.parametrize("name", ["<script>alert(1)</script>", "\"'&<>", "]]></style>", "n" * 200, "写真"])
def test_names_are_harmless(name: str) -> None:
    nodes = (Node(name, NodeKind.INPUT), Node("out", NodeKind.OUTPUT))
    statements = (Statement("out", name, name, Leaf(name), False),)
    flow = Dataflow(name, nodes, statements, (Edge(name, "out", 0, reason=name),))
    drawn = dataflow_svg(analyse_dataflow(flow), standalone=True)
    assert "<script" not in drawn
    tags = {element.tag.removeprefix(SVG) for element in ElementTree.fromstring(drawn).iter()}
    assert tags <= {"svg", "style", "rect", "g", "title", "ellipse", "polygon", "path", "text", "circle"}
