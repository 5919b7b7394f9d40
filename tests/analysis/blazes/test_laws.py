"""Laws of the labels, on random dataflows: more knowledge helps, more copies, state and order-sensitivity do not.

The rules do not make every annotation of higher severity worse.  CW stands below OR, but an answer that differs
does its harm where it is stored; an unsealed confluent stream may disturb a read where another read of the same
partitions does not; and a sealed write completes what others read, which a sealed read does not.  So the law is
about writing instead of reading, and about order instead of confluence among writes.  The cases that it
leaves out are pinned below.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.blazes.dataflows import ATTRIBUTES, annotation, dataflows, path, sink_labels, stream
from clew.analysis.blazes import (
    Annotation,
    Behaviour,
    Component,
    Dataflow,
    End,
    Label,
    Ordering,
    Stream,
    derive,
)
from clew.analysis.blazes.annotations import ASYNC, INST, RUN, SPLIT, seal
from clew.analysis.blazes.inference import infer
from clew.analysis.blazes.reconciliation import Arriving, reconcile


def _no_worse(better: Dataflow, worse: Dataflow) -> None:
    good, bad = sink_labels(better), sink_labels(worse)
    assert {name: label.severity for name, label in good.items() if label.severity > bad[name].severity} == {}


def _unsealed(flow: Dataflow) -> Dataflow:
    return replace(flow, streams=tuple(replace(s, seals=()) for s in flow.streams))


@given(dataflows(), st.data())
def test_a_seal_never_worsens_a_label(flow: Dataflow, data: st.DataObject) -> None:
    name = data.draw(st.sampled_from([s.name for s in flow.streams]))
    key = data.draw(st.frozensets(st.sampled_from(ATTRIBUTES), min_size=1))
    _no_worse(flow.with_seal(name, key), flow)


@given(dataflows(), st.data())
def test_removing_replication_never_worsens_a_label(flow: Dataflow, data: st.DataObject) -> None:
    components = tuple(replace(c, replicated=c.replicated and data.draw(st.booleans())) for c in flow.components)
    streams = tuple(replace(s, replicated=s.replicated and data.draw(st.booleans())) for s in flow.streams)
    _no_worse(Dataflow(components, streams), flow)


@given(dataflows(), st.data())
def test_without_seals_nothing_behind_an_order_sensitive_path_is_consistent(
    flow: Dataflow, data: st.DataObject
) -> None:
    """Also where streams lead back; every input of the generated dataflows is fed, in the end by a source."""
    ends = [End(c.name, p.target) for c in flow.components for p in c.paths]
    begins = [End(c.name, p.source) for c in flow.components for p in c.paths]
    places = st.tuples(st.sampled_from(ends), st.sampled_from(begins))
    back = [Stream(f"back {k}", *pair) for k, pair in enumerate(data.draw(st.lists(places, max_size=2)))]
    flow = _unsealed(replace(flow, streams=(*flow.streams, *back)))
    labels = sink_labels(flow)
    for sink in flow.sinks:
        assert sink.source is not None
        assert labels[sink.name].bad == _passes_order(flow, sink.source)


def _passes_order(flow: Dataflow, output: End) -> bool:
    """Walk back from an output, and look for an order-sensitive path."""
    seen, waiting = {output}, [output]
    for end in waiting:  # grows while it is walked
        (component,) = (c for c in flow.components if c.name == end.component)
        paths = [p for p in component.paths if p.target == end.interface]
        if any(p.annotation.behaviour.ordered for p in paths):
            return True
        before = [s for p in paths for s in flow.into.get(End(component.name, p.source), ())]
        new = [s.source for s in before if s.source is not None and s.source not in seen]
        seen.update(new)
        waiting += new
    return False


@given(dataflows())
def test_what_is_consistent_waits_at_every_order_sensitive_path(flow: Dataflow) -> None:
    """Its own input is complete, or it only reads, and everything that it meets is complete and written there."""
    for output in derive(flow).outputs:
        for step in output.steps:
            gate = step.path.annotation.gate
            if output.label.bad or not step.path.annotation.behaviour.ordered or step.label.completes(gate):
                continue
            assert step.path.annotation.behaviour is Behaviour.OR
            written = [s for s in output.steps if s.path.annotation.behaviour.writes]
            assert written
            assert all(s.label.completes(gate) for s in written)


def _worse(annotation: Annotation, data: st.DataObject) -> Annotation:
    gate = annotation.gate
    options = {
        Behaviour.CR: [Behaviour.CW, Behaviour.OW],
        Behaviour.CW: [Behaviour.OW],
        Behaviour.OR: [Behaviour.OW],
        Behaviour.OW: [Behaviour.OW],
    }[annotation.behaviour]
    behaviour = data.draw(st.sampled_from(options))
    if behaviour is Behaviour.OW:
        wider = st.none() if gate is None else st.none() | st.frozensets(st.sampled_from(sorted(gate)), min_size=1)
        if not annotation.behaviour.ordered:
            wider = st.none() | st.frozensets(st.sampled_from(ATTRIBUTES), min_size=1)
        return Annotation(behaviour, data.draw(wider))
    return Annotation(behaviour)


@given(data=st.data())
def test_a_worse_annotation_never_improves_a_label(data: st.DataObject) -> None:
    flow = data.draw(dataflows())
    index = data.draw(st.integers(0, len(flow.components) - 1))
    component = flow.components[index]
    number = data.draw(st.integers(0, len(component.paths) - 1))
    paths = list(component.paths)
    if not paths[number].annotation.behaviour.writes:
        flow = _unsealed(flow)  # what is written and sealed completes what its neighbours read: pinned below
    paths[number] = replace(paths[number], annotation=_worse(paths[number].annotation, data))
    changed = replace(component, paths=tuple(paths))
    worse = replace(flow, components=(*flow.components[:index], changed, *flow.components[index + 1 :]))
    _no_worse(flow, worse)


LABELS = [ASYNC, RUN, INST, SPLIT, seal("a"), seal("b"), seal(["a", "b"])]
NEIGHBOURS = [None, *product(LABELS, ["CR", "CW", "OR:a", "OR:b", "OR*", "OW:a", "OW:b", "OW*"])]


def _label(paths: list[tuple[Label, str]], *, replicated: bool, ordering: Ordering) -> Label:
    arriving = []
    for label, text in paths:
        inferred = infer(label, annotation(text), ordering)
        arriving += [Arriving(one, annotation(text), before=label) for one in inferred.labels]
    return reconcile(arriving, replicated, ordering)


@pytest.mark.parametrize("ordering", list(Ordering))
@pytest.mark.parametrize("replicated", [False, True])
@pytest.mark.parametrize("gate", ["R", "R:a", "R*"])
def test_a_stateful_path_is_never_milder_than_a_read_only_one(
    gate: str, replicated: bool, ordering: Ordering
) -> None:
    """Alone, and next to every other path.

    The exceptions: a write completes what the neighbour reads, and two writes are each complete with a seal.
    """
    letter = "C" if gate == "R" else "O"
    reading, writing = f"{letter}{gate}", f"{letter}{gate.replace('R', 'W')}"
    for label, neighbour in product(LABELS, NEIGHBOURS):
        beside = [neighbour] if neighbour else []
        read = _label([(label, reading), *beside], replicated=replicated, ordering=ordering)
        written = _label([(label, writing), *beside], replicated=replicated, ordering=ordering)
        if neighbour and neighbour[1].startswith("OR") and label.completes(annotation(neighbour[1]).gate):
            continue
        if neighbour and neighbour[1].startswith("OW") and neighbour[0].completes(annotation(neighbour[1]).gate):
            continue
        assert read.severity <= written.severity, (str(label), reading, beside)


def _reader(
    first: str, second: str, *, cache: str = "CR", cache_replicated: bool = True, seal: str | None = None
) -> str:
    """Two paths to one output, whose answers are cached."""
    flow = Dataflow(
        (
            Component("Report", (path("click", "r", first), path("query", "r", second)), replicated=True),
            Component("Cache", (path("r", "r", cache),), replicated=cache_replicated),
        ),
        (
            stream("clicks", None, "Report.click"),
            stream("queries", None, "Report.query", seal=seal),
            stream("results", "Report.r", "Cache.r"),
            stream("answers", "Cache.r", None),
        ),
    )
    return str(sink_labels(flow)["answers"])


def test_exception_a_cache_that_reads_in_some_order_stores_nothing() -> None:
    assert _reader("CW", "OR:a", cache="CW") == "Split"
    assert _reader("CW", "OR:a", cache="OR:a") == "Inst"


def test_one_cache_passes_a_difference_on_whether_it_stores_or_not() -> None:
    for cache in ("CR", "CW", "OR:a", "OW:a"):
        assert _reader("CW", "OR:a", cache=cache, cache_replicated=False) == "Inst"


def test_a_lone_read_is_not_protected_nor_are_two() -> None:
    """A count over a stream that is not sealed answers differently at two replicas."""
    for alone in ("OR:a", "OR*"):
        flow = Dataflow(
            (Component("Report", (path("query", "r", alone),), replicated=True),),
            (stream("queries", None, "Report.query"), stream("answers", "Report.r", None)),
        )
        assert str(sink_labels(flow)["answers"]) == "Inst"
    assert _reader("OR:a", "OR:a") == "Inst"
    assert _reader("OR:a", "OR:a", seal="a") == "Inst"


def test_exception_a_sealed_write_completes_what_its_neighbour_reads() -> None:
    assert _reader("OR:a", "OR:a", seal="a") == "Inst"
    assert _reader("OR:a", "OW:a", seal="a") == "Async"


def test_exception_a_confluent_stream_disturbs_a_read_and_another_read_does_not() -> None:
    def label(third: str) -> str:
        flow = Dataflow(
            (Component("S", (path("w", "r", "CW"), path("q", "r", "OR:a"), path("p", "r", third))),),
            (
                stream("writes", None, "S.w", seal="a"),
                stream("queries", None, "S.q"),
                stream("pings", None, "S.p"),
                stream("answers", "S.r", None),
            ),
        )
        return str(sink_labels(flow)["answers"])

    assert (label("CR"), label("OR:a")) == ("Run", "Async")


def test_a_sealed_path_that_meets_what_is_not_sealed() -> None:
    assert _reader("CW", "OR:a", seal="a") == "Inst"
    assert _reader("CW", "OW:a", seal="a") == "Split"


def test_exception_two_writes_are_each_complete_with_their_own_seal() -> None:
    def label(second: str) -> str:
        flow = Dataflow(
            (Component("S", (path("x", "r", "OW:a"), path("y", "r", second)), replicated=True),),
            (
                stream("xs", None, "S.x", seal="a"),
                stream("ys", None, "S.y", seal="b"),
                stream("answers", "S.r", None),
            ),
        )
        return str(sink_labels(flow)["answers"])

    assert (label("OR:b"), label("OW:b")) == ("Inst", "Async")
