"""A cycle is as bad as its worst member, and nothing else is on it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.blazes.dataflows import (
    ATTRIBUTES,
    annotation,
    dataflows,
    path,
    sink_labels,
    some_annotations,
    stream,
)
from clew.analysis.blazes import (
    Annotation,
    Component,
    Dataflow,
    Dependency,
    End,
    Lineage,
    Ordering,
    Path,
    Stream,
)
from clew.analysis.blazes.cycles import collapse, worst
from clew.analysis.blazes.extraction.declared import annotated
from clew.analysis.blazes.extraction.system import extract
from clew.bloom import Bloom, agg, bloom, channel, imported, interface, table


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        (["CR", "CW"], "CW"),
        (["CW", "OR:a"], "OR:a"),
        (["OR:a", "OW:a", "CR"], "OW:a"),
        (["OR:a", "OR:b"], "OR*"),
        (["OR:a", "OW:b"], "OW*"),  # a seal on b says nothing about the reads of a
        (["OW*", "OW:b"], "OW*"),
    ],
)
def test_the_worst_annotation(members: list[str], expected: str) -> None:
    assert worst([annotation(text) for text in members]) == annotation(expected)


def _cache(*, request: str = "CR", rep: bool = False) -> Dataflow:
    cache = Component(
        "Cache",
        (path("request", "response", request), path("response", "response", "CW"), path("request", "miss", "CR")),
        replicated=rep,
    )
    return Dataflow(
        (cache,),
        (
            stream("requests", None, "Cache.request"),
            stream("results", None, "Cache.response"),
            stream("gossip", "Cache.response", "Cache.response"),
            stream("misses", "Cache.miss", None),
            stream("answers", "Cache.response", None),
        ),
    )


def test_a_component_that_feeds_itself() -> None:
    collapsed = collapse(_cache())
    assert [(c.name, c.cycle) for c in collapsed.components] == [("Cache", ()), ("cycle of Cache", ("Cache",))]
    cycle = collapsed.components[1]
    assert {(p.source, p.target, str(p.annotation)) for p in cycle.paths} == {
        ("Cache.request", "Cache.response", "CW"),
        ("Cache.response", "Cache.response", "CW"),
    }
    assert sorted(s.name for s in collapsed.streams) == ["answers", "misses", "requests", "requests", "results"]


def test_what_enters_in_the_middle_takes_the_worse_annotation() -> None:
    cycle = collapse(_cache(request="OR:a")).components[1]
    assert {p.source: str(p.annotation) for p in cycle.paths} == {
        "Cache.request": "OR[a]",
        "Cache.response": "CW",
    }


def test_two_components_without_a_path_back_form_no_cycle() -> None:
    flow = Dataflow(
        (
            Component("A", (path("q", "q", "CR"), path("r", "r", "CW"))),
            Component("B", (path("q", "r", "OR:a"),)),
        ),
        (
            stream("ask", None, "A.q"),
            stream("forward", "A.q", "B.q"),
            stream("back", "B.r", "A.r"),
            stream("out", "A.r", None),
        ),
    )
    assert collapse(flow) == flow


def test_a_path_that_leaves_the_cycle_sees_its_label() -> None:
    flow = Dataflow(
        (Component("A", (path("i", "o", "OW:a"), path("i", "log", "CR")), replicated=True),),
        (
            stream("in", None, "A.i"),
            stream("again", "A.o", "A.i"),
            stream("out", "A.o", None),
            stream("logged", "A.log", None),
        ),
    )
    assert {name: str(label) for name, label in sink_labels(flow).items()} == {"out": "Split", "logged": "Split"}


def test_two_cycles_through_one_component() -> None:
    flow = Dataflow(
        (Component("A", (path("i", "o", "CR"), path("j", "p", "OW*"))),),
        (
            stream("in", None, "A.i"),
            stream("loop", "A.o", "A.i"),
            stream("in2", "A.o", "A.j"),
            stream("loop2", "A.p", "A.j"),
            stream("out", "A.p", None),
        ),
    )
    names = [c.name for c in collapse(flow).components]
    assert sorted(names) == ["cycle of A", "cycle of A (2)"]
    assert str(sink_labels(flow)["out"]) == "Run"


def test_a_replicated_stream_into_a_cycle_counts_for_all_of_the_component() -> None:
    flow = _cache()
    gossip = flow.streams[2]
    by_stream = replace(flow, streams=(*flow.streams[:2], replace(gossip, replicated=True), *flow.streams[3:]))
    assert [c.replicated for c in collapse(by_stream).components] == [True, True]
    assert [c.replicated for c in collapse(flow).components] == [False, False]


def test_a_cycle_is_ordered_if_all_members_are() -> None:
    flow = Dataflow(
        (Component("A", (path("i", "o", "OW*"),)), Component("B", (path("i", "o", "OW*"),))),
        (
            stream("in", None, "A.i"),
            stream("there", "A.o", "B.i"),
            stream("back", "B.o", "A.i"),
            stream("out", "B.o", None),
        ),
    )
    one = flow.with_ordering(frozenset({"A"}), Ordering.SEQUENCE)
    both = flow.with_ordering(frozenset({"A", "B"}), Ordering.SEQUENCE)
    assert [str(sink_labels(f)["out"]) for f in (flow, one, both)] == ["Run", "Run", "Async"]


@pytest.mark.parametrize(
    ("lineage", "label"),
    [
        (Lineage(), "Async"),
        (Lineage(False, (Dependency(frozenset("a"), frozenset("a")),)), "Async"),
        (Lineage(False, (Dependency(frozenset("b"), frozenset("b")),)), "Run"),
        (Lineage(True, (Dependency(frozenset("b"), frozenset("a")),)), "Run"),
    ],
)
def test_a_seal_passes_a_cycle_that_promises_it_and_keeps_the_name(lineage: Lineage, label: str) -> None:
    """A seal on what enters says nothing about what goes round; a stream that goes round can have its own."""
    for own, expected in (("a", label), ("b", "Run"), (None, "Run")):
        assert str(sink_labels(_round_and_counted(lineage, own))["out"]) == expected


def _round_and_counted(lineage: Lineage, own: str | None) -> Dataflow:
    return Dataflow(
        (
            Component("A", (Path("i", "o", annotation("CR"), lineage),)),
            Component("B", (path("i", "o", "OW:a"),)),
        ),
        (
            stream("in", None, "A.i", seal="a"),
            stream("loop", "A.o", "A.i", seal=own),
            stream("there", "A.o", "B.i"),
            stream("out", "B.o", None),
        ),
    )


def test_what_is_counted_on_a_cycle_is_not_complete_with_what_enters() -> None:
    """The count leads to rows that are counted in the same partition, and were not there when it was sealed."""
    for text in ("OW:a", "OR:a"):
        flow = Dataflow(
            (Component("A", (path("i", "o", text),)),),
            (stream("in", None, "A.i", seal="a"), stream("loop", "A.o", "A.i"), stream("out", "A.o", None)),
        )
        assert str(sink_labels(flow)["out"]) == "Run"
        assert str(sink_labels(flow.with_seal("loop", frozenset("a")))["out"]) == "Async"


def test_all_streams_of_a_cycle_must_be_sealed() -> None:
    flow = Dataflow(
        (Component("A", (path("i", "o", "OW:a"),)), Component("B", (path("i", "o", "CR"),))),
        (
            stream("in", None, "A.i", seal="a"),
            stream("there", "A.o", "B.i", seal="a"),
            stream("back", "B.o", "A.i"),
            stream("out", "B.o", None),
        ),
    )
    assert str(sink_labels(flow)["out"]) == "Run"
    assert str(sink_labels(flow.with_seal("back", frozenset("a")))["out"]) == "Async"
    assert str(sink_labels(flow.with_seal("back", frozenset("b")))["out"]) == "Run"


class Tally(Bloom):
    """Counts rows for each key, and passes on small ones, with which more are to be counted."""

    row = interface.input("key", "value")
    counted = interface.output("key", "n")
    more = interface.output("key", "value")
    log = table("key", "value")

    @bloom
    def count(self) -> None:
        self.log <= self.row
        self.counted <= self.log.group(["key"], n=agg.count())
        self.more <= self.row.filter(lambda r: r.value < 10)


class Rounds(Bloom):
    """What is passed on comes back by messages, each in its own time."""

    put = interface.input("key", "value")
    out = interface.output("key", "n")
    again = channel("@to", "key", "value")
    tally = imported(Tally)
    blazes = annotated(seals={"put": ["key"]})

    @bloom
    def go_round(self) -> None:
        self.tally.row <= self.put
        self.again <~ self.tally.more(lambda r: (self.ip_port, r.key, r.value + 10))
        self.tally.row <= self.again.payloads()
        self.out <= self.tally.counted


def test_a_program_in_which_a_sealed_partition_comes_back() -> None:
    """All that enters is there in one step, and still it matters when the rest comes round."""
    shown = []
    for arriving in ([[(1, 11), (1, 12)]], [[(1, 11)], [(1, 12)]]):
        node: Any = Rounds("n")
        seen: set[tuple[int, ...]] = set()
        for value in (1, 2):
            node.put.insert((1, value))
        for messages in ([], *arriving):
            for message in messages:
                node.machine.deliver("again", ("n", *message))
            node.tick()
            seen.update(map(tuple, node.out))
        shown.append(seen)
    assert shown == [{(1, 2), (1, 4)}, {(1, 2), (1, 3), (1, 4)}]
    assert str(sink_labels(extract(Rounds).dataflow)["out"]) == "Run"


@given(dataflows(), st.data())
def test_a_cycle_equals_its_collapsed_node(flow: Dataflow, data: st.DataObject) -> None:
    """A path of one component becomes a ring of three whose worst member has its annotation."""
    index = data.draw(st.integers(0, len(flow.components) - 1))
    component = flow.components[index]
    if len(component.paths) != 1:
        component = replace(component, paths=component.paths[:1])
    number = data.draw(st.integers(0, 2))
    single = replace(flow, components=(*flow.components[:index], component, *flow.components[index + 1 :]))
    single = _only_connected(single)
    (only,) = component.paths
    milder = _milder(only.annotation, data)
    members = tuple(
        Component(f"{component.name}-{k}", (replace(only, annotation=only.annotation if k == number else milder),))
        for k in range(3)
    )
    members = (replace(members[0], replicated=component.name in single.replicated), *members[1:])
    # What enters is sealed for what goes round only as far as all of the ring is.
    sealed = tuple(data.draw(st.lists(st.frozensets(st.sampled_from(ATTRIBUTES), min_size=1), max_size=2)))
    ring = [
        Stream(f"ring {k}", End(one.name, only.target), End(other.name, only.source), seals=sealed)
        for k, (one, other) in enumerate(zip(members, (*members[1:], members[0]), strict=True))
    ]
    into = [s.target is not None and s.target.component == component.name for s in single.streams]
    streams = [
        replace(
            s,
            source=_moved(s.source, component.name, members[2].name),
            target=_moved(s.target, component.name, members[0].name),
        )
        for s in single.streams
    ]
    others = tuple(c for c in single.components if c.name != component.name)
    cyclic = Dataflow((*others, *members), (*streams, *ring))
    kept = (replace(s, kept=sealed) if here else s for s, here in zip(single.streams, into, strict=True))
    single = replace(single, streams=tuple(kept))
    assert sink_labels(cyclic) == sink_labels(single)


def _milder(annotation_: Annotation, data: st.DataObject) -> Annotation:
    other = data.draw(some_annotations())
    if worst([other, annotation_]) == annotation_:
        return other
    return annotation("CR")


def _moved(place: End | None, old: str, new: str) -> End | None:
    return End(new, place.interface) if place is not None and place.component == old else place


def _only_connected(flow: Dataflow) -> Dataflow:
    """Without the streams of interfaces that are gone."""
    inputs = {End(c.name, p.source) for c in flow.components for p in c.paths}
    outputs = {End(c.name, p.target) for c in flow.components for p in c.paths}
    kept = [
        replace(s, source=s.source if s.source in outputs else None) if s.target is not None else s
        for s in flow.streams
        if s.target is None or s.target in inputs
    ]
    return replace(flow, streams=tuple(s for s in kept if s.target is not None or s.source in outputs))
