"""OTLP/JSON traces: an ExportTraceServiceRequest for collectors and viewers of OpenTelemetry.

Each node is a resource, each event a span.  A span's parent is what caused it: of what arrives, its sending; else
the event before it at its node; the first one's is the span of the whole execution, which belongs to the resource
``clew``.  What else an event rests on is linked.  Identities are digests of what is exported and of the number of
an event, so that the same execution has the same ones.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

from clew.files.json_document import json_line
from clew.report.export.events import NOWHERE, Event, Kind, Trace
from clew.report.export.formats.clocks import Span, time_line

#: Time 0 is 2000-01-01T00:00:00Z: viewers take 0 for a time that is missing.
EPOCH = 946_684_800_000_000_000

#: The resources of what belongs to no node: the whole execution, and what comes from outside or gets lost.
_WHOLE, _OUTSIDE = "clew", "outside and network"

_INTERNAL, _PRODUCER, _CONSUMER = 1, 4, 5
_KINDS = {Kind.SEND: _PRODUCER, Kind.RECEIVE: _CONSUMER}
_ERROR = 2


def write_otlp(trace: Trace) -> str:
    """Write the request, one span a line."""
    writer = _Writer(trace)
    spans: dict[str, list[dict[str, Any]]] = {node: [] for node in (NOWHERE, *trace.nodes)}
    for index, event in enumerate(trace.events):
        spans[event.node].append(writer.span(index))
    # Not by these names: a node may be called like one of the two others.
    parts = [_resource(name or _OUTSIDE, found) for name, found in spans.items() if found]
    body = ",\n".join([_resource(_WHOLE, [writer.whole()]), *parts])
    return f'{{"resourceSpans": [\n{body}\n]}}\n'


def _resource(name: str, spans: list[dict[str, Any]]) -> str:
    resource = json_line({"attributes": _attributes({"service.name": name})})
    scope = json_line({"name": "clew"})
    body = ",\n".join(f"    {json_line(span)}" for span in spans)
    return f'  {{"resource": {resource}, "scopeSpans": [{{"scope": {scope}, "spans": [\n{body}\n  ]}}]}}'


class _Writer:
    """Writes the spans of a trace."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._times = time_line(trace)
        self._before = list(_events_before(trace))
        self._digest = _digest_of(trace)

    def whole(self) -> dict[str, Any]:
        """Return the span of the whole execution."""
        trace = self._trace
        times = Span(0, max((time.end for time in self._times), default=0))
        told = {"clew.time": trace.unit.value, "clew.faults": list(trace.faults)}
        return {
            **self._identity(None),
            **_described(trace.title, _INTERNAL, times, told),
            **_status("; ".join(trace.violations)),
        }

    def span(self, index: int) -> dict[str, Any]:
        """Return the span of an event."""
        event, before = self._trace.events[index], self._before[index]
        # The sending first: viewers show a message as a child of what sent it, also across nodes.
        rests_on = [*event.causes, *([before] if before is not None else [])]
        parent = rests_on[0] if rests_on else None
        links = [self._identity(cause) for cause in dict.fromkeys(rests_on[1:]) if cause != parent]
        wrong = event.detail or event.label if event.kind is Kind.VIOLATION else ""
        return {
            **self._identity(index),
            "parentSpanId": self._span_id(parent),
            **_described(event.title, _KINDS.get(event.kind, _INTERNAL), self._times[index], _told(event)),
            **({"links": links} if links else {}),
            **_status(wrong),
        }

    def _identity(self, index: int | None) -> dict[str, str]:
        return {"traceId": self._digest[:32], "spanId": self._span_id(index)}

    def _span_id(self, index: int | None) -> str:
        return _digest(f"{self._digest} {index}")[:16]


def _events_before(trace: Trace) -> Iterator[int | None]:
    """Yield for each event the one before it at its node."""
    latest: dict[str, int] = {}
    for index, event in enumerate(trace.events):
        yield latest.get(event.node) if event.node != NOWHERE else None
        latest[event.node] = index


def _digest_of(trace: Trace) -> str:
    """Return a digest of what is exported: two executions have nothing in common."""
    told = [[e.node, e.time, e.kind.value, e.label, e.detail, e.causes] for e in trace.events]
    return _digest(json_line([trace.title, trace.faults, trace.violations, told]))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def _told(event: Event) -> dict[str, str | int | list[str]]:
    changed = [f"{change.name}: {change.before} -> {change.after}" for change in event.changes]
    # What there is nothing to say of is left out, as viewers show empty attributes, too.
    found: dict[str, str | int | list[str]] = {
        "clew.time": event.time,
        "clew.kind": event.kind.value,
        "clew.detail": event.detail,
        "clew.log": list(event.remarks),
        "clew.changed": changed,
    }
    return {name: value for name, value in found.items() if value not in ("", [])}


def _described(name: str, kind: int, times: Span, told: Mapping[str, str | int | list[str]]) -> dict[str, Any]:
    return {
        "name": name,
        "kind": kind,
        # As OTLP/JSON has integers of 64 bits.
        "startTimeUnixNano": str(EPOCH + times.start),
        "endTimeUnixNano": str(EPOCH + times.end),
        "attributes": _attributes(told),
    }


def _attributes(told: Mapping[str, str | int | list[str]]) -> list[dict[str, Any]]:
    return [{"key": name, "value": _value(value)} for name, value in told.items()]


def _value(value: str | int | list[str]) -> dict[str, Any]:
    match value:
        case str():
            return {"stringValue": value}
        case int():
            return {"intValue": str(value)}
        case list():
            return {"arrayValue": {"values": list(map(_value, value))}}


def _status(wrong: str) -> dict[str, Any]:
    return {"status": {"code": _ERROR, "message": wrong}} if wrong else {}
