"""What befalls processes, in a drawn Lamport diagram: restarts, pauses, partitions, and what they are given.

A process that is down or paused has a box where that begins, and a lifeline that looks different until it runs
again.  A partition is a shade over its times, with an outline around the lifelines of its group, which is named at
the right.  Classes, below ``.lamport``: ``halt`` with ``down`` or ``paused``, ``frozen`` for the lifeline of a
paused process (``dead`` for one that is down), ``band``, ``island`` for the group; ``gift`` with ``input`` or
``pick`` for what is given or chosen, a box at its time.
A run that repeats itself for ever has brackets beside its times, one for each round (``loop``), with a head that
points to where the round begins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from clew.report.diagrams.lamport import Diagram, Gift, GiftKind, HaltKind
from clew.report.diagrams.lamport_layout import TOP, Layout
from clew.report.diagrams.lamport_layout import pixels as _n
from clew.report.text.html import safe

#: Rules besides those of every diagram.
RULES = """
.halt rect{fill:PAPER;stroke:CUT;stroke-width:2}
.halt.paused rect{stroke:HIT}
.halt .halt{font-weight:700;text-anchor:middle}
.frozen{stroke:HIT;stroke-width:5;opacity:.45}
.band rect{fill:CUT;opacity:.09}
.band .island{fill:none;stroke:CUT;stroke-width:1.5;stroke-dasharray:4 3;opacity:.8}
.band text{fill:CUT;font-weight:600;text-anchor:end}
"""
#: Those of a run that repeats itself, which few do.
LOOP_RULES = """
.loop path{fill:none;stroke:CUT;stroke-width:2;stroke-linejoin:round}
"""


#: Those that diagrams with inputs or choices need besides.
GIFT_RULES = """
.gift rect{fill:PAPER;stroke:INK;stroke-width:1.5}
.gift .gift{font-weight:700;text-anchor:middle}
text.gift{font-size:10px}
.badge.input circle,.badge.pick circle{fill:INK}
"""
GIFT_WORDS = {GiftKind.INPUT: "INPUT", GiftKind.PICK: "CHOICE"}
#: So far below its time stands what is given to a process that crashes or stops at the same time.
GIFT_BELOW = 24


def lifelines(diagram: Diagram, layout: Layout) -> Iterator[str]:
    """Draw each lifeline in pieces: alive, dead from a crash on or while it is down, frozen while it is paused."""
    bottom = layout.height - 8
    ways = {"life": "", "dead": "", "frozen": ""}
    # Reversed, so that the first of several crashes of a process ends its lifeline.
    crashed = {c.process: layout.y[c.time] for c in reversed(diagram.crashes)}
    for process, x in layout.x.items():
        end, y = crashed.get(process, bottom), float(TOP - 36)
        for halt in sorted((h for h in diagram.halts if h.process == process), key=lambda h: h.first):
            since, until = min(end, layout.y[halt.first]), min(end, layout.y.get(halt.end, bottom))
            ways["life"] += f"M{_n(x)} {_n(y)}V{_n(since)}" if since > y else ""
            ways["dead" if halt.kind is HaltKind.DOWN else "frozen"] += f"M{_n(x)} {_n(since)}V{_n(until)}"
            y = until
        ways["life"] += f"M{_n(x)} {_n(y)}V{_n(end)}" if end > y else ""
        ways["dead"] += f"M{_n(x)} {_n(end)}V{_n(bottom)}" if process in crashed else ""
    yield from (f'<path class="{kind}" d="{way}"/>' for kind, way in ways.items() if way or kind == "life")


def bands(diagram: Diagram, layout: Layout) -> Iterator[str]:
    """Shade the times of partitions, outline the lifelines of the group, and say who is cut off."""
    for band, words in layout.band_words.items():
        shade = layout.band(band)
        top, height = _n(shade.top), _n(shade.bottom - shade.top)
        times = f"time {band.first}" if band.end == band.first + 1 else f"times {band.first} to {band.end - 1}"
        told = f"{', '.join(band.group)} cut off from the others at {times}: {diagram.faults[band.fault - 1]}"
        islands = "".join(
            f'<rect class="island" x="{_n(layout.x[p] - 11)}" y="{top}" width="22" height="{height}" rx="8"/>'
            for p in band.group
        )
        width = _n(shade.right - shade.left)
        rect = f'<rect x="{_n(shade.left)}" y="{top}" width="{width}" height="{height}" rx="6"/>'
        text = ""
        if words is not None:
            text = f'<text class="band" x="{_n(words.x)}" y="{_n(words.y + 4)}">{safe(words.text)}</text>'
        yield f'<g class="band"><title>{safe(told)}</title>{rect}{islands}{text}</g>'


def loop_marks(diagram: Diagram, layout: Layout) -> Iterator[str]:
    """Draw a bracket beside each round of a run that repeats itself, in the gutter."""
    loop = diagram.loop
    if loop is None:
        return
    told = f"from time {loop.first} on the run repeats itself every {loop.period} steps"
    ways = ""
    for first in range(loop.first, diagram.last + 1, loop.period):
        last = min(first + loop.period - 1, diagram.last)
        top, bottom = layout.y[first] - 3, layout.y[last] + 3
        ways += f"M9 {_n(bottom)}H4V{_n(top)}H9M6 {_n(top - 3)}L9 {_n(top)}L6 {_n(top + 3)}"
    yield f'<g class="loop"><title>{safe(told)}</title><path d="{ways}"/></g>'


def span_marks(diagram: Diagram, layout: Layout, badge: Callable[[float, float, int, str], str]) -> Iterator[str]:
    """Draw the boxes, and the numbers of the faults; ``badge`` draws one of these."""
    for halt in diagram.halts:
        x, y, kind = layout.x[halt.process], layout.y[halt.first], halt.kind.value
        again = "restarts" if halt.kind is HaltKind.DOWN else "goes on"
        told = f"{halt.process} is {kind} from time {halt.first} on and {again} at {halt.end}"
        box = f'<rect x="{_n(x - 34)}" y="{_n(y - 10)}" width="70" height="20" rx="4"/>'
        word = f'<text class="halt" x="{_n(x + 5)}" y="{_n(y + 3.5)}">{kind.upper()}</text>'
        code = diagram.faults[halt.fault - 1]
        yield f'<g class="halt {kind}"><title>{safe(f"{told}: {code}")}</title>{box}{word}</g>'
        yield badge(x - 35, y, halt.fault, kind)
    yield from _gift_marks(diagram, layout, badge)
    for band, words in layout.band_words.items():
        if words is not None:
            yield badge(words.x + 14, words.y, band.fault, "lost")


def _gift_marks(diagram: Diagram, layout: Layout, badge: Callable[[float, float, int, str], str]) -> Iterator[str]:
    """Draw one box for all that a process is given at a time, with the number of each to its left."""
    together: dict[tuple[str, int], list[Gift]] = {}
    for gift in diagram.gifts:
        if gift.process:  # the others are in the list of faults
            together.setdefault((gift.process, gift.time), []).append(gift)
    struck = {(c.process, c.time) for c in diagram.crashes} | {(h.process, h.first) for h in diagram.halts}
    for (process, time), gifts in together.items():
        x, y = layout.x[process], layout.y[time] + (GIFT_BELOW if (process, time) in struck else 0)
        words = " ".join(dict.fromkeys(GIFT_WORDS[gift.kind] for gift in gifts))
        told = "; ".join(diagram.faults[gift.fault - 1] for gift in gifts)
        half = 36 if len(words) < 8 else 58
        box = f'<rect x="{_n(x - half)}" y="{_n(y - 10)}" width="{2 * half}" height="20" rx="10"/>'
        word = f'<text class="gift" x="{_n(x + 3)}" y="{_n(y + 3.5)}">{words}</text>'
        yield f'<g class="gift {gifts[0].kind.value}"><title>{safe(told)}</title>{box}{word}</g>'
        for place, gift in enumerate(gifts):
            yield badge(x - half - 2 - 20 * place, y, gift.fault, gift.kind.value)


def span_sample(kind: str) -> str | None:
    """Return what a legend shows beside the name of a kind; None for what is not drawn here."""
    if kind in ("down", "paused"):
        return f'<g class="halt {kind}"><rect x="3" y="-11" width="24" height="14" rx="4"/></g>'
    if kind in [gift.value for gift in GiftKind]:
        return f'<g class="gift {kind}"><rect x="3" y="-11" width="24" height="14" rx="7"/></g>'
    if kind == "loop":
        return '<g class="loop"><path d="M16 2H8V-10H16M13-13L16-10L13-7"/></g>'
    if kind == "band":
        return '<g class="band"><rect x="0" y="-11" width="30" height="14" rx="4"/></g>'
    return None
