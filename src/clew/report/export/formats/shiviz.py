"""A log for ShiViz: two lines for each event, its node with its vector clock, and what happened.

ShiViz draws an arrow where a clock tells that an event knows of another node's, so a clock must tell of nothing
else: what is lost is sent and never received, and what happens at no node has no line of its own.  Lines that its
expression does not match are passed over, so that a log can say at its beginning how to open it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from clew.names import in_one_line
from clew.report.export.events import NOWHERE, Event, Kind, Trace
from clew.report.export.formats.clocks import VectorClock, vector_clocks

#: What ShiViz is to be told; GoVector's logs are read by the same.
EXPRESSION = r"(?<host>\S*) (?<clock>{.*})\n(?<event>.*)"


def write_shiviz(trace: Trace) -> str:
    """Write the log."""
    return "".join(f"{line}\n" for line in _lines(trace))


def _lines(trace: Trace) -> Iterator[str]:
    yield f"# {_plain(trace.title)}, for ShiViz: paste the log, and this as its parsing expression:"
    yield EXPRESSION
    for said in (*trace.faults, *trace.violations):
        yield f"# {_plain(said)}"
    # An empty line, so that no line of the head can be taken for the first line of an event.
    yield ""
    ends = trace.ends
    for index, (event, clock) in enumerate(zip(trace.events, vector_clocks(trace), strict=True)):
        if event.node != NOWHERE:
            yield f"{host_name(event.node)} {_clock_text(event.node, clock)}"
            yield in_one_line(_told(trace, index, event, ends))


def _told(trace: Trace, index: int, event: Event, ends: dict[int, tuple[int, ...]]) -> str:
    """Say what happens, and of what is sent, that it does not arrive."""
    remarks = "".join(f"; {remark}" for remark in event.remarks)
    if event.kind is not Kind.SEND:
        return f"{event.title}{remarks}"
    found = [trace.events[end] for end in ends[index]]
    if not found:
        return f"{event.title} (under way at the end){remarks}"
    fates = [f"{end.kind.value}{f': {end.detail}' if end.detail else ''}" for end in found]
    told = [fate for fate, end in zip(fates, found, strict=True) if end.kind is not Kind.RECEIVE]
    twice = ["arrives twice"] if len(found) - len(told) > 1 else []
    said = "; ".join([*told, *twice])
    return f"{event.title}{f' ({said})' if said else ''}{remarks}"


def _clock_text(node: str, clock: VectorClock) -> str:
    """Write a clock as JSON: its own node first, the others in order."""
    # Sorted, since the order in which clocks were joined means nothing.
    names = [node, *sorted(name for name in clock if name != node)]
    return json.dumps({host_name(name): clock[name] for name in names}, separators=(",", ":"))


def host_name(node: str) -> str:
    """Return the name of a node without spaces, and no two alike."""
    return "".join(c if c.isprintable() and not c.isspace() and c != "%" else _escape(c) for c in node)


def _escape(character: str) -> str:
    return "".join(f"%{byte:02X}" for byte in character.encode("utf-8", "surrogatepass"))


def _plain(text: str) -> str:
    """Return a line of the head, which must not look like a clock."""
    return in_one_line(text).replace("{", "(").replace("}", ")")
