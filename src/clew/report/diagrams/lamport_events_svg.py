"""Numbered events in a drawn Lamport diagram: a pill with the number where it happens, and beside it what.

What concerns no single process has its pill in the left margin.  Where a run can be read event by event, ``link``
makes every pill a link to its event.  Classes, below ``.lamport``: ``event`` with the kind of mark or ``message``,
``broken`` for the one after which something is wrong, ``of`` for the labels of events, ``span`` for partitions,
``ground`` for lines to what a violation rests on.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import hypot
from typing import NamedTuple

from clew.report.diagrams.lamport import Arrow, Diagram, Fate, Mark, MarkKind
from clew.report.diagrams.lamport_layout import GUTTER, Box, Label, Layout, Line, pixels
from clew.report.text.html import safe

#: Pixels from time to time; half the height of a pill; where those in the margin are.
_STEP, _HALF, _MARGIN = 44, 9.0, GUTTER / 2 + 1
_SPANS = (MarkKind.CUT, MarkKind.CUT_ONE_WAY, MarkKind.HEAL)

#: Rules besides those of every diagram.
RULES = """
.event rect{fill:PAPER;stroke:INK;stroke-width:1.3}
.event text{font-size:11px;font-weight:600;text-anchor:middle}
.event.timer rect{stroke-dasharray:2.5 2.5}
.event.outside rect{fill:MESSAGE;stroke:MESSAGE}
.event.start rect{fill:GOOD;stroke:GOOD}
.event.heal rect{fill:GOOD;stroke:GOOD}
.event.stop rect{fill:CUT;stroke:CUT}
.event.cut rect{fill:CUT;stroke:CUT}
.event.cut-one-way rect{fill:CUT;stroke:CUT}
.event.restart rect{fill:HIT;stroke:HIT}
.event.lost rect{stroke:CUT}
.event.broken rect{stroke:CUT;stroke-width:3.5}
.event.outside text,.lamport .event.start text,.lamport .event.heal text,.lamport .event.stop text{fill:PAPER}
.event.cut text,.lamport .event.cut-one-way text,.lamport .event.restart text{fill:PAPER}
.event .loop{fill:none;stroke:MUTED;stroke-width:1.3}
.of.timer{font-style:italic}
.of.outside{fill:MESSAGE}
.of.start,.lamport .of.heal{fill:GOOD}
.of.stop,.lamport .of.cut,.lamport .of.cut-one-way,.lamport .of.lost{fill:CUT}
.of.restart{fill:INK;font-weight:600}
.of.broken{fill:CUT;font-weight:700}
.span{fill:none;stroke:CUT;stroke-width:2.5;stroke-dasharray:6 4}
.span.heal{stroke:GOOD;stroke-dasharray:none}
.across{stroke:MUTED;stroke-dasharray:2 4}
.ground{fill:none;stroke:CUT;stroke-width:1.6;stroke-dasharray:1.5 4;stroke-linecap:round}
"""


class _Event(NamedTuple):
    """An event to draw; ``side``: from which side its message comes, 0 if from none."""

    number: int
    kind: str
    x: float
    y: float
    label: str
    detail: str
    side: int


class EventLayout(Layout):
    """Where events and their labels go; all times are equally far apart."""

    events: list[_Event]
    #: By the number of the event and where its pill is: a code block has one at each node that it starts or stops.
    event_labels: dict[tuple[int, float], Label | None]
    #: Which event a process sends in vain with, by process and time.
    in_vain: dict[tuple[str, int], int]

    def _steps(self, diagram: Diagram, beside: Diagram | None) -> list[int]:
        # Each time has an event, so none is empty; and pills need less room than labels of several lines.
        return [_STEP] * (diagram.last - 1)

    def _line(self, arrow: Arrow) -> Line:
        """Draw from the edge of one pill to that of the other."""
        line = super()._line(arrow)
        length = hypot(line.x1 - line.x0, line.y1 - line.y0)
        x, y = (line.x1 - line.x0) / length * (_HALF + 1), (line.y1 - line.y0) / length * (_HALF + 1)
        end = 0 if arrow.fate is Fate.LOST else 1
        return Line(line.x0 + x, line.y0 + y, line.x1 - end * x, line.y1 - end * y)

    def _take_marks(self, diagram: Diagram) -> None:
        super()._take_marks(diagram)
        self.events = []
        for mark in diagram.marks:
            self._add(self._place_mark(mark, diagram))
        # Losses come last: they have a choice of places.
        for arrow in sorted(diagram.arrows, key=lambda a: a.arrived is None):
            if arrow.event is not None:
                self._add(self._of_arrow(arrow, arrow.event, diagram))
        self.events.sort(key=lambda event: event.number)

    def _add(self, event: _Event) -> None:
        self.events.append(event)
        self._take(_pill(event.number, event.x, event.y))
        if event.kind.startswith(MarkKind.ITSELF.value):  # its loop
            left = event.x - pill_width(event.number) / 2
            self._take(Box(left - 15, event.y - 8, left, event.y + 8))
        first = min(self.x.values(), default=self.width)
        if event.x == _MARGIN:  # what is said there must not reach the first lifeline
            self._take(Box(first - 8, event.y - _STEP / 2, first - 4, event.y + _STEP / 2))

    def _place_mark(self, mark: Mark, diagram: Diagram) -> _Event:
        at_process = mark.process in self.x and mark.kind not in _SPANS
        x = self.x[mark.process] if at_process else _MARGIN
        return _Event(mark.event, _kind(mark.kind.value, mark.event, diagram), x, self.y[mark.time],
                      mark.label, mark.detail, -1 if mark.kind is MarkKind.ITSELF else 0)  # fmt: skip

    def _of_arrow(self, arrow: Arrow, number: int, diagram: Diagram) -> _Event:
        """Put an arrow's event where it arrives; a loss happens on the way."""
        kind = _kind("message" if arrow.arrived else "lost", number, diagram)
        x, y = (
            (self.x[arrow.target], self.y[arrow.arrived]) if arrow.arrived else self._place_of_loss(arrow, number)
        )
        side = 1 if self.x[arrow.source] > self.x[arrow.target] else -1
        return _Event(number, kind, x, y, ", ".join(arrow.labels), "\n".join(arrow.details), side)

    def _place_of_loss(self, arrow: Arrow, number: int) -> tuple[float, float]:
        """Choose a place on its line, away from lifelines, where it would look like an event at a process."""
        # From just before the middle outwards; never near the ends, where it would hide a pill.
        places = [self.lines[arrow].at(part / 100) for part in (45, 36, 54, 27, 63, 18, 72, 12)]
        away = [p for p in places if min(abs(p[0] - x) for x in self.x.values()) > pill_width(number)]
        free = [p for p in away or places if not self._in_the_way(_pill(number, *p))]
        return (free or away or places)[0]

    def _labels(self, diagram: Diagram) -> Iterator[tuple[tuple[str, int], Label | None]]:
        """Label events first, and then at the sender only what is no event of its own, as its target is down."""
        self.event_labels = {(event.number, event.x): self._beside(event) for event in self.events}
        others = tuple(a for a in diagram.arrows if a.event is None)
        self.in_vain = {(a.source, a.sent): a.cause for a in others if a.cause is not None}
        return super()._labels(diagram._replace(arrows=others))

    def _beside(self, event: _Event) -> Label | None:
        """Prefer the height of the event, and the side away from where its message comes from."""
        # In the margin there is only room to the right.
        sides = (1,) if event.x == _MARGIN else (-event.side, event.side) if event.side else (1, -1)
        # A label hangs below its height: raised, it stands beside the pill, or above that.
        places = [(side, event.y - raised) for raised in (9, 16, 2) for side in sides]
        labels = (self._label_at(event.x, y, [event.label], side, True, 1) for side, y in places)
        possible = [label for label in labels if label is not None]
        best = min(possible, default=None, key=lambda label: (label.missing, self._crossings(label)))
        if best is not None:
            self._take(best.box)
        return best


