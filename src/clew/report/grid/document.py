"""A grid as one JSON object; ``docs/json.md`` documents every field, ``docs/results.schema.json`` its shape."""

from __future__ import annotations

from typing import Any

from clew.checker.grid.result import GridResult, GridRow
from clew.report.grid.text import is_breaking, row_command
from clew.report.text.json_text import result_fields
from clew.report.verdict.document import counterexample_fields

#: What the document calls itself, and the version of its shape.
FORMAT, VERSION = "clew grid", 1


def grid_document(result: GridResult) -> dict[str, Any]:
    """Return the document; its settings are in the order of the table."""
    smallest = {row.setting for row in result.smallest}
    return {
        "format": FORMAT,
        "version": VERSION,
        "files": list(result.files),
        **result_fields(result),
        "strategy": result.strategy,
        "axes": [
            {"name": axis.name, "kind": "param" if axis.is_param else "bound", "values": list(axis.values)}
            for axis in result.axes
        ],
        "settings": [_setting(result, row, smallest=row.setting in smallest) for row in result.ordered],
        "warnings": [str(notice) for notice in result.notices],
    }


def _setting(result: GridResult, row: GridRow, *, smallest: bool) -> dict[str, Any]:
    verdict = row.verdict
    found = verdict.counterexamples if verdict else ()
    return {
        "values": dict(row.setting),
        "params": {param.name: param.value for param in row.params},
        "verdict": row.answer.value,
        "smallest": smallest,
        "reason": row.why,
        "remedy": row.problem.remedy if row.problem else None,
        # A search that ended before it knew its nodes has bounds that nobody asked for.
        "spec": {"nodes": list(verdict.spec.nodes), **verdict.spec.numbers} if verdict else None,
        "counterexamples": list(map(counterexample_fields, found)),
        "runs": verdict.runs if verdict else 0,
        "cautions": list(verdict.cautions) if verdict else [],
        "command": row_command(result, row) if is_breaking(row) else None,
    }
