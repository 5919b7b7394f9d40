"""Laws of the labels, on random dataflows: more knowledge helps, more copies and more order-sensitivity do not.

The rules do not make every annotation of higher severity worse.  CW stands below OR, but an answer that differs
does its harm where it is stored; reads of the same partitions protect each other; a seal is enough for a write of
its partition, but not for a read of what others write; and a single instance that stores what differs between
replicas makes of it a difference between runs.  So the law is about writing instead of reading (a read becomes
a write, without seals), about order instead of confluence among writes, and about dataflows in which all or none
is replicated.  The cases that it leaves out are pinned below.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.consistency.blazes import Annotation, Behaviour, Component, Dataflow
from consistency.blazes.dataflows import ATTRIBUTES, dataflows, path, sink_labels, stream


def _no_worse(better: Dataflow, worse: Dataflow) -> None:
    good, bad = sink_labels(better), sink_labels(worse)
    assert {name: label.severity for name, label in good.items() if label.severity > bad[name].severity} == {}


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


@pytest.mark.parametrize("replicated", [False, True])
@given(data=st.data())
def test_a_worse_annotation_never_improves_a_label(replicated: bool, data: st.DataObject) -> None:
    flow = data.draw(dataflows(replication=st.just(replicated)))
    index = data.draw(st.integers(0, len(flow.components) - 1))
    component = flow.components[index]
    number = data.draw(st.integers(0, len(component.paths) - 1))
    paths = list(component.paths)
    if paths[number].annotation.behaviour is Behaviour.OR:
        flow = replace(flow, streams=tuple(replace(s, seals=()) for s in flow.streams))
    paths[number] = replace(paths[number], annotation=_worse(paths[number].annotation, data))
    changed = replace(component, paths=tuple(paths))
    worse = replace(flow, components=(*flow.components[:index], changed, *flow.components[index + 1 :]))
    _no_worse(flow, worse)


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


def test_exception_one_cache_cannot_disagree_with_itself() -> None:
    assert _reader("CW", "OR:a", cache="CR", cache_replicated=False) == "Inst"
    assert _reader("CW", "OR:a", cache="CW", cache_replicated=False) == "Run"


def test_exception_reads_of_the_same_partitions_protect_each_other() -> None:
    assert _reader("CR", "OR:a") == "Inst"
    assert _reader("OR:a", "OR:a") == "Async"
    assert _reader("OR:a,b", "OR:a") == "Inst"


def test_exception_a_write_is_complete_with_its_own_seal() -> None:
    assert _reader("CW", "OR:a", seal="a") == "Inst"
    assert _reader("CW", "OW:a", seal="a") == "Async"
