"""The verdict on a dataflow as one JSON object; ``docs/blazes.md`` documents its fields."""

from __future__ import annotations

from typing import Any

from clew.analysis.blazes.blame import Blame
from clew.analysis.blazes.derivation import Reconciled, Step
from clew.analysis.blazes.remedies import Remedy
from clew.analysis.blazes.verdict import SinkVerdict, Verdict
from clew.report.blazes.text import blame_text, meaning, remedy_text
from clew.report.text.json_text import json_text

#: What the document calls itself, and the version of its shape.
FORMAT, VERSION = "clew blazes", 1


def blazes_document(verdict: Verdict, file: str) -> dict[str, Any]:
    """Return the document; ``file`` is the one that was analysed, as it was given."""
    labelled = verdict.labelled
    labels = {stream.name: str(labelled.label(stream)) for stream in labelled.dataflow.streams}
    return {
        "format": FORMAT,
        "version": VERSION,
        "file": file,
        "worst": str(verdict.worst),
        "sinks": [_sink(sink) for sink in verdict.sinks],
        "streams": [{"name": name, "label": label} for name, label in labels.items()],
        "outputs": [_output(output) for output in labelled.outputs],
    }


def to_json(verdict: Verdict, file: str) -> str:
    return json_text(blazes_document(verdict, file))


def _sink(sink: SinkVerdict) -> dict[str, Any]:
    return {
        "stream": sink.stream.name,
        "label": str(sink.label),
        "meaning": meaning(sink.label),
        "blame": [_blame(blame) for blame in sink.blame],
        "remedies": [_remedy(remedy) for remedy in sink.remedies],
    }


def _blame(blame: Blame) -> dict[str, Any]:
    return {"components": list(blame.components), "label": str(blame.label), "text": blame_text(blame)}


def _remedy(remedy: Remedy) -> dict[str, Any]:
    return {
        "seals": [{"stream": s.stream, "key": sorted(s.key)} for s in remedy.seals],
        "ordering": remedy.ordering.value,
        "components": list(remedy.ordered),
        "supposed": remedy.supposed,
        "after": str(remedy.after),
        "text": remedy_text(remedy),
    }


def _output(output: Reconciled) -> dict[str, Any]:
    return {
        "component": output.component.name,
        "output": output.output,
        "replicated": output.replicated,
        "label": str(output.label),
        "steps": [_step(step) for step in output.steps],
    }


def _step(step: Step) -> dict[str, Any]:
    return {
        "stream": step.stream.name,
        "label": str(step.label),
        "from": step.path.source,
        "to": step.path.target,
        "annotation": str(step.path.annotation),
        "rule": step.inferred.rule.value,
        "gives": [str(label) for label in step.inferred.labels],
    }
