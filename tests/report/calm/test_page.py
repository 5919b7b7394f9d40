"""The page of an analysis: self-contained, escaped, and with everything that the analysis found."""

from __future__ import annotations

import json
import re

from analysis.calm import programs
from analysis.calm.analysis import of_class
from clew.analysis.calm.analysis import analyse_dataflow
from clew.analysis.calm.dataflow.graph import Dataflow, Edge, Leaf, Node, NodeKind, Statement
from clew.report.calm.document import calm_document, calm_json
from clew.report.calm.page import calm_page
from clew.report.calm.text import calm_text


def test_the_page_asks_nobody_for_anything() -> None:
    page = calm_page(of_class(programs.CompleteDestructiveCart))
    assert "default-src 'none'" in page
    assert "<script" not in page
    assert re.findall(r'(?:src|href)="([^"]*)"', page) == ["data:,"]


def test_the_page_shows_labels_points_and_legend() -> None:
    page = calm_page(of_class(programs.Absent))
    assert "ORDER MATTERS" in page
    assert "notin guard2" in page
    assert "self.out &lt;= self.guard1.notin(self.guard2)" in page
    for entry in (
        "a table or lattice",
        "rows of one step",
        "a temporal cluster",
        "underspecified",
        "not monotone",
    ):
        assert entry in page


def test_the_page_escapes_what_the_program_says() -> None:
    hostile = "<img src=x onerror=alert(1)>"
    nodes = (Node("in", NodeKind.CHANNEL), Node(hostile, NodeKind.OUTPUT))
    statements = (Statement(hostile, hostile, hostile, Leaf("in"), False),)
    flow = Dataflow(hostile, nodes, statements, (Edge("in", hostile, 0, reason=hostile),))
    page = calm_page(analyse_dataflow(flow))
    assert "<img" not in page
    assert "&lt;img src=x onerror=alert(1)&gt;" in page


def test_text() -> None:
    lines = calm_text(of_class(programs.LocalCount)).splitlines()
    assert lines[:5] == [
        "DEPENDS ON THE SEQUENCE OF STEPS: LocalCount (3 collections, 2 rules, 1 output)",
        "",
        "out: N, decided by the sequence of steps: which rows each step is given, and which steps get none",
        "  from given: N",
        "  1 point of order:",
    ]
    assert lines[5].endswith(" in LocalCount.result: count over kept")
    assert lines[6] == '        self.out <= self.kept.group(["key"], n=agg.count())'
    assert len(lines) == 7


def test_json_says_the_same() -> None:
    analysis = of_class(programs.Absent)
    document = json.loads(calm_json(analysis, ["programs.py:Absent"]))
    assert document == calm_document(analysis, ["programs.py:Absent"])
    (out,) = (o for o in document["outputs"] if o["name"] == "out")
    assert (out["label"], out["consistent"]) == ("D", False)
    assert out["from"] == [{"source": "in1", "label": "A"}, {"source": "in2", "label": "D"}]
    assert [p["reasons"] for p in out["points"]] == [["notin guard2"]]
    marked = [e for e in document["edges"] if e["nonmonotone"]]
    assert [(e["from"], e["to"], e["nonmonotone"]) for e in marked] == [("guard2", "out", "notin guard2")]
