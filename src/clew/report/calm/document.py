"""The result of a CALM analysis as one JSON object; ``docs/calm.md`` says what its fields are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from clew.analysis.calm.analysis import Analysis, Output, verdict_of
from clew.analysis.calm.dataflow.graph import Statement
from clew.analysis.calm.trying.orders import Trial
from clew.report.calm.orders_document import trials_document
from clew.report.text.json_text import json_text

FORMAT, VERSION = "clew calm", 2


def calm_document(analysis: Analysis, files: Sequence[str], trials: Sequence[Trial] = ()) -> dict[str, Any]:
    """Return the document; ``files`` are as they were given, ``trials`` those of random orders."""
    flow = analysis.flow
    return {
        "format": FORMAT,
        "version": VERSION,
        "files": list(files),
        "program": flow.name,
        "verdict": verdict_of(analysis).value,
        "consistent": analysis.consistent,
        "outputs": [_output(output, analysis) for output in analysis.outputs],
        "invariants": [_output(invariant, analysis) for invariant in analysis.invariants],
        "sources": [{"name": s.name, "arrives": s.arrives, "fixed": s.fixed} for s in analysis.sources],
        "collections": [
            {"name": n.name, "kind": n.kind.value, "history": analysis.histories.of[n.name].value}
            for n in flow.nodes
        ],
        "edges": [
            {
                "from": e.source,
                "to": e.target,
                "sends": e.sends,
                "temporal": e.temporal,
                # JSON has null for what is not there; an empty text would look like a reason.
                "nonmonotone": e.reason or None,
                "refined": e.refined or None,
                "rule": _rule(flow.statements[e.statement]),
            }
            for e in flow.edges
        ],
        "clusters": [list(cluster) for cluster in flow.clusters],
        "unconnected": list(analysis.unconnected),
        "trials": trials_document(trials),
        "warnings": [str(notice) for notice in flow.notices],
    }


def calm_json(analysis: Analysis, files: Sequence[str], trials: Sequence[Trial] = ()) -> str:
    return json_text(calm_document(analysis, files, trials))


def _output(output: Output, analysis: Analysis) -> dict[str, Any]:
    return {
        "name": output.name,
        "label": output.label.value,
        "consistent": output.label.consistent,
        "from": [{"source": way.source, "label": way.label.value} for way in output.ways],
        "points": [
            {"rule": _rule(analysis.flow.statements[p.statement]), "reasons": list(p.reasons)}
            for p in output.points
        ],
    }


def _rule(statement: Statement) -> dict[str, Any]:
    position = statement.position
    return {
        "file": position.file if position else None,
        "line": position.line if position else None,
        "block": statement.block or None,
        "text": statement.text,
    }