def _kind(kind: str, number: int, diagram: Diagram) -> str:
    return f"{kind} broken" if number == diagram.broken else kind


def _pill(number: int, x: float, y: float) -> Box:
    """Return the room that a pill takes, with some air."""
    half = pill_width(number) / 2 + 2
    return Box(x - half, y - _HALF - 1, x + half, y + _HALF + 1)


def pill_width(number: int) -> float:
    # As high as wide for one digit, so that small numbers are circles.
    return max(18.0, 7.0 * len(str(number)) + 7)


# -- drawing -----------------------------------------------------------------------------------------------------


def spans(diagram: Diagram, layout: EventLayout) -> Iterator[str]:
    """Draw, behind all else, partitions from lifeline to lifeline, and lines across for what concerns all."""
    for mark in diagram.marks:
        y, number = layout.y[mark.time], f'data-event="{mark.event}"'
        if mark.process not in layout.x:
            yield f'<path class="across" {number} d="M{GUTTER} {pixels(y)}H{pixels(layout.width - 8)}"/>'
        elif mark.kind in _SPANS and mark.other in layout.x:
            start, end = layout.x[mark.process], layout.x[mark.other]
            bar = f"M{pixels(end)} {pixels(y - 8)}v16"
            bars = bar if mark.kind is MarkKind.CUT_ONE_WAY else f"{bar}M{pixels(start)} {pixels(y - 8)}v16"
            kind = "heal" if mark.kind is MarkKind.HEAL else "cut"
            yield f'<path class="span {kind}" {number} d="M{pixels(start)} {pixels(y)}H{pixels(end)}{bars}"/>'


def grounds(diagram: Diagram, layout: EventLayout) -> Iterator[str]:
    """Draw lines from the violation to the latest events of the nodes that the invariant read."""
    violation = next((event for event in layout.events if event.number == diagram.broken), None)
    if violation is None:
        return
    for ground in diagram.grounds:
        if ground.process in layout.x:
            x, y = layout.x[ground.process], layout.y[ground.time]
            yield (
                f'<path class="ground" data-event="{violation.number}" '
                f'd="M{pixels(x)} {pixels(y)}L{pixels(violation.x)} {pixels(violation.y)}"/>'
            )


def events(layout: EventLayout, link: str) -> Iterator[str]:
    """Draw the pills, in the order of the events: that is how they are reached by keyboard."""
    for event in layout.events:
        wide, x, y = pill_width(event.number), event.x, event.y
        name = safe(f"event {event.number}: {event.label}")
        tag = f'a href="{link}{event.number}" aria-label="{name}"' if link else "g"
        loop = ""
        if event.kind.startswith(MarkKind.ITSELF.value):
            side = x - wide / 2
            loop = f'<path class="loop" d="M{pixels(side)} {pixels(y - 5)}c-14 -8 -14 18 -1 10"/>'
        yield (
            f'<{tag} class="event {event.kind}" data-event="{event.number}">'
            f"<title>{safe(event.detail)}</title>{loop}"
            f'<rect x="{pixels(x - wide / 2)}" y="{pixels(y - _HALF)}" width="{pixels(wide)}" height="18" rx="9"/>'
            f'<text x="{pixels(x)}" y="{pixels(y + 4)}">{event.number}</text></{tag.partition(" ")[0]}>'
        )
