"""The verdict on a dataflow: for every sink its label, where that comes from, who is to blame, and what helps."""

from __future__ import annotations

from dataclasses import dataclass

from clew.analysis.blazes.annotations import ASYNC, Label
from clew.analysis.blazes.blame import Blame, find_blame
from clew.analysis.blazes.dataflow import Dataflow, Stream
from clew.analysis.blazes.derivation import Derivation, Labelled, derive, sink_label
from clew.analysis.blazes.remedies import Remedy, find_remedies


@dataclass(frozen=True)
class SinkVerdict:
    """``remedies``: the cheapest first; none if nothing need be done or nothing helps."""

    stream: Stream
    label: Label
    derivation: Derivation
    blame: tuple[Blame, ...]
    remedies: tuple[Remedy, ...]


@dataclass(frozen=True)
class Verdict:
    """``dataflow`` as it was given; ``labelled`` is its acyclic form with all labels."""

    dataflow: Dataflow
    labelled: Labelled
    sinks: tuple[SinkVerdict, ...]

    @property
    def worst(self) -> Label:
        return max((sink.label for sink in self.sinks), key=lambda label: label.severity, default=ASYNC)


def analyse(dataflow: Dataflow) -> Verdict:
    """Label the dataflow, and try out what helps where that is needed."""
    labelled = derive(dataflow)
    return Verdict(
        dataflow, labelled, tuple(_sink_verdict(dataflow, labelled, s) for s in labelled.dataflow.sinks)
    )


def label_sinks(dataflow: Dataflow) -> dict[str, Label]:
    """Return the labels of the sinks by their names, without looking for blame or remedies."""
    labelled = derive(dataflow)
    return {sink.name: sink_label(labelled.label(sink)) for sink in labelled.dataflow.sinks}


def _sink_verdict(dataflow: Dataflow, labelled: Labelled, sink: Stream) -> SinkVerdict:
    derivation = labelled.derivation(sink)
    label = sink_label(labelled.label(sink))
    blame = find_blame(derivation) if label.bad else ()
    return SinkVerdict(sink, label, derivation, blame, find_remedies(dataflow, sink.name))
