"""Remedies are tried out: sealing first where a key is known, then orders."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given

from analysis.blazes.dataflows import dataflows, path, sink_labels, stream
from clew.analysis.blazes import Component, Dataflow, Ordering, analyse
from clew.analysis.blazes.annotations import RUN
from clew.analysis.blazes.blame import find_blame
from clew.analysis.blazes.derivation import derive
from clew.analysis.blazes.remedies import Remedy, apply_remedy, find_remedies
from clew.analysis.blazes.yaml.reading import load_dataflow
from command import ROOT

Shown = tuple[list[tuple[str, list[str]]], str, tuple[str, ...], str]


def _shown(remedy: Remedy) -> Shown:
    seals = [(s.stream, sorted(s.key)) for s in remedy.seals]
    return seals, remedy.ordering.value, remedy.ordered, str(remedy.after)


def _of(name: str, **variants: str) -> list[Shown]:
    dataflow = load_dataflow(ROOT / f"examples/blazes/{name}.yaml", variants)
    (sink,) = analyse(dataflow).sinks
    return [_shown(remedy) for remedy in sink.remedies]


def test_word_count_is_ordered_as_nobody_says_what_its_source_can_be_sealed_on() -> None:
    assert _of("word-count") == [
        ([], "sequence", ("Count",), "Async"),
        ([("tweets", ["batch"])], "none", (), "Async"),
        ([("tweets", ["word"])], "none", (), "Async"),
    ]


def test_word_count_is_sealed_if_the_attributes_of_its_source_are_stated() -> None:
    flow = load_dataflow(ROOT / "examples/blazes/word-count.yaml")
    tweets, *others = flow.streams
    stated = replace(flow, streams=(replace(tweets, attributes=("text", "batch")), *others))
    assert [_shown(r) for r in find_remedies(stated, "db")] == [
        ([("tweets", ["batch"])], "none", (), "Async"),
        ([], "sequence", ("Count",), "Async"),
    ]


def test_an_order_within_a_run_keeps_replicas_together_but_not_runs() -> None:
    assert _of("ad-report", Report="POOR") == [
        ([("clicks", ["id"])], "none", (), "Async"),
        ([], "dynamic", ("Report",), "Run"),
        ([], "sequence", ("Report",), "Async"),
    ]


def test_a_seal_is_found_through_a_renaming() -> None:
    assert _of("cart")[0] == ([("actions", ["session"])], "none", (), "Async")


def test_nothing_to_do() -> None:
    assert _of("cart-sealed") == _of("ad-report", Report="THRESH") == []


def _pair(*, rep: bool = True) -> Dataflow:
    return Dataflow(
        (Component("Store", (path("x", "o", "OW:a"), path("y", "o", "OW:b")), replicated=rep),),
        (
            replace(stream("xs", None, "Store.x"), attributes=("a", "c")),
            replace(stream("ys", None, "Store.y"), attributes=("b", "c")),
            stream("out", "Store.o", None),
        ),
    )


def test_as_many_seals_as_needed() -> None:
    first, *_ = find_remedies(_pair(), "out")
    assert _shown(first) == ([("xs", ["a"]), ("ys", ["b"])], "none", (), "Async")


def test_a_source_that_differs_already_cannot_be_repaired_here() -> None:
    flow = _pair()
    bad = replace(flow.streams[0], label=RUN)
    (sink,) = analyse(
        replace(
            flow, components=(Component("Store", (path("x", "o", "CR"), path("y", "o", "CR"))),),
            streams=(bad, *flow.streams[1:]),
        )
    ).sinks
    assert (sink.label, sink.blame, sink.remedies) == (RUN, (), ())


def test_ordering_one_component_shows_the_next_one_to_blame() -> None:
    """What passed the second as Inst comes there in any order once the first is ordered."""
    flow = Dataflow(
        (
            Component("First", (path("w", "o", "CW"), path("q", "o", "OR:a")), replicated=True),
            Component("Second", (path("w", "o", "CW"), path("q", "o", "OR:b")), replicated=True),
        ),
        (
            stream("w1", None, "First.w"),
            stream("q1", None, "First.q"),
            stream("between", "First.o", "Second.q"),
            stream("w2", None, "Second.w"),
            stream("out", "Second.o", None),
        ),
    )
    labelled = derive(flow)
    before = find_blame(labelled.derivation(labelled.dataflow.sinks[0]))
    assert [blame.components for blame in before] == [("First",)]
    orders = [r for r in find_remedies(flow, "out") if r.ordered]
    assert [(r.ordering.value, r.ordered, str(r.after)) for r in orders] == [
        ("dynamic", ("First", "Second"), "Run"),
        ("sequence", ("First", "Second"), "Async"),
    ]


@given(dataflows())
def test_a_remedy_does_what_it_says(flow: Dataflow) -> None:
    for sink in analyse(flow).sinks:
        assert bool(sink.remedies) == sink.label.bad
        for remedy in sink.remedies:
            after = sink_labels(apply_remedy(flow, remedy))[sink.stream.name]
            assert after == remedy.after
            assert after.severity < sink.label.severity
            assert not after.bad or (remedy.ordering is Ordering.DYNAMIC and after == RUN)
