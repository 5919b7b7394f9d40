"""A Lamport diagram as one self-contained SVG: lifelines go down, messages slant from sender to receiver.

The eye finds first what faults do: lost messages are thick, red and dashed and end in a cross, a crash is a red
box on a lifeline that ends there, and in a failure-free run what is going to be hit is thick and orange.  What
befalls processes for a while is drawn by ``lamport_spans_svg``.  Each carries the number of its fault.  All else
is thin and muted; the messages in full are in the tooltips.

Colours are the CSS custom properties of ``colours``, so that a page with themes can embed the drawing; ``STYLE``
belongs into that page once.  Its classes, all below ``.lamport``: ``arrow`` with one of ``ok``, ``lost``,
``late``, ``again``, ``hit`` (inside: ``grip``, an invisible wide line to point at, ``gone``, the way that was not
travelled, ``x``, the cross, ``tip``); ``badge``, with one of these; ``crash``, ``grid``, ``time``, ``life``,
``dead``, ``head``, ``name``, ``dot``, ``label``, ``key`` (legend); for numbered events see ``lamport_events_svg``.
There are no ids: drawings on one page cannot clash.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import hypot

from clew.engine.execution import Execution
from clew.report.diagrams.lamport import Arrow, Diagram, Fate, lamport_of
from clew.report.diagrams.lamport_events_svg import RULES as EVENT_RULES
from clew.report.diagrams.lamport_events_svg import EventLayout, events, grounds, spans
from clew.report.diagrams.lamport_layout import (
    GUTTER,
    LABEL_LINE,
    TEXT_SIZES,
    TOP,
    Label,
    Layout,
    Line,
    abridge,
    kind_of,
    text_width,
)
from clew.report.diagrams.lamport_layout import pixels as _n
from clew.report.diagrams.lamport_spans_svg import (
    GIFT_RULES,
    LOOP_RULES,
    bands,
    lifelines,
    loop_marks,
    span_marks,
    span_sample,
)
from clew.report.diagrams.lamport_spans_svg import RULES as SPAN_RULES
from clew.report.text.colours import COLOURS, LIGHT
from clew.report.text.html import safe

_RULES = """
text{font-family:system-ui,-apple-system,"Segoe UI",Roboto,Arial,sans-serif;fill:INK}
.grid{stroke:FAINT;stroke-width:1}
.life{stroke:INK;stroke-width:1.5;opacity:.5}
.dead{stroke:MUTED;stroke-width:2;stroke-dasharray:.1 6;stroke-linecap:round}
.head{fill:PAPER;stroke:INK;stroke-width:1.2}
.dot{fill:INK}
.arrow path{fill:none;stroke:MUTED;stroke-width:1.3;stroke-linecap:round;stroke-linejoin:round}
.ok:hover path{stroke:INK;stroke-width:2.2}
.lost path{stroke:CUT;stroke-width:3;stroke-dasharray:8 6}
.lost .x{stroke-width:4.5;stroke-dasharray:none}
.lost .gone{stroke-width:1.2;stroke-dasharray:1 4;opacity:.7}
.hit path{stroke:HIT;stroke-width:3}
.late path{stroke:HIT;stroke-width:3;stroke-dasharray:14 5}
.late .tip{stroke-dasharray:none}
.again path{stroke:HIT;stroke-width:3;stroke-dasharray:3 5}
.again .tip{stroke-dasharray:none}
.arrow .grip{stroke:transparent!important;stroke-width:11!important}
.badge circle{fill:CUT;stroke:PAPER;stroke-width:2}
.badge.hit circle{fill:HIT}
.badge.late circle{fill:HIT}
.badge.again circle{fill:HIT}
.badge.paused circle{fill:HIT}
.badge text{fill:PAPER;font-weight:700;text-anchor:middle}
.crash rect{fill:CUT;stroke:PAPER;stroke-width:2}
.crash .crash{fill:PAPER;font-weight:700;text-anchor:middle}
.name{font-weight:600;text-anchor:middle}
.time{fill:SOFT;text-anchor:end}
.label{fill:SOFT;paint-order:stroke;stroke:PAPER;stroke-width:3.5;stroke-linejoin:round}
"""


# The rules are written with names of colours in capitals, so that they can be read beside ``colours``.
def _style(rules: list[str]) -> str:
    style = "\n".join(f".lamport {rule}" for rule in rules)
    for name, light in LIGHT.items():
        style = style.replace(name.upper(), f"var(--{name},{light})")
    return style


_STEPS_STYLE = _style(
    [
        *_RULES.split("\n")[1:-1],
        *SPAN_RULES.split("\n")[1:-1],
        *(f"text.{name}{{font-size:{size}px}}" for name, size in TEXT_SIZES.items()),
    ]
)
_LOOP_STYLE = _style(LOOP_RULES.split("\n")[1:-1])
_GIFT_STYLE = _style(GIFT_RULES.split("\n")[1:-1])
#: The rules of all diagrams on a page, for drawings made without ``standalone``.
STYLE = f"{_STEPS_STYLE}\n{_LOOP_STYLE}\n{_GIFT_STYLE}"
#: Those that diagrams of numbered events need besides.
EVENT_STYLE = _style(EVENT_RULES.split("\n")[1:-1])


@dataclass(frozen=True)
class LegendItem:
    """``kind``: the class of arrow that it explains, or "crash", "stop", "down", "paused", "band", "input",
    "pick", "loop".
    """

    kind: str
    text: str


def legend_items(diagram: Diagram) -> tuple[LegendItem, ...]:
    """Say what lines and marks mean, only for those that occur."""
    kinds = {kind_of(a) for a in diagram.arrows} | {halt.kind.value for halt in diagram.halts}
    kinds |= {gift.kind.value for gift in diagram.gifts}
    kinds |= {"stop" if crash.stops else "crash" for crash in diagram.crashes}
    kinds |= {"band"} if diagram.bands else set()
    kinds |= {"loop"} if diagram.loop else set()
    explained = {
        "ok": "delivered",
        "lost": "lost",
        "late": "late",
        "again": "arrives again",
        "crash": "crashed",
        "stop": "stopped",
        "down": "down, restarts",
        "paused": "paused",
        "band": "a group is cut off",
        "input": "given from outside",
        "pick": "chosen",
        "loop": "repeated for ever",
        "hit": "will be hit by a fault",
    }
    return tuple(LegendItem(kind, text) for kind, text in explained.items() if kind in kinds)


def diagram_svg(
    diagram: Diagram, *, title: str, standalone: bool = False, beside: Diagram | None = None, link: str = ""
) -> str:
    """Draw a diagram.

    ``standalone`` adds colours for light and dark, a background and a legend.  ``beside`` is the diagram shown
    next to this one: both then have the same times at the same heights.  ``link``: where an event is found, but
    for its number.
    """
    layout = EventLayout(diagram) if diagram.numbered else Layout(diagram, beside)
    legend = _Legend(diagram, layout) if standalone else None
    width, height = _n(layout.width), _n(legend.bottom if legend else layout.height)
    role = "group" if link else "img"  # what is in an image cannot be reached
    attributes = f'class="lamport" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="{role}"'
    namespace = ' xmlns="http://www.w3.org/2000/svg"' if standalone else ""
    parts = [f'<svg{namespace} {attributes} aria-label="{safe(_summary(diagram, title))}">']
    if standalone:
        parts += [_themes(diagram), '<rect width="100%" height="100%" fill="var(--paper)"/>']
    # In the order in which things cover each other: lines, then arrows, then texts, badges and heads.
    parts += [*bands(diagram, layout), *_grid(diagram, layout)]
    if isinstance(layout, EventLayout):
        parts += spans(diagram, layout)
        parts += grounds(diagram, layout)
    parts += [*_arrows(diagram, layout), *_labels(layout)]
    if isinstance(layout, EventLayout):
        parts += events(layout, link)
    parts += [*_marks(diagram, layout), *_heads(diagram, layout), *(legend.parts if legend else ()), "</svg>"]
    return "\n".join(filter(None, parts)) + "\n"


def diagram_picture(run: Execution) -> str:
    """Draw the space-time diagram of a run, as a file of its own."""
    faults = f"The run with {run.faults}" if run.faults else "The failure-free run"
    return diagram_svg(lamport_of(run), title=faults, standalone=True)


def _themes(diagram: Diagram) -> str:
    # A picture has the rules that it needs: most have no loop, and none of them is drawn anew for one.
    special = EVENT_STYLE if diagram.numbered else f"\n{_LOOP_STYLE}" if diagram.loop else ""
    special += f"\n{_GIFT_STYLE}" if diagram.gifts else ""
    return f"<style>{COLOURS}\n{_STEPS_STYLE}{special}</style>"


def _summary(diagram: Diagram, title: str) -> str:
    count = f"{_count(len(diagram.processes), 'process', 'processes')}, {_count(diagram.last, 'step', 'steps')}"
    faults = ", ".join(diagram.faults)
    marked = diagram.crashes or diagram.halts or diagram.bands or diagram.gifts
    happened = marked or any(a.fate is not Fate.DELIVERED for a in diagram.arrows)
    if diagram.numbered:
        return f"{title}: {_count(len(diagram.processes), 'process', 'processes')}, events as listed."
    what = (
        "no fault"
        if not faults
        else f"faults {faults}"
        if happened
        else f"no fault; marked is what {faults} will hit"
    )
    loop = diagram.loop
    again = f"; from time {loop.first} on it repeats itself every {loop.period} steps" if loop else ""
    violated = "".join(f"; violated at time {alarm.time}: {alarm.text}" for alarm in diagram.alarms)
    return f"{title}: {count}, {what}{again}{violated}."


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


# -- drawing -----------------------------------------------------------------------------------------------


def _grid(diagram: Diagram, layout: Layout) -> Iterator[str]:
    times = range(1, diagram.last + 1)
    ways = "".join(f"M{GUTTER} {_n(layout.y[t])}H{_n(layout.width)}" for t in times)
    yield f'<path class="grid" d="{ways}"/>'
    for time in () if diagram.numbered else times:  # the numbers to go by are then those of the events
        yield f'<text class="time" x="{GUTTER - 8}" y="{_n(layout.y[time] + 4)}">{time}</text>'
    if diagram.numbered:
        yield from _lifelines(diagram, layout)
        return
    yield from lifelines(diagram, layout)


def _lifelines(diagram: Diagram, layout: Layout) -> Iterator[str]:
    """Draw lifelines with gaps where a process is not up."""
    top, bottom = float(TOP - 36), layout.height - 8
    alive, dead = "", ""
    absences = diagram.absences()
    for process, x in layout.x.items():
        y = top
        for absence in (a for a in absences if a.process == process):
            since = layout.y[absence.stop.time] if absence.stop else top
            until = layout.y[absence.start.time] if absence.start else bottom
            alive += f"M{_n(x)} {_n(y)}V{_n(since)}"
            dead += f"M{_n(x)} {_n(since)}V{_n(until)}"
            y = until
        alive += f"M{_n(x)} {_n(y)}V{_n(bottom)}"
    yield f'<path class="life" d="{alive}"/><path class="dead" d="{dead}"/>'


def _heads(diagram: Diagram, layout: Layout) -> Iterator[str]:
    most = int((layout.gap - 28) / text_width(1, "name"))
    for process in diagram.processes:
        x, short = layout.x[process], abridge(process, most)
        # Names of one letter get a box that still looks like one.
        wide = max(34, text_width(len(short), "name") + 18)
        full = f"<title>{safe(process)}</title>" if short != process else ""
        yield f'<rect class="head" x="{_n(x - wide / 2)}" y="16" width="{_n(wide)}" height="26" rx="5"/>'
        yield f'<text class="name" x="{_n(x)}" y="33.5">{full}{safe(short)}</text>'


def _arrows(diagram: Diagram, layout: Layout) -> Iterator[str]:
    """Draw arrows, those that are hit last, on top of the others."""
    for arrow in sorted(diagram.arrows, key=lambda a: kind_of(a) != "ok"):
        line = layout.lines[arrow]
        way = f"M{_n(line.x0)} {_n(line.y0)}L{_n(line.x1)} {_n(line.y1)}"
        drawn = _draw_lost(arrow, layout) if arrow.fate is Fate.LOST else _draw_way(arrow, line, way)
        told = "\n".join(map(safe, (*arrow.details, _describe(arrow, diagram))))
        event = arrow.event or arrow.cause
        number = "" if event is None else f' data-event="{event}"'
        group = f'<g class="arrow {kind_of(arrow)}"{number}>'
        yield f'{group}<title>{told}</title><path class="grip" d="{way}"/>{drawn}</g>'


def _describe(arrow: Arrow, diagram: Diagram) -> str:
    if diagram.numbered:
        sent = "sent at the beginning" if arrow.cause is None else f"sent by event {arrow.cause}"
        end = "lost" if arrow.fate is Fate.LOST else f"delivered as event {arrow.event}"
        return f"{arrow.source} → {arrow.target}, {sent}, {end}"
    ends = {
        Fate.DELIVERED: f"arrived {arrow.arrived}",
        Fate.LATE: f"arrived {arrow.arrived}",
        Fate.LOST: "lost",
        Fate.NEVER: "still under way at the end",
        Fate.AGAIN: f"arrived again {arrow.arrived}",
    }
    fault = ""
    if arrow.blamed:
        codes = " and ".join(diagram.faults[number - 1] for number in arrow.blamed)
        fault = f"; {'to be hit by' if arrow.foreseen else 'because of'} {codes}"
    return f"{arrow.source} → {arrow.target}, sent {arrow.sent}, {ends[arrow.fate]}{fault}"


def _draw_lost(arrow: Arrow, layout: Layout) -> str:
    line, (x, y), r = layout.lines[arrow], layout.cross(arrow), 7
    cross = f"M{_n(x - r)} {_n(y - r)}l{2 * r} {2 * r}M{_n(x - r)} {_n(y + r)}l{2 * r} {-2 * r}"
    return (
        f'<path d="M{_n(line.x0)} {_n(line.y0)}L{_n(x)} {_n(y)}"/><path class="x" d="{cross}"/>'
        f'<path class="gone" d="M{_n(x)} {_n(y)}L{_n(line.x1)} {_n(line.y1)}"/>'
    )


def _draw_way(arrow: Arrow, line: Line, way: str) -> str:
    if arrow.fate is Fate.NEVER:
        return f'<path d="{way}"/>'
    # Its way is dashed, and a dashed head could not be recognised: so the head is a path of its own.
    if kind_of(arrow) in ("late", "again"):
        return f'<path d="{way}"/><path class="tip" d="{_tip(arrow, line)}"/>'
    return f'<path d="{way}{_tip(arrow, line)}"/>'


def _tip(arrow: Arrow, line: Line) -> str:
    """Draw the head of an arrow as a path: markers would need ids."""
    length = hypot(line.x1 - line.x0, line.y1 - line.y0)
    ux, uy = (line.x1 - line.x0) / length, (line.y1 - line.y0) / length
    # The head grows with the line, which is thicker where a fault is to blame.
    long, wide = (7.0, 3.2) if kind_of(arrow) == "ok" else (11.0, 6.0)
    x, y = line.x1 - ux * long, line.y1 - uy * long
    one, other = f"{_n(x - uy * wide)} {_n(y + ux * wide)}", f"{_n(x + uy * wide)} {_n(y - ux * wide)}"
    return f"M{one}L{_n(line.x1)} {_n(line.y1)}L{other}"


def _labels(layout: Layout) -> Iterator[str]:
    if isinstance(layout, EventLayout):
        for event in layout.events:
            yield _label(layout.event_labels[event.number, event.x], f"label of {event.kind}", event.number)
        for cell, label in layout.labels.items():
            yield _label(label, "label of lost", layout.in_vain[cell])
        return
    for (sender, time), label in layout.labels.items():
        yield f'<circle class="dot" cx="{_n(layout.x[sender])}" cy="{_n(layout.y[time])}" r="2.8"/>'
        yield _label(label, "label")


def _label(label: Label | None, kind: str, event: int | None = None) -> str:
    if label is None:
        return ""
    x = _n(label.box.left if label.side > 0 else label.box.right)
    anchor = "" if label.side > 0 else ' text-anchor="end"'
    number = "" if event is None else f' data-event="{event}"'
    tooltip = f"<title>{safe(label.full)}</title>" if label.missing else ""
    first, *more = map(safe, label.lines)
    spans = "".join(f'<tspan x="{x}" dy="{LABEL_LINE}">{line}</tspan>' for line in more)
    y = _n(label.box.top + LABEL_LINE - 3)
    return f'<text class="{kind}" x="{x}" y="{y}"{anchor}{number}>{tooltip}{first}{spans}</text>'


def _marks(diagram: Diagram, layout: Layout) -> Iterator[str]:
    for arrow, (x, y) in layout.badges.items():
        yield _badge(x, y, arrow.fault or 0, kind_of(arrow))
    for crash in diagram.crashes:
        x, y = layout.x[crash.process], layout.y[crash.time]
        what = "stops" if crash.stops else "crashes"
        told = safe(f"{crash.process} {what} at time {crash.time}: {diagram.faults[crash.fault - 1]}")
        box = f'<rect x="{_n(x - 34)}" y="{_n(y - 10)}" width="70" height="20" rx="4"/>'
        word = f'<text class="crash" x="{_n(x + 5)}" y="{_n(y + 3.5)}">{crash.word}</text>'
        yield f'<g class="crash"><title>{told}</title>{box}{word}</g>'
        yield _badge(x - 35, y, crash.fault, "crash")
    yield from span_marks(diagram, layout, _badge)
    yield from loop_marks(diagram, layout)
    yield from _alarms(diagram, layout)


def _alarms(diagram: Diagram, layout: Layout) -> Iterator[str]:
    """Put the times in boxes at which something holds that must never hold."""
    for time in sorted({alarm.time for alarm in diagram.alarms}):
        y = layout.y[time]
        told = "; ".join(f"{a.text} at time {time}: violated" for a in diagram.alarms if a.time == time)
        box = f'<rect x="{GUTTER - 30}" y="{_n(y - 10)}" width="28" height="20" rx="4"/>'
        word = f'<text class="crash" x="{GUTTER - 16}" y="{_n(y + 3.5)}">{time}</text>'
        yield f'<g class="crash"><title>{safe(told)}</title>{box}{word}</g>'


def _badge(x: float, y: float, number: int, kind: str) -> str:
    circle = f'<circle cx="{_n(x)}" cy="{_n(y)}" r="9"/>'
    return f'<g class="badge {kind}">{circle}<text class="badge" x="{_n(x)}" y="{_n(y + 4)}">{number}</text></g>'


class _Legend:
    """Below the diagram: what lines mean, and then the faults by number; row by row, as wide as the diagram."""

    def __init__(self, diagram: Diagram, layout: Layout) -> None:
        self._right = layout.width - 8
        self._x, self._y = float(GUTTER), layout.height + 16
        self.parts: list[str] = []
        # First what lines mean, then the faults from a new row on: their numbers are looked up one by one.
        for item in legend_items(diagram):
            self._add(40, item.text, _sample(item.kind))
        kinds = {a.fault: kind_of(a) for a in diagram.arrows} | {h.fault: h.kind.value for h in diagram.halts}
        kinds |= {gift.fault: gift.kind.value for gift in diagram.gifts}
        for number, fault in enumerate(diagram.faults, start=1):
            if number == 1 and self.parts:
                self._next_row()
            self._add(24, fault, _badge(9, -4, number, kinds.get(number, "lost")))
        self.bottom = self._y + 16

    def _next_row(self) -> None:
        self._x, self._y = float(GUTTER), self._y + 24

    def _add(self, symbol: int, text: str, drawn: str) -> None:
        room = int((self._right - GUTTER - symbol) / text_width(1, "key"))
        short = abridge(text, room)
        width = symbol + text_width(len(short), "key")
        if self._x + width > self._right and self._x > GUTTER:
            self._next_row()
        place = f'<g transform="translate({_n(self._x)} {_n(self._y)})">'
        self.parts.append(f'{place}{drawn}<text class="key" x="{symbol}">{safe(short)}</text></g>')
        self._x += width + 16


def _sample(kind: str) -> str:
    if kind in ("crash", "stop"):
        return '<g class="crash"><rect x="3" y="-11" width="24" height="14" rx="4"/></g>'
    if (sample := span_sample(kind)) is not None:
        return sample
    cross = '<path class="x" d="M20-9l10 10M20 1l10-10"/>' if kind == "lost" else ""
    tip = "" if kind == "lost" else '<path class="tip" d="M23-8L28-4L23 0"/>'
    return f'<g class="arrow {kind}"><path d="M0-4H28"/>{tip}{cross}</g>'
