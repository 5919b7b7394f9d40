"""Drawn Bytewax dataflows, beside the file that a person would write of each: both must get the same labels."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("bytewax", reason="there is no Bytewax for Python 3.13")

import bytewax.operators as op
from bytewax.dataflow import Dataflow, Stream
from bytewax.testing import TestingSink, TestingSource

import clew
from clew.analysis.blazes.result import BlazesAnalysis
from clew.analysis.blazes.streaming.flows import read_flow
from clew.analysis.blazes.yaml.reading import parse_dataflow
from clew.analysis.blazes.yaml.writing import dataflow_yaml

_LABELS = st.sampled_from(["CR", "CW", "OR [a]", "OW [a]", "OR [a, b]", "OW [b]", "OW*"])
_WRITES = st.sampled_from(["CW", "OW [a]", "OW [a, b]", "OW*"])


@dataclass
class _Both:
    """A Bytewax dataflow and the lines of a file, which grow together.

    ``live``: the streams of Bytewax so far, each with what brings it in the file: a source or an output interface.
    """

    flow: Dataflow = field(default_factory=lambda: Dataflow("drawn"))
    live: list[tuple[Stream[Any], frozenset[str]]] = field(default_factory=list)
    read: set[int] = field(default_factory=set)
    sources: dict[str, str] = field(default_factory=dict)
    components: list[str] = field(default_factory=list)
    streams: list[str] = field(default_factory=list)

    def begin(self, name: str, seal: str | None) -> None:
        source = clew.annotate_source(seal=seal)(TestingSource([1]))
        self.live.append((op.input(name, self.flow, source), frozenset({name})))
        self.sources[name] = f", seal: {seal}" if seal else ""

    def take(self, number: int) -> tuple[Stream[Any], frozenset[str]]:
        self.read.add(number % len(self.live))
        return self.live[number % len(self.live)]

    def connect(self, origins: frozenset[str], target: str) -> None:
        for origin in sorted(origins):
            seal = self.sources.get(origin)
            way = f"from: {origin}, to: {target}" if seal is None else f"to: {target}{seal}"
            self.streams.append(f"  - {{ name: s{len(self.streams)}, {way} }}")

    def describe(self, name: str, targets: list[str], label: str) -> None:
        self.components.append(f"{name}:\n  annotation:")
        behaviour, _, gate = label.partition(" ")
        subscript = f", subscript: {gate}" if gate else ""
        self.components += [f"    - {{ from: up, to: {t}, label: {behaviour}{subscript} }}" for t in targets]

    def text(self) -> str:
        unread = [origins for number, (_, origins) in enumerate(self.live) if number not in self.read]
        ends = sorted(frozenset().union(*unread) - set(self.sources))
        leaving = [f"  - {{ name: end{number}, from: {end} }}" for number, end in enumerate(ends)]
        return "\n".join([*self.components, "streams:", *self.streams, *leaving])


def _said(label: str) -> Any:
    behaviour, _, gate = label.partition(" ")
    return clew.annotate(behaviour, gate.strip("[]").split(", ") if gate else None)


@st.composite
def _pairs(draw: st.DrawFn) -> _Both:
    both = _Both()
    for number in range(draw(st.integers(1, 2))):
        both.begin(f"source{number}", draw(st.sampled_from([None, "a", "b"])))
    for number in range(draw(st.integers(1, 7))):
        _add_step(draw, both, f"step{number}")
    up, origins = both.take(draw(st.integers(0, 20)))
    op.output("last", up, clew.annotate("CW")(TestingSink([])))
    both.describe("last", ["written"], "CW")
    both.connect(origins, "last.up")
    both.streams.append("  - { name: last, from: last.written }")
    return both


def _add_step(draw: st.DrawFn, both: _Both, name: str) -> None:
    up, origins = both.take(draw(st.integers(0, 20)))
    kind = draw(st.sampled_from(["map", "stateful", "branch", "merge", "spread"]))
    if kind in ("merge", "spread"):
        more, others = both.take(draw(st.integers(0, 20))) if kind == "merge" else (up, frozenset())
        made = op.merge(name, up, more) if kind == "merge" else op.redistribute(name, up)
        both.live.append((made, origins | others))
        return
    label = draw(_WRITES if kind == "stateful" else _LABELS)
    both.connect(origins, f"{name}.up")
    if kind == "branch":
        branches = op.branch(name, up, _said(label)(lambda item: bool(item)))
        both.live.append((branches.trues, frozenset({f"{name}.trues"})))
        both.live.append((branches.falses, frozenset({f"{name}.falses"})))
        both.describe(name, ["trues", "falses"], label)
        return
    if kind == "map":
        made = op.map(name, up, _said(label)(lambda item: item))
    else:
        made = op.stateful_map(name, up, _said(label)(lambda state, item: (state, item)))
    both.live.append((made, frozenset({f"{name}.down"})))
    both.describe(name, ["down"], label)


def _labels(found: BlazesAnalysis) -> tuple[set[tuple[str, str]], set[tuple[str, str]]]:
    outputs = {(str(output.end), str(output.label)) for output in found.verdict.labelled.outputs}
    return outputs, {(str(sink.stream.source), str(sink.label)) for sink in found.verdict.sinks}


@given(both=_pairs())
def test_the_labels_are_those_of_the_file(both: _Both) -> None:
    dataflow = read_flow(both.flow)
    assert _labels(clew.blazes(dataflow)) == _labels(clew.blazes(parse_dataflow(both.text())))
    assert parse_dataflow(dataflow_yaml(dataflow)) == dataflow


def test_a_stream_that_is_merged_with_itself_again_and_again() -> None:
    both = _Both()
    both.begin("source", None)
    made = op.map("step", both.live[0][0], clew.annotate("CR")(lambda item: item))
    for number in range(4):
        op.merge(f"merged{number}", made, made)
    assert [str(s.source or s.target) for s in read_flow(both.flow).streams] == ["step.up", "step.down"]
