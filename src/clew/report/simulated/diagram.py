"""A simulated run as a Lamport diagram.

The time of an event is how long the longest chain of events is that it rests on: events that have nothing to do
with each other share a time, and the picture is as short as it can be.  Events that concern no single process
(partitions, code blocks) separate what comes before them from what comes after.  The event after which something
is wrong comes last: that rests on all nodes that the invariant read, whatever they had to do with the event.

In the picture: what happens at processes, partitions, and what gets lost.  Not in it: that a message comes into
the world from outside (it is shown when it arrives), and messages that are still under way at the end.
"""

from __future__ import annotations

from collections.abc import Iterator

from clew.report.diagrams.lamport import Arrow, Diagram, Fate, Ground, Mark, MarkKind
from clew.report.simulated.run import Event, Story
from clew.simulation.events import Heal, Partition, Restart, Start, Stop
from clew.simulation.pool import OUTSIDE, Envelope
from clew.simulation.world import CodeBlock


def run_diagram(story: Story) -> Diagram:
    """Make the diagram of a run."""
    return _Maker(story).diagram()


class _Maker:
    def __init__(self, story: Story) -> None:
        self._story = story
        self._times: dict[int, int] = {}
        self._shown = {event.number for event in story.events}
        # What was sent before the first event that is told comes from a time of its own, above all others; so does
        # what the violation rests on.
        above = any(self._comes_from_before(event) for event in story.events)
        self._first = 1 if above or not self._shown.issuperset(story.grounds.values()) else 0
        # No event is drawn above this time: what concerns all processes parts the picture.
        self._since = self._first
        self._last = self._first
        self._last_at: dict[str, int] = {}
        self._arrows: list[Arrow] = []
        self._marks: list[Mark] = []

    def diagram(self) -> Diagram:
        for event in self._story.events:
            self._add(event)
        return Diagram(
            self._story.processes,
            max(1, self._last),
            tuple(self._arrows),
            marks=tuple(self._marks),
            down=self._story.down,
            broken=self._story.broken,
            grounds=tuple(self._grounds()),
        )

    def _grounds(self) -> Iterator[Ground]:
        for process, number in self._story.grounds.items():
            yield Ground(process, self._times.get(number, self._first), number)

    def _comes_from_before(self, event: Event) -> bool:
        what = event.moment.happened.what
        return isinstance(what, Envelope) and what.source not in (OUTSIDE, what.target) and self._cut_off(event)

    def _cut_off(self, event: Event) -> bool:
        return event.cause is None or event.cause not in self._shown

    # -- events --------------------------------------------------------------------------------------------------

    def _add(self, event: Event) -> None:
        match event.moment.happened.what:
            case Envelope() as envelope:
                self._add_envelope(event, envelope)
            case Start():
                self._mark(event, MarkKind.START, "start")
            case Stop():
                self._mark(event, MarkKind.STOP, "stop")
            case Restart():
                self._mark(event, MarkKind.RESTART, "restart")
            case Partition(source, target, one_way):
                kind = MarkKind.CUT_ONE_WAY if one_way else MarkKind.CUT
                self._note(event, kind, "partition", source, target)
            case Heal("", ""):
                self._note(event, MarkKind.HEAL, "all heals")
            case Heal(source, target):
                self._note(event, MarkKind.HEAL, "heals", source, target)
            case CodeBlock(name, _):
                self._note(event, MarkKind.NOTE, name)
                for turn in event.moment.happened.lives:
                    self._mark_turn(event, turn)
        for envelope, sent in zip(event.moment.happened.sent, event.sent, strict=True):
            if sent.fate == "down" and envelope.source not in (OUTSIDE, envelope.target):
                arrow = _arrow(envelope, sent.label, sent.text, self._times.get(event.number, self._first), None)
                self._arrows.append(arrow._replace(cause=event.number))

    def _add_envelope(self, event: Event, envelope: Envelope) -> None:
        label = envelope.kind if envelope.timer else event.label
        if event.node and envelope.timer:
            self._mark(event, MarkKind.TIMER, label)
        elif event.node and envelope.source == OUTSIDE:
            self._mark(event, MarkKind.OUTSIDE, label)
        elif event.node and envelope.source == envelope.target:
            self._mark(event, MarkKind.ITSELF, label)
        elif event.node:
            self._arrows.append(self._of_event(event, envelope, self._time(event)))
        elif event.moment.happened.fate == "lose" and envelope.source not in (OUTSIDE, envelope.target):
            self._arrows.append(self._of_event(event, envelope, None))

    def _of_event(self, event: Event, envelope: Envelope, arrived: int | None) -> Arrow:
        sent = self._first if event.cause is None else self._times.get(event.cause, self._first)
        return _arrow(envelope, event.label, event.message, sent, arrived)._replace(
            event=event.number, cause=event.cause
        )

    def _mark(self, event: Event, kind: MarkKind, label: str) -> None:
        time = self._time(event)
        self._marks.append(Mark(event.node, time, kind, label, event.message or event.title, event.number))

    def _mark_turn(self, event: Event, turn: Start | Stop | Restart) -> None:
        """Mark what a code block did to the life of a node, at the time of the block."""
        kind = {Start: MarkKind.START, Stop: MarkKind.STOP, Restart: MarkKind.RESTART}[type(turn)]
        self._last_at[turn.node] = self._last
        self._marks.append(Mark(turn.node, self._last, kind, kind.value, event.title, event.number))

    def _note(self, event: Event, kind: MarkKind, label: str, process: str = "", other: str = "") -> None:
        # After all that is drawn so far, at whatever process, as a partition concerns what comes after it
        # everywhere.
        self._last += 1
        self._since = self._last
        self._times[event.number] = self._last
        self._marks.append(Mark(process, self._last, kind, label, event.title, event.number, other))

    def _time(self, event: Event) -> int:
        """Return the time of an event: after everything that it rests on."""
        rests_on = [self._times.get(number, 0) for number in event.depends]
        latest = self._last if event.number == self._story.broken else 0
        time = 1 + max([self._since, self._last_at.get(event.node, 0), latest, *rests_on])
        self._times[event.number] = self._last_at[event.node] = time
        self._last = max(self._last, time)
        return time


def _arrow(envelope: Envelope, label: str, detail: str, sent: int, arrived: int | None) -> Arrow:
    fate = Fate.LOST if arrived is None else Fate.DELIVERED
    return Arrow(envelope.source, envelope.target, sent, arrived, (label,), (detail,), fate)
