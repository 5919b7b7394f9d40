"""A simulated run for the terminal: the diagram, then event by event what it did to its node, then what broke."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clew.report.diagrams.lamport_events_text import event_lines
from clew.report.simulated.diagram import run_diagram
from clew.report.simulated.run import Change, Event, Sent, Story, story_of
from clew.report.simulated.values import difference, trim_context
from clew.report.text.plain import columns, in_ascii, pluralize, printable, shorten
from clew.simulation.events import Send
from clew.simulation.execution.trace import Execution

#: How many events are told, the last ones.
MOST_EVENTS = 400
#: How many lines one thing may take, and how much around a change is shown of a text that is too long.
_MOST_LINES, _CONTEXT = 3, 24


def run_text(
    scenario_name: str,
    execution: Execution,
    *,
    width: int = 100,
    nodes: Sequence[str] = (),
    most: int = MOST_EVENTS,
    ascii_only: bool = False,
    brief: bool = False,
) -> str:
    """Show the whole run, no line wider than ``width`` (at least 40) columns but those of an exception's trace.

    ``nodes``: the order of the columns (default: by name).  ``most``: so many events are told, the last ones.
    ``brief``: only in the diagram, not one by one.
    """
    story = story_of(execution, nodes=nodes, most=most)
    teller = _Teller(width, ascii_only)
    lines = [*teller.fold(heading(scenario_name, execution, story))]
    if story.events:
        lines += ["", *event_lines(run_diagram(story), width=width, ascii_only=ascii_only)]
        lines += [] if brief else [""]
    indent = len(str(story.events[-1].number)) if story.events else 0
    for event in () if brief else story.events:
        lines += teller.event(event, indent)
    if execution.broken is not None:
        lines += ["", *teller.fold(f"VIOLATED: {execution.broken}")]
        lines += [line for told in _grounds(story) for line in teller.fold(told, "  ", "  ")]
        for other in execution.also:
            lines += teller.fold(f"VIOLATED, too: {other}")
    if execution.trace is not None:
        lines += ["", *(teller.clean(line) for line in execution.trace.rstrip().split("\n"))]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def heading(scenario_name: str, execution: Execution, story: Story) -> str:
    """Say how much happened, and what is not shown of it."""
    told = f"{scenario_name}: {pluralize(execution.deliveries, 'delivery', 'deliveries')}"
    told += f" in {pluralize(story.total, 'event')}"
    if story.under_way:
        told += f"; {pluralize(story.under_way, 'message is', 'messages are')} still under way"
    if story.dropped:
        told += f"; {pluralize(story.dropped, 'message')} got lost on the way to a node that stopped"
    if story.left_out:
        told += f"; the first {pluralize(story.left_out, 'event is', 'events are')} left out"
    return f"{told}."


def _grounds(story: Story) -> Iterator[str]:
    """Say what a violation rests on, unless that is the last event alone."""
    if story.grounds:
        read = [f"{node} after {number}" for node, number in story.read.items()]
        yield f"seen at {', '.join(read)}"


class _Teller:
    """Lines that fit the terminal, without anything that would drive it."""

    def __init__(self, width: int, ascii_only: bool) -> None:
        self._width = width
        self._ascii = ascii_only
        self._more = "..." if ascii_only else "…"

    def clean(self, text: str) -> str:
        return in_ascii(text) if self._ascii else printable(text)

    def fold(self, text: str, first: str = "", indent: str = "", most: int | None = None) -> Iterator[str]:
        """Break a text into as many lines as it takes, or ``most``; between words where possible."""
        text, room = self.clean(text), self._width - len(indent) - 1
        # Nine tenths: lines that break between words do not fill the width.
        if most is not None and columns(text) > room * most * 9 // 10:
            text = shorten(text, room * most * 9 // 10 - len(self._more), self._more)
        line = first
        fresh = True
        for word in text.split(" "):
            while columns(line) + columns(word) + (not fresh) > self._width:
                if fresh:
                    head = _head(word, self._width - columns(line))
                    line, word = line + head, word[len(head) :]
                yield line
                line, fresh = indent, True
            line += word if fresh else f" {word}"
            fresh = False
        yield line

    # -- an event ------------------------------------------------------------------------------------------------

    def event(self, event: Event, digits: int) -> Iterator[str]:
        number, indent = f"{event.number:>{digits}}. ", " " * (digits + 4)
        yield from self.fold(event.told, number, indent + "  ", _MOST_LINES)
        if event.begins:
            state = ", ".join(f"{change.name}={change.after}" for change in event.changes())
            yield from self.fold(f"begins with {state}" if state else "begins", indent, indent + "  ", _MOST_LINES)
        elif not event.ends:
            for change in event.changes():
                yield from self._change(change, indent)
        for remark in event.remarks:
            yield from self.fold(f"says: {remark}", indent, indent + "  ", _MOST_LINES)
        for line in _message_lines(event):
            yield from self.fold(line, indent, indent + "  ", _MOST_LINES)

    def _change(self, change: Change, indent: str) -> Iterator[str]:
        """Show before and after in one line, or in two with what is around the difference."""
        if change.before is None or change.after is None:
            told = f"{change.name} is gone" if change.after is None else f"{change.name}: new, {change.after}"
            yield from self.fold(told, indent, indent + "  ", _MOST_LINES)
            return
        before, after = self.clean(change.before), self.clean(change.after)
        name = self.clean(change.name)
        if columns(f"{indent}{name}: {before} -> {after}") <= self._width:
            yield f"{indent}{name}: {before} -> {after}"
            return
        room = self._width - len(indent) - 4
        changed = difference(before, after)
        if max(columns(before), columns(after)) > room - columns(name):
            changed = trim_context(changed, _CONTEXT, self._more)
        yield from self.fold(f"{name}: {changed.start}{changed.before}{changed.end}", indent, indent, _MOST_LINES)
        yield from self.fold(f"{changed.start}{changed.after}{changed.end}", f"{indent}  -> ", indent, _MOST_LINES)


def _head(word: str, room: int) -> str:
    """Return the beginning of a word that fits."""
    end = 0
    while end < len(word) and columns(word[: end + 1]) <= room:
        end += 1
    return word[:end]


def _message_lines(event: Event) -> list[str]:
    """List what an event sends; the same message to several nodes is one line."""
    happened = event.moment.happened
    # Neither sends by itself: one puts a message into the world, the other doubles one.
    if isinstance(happened.what, Send) or happened.fate == "duplicate":
        what = "the copy " if happened.fate == "duplicate" else ""
        arrival = {"deliver": "arrives", "code": "goes no further"}
        return [f"{what}{arrival.get(s.fate, 'does not arrive:')}{_fate_text(s)}" for s in event.sent]
    lines: dict[str, list[Sent]] = {}
    for sent in event.sent:
        if sent.fate == "timer":
            off = "" if sent.event is None else f", goes off at {sent.event}"
            lines[f"sets timer {sent.text}{off}"] = []
        else:
            lines.setdefault(f"sends {sent.text}", []).append(sent)
    return [what + _targets(messages) for what, messages in lines.items()]


def _targets(messages: Sequence[Sent]) -> str:
    ended = [f"{sent.target}{_fate_text(sent)}" for sent in messages if sent.fate]
    under_way = [sent.target for sent in messages if not sent.fate]
    told = f" to {', '.join(ended)}" if ended else ""
    return told + (f"{';' if ended else ','} not delivered to {', '.join(under_way)}" if under_way else "")


def _fate_text(sent: Sent) -> str:
    """Say what became of a message."""
    match sent.fate:
        case "deliver":
            return f" at {sent.event}"
        case "lose":
            return f" lost at {sent.event}"
        case "down":
            return " (down)"
        case "stop":
            return f" (stops at {sent.event})"
        case "code":
            return f" (taken by the code block at {sent.event})"
        case _:
            return " still under way"
