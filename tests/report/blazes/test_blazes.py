"""The verdict on a dataflow as text, tree, picture and page."""

from __future__ import annotations

from dataclasses import replace
from xml.dom import minidom

import pytest

from analysis.blazes.dataflows import path, stream
from clew.analysis.blazes import Component, Dataflow, Stream, Verdict, analyse
from clew.analysis.blazes.annotations import RUN
from clew.analysis.blazes.yaml.reading import load_dataflow
from clew.report.blazes.page import blazes_page
from clew.report.blazes.svg import blazes_svg, stream_labels
from clew.report.blazes.text import blazes_text
from clew.report.blazes.tree import WIDEST, derivation_trees
from command import ROOT


def _example(name: str, **variants: str) -> Verdict:
    return analyse(load_dataflow(ROOT / f"examples/blazes/{name}.yaml", variants))


def _trees(verdict: Verdict) -> list[str]:
    trees = derivation_trees(verdict.labelled, verdict.sinks[0].stream)
    return ["\n".join(line.rstrip() for line in tree) for tree in trees]


def test_a_tree_that_fits_is_whole() -> None:
    assert _trees(_example("word-count")) == [
        """\
                                  tweets
                                  Async    CR
                              (p) ───────────
                                     Async
                     Splitter ───────────────
                                   Async        OW[batch,word]
                 (2) ─────────────────────────────────────────
                                       Taint
           Count ─────────────────────────────────────────────
                                      Run                        CW
       (p) ────────────────────────────────────────────────────────
                                     Run
Commit ────────────────────────────────────────────────────────────
                                   Run"""
    ]


def test_a_tree_that_does_not_fit_is_taken_apart() -> None:
    trees = _trees(_example("ad-report"))
    assert (
        trees[1]
        == """\
           clicks            misses
           Async    CW       Async    OR[campaign,id]
       (p) ───────────   (1) ────────────────────────
              Async            NDRead[campaign,id]      Rep
Report ────────────────────────────────────────────────────
                               Inst"""
    )
    assert [tree.splitlines()[-2].split(" ─")[0] for tree in trees] == ["Cache", "Report", "cycle of Cache"]
    assert max(len(line) for tree in trees for line in tree.splitlines()) <= WIDEST


def test_a_seal_at_the_sink_is_async_for_those_outside() -> None:
    (tree,) = _trees(_example("word-count-sealed"))
    assert [line.strip() for line in tree.splitlines()[-3::2]] == ["Seal[batch]", "Async"]


def test_a_seal_inside_is_a_step_of_its_own() -> None:
    flow = Dataflow(
        (Component("A", (path("i", "o", "CR"),)), Component("B", (path("i", "o", "OW:a"),))),
        (stream("in", None, "A.i"), stream("mid", "A.o", "B.i", seal="a"), stream("out", "B.o", None)),
    )
    (tree,) = _trees(analyse(flow))
    assert "mid ───" in tree
    assert tree.count("Seal[a]") == 3


def _diamonds(count: int) -> Dataflow:
    """Every component reads the one before it twice: a tree of all derivations would double each time."""
    components = [Component(f"C{k}", (path("i", "o", "CR"), path("j", "o", "CR"))) for k in range(count)]
    streams: list[Stream] = [stream("x", None, "C0.i"), stream("y", None, "C0.j")]
    for k in range(1, count):
        streams += [stream(f"x{k}", f"C{k - 1}.o", f"C{k}.i"), stream(f"y{k}", f"C{k - 1}.o", f"C{k}.j")]
    return Dataflow(tuple(components), (*streams, stream("out", f"C{count - 1}.o", None)))


def test_shared_derivations_are_shown_once() -> None:
    trees = _trees(analyse(_diamonds(60)))
    assert len(trees) == 60
    assert trees[59].splitlines()[0].split() == ["x59", "y59"]


def test_a_source_that_differs_already_is_to_blame() -> None:
    flow = Dataflow(
        (Component("A", (path("i", "o", "CR"),)),),
        (replace(stream("in", None, "A.i"), label=RUN), stream("out", "A.o", None)),
    )
    assert blazes_text(analyse(flow), "f.yaml").splitlines()[:6] == [
        "INCONSISTENT: f.yaml: the contents of out can differ.",
        "",
        "out: Run",
        "  meaning: the contents can differ from run to run: what is replayed need not be what was sent before",
        "  because: a source is Run already: in",
        "  remedy: none is known",
    ]


