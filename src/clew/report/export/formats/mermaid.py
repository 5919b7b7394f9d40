"""A sequence diagram in the language of Mermaid, which GitHub, GitLab and many editors draw.

Mermaid draws one line after the other, so a message stands where it arrives, or is lost.  It draws no text of more
than 50,000 characters; of a longer execution the last events are shown, and the first line says how many are not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from clew.report.export.events import NOWHERE, Event, Kind, Trace, Unit

#: Mermaid's own limit is 50,000 (maxTextSize); what is written beside the events has room in the rest.
MOST_CHARACTERS = 45_000

_OUTSIDE = "outside"
_BAND = "    rect rgb(255, 235, 215)"


def write_mermaid(trace: Trace, *, most: int = MOST_CHARACTERS) -> str:
    """Write the diagram; at most so many characters of it are about events."""
    return "".join(f"{line}\n" for line in _Diagram(trace, most).lines())


class _Diagram:
    """The lines of a diagram, with the names that participants have in it."""

    def __init__(self, trace: Trace, most: int) -> None:
        self._trace = trace
        self._most = most
        # Names that mean nothing to Mermaid, whatever the nodes are called.
        self._names = {node: f"p{number}" for number, node in enumerate(trace.nodes, start=1)}
        self._has_outside = not self._names or any(map(_begins_outside, trace.events))
        names = list(self._names.values()) or ["p0"]
        self._all = ",".join(dict.fromkeys([names[0], names[-1]]))
        self._ends = trace.ends

    def lines(self) -> Iterator[str]:
        trace = self._trace
        blocks = [list(self._event_lines(index)) for index in range(len(trace.events))]
        first = self._first_shown(blocks)
        yield "sequenceDiagram"
        for said in (trace.title, *trace.faults, *trace.violations):
            yield f"    %% {_comment(said)}"
        if first:
            yield f"    %% the first {first} of {len(trace.events)} events are left out"
        if self._has_outside:
            yield f"    actor {self._name(NOWHERE)} as {_OUTSIDE}"
        for node, name in self._names.items():
            yield f"    participant {name} as {escape(node, _PLAIN_IN_NAMES)}"
        yield from self._shown(blocks, first)

    def _first_shown(self, blocks: list[list[str]]) -> int:
        """Return the first event that there is room for."""
        # Without the names and the bands, for which the limit leaves room.
        size = 0
        for index in range(len(blocks) - 1, -1, -1):
            size += sum(len(line) + 1 for line in blocks[index])
            if size > self._most:
                return index + 1
        return 0

    def _shown(self, blocks: list[list[str]], first: int) -> Iterator[str]:
        """Yield the lines of the events that are shown, with a band for as long as anything is cut off."""
        cut, drawn, time = False, False, None
        for index, (event, lines) in enumerate(zip(self._trace.events, blocks, strict=True)):
            if event.kind in (Kind.PARTITION, Kind.HEAL):
                cut = event.cut
            if index < first:
                continue
            # Also before the first event that is shown, if it is in the midst of a partition.
            if cut != drawn:
                drawn = cut
                yield _BAND if drawn else "    end"
            if lines and self._trace.unit is Unit.STEP and event.time != time:
                time = event.time
                yield f"    Note over {self._all}: time {time}"
            yield from lines
        if drawn:
            yield "    end"

    def _event_lines(self, index: int) -> Iterator[str]:
        event = self._trace.events[index]
        match event.kind:
            case Kind.SEND:
                if not self._ends[index]:
                    yield self._message(event, "--)", "still under way")
            case Kind.RECEIVE:
                yield self._message(event, "->>", "again" if self._came_before(index) else "")
            case Kind.LOST:
                yield self._message(event, "--x", event.detail or "lost")
            case Kind.TAKEN | Kind.DUPLICATE:
                yield self._message(event, "--)", event.detail if event.kind is Kind.TAKEN else "is duplicated")
            case Kind.START if not event.time:
                pass  # that a node is up is seen from its being there
            case _:
                where = self._names.get(event.node, self._all)
                yield f"    Note over {where}: {escape(self._note(event))}"

    def _came_before(self, index: int) -> bool:
        """Tell whether a message that arrives has arrived before."""
        ends = self._ends[self._trace.events[index].causes[0]]
        return any(self._trace.events[end].kind is Kind.RECEIVE for end in ends if end < index)

    def _note(self, event: Event) -> str:
        remarks = "".join(f" ({remark})" for remark in event.remarks)
        return f"{event.title}{remarks}"

    def _message(self, event: Event, arrow: str, why: str = "") -> str:
        told = f"{event.label} ({why})" if why else event.label
        return f"    {self._name(event.source)}{arrow}{self._name(event.target)}: {escape(told)}"

    def _name(self, node: str) -> str:
        return self._names.get(node, "p0")


def _begins_outside(event: Event) -> bool:
    """Tell whether an event is about a message that no node has sent."""
    about = (Kind.SEND, Kind.RECEIVE, Kind.LOST, Kind.TAKEN, Kind.DUPLICATE)
    return event.kind in about and event.source == NOWHERE


# -- what must not be taken for anything else --------------------------------------------------------------------

#: What stands for itself in labels, and in names of participants.
_PLAIN = re.compile(r"[A-Za-z0-9_ .()=,:]")
_PLAIN_IN_NAMES = re.compile(r"[A-Za-z0-9_ ]")
#: Words that mean something to Mermaid wherever they stand.
_WORDS = re.compile(r"\b(?=(?:end|style|classdef|wrap|nowrap)\b)", re.IGNORECASE)


def escape(text: str, plain: re.Pattern[str] = _PLAIN) -> str:
    """Write a text so that nothing in it is part of the language: by the numbers of its characters."""
    text = text.strip()
    words = {match.start() for match in _WORDS.finditer(text)}
    shown = (c if plain.fullmatch(c) and k not in words else f"#{ord(c)};" for k, c in enumerate(text))
    return "".join(shown) or "#32;"


def _comment(text: str) -> str:
    """Write a text in a comment, which ends with its line, and in which no directive (``%%{``) may be read."""
    return "".join(c if c.isprintable() and c != "%" else " " for c in text)
