"""Trace Event Format: a time line for Perfetto and chrome://tracing.

Each node is a process, and so is, with the number 0, what happens at none: what comes from outside, and what the
network does.  Messages that arrive are flows.  Times are microseconds: virtual time, or a thousand for each step.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from clew.files.json_document import json_line
from clew.report.export.events import NOWHERE, Event, Kind, Trace, Unit
from clew.report.export.formats.clocks import Span, time_line

_OUTSIDE = "outside and network"

_MEANING = {
    Unit.MICROSECOND: "virtual time, in microseconds",
    Unit.EVENT: "1000 for each event of the execution",
    Unit.STEP: "1000 for each step of the model",
}


def write_chrome(trace: Trace) -> str:
    """Write the time line, one event a line."""
    events = ",\n".join(f"    {json_line(event)}" for event in _events(trace))
    other = {
        "title": trace.title,
        "ts": _MEANING[trace.unit],
        "faults": list(trace.faults),
        "violations": list(trace.violations),
    }
    head = f'  "displayTimeUnit": "ns",\n  "otherData": {json_line(other)},\n'
    return f'{{\n{head}  "traceEvents": [\n{events}\n  ]\n}}\n'


def _events(trace: Trace) -> Iterator[dict[str, Any]]:
    # What happens at no node comes first, as it is drawn at the top.
    numbers = {node: number for number, node in enumerate((NOWHERE, *trace.nodes))}
    for node, number in numbers.items():
        yield _named("process_name", number, {"name": node or _OUTSIDE})
        yield _named("process_sort_index", number, {"sort_index": number})
        yield _named("thread_name", number, {"name": "events"})
    spans = time_line(trace)
    for index, (event, span) in enumerate(zip(trace.events, spans, strict=True)):
        yield _event(event, span, numbers[event.node])
        # Only of what arrives: a flow without an end is drawn to the edge of the picture.
        if event.kind is Kind.RECEIVE:
            send = event.causes[0]
            yield _flow("s", index, event, spans[send], numbers[trace.events[send].node])
            yield {**_flow("f", index, event, span, numbers[event.node]), "bp": "e"}


def _named(what: str, number: int, arguments: dict[str, Any]) -> dict[str, Any]:
    return {"ph": "M", "name": what, "pid": number, "tid": 0, "args": arguments}


def _event(event: Event, span: Span, number: int) -> dict[str, Any]:
    common = {"name": event.title, "cat": event.kind.value, "pid": number, "tid": 0, "ts": _micro(span.start)}
    arguments = {"args": _arguments(event)}
    if event.kind.is_fault or event.kind is Kind.VIOLATION:
        # Over all processes, what happens at none of them.
        return {"ph": "i", "s": "g" if event.node == NOWHERE else "p", **common, **arguments}
    return {"ph": "X", **common, "dur": _micro(span.end - span.start), **arguments}


def _arguments(event: Event) -> dict[str, Any]:
    changed = {change.name: f"{change.before} -> {change.after}" for change in event.changes}
    # The time of the execution as well: that of the drawing is a little later where much happens at once.
    found = {"time": event.time, "detail": event.detail, "log": list(event.remarks), "changed": changed}
    return {name: value for name, value in found.items() if value not in ("", [], {})}


def _flow(phase: str, index: int, event: Event, span: Span, number: int) -> dict[str, Any]:
    common = {"name": event.label, "cat": "message", "pid": number, "tid": 0}
    return {"ph": phase, "id": index, **common, "ts": _micro(span.start)}


def _micro(nanoseconds: int) -> int | float:
    """Return microseconds; a whole number where they are one."""
    whole, rest = divmod(nanoseconds, 1000)
    # A float holds nanoseconds of more than a hundred days of virtual time exactly enough to be put in order.
    return nanoseconds / 1000 if rest else whole
