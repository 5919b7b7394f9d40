"""Names in a program never become markup or script of its report."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import pytest

from clew import Answer, Loss, Program, check, run
from clew.program.ir import Const, Fact, Premise, Rule, Timing, Var
from clew.report.verdict.page import run_page
from report.verdict.pages import (
    Read,
    explainer_of,
    page_of,
)

TAGS = {
    "html", "head", "meta", "title", "link", "style", "body", "a", "header", "p", "span", "dl", "div", "dt",
    "dd", "nav", "main", "noscript", "pre", "section", "h1", "h2", "h3", "button", "ol", "code", "figure",
    "figcaption", "ul", "li", "svg", "g", "path", "i", "table", "thead", "tbody", "tr", "th", "td", "label",
    "input", "form", "select", "output", "details", "summary", "footer", "script", "b", "rect", "text",
    "tspan", "line", "circle",
}  # fmt: skip
NASTY = "</script><script>alert(1)</script><img src=x onerror=alert(1)>"

pytestmark = pytest.mark.usefixtures("at_the_root")


def _hostile(nodes: tuple[str, str], value: str, relation: str = "log") -> Program:
    columns = (Var("N"), Var("V"))
    return Program(
        (
            Fact("start", (nodes[0], value)),
            Rule(relation, (Const(nodes[1]), Var("V")), Timing.ASYNC, (Premise("start", columns),)),
            Rule(relation, columns, Timing.NEXT, (Premise(relation, columns),)),
        )
    )


@pytest.mark.parametrize(
    "text",
    [
        NASTY,
        "<!--",
        "]]>",
        "&lt;b&gt;",
        "\"'`",
        "line\nbreak\ttab",
        "{{ 7 * 7 }}{% raw %}",
        "\u2028\u2029",
        "x" * 200,
    ],
)
def test_names_never_become_markup_or_script(text: str) -> None:
    nodes = (text, f"{text}2") if text.isprintable() else ("a", "b")
    program = _hostile(nodes, f"{text}3")
    bounds: dict[str, Any] = {"nodes": list(nodes), "eot": 3, "eff": 2, "crashes": 1}
    files = (f"{text}.ded",)
    for verdict in (check(program, **bounds), check(program, **bounds, strategy="lineage")):
        assert verdict.answer is Answer.COUNTEREXAMPLE
        assert_harmless(page_of(verdict, files), text, nodes)
    certified = check(program, **{**bounds, "eff": 0, "crashes": 0})
    assert_harmless(page_of(certified, files), text, nodes)
    execution = run(program, [Loss(*nodes, 1)], nodes=list(nodes), eot=3)
    assert_harmless(run_page(execution, files, explainer_of(execution), lambda stage: None), text, nodes)


def assert_harmless(page: str, text: str, nodes: tuple[str, str]) -> None:
    found = Read(page)
    assert len(found.scripts) == page.count("<script") == 2
    assert {tag for tag, _ in found.tags} <= TAGS
    assert not [a for _, attributes in found.tags for a in attributes if a.startswith("on")]
    if "<" in text:
        assert text not in page
    data = found.data
    assert data["nodes"] == list(nodes), "told as they are, once decoded"
    assert any(f"{text}3" in row for _, _, row, _ in data["rows"])
    allowed = {"svg", "g", "path", "rect", "text", "tspan", "title", "line", "circle", "a"}
    for svg in (*(r["right"] for r in data["runs"]), *(g["whole"] for g in data["graphs"])):
        assert {e.tag for e in ElementTree.fromstring(svg).iter()} <= allowed
    assert f"{text}.ded" in found.text("title")


def test_a_hostile_relation_name() -> None:
    program = _hostile(("a", "b"), "x", relation="<b>")
    verdict = check(program, nodes=["a", "b"], eot=3, eff=2)
    page = page_of(verdict)
    assert "<b>(" not in page
    assert Read(page).data["runs"][1]["violated"] == ["<b>(b, x)"]
