"""Dataflows for tests: short ways to write them, and random ones."""

from __future__ import annotations

from hypothesis import strategies as st

from clew.analysis.blazes import Annotation, Behaviour, Component, Dataflow, End, Label, Path, Stream, derive
from clew.analysis.blazes.derivation import sink_label

ATTRIBUTES = ("a", "b", "c")


def annotation(text: str) -> Annotation:
    """``CR``, ``OW*`` or ``OR:a,b``."""
    name, _, gate = text.partition(":")
    return Annotation(Behaviour[name.removesuffix("*")], frozenset(gate.split(",")) if gate else None)


def path(source: str, target: str, text: str) -> Path:
    return Path(source, target, annotation(text))


def end(text: str) -> End:
    component, interface = text.split(".")
    return End(component, interface)


def stream(name: str, source: str | None, target: str | None, *, seal: str | None = None) -> Stream:
    seals = (frozenset(seal.split(",")),) if seal else ()
    return Stream(name, end(source) if source else None, end(target) if target else None, seals=seals)


def sink_labels(dataflow: Dataflow) -> dict[str, Label]:
    labelled = derive(dataflow)
    return {s.name: sink_label(labelled.label(s)) for s in labelled.dataflow.sinks}


def stream_labels(dataflow: Dataflow) -> dict[str, Label]:
    labelled = derive(dataflow)
    return {s.name: labelled.label(s) for s in labelled.dataflow.streams}


@st.composite
def some_annotations(draw: st.DrawFn) -> Annotation:
    behaviour = draw(st.sampled_from(list(Behaviour)))
    gates = st.none() | st.frozensets(st.sampled_from(ATTRIBUTES), min_size=1)
    return Annotation(behaviour, draw(gates) if behaviour.ordered else None)


@st.composite
def dataflows(draw: st.DrawFn, *, replication: st.SearchStrategy[bool] | None = None) -> Dataflow:
    """A chain of layers without cycles: every input reads one earlier output or a source; the last is a sink."""
    replicated = replication if replication is not None else st.booleans()
    components: list[Component] = []
    streams: list[Stream] = []
    for number in range(draw(st.integers(1, 4))):
        name = f"C{number}"
        inputs = [f"i{k}" for k in range(draw(st.integers(1, 3)))]
        outputs = [f"o{k}" for k in range(draw(st.integers(1, 2)))]
        paths = [
            Path(i, o, draw(some_annotations()))
            for i in inputs
            for o in outputs
            if o == "o0" or draw(st.booleans()) or i == "i0"
        ]
        earlier = [End(c.name, p.target) for c in components for p in c.paths]
        for i in inputs:
            source = draw(st.sampled_from([None, *dict.fromkeys(earlier)]))
            seals = draw(st.lists(st.frozensets(st.sampled_from(ATTRIBUTES), min_size=1), max_size=1))
            streams.append(
                Stream(
                    f"s{len(streams)}",
                    source,
                    End(name, i),
                    seals=tuple(seals) if draw(st.booleans()) else (),
                    replicated=draw(replicated) and draw(st.booleans()),
                )
            )
        components.append(Component(name, tuple(paths), replicated=draw(replicated)))
    ends = dict.fromkeys(End(c.name, p.target) for c in components for p in c.paths)
    streams += [Stream(f"sink {e}", e, None) for e in ends]
    return Dataflow(tuple(components), tuple(streams))
