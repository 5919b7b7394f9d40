"""Names in a program never become markup of its lineage graph."""

from __future__ import annotations

from xml.etree import ElementTree

from hypothesis import given, settings
from hypothesis import strategies as st

from clew import parse_program
from clew.explain.explainer import Explainer
from clew.explain.lineage_graph import Firing, Goal, LineageGraph, Transfer
from clew.explain.overview import overview
from clew.faults import FailureSpec
from clew.program.checks import check_program
from clew.program.ir import Const, Fact, Premise, Program, Rule, Timing, Var
from clew.report.lineage.svg import lineage_svg
from clew.violation import Violation
from report.lineage.drawings import (
    HOSTILE,
    NO_DEADLINE,
    SVG,
    any_graphs,
    drawn_graph,
    firings_in,
    goals_in,
    parsed,
    title_of,
    words_of,
)


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