@pytest.mark.parametrize("rep", [False, True])
def test_every_kind_of_blame(rep: bool) -> None:
    store = Component("S", (path("a", "o", "OW:k"), path("b", "o", "OW*"), path("c", "o", "OR:k")), replicated=rep)
    flow = Dataflow(
        (store,),
        (
            stream("as", None, "S.a"),
            stream("bs", None, "S.b", seal="k"),
            stream("cs", None, "S.c"),
            stream("out", "S.o", None),
        ),
    )
    because = next(line for line in blazes_text(analyse(flow), "f").splitlines() if "because" in line)
    written = "a → o is OW[k] and as (Async) comes in any order; "
    written += "b → o is OW[*] and bs (Seal[k]) is sealed on another key"
    read = "; c → o is OR[k] and reads what as (Async), bs (Seal[k]) may still change"
    assert because == f"  because: S makes it {'Split' if rep else 'Run'}: {written}{'' if rep else read}"


def test_labels_of_streams_also_inside_a_cycle() -> None:
    labels = {name: str(label) for name, label in stream_labels(_example("ad-report")).items()}
    assert labels == {
        "clicks": "Async",
        "requests": "Async",
        "misses": "Async",
        "results": "Inst",
        "gossip": "Split",
        "answers": "Split",
    }


@pytest.mark.parametrize(("out", "gives"), [("x", "x"), ("i", "o")], ids=["the same name in and out", "two names"])
@pytest.mark.parametrize("leaves", [True, False], ids=["a sink behind it", "nothing leaves it"])
def test_a_cycle_of_two_components_has_a_picture_and_a_page(out: str, gives: str, leaves: bool) -> None:
    """Streams inside a cycle begin at outputs that nothing outside need read."""
    flow = Dataflow(
        (Component("A", (path(out, gives, "OW*"),)), Component("B", (path(out, gives, "CR"),))),
        (
            stream("in", None, f"A.{out}"),
            stream("there", f"A.{gives}", f"B.{out}"),
            stream("back", f"B.{gives}", f"A.{out}"),
            *([stream("out", f"B.{gives}", None)] if leaves else []),
        ),
    )
    verdict = analyse(flow)
    labels = {name: str(label) for name, label in stream_labels(verdict).items()}
    assert labels == {"in": "Async", "there": "Run", "back": "Run"} | ({"out": "Run"} if leaves else {})
    assert _texts(blazes_svg(verdict, standalone=True), "label") == list(labels.values())
    assert blazes_page(verdict, "f").count("<svg") == 1


def _texts(svg: str, kind: str) -> list[str]:
    found = minidom.parseString(svg).getElementsByTagName("text")
    return [str(t.childNodes[0].nodeValue) for t in found if t.getAttribute("class") == kind]


def test_the_picture_shows_labels_and_the_place_of_the_remedy() -> None:
    svg = blazes_svg(_example("ad-report"), standalone=True)
    assert _texts(svg, "name") == ["Cache (Rep)", "Report (Rep)"]
    assert _texts(svg, "label") == ["Async", "Async", "Async", "Inst", "Split", "Split"]
    assert _texts(svg, "remedy") == ["seal on campaign"]
    assert svg.count('class="way"') == svg.count('class="head"') == 9
    assert _texts(blazes_svg(_example("word-count"), standalone=True), "remedy") == ["order the inputs"]
    assert _texts(blazes_svg(_example("cart-sealed"), standalone=True), "remedy") == []


def test_the_page() -> None:
    page = blazes_page(_example("ad-report"), "<ad&report>.yaml")
    assert "&lt;ad&amp;report&gt;.yaml" in page
    assert "<ad&report>" not in page
    assert "<li>seal clicks on campaign; then it is Async</li>" in page
    assert "<script" not in page
    assert "Nothing." in blazes_page(_example("cart-sealed"), "cart")
