"""A dataflow that is written and read again is the same dataflow."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings

from analysis.blazes.dataflows import annotation, dataflows
from clew.analysis.blazes import Component, Dataflow, Dependency, End, Lineage, Ordering, Path, Stream
from clew.analysis.blazes.annotations import RUN
from clew.analysis.blazes.yaml.reading import load_dataflow, parse_dataflow
from clew.analysis.blazes.yaml.writing import dataflow_yaml
from command import ROOT


def _dependency(source: str, target: str) -> Dependency:
    return Dependency(frozenset(source.split()), frozenset(target.split()))


def _with(path: Path, stream: Stream, **of_component: bool | Ordering) -> Dataflow:
    component = replace(Component("A", (path,)), **of_component)  # type: ignore[arg-type]
    return Dataflow((component,), (replace(stream, target=End("A", "i")), Stream("out", End("A", "o"))))


@pytest.mark.parametrize(
    "lineage",
    [
        Lineage(),
        Lineage(True, (_dependency("x", "z"),)),
        Lineage(True, (_dependency("x y", "z"),)),
        Lineage(False, ()),
        Lineage(False, (_dependency("x", "x"), _dependency("y", "y"))),
        Lineage(False, (_dependency("x", "z"), _dependency("y", "y"))),
        Lineage(False, (_dependency("x", "y"), _dependency("x", "z"))),
        Lineage(False, (_dependency("x", "z"), _dependency("x y", "w"))),
    ],
)
def test_every_lineage(lineage: Lineage) -> None:
    dataflow = _with(Path("i", "o", annotation("OW:x"), lineage), Stream("in"))
    assert parse_dataflow(dataflow_yaml(dataflow)) == dataflow


@pytest.mark.parametrize(
    "stream",
    [
        Stream("in", label=RUN),
        Stream("in", replicated=True),
        Stream("A.i", attributes=("x", "y")),
        Stream("in", seals=(frozenset("xy"),)),
        Stream("in", seals=(frozenset("x"), frozenset("xy")), dependencies=(_dependency("x", "y"),)),
        Stream("in", dependencies=(_dependency("x y", "z"),)),
    ],
)
def test_every_stream(stream: Stream) -> None:
    dataflow = _with(Path("i", "o", annotation("CR")), stream)
    assert parse_dataflow(dataflow_yaml(dataflow)) == dataflow


@pytest.mark.parametrize("ordering", list(Ordering))
def test_every_ordering(ordering: Ordering) -> None:
    dataflow = _with(Path("i", "o", annotation("OR*")), Stream("in"), ordering=ordering, replicated=True)
    assert parse_dataflow(dataflow_yaml(dataflow)) == dataflow


@pytest.mark.parametrize("file", sorted((ROOT / "examples/blazes").glob("*.yaml")), ids=lambda file: file.name)
def test_the_examples(file: str) -> None:
    dataflow = load_dataflow(file)
    assert parse_dataflow(dataflow_yaml(dataflow)) == dataflow


@given(dataflows())
@settings(max_examples=50, deadline=None)
def test_random_dataflows(dataflow: Dataflow) -> None:
    names = [stream.name.replace(" ", "-").replace(".", "-") for stream in dataflow.streams]
    streams = tuple(replace(s, name=name) for s, name in zip(dataflow.streams, names, strict=True))
    renamed = replace(dataflow, streams=streams)
    assert parse_dataflow(dataflow_yaml(renamed)) == renamed


def test_comments_stay_comments() -> None:
    dataflow = _with(Path("i", "o", annotation("CR")), Stream("in"))
    text = dataflow_yaml(dataflow, "a\nb\x85c", {("A", "i", "o"): ["x\ry", "z"]})
    assert [line.strip() for line in text.splitlines() if "#" in line] == ["# a", "# b\\x85c", "# x\\ry", "# z"]
    assert parse_dataflow(text) == dataflow
