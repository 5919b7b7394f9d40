"""Shows what ``clew.check_history`` returns: text, JSON, JUnit and the page."""

from __future__ import annotations

from typing import Any

from clew.histories.linearizability.windows import Window
from clew.histories.operations import Operation
from clew.histories.result import HistoryVerdict
from clew.histories.transactions.checking import Anomaly
from clew.histories.values import show_value
from clew.histories.words import operation_words
from clew.names import harmless
from clew.report.histories.text import headline, summary, transaction_words, verdict_text
from clew.report.renderers import PageOptions
from clew.report.text.json_text import json_text as write_json
from clew.report.text.json_text import result_fields

#: What the document calls itself, and the version of its shape.
FORMAT, VERSION = "clew history", 1


def text(verdict: HistoryVerdict) -> str:
    """Return what the terminal shows."""
    return harmless(verdict_text(verdict))


# -- for machines ------------------------------------------------------------------------------------------------


def json_text(verdict: HistoryVerdict) -> str:
    """Return what ``--json`` writes."""
    return write_json(history_document(verdict))


def history_document(verdict: HistoryVerdict) -> dict[str, Any]:
    """Return a verdict as an object; ``docs/json.md`` documents its fields."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "file": verdict.file,
        **result_fields(verdict),
        "promise": verdict.promise,
        "model": verdict.model,
        "operations": verdict.operations,
        "processes": verdict.processes,
        "failed": verdict.failed,
        "unknown": verdict.unknown,
        "keys": verdict.parts,
        "windows": [_window_fields(window) for window in verdict.windows],
        "anomalies": [_anomaly_fields(anomaly) for anomaly in verdict.anomalies],
        "orders": list(verdict.orders),
        "warnings": [str(notice) for notice in verdict.notices],
    }


def _window_fields(window: Window) -> dict[str, Any]:
    return {
        # In words, as on the terminal: values of a history need not be values of JSON.
        "key": [show_value(part) for part in window.key],
        "culprit": _operation_fields(window.culprit),
        "states": None
        if window.states is None
        else [
            {"state": state.text, "after": None if state.after is None else _operation_fields(state.after)}
            for state in window.states
        ],
        "operations": [_operation_fields(op) for op in window.operations],
        "settled": window.is_settled,
        "irreducible": window.is_irreducible,
    }


def _operation_fields(op: Operation) -> dict[str, Any]:
    return {
        "process": show_value(op.process),
        "text": operation_words(op),
        "outcome": op.outcome.value,
        "start": op.start,
        "end": op.end,
        "line": op.line or None,
    }


def _anomaly_fields(anomaly: Anomaly) -> dict[str, Any]:
    return {
        "name": anomaly.name,
        "text": anomaly.text,
        "others": anomaly.others,
        "transactions": [
            {"name": t.name, "text": transaction_words(t), "line": t.operation.line or None}
            for t in anomaly.transactions
        ],
        "cycle": [
            {"from": why.source, "to": why.target, "kind": why.kind, "why": why.text} for why in anomaly.cycle
        ],
    }


def junit(verdict: HistoryVerdict) -> str:
    """Return what ``--junit`` writes: one case."""
    from clew.report.text.junit import junit_xml, result_case

    name = f"is {verdict.promise}"
    group = verdict.file or verdict.model
    return junit_xml([result_case(verdict, group, name, verdict.reason or "", text(verdict))], verdict.notices)


def page(verdict: HistoryVerdict, options: PageOptions) -> str:
    """Return what ``--report`` writes: the same text, which has the drawing."""
    from clew.report.text.html import plain_page

    return plain_page(
        verdict,
        name=verdict.file or verdict.model,
        summary=summary(verdict),
        text=text(verdict),
        facts=_facts(verdict),
    )


def _facts(verdict: HistoryVerdict) -> list[tuple[str, str]]:
    asked = [("asked", verdict.promise), ("model", verdict.model)]
    return [*asked, ("answer", headline(verdict).partition(":")[0].lower())]
