"""What is written, read by the readers it is for, and compared with files that were looked at."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from itertools import pairwise
from pathlib import Path
from typing import Any

import itf_py
import jsonschema
import pytest
from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from clew.errors import UsageError
from clew.report.export.events import NOWHERE, Event, Kind, Trace, Unit
from clew.report.export.formats.clocks import vector_clocks
from clew.report.export.formats.itf import write_itf
from clew.report.export.formats.otlp import EPOCH
from clew.report.export.formats.shiviz import EXPRESSION, host_name, write_shiviz
from clew.report.export.formats.table import FORMATS, write_trace
from report.export.traces import TRACES

GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("name", ["kafka", "lock"])
def test_what_is_written_is_what_was_looked_at(name: str, format: str) -> None:
    golden = (GOLDEN / f"{name}.{format}").read_text(encoding="utf-8")
    assert write_trace(TRACES[name](), format) == golden


def test_an_unknown_format_is_refused_with_the_nearest() -> None:
    trace = Trace("nothing", Unit.STEP, (), (), ())
    with pytest.raises(UsageError) as refused:
        write_trace(trace, "mermaids")
    assert refused.value.message == "unknown format 'mermaids'"
    assert refused.value.remedy == "did you mean 'mermaid'?"
    with pytest.raises(UsageError) as refused:
        write_trace(trace, "xyz")
    assert refused.value.remedy == "the formats are shiviz, itf, chrome, otlp, mermaid"


@pytest.mark.parametrize("format", FORMATS)
def test_nothing_at_all_can_be_written(format: str) -> None:
    broken = Event(NOWHERE, 0, Kind.VIOLATION, "at the beginning")
    for events in ((), (broken,)):
        assert write_trace(Trace("nothing", Unit.EVENT, (), events, ()), format)


# -- ShiViz ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TRACES)
def test_a_log_is_read_by_the_expression_that_it_states(name: str) -> None:
    trace = TRACES[name]()
    text = write_shiviz(trace)
    assert text.splitlines()[1] == EXPRESSION
    # JavaScript names groups without the P of Python.
    read = list(re.finditer(EXPRESSION.replace("(?<", "(?P<"), text))
    shown = [k for k, event in enumerate(trace.events) if event.node != NOWHERE]
    assert [match["host"] for match in read] == [host_name(trace.events[k].node) for k in shown]
    clocks = list(vector_clocks(trace))
    counts: dict[str, int] = {}
    for match, index in zip(read, shown, strict=True):
        clock = json.loads(match["clock"])
        assert clock == {host_name(node): count for node, count in clocks[index].items()}
        # What ShiViz demands: a host counts its own events from 1 on.
        counts[match["host"]] = counts.get(match["host"], 0) + 1
        assert clock[match["host"]] == counts[match["host"]]
        assert match["event"].startswith(trace.events[index].title.splitlines()[0][:3])
    # Beside the events there is only what is passed over.
    assert text.splitlines()[-2 * len(shown) :] == [line for match in read for line in match[0].splitlines()]


def test_names_of_hosts_have_no_spaces_and_no_two_are_alike() -> None:
    names = ["a b", "a%20b", "a\tb", "a\nb", "é", "写", "a", "%", "\udc80", " ", "{}"]
    hosts = [host_name(name) for name in names]
    assert hosts == [
        *("a%20b", "a%2520b", "a%09b", "a%0Ab", "é", "写", "a", "%25", "%ED%B2%80", "%20", "{}"),
    ]
    assert len(set(hosts)) == len(names)


# -- ITF ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TRACES)
def test_states_are_read_by_itf_py(name: str) -> None:
    trace = TRACES[name]()
    read = itf_py.trace_from_json(json.loads(write_itf(trace)))
    assert read.meta["format"] == "ITF" and "cut" not in read.meta
    assert [state.meta["index"] for state in read.states] == list(range(len(trace.states)))
    for state, known in zip(read.states, trace.states, strict=True):
        assert list(state.values) == read.vars
        for variable, values in known.variables.items():
            assert set(state.values[variable]) == set(values)


def test_the_last_state_of_kafka_has_the_lost_write() -> None:
    read = itf_py.trace_from_json(json.loads(write_itf(TRACES["kafka"]())))
    last = read.states[-1].values
    assert (last["time"], last["pre"]["C"], last["post"]["C"]) == (6, frozenset({("C", "w1")}), frozenset())


def test_the_states_of_the_lock_say_who_holds_it() -> None:
    read = itf_py.trace_from_json(json.loads(write_itf(TRACES["lock"]())))
    assert [state.values["holds"] for state in read.states[-4:]] == [
        {"ann": True, "bob": False, "cat": False},
        {"ann": True, "bob": False, "cat": False},
        {"ann": True, "bob": False, "cat": False},
        {"ann": True, "bob": True, "cat": False},
    ]
    assert read.states[-1].values["up"] == frozenset({"ann", "bob", "cat", "server"})


def test_of_many_states_the_last_are_written_and_the_cut_is_stated() -> None:
    trace = TRACES["lock"]()
    lines = write_itf(trace).splitlines()
    states = [line.rstrip(",") for line in lines if line.startswith('    {"#meta": {"index"')]
    cut = json.loads(write_itf(trace, most=len(states[-1]) + len(states[-2])))
    assert [state["#meta"]["index"] for state in cut["states"]] == [12, 13]
    assert cut["#meta"]["cut"] == "the first 12 of 14 states are left out"
    assert len(json.loads(write_itf(trace, most=1))["states"]) == 1


# -- Trace Event Format ------------------------------------------------------------------------------------------

_NUMBER = {"type": "number", "minimum": 0}
_PLACE = {"name": {"type": "string"}, "pid": {"type": "integer"}, "tid": {"type": "integer"}}
_COMMON = {**_PLACE, "cat": {"type": "string"}, "ts": _NUMBER}


def _kind(phase: str, properties: dict[str, Any], optional: tuple[str, ...] = ("args",)) -> dict[str, Any]:
    known = {"ph": {"const": phase}, **properties}
    required = [name for name in known if name not in optional]
    return {"type": "object", "properties": known, "required": required, "additionalProperties": False}


_FLOW = {**_COMMON, "id": {"type": "integer"}}

#: The parts of the format that are written, as its description has them.
TRACE_EVENTS = {
    "type": "object",
    "required": ["traceEvents"],
    "properties": {
        "displayTimeUnit": {"enum": ["ms", "ns"]},
        "traceEvents": {
            "items": {
                "oneOf": [
                    _kind("M", {**_PLACE, "args": {"type": "object"}}, ()),
                    _kind("X", {**_COMMON, "dur": _NUMBER, "args": {"type": "object"}}),
                    _kind("i", {**_COMMON, "s": {"enum": ["g", "p", "t"]}, "args": {"type": "object"}}),
                    _kind("s", _FLOW),
                    _kind("f", {**_FLOW, "bp": {"const": "e"}}),
                ]
            }
        },
    },
}


@pytest.mark.parametrize("name", TRACES)
def test_a_time_line_has_every_event_and_a_flow_for_each_arrival(name: str) -> None:
    trace = TRACES[name]()
    document = json.loads(write_trace(trace, "chrome"))
    jsonschema.validate(document, TRACE_EVENTS)
    events = document["traceEvents"]
    assert [e["name"] for e in events if e["ph"] in "Xi"] == [event.title for event in trace.events]
    slices = {(e["pid"], e["ts"]): e for e in events if e["ph"] == "X"}
    starts = {e["id"]: e for e in events if e["ph"] == "s"}
    ends = {e["id"]: e for e in events if e["ph"] == "f"}
    assert len(ends) == sum(event.kind is Kind.RECEIVE for event in trace.events)
    assert starts.keys() == ends.keys()
    for number, start in starts.items():
        # Perfetto ties a flow to the slice that it begins and ends in.
        assert slices[start["pid"], start["ts"]]["cat"] == "send"
        assert slices[ends[number]["pid"], ends[number]["ts"]]["cat"] == "receive"
        assert start["ts"] < ends[number]["ts"]
    for process in {e["pid"] for e in events}:
        own = [e for e in events if e["ph"] == "X" and e["pid"] == process]
        assert all(one["ts"] + one["dur"] <= other["ts"] + 1e-9 for one, other in pairwise(own))


def test_times_of_a_time_line_are_virtual_time() -> None:
    document = json.loads(write_trace(TRACES["timed"](), "chrome"))
    arrivals = [(e["name"], e["ts"]) for e in document["traceEvents"] if e.get("cat") == "receive"]
    assert arrivals == [
        ("receive Go from outside", 500_000),
        ("receive Ping from a", 1_000_000),
        ("receive Ping from a", 1_000_000),
        ("receive Pong from b", 1_500_000),
    ]


# -- OTLP --------------------------------------------------------------------------------------------------------


def read_request(text: str) -> ExportTraceServiceRequest:
    """Read OTLP/JSON, which differs from JSON of protocol buffers: identities are hexadecimal."""

    def in_base64(value: Any) -> Any:
        if isinstance(value, list):
            return [in_base64(item) for item in value]
        if not isinstance(value, dict):
            return value
        names = ("traceId", "spanId", "parentSpanId")
        return {
            key: b64encode(bytes.fromhex(item)).decode() if key in names else in_base64(item)
            for key, item in value.items()
        }

    request = ExportTraceServiceRequest()
    json_format.ParseDict(in_base64(json.loads(text)), request)
    return request


def spans_of(request: ExportTraceServiceRequest) -> dict[str, list[Span]]:
    found = {}
    for resource in request.resource_spans:
        (name,) = (a.value.string_value for a in resource.resource.attributes if a.key == "service.name")
        (scope,) = resource.scope_spans
        found[name] = list(scope.spans)
    return found


@pytest.mark.parametrize("name", TRACES)
def test_spans_are_what_opentelemetry_defines(name: str) -> None:
    trace = TRACES[name]()
    by_resource = spans_of(read_request(write_trace(trace, "otlp")))
    (whole,) = by_resource.pop("clew")
    spans = [span for found in by_resource.values() for span in found]
    assert len(spans) == len(trace.events)
    known = {span.span_id: span for span in [whole, *spans]}
    assert len(known) == len(trace.events) + 1
    assert {len(span.trace_id) for span in known.values()} == {16}
    assert {len(span_id) for span_id in known} == {8}
    assert len({span.trace_id for span in known.values()}) == 1
    assert (whole.parent_span_id, whole.start_time_unix_nano) == (b"", EPOCH)
    for span in spans:
        parent = known[span.parent_span_id]
        assert parent.start_time_unix_nano <= span.start_time_unix_nano < span.end_time_unix_nano
        assert span.end_time_unix_nano <= whole.end_time_unix_nano
        assert all(known[link.span_id].start_time_unix_nano < span.start_time_unix_nano for link in span.links)
        if span.kind == Span.SPAN_KIND_CONSUMER:
            assert parent.kind == Span.SPAN_KIND_PRODUCER
    wrong = [span for span in spans if span.status.code == Status.STATUS_CODE_ERROR]
    assert len(wrong) == sum(event.kind is Kind.VIOLATION for event in trace.events)
    assert (whole.status.code == Status.STATUS_CODE_ERROR) == bool(trace.violations)


def test_other_executions_have_other_identities() -> None:
    traces = {TRACES[name]().title: spans_of(read_request(write_trace(TRACES[name](), "otlp"))) for name in TRACES}
    identities = {name: found["clew"][0].trace_id for name, found in traces.items()}
    assert len(set(identities.values())) == len(identities) == len(TRACES)
