"""Boxes and edges of a lineage drawing: where they go, what they look like, and how they are written as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from clew.explain.lineage_graph import Firing, Goal
from clew.report.diagrams.layered import Layered, lay_out
from clew.report.text.html import safe

#: Strokes, steps and what is inside a box are there from the beginning and hidden: a script only sets classes.
STYLE = """
.lineage text{font:12px system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;fill:var(--ink,#1b1f24)}
.lineage text{text-anchor:middle}
.lineage .goal>rect{fill:var(--paper,#fff);stroke:var(--ink,#1b1f24);stroke-width:1.2}
.lineage .goal.absent>rect{stroke-dasharray:2 3}
.lineage .goal.absent>text{font-style:italic}
.lineage .goal.given>rect{stroke:var(--faint,#d8dde3);fill:var(--faint,#d8dde3)}
.lineage .goal.outcome>rect{stroke-width:2.4}
.lineage .goal.elsewhere>rect{stroke:var(--muted,#8b949e)}
.lineage .goal.elsewhere>text{fill:var(--soft,#57606a)}
.lineage .at{fill:var(--soft,#57606a);font-size:11px}
.lineage .firing>rect{fill:var(--faint,#d8dde3);stroke:none}
.lineage .firing>text{font-size:10.5px;fill:var(--soft,#57606a)}
.lineage .firing.through>rect{fill:none;stroke:var(--muted,#8b949e);stroke-dasharray:2 3}
.lineage .firing.through>text{font-style:italic}
.lineage .firing.message>rect{fill:var(--paper,#fff);stroke:var(--message,#2563eb);stroke-dasharray:4 3}
.lineage .firing.message>text{fill:var(--message,#2563eb)}
.lineage .edge{fill:none;stroke:var(--muted,#8b949e);stroke-width:1.2}
.lineage .edge.message{stroke:var(--message,#2563eb);stroke-dasharray:5 4;stroke-width:1.6}
.lineage .strike,.lineage .steps,.lineage .inside{display:none}
.lineage .strike{stroke:var(--cut,#cf222e);stroke-width:3.2;fill:none}
.lineage .edge.cut{stroke:var(--cut,#cf222e);stroke-width:2.4}
.lineage .firing.cut>rect{stroke:var(--cut,#cf222e);stroke-width:2;stroke-dasharray:none}
.lineage .firing.cut>text{fill:var(--cut,#cf222e);font-weight:700;text-decoration:line-through}
.lineage .firing.touched>rect{stroke:var(--cut,#cf222e)}
.lineage .firing.touched>text{fill:var(--cut,#cf222e)}
.lineage .strike.cut{display:inline}
.lineage .goal.gone>rect{stroke:var(--cut,#cf222e);stroke-dasharray:3 2}
.lineage .goal.gone>text{fill:var(--cut,#cf222e)}
.lineage .goal.gone>.strike{display:inline;stroke-width:1.6}
.lineage .open>.steps,.lineage .open>.inside{display:inline}
.lineage .steps text{font-size:10.5px;fill:var(--soft,#57606a)}
.lineage .folded>rect{stroke-width:2.6}
.lineage .away{display:none}
.lineage [role=button]{cursor:pointer}
.lineage [role=button]:focus{outline:none}
.lineage [role=button]:focus-visible>rect{stroke:var(--message,#2563eb);stroke-width:3}
""".strip()


#: Pixels: rows are what a reader looks for, so their boxes are higher than those of rules; and between two layers.
GOAL_HEIGHT, FIRING_HEIGHT, GAP = 24, 18, 22
#: The estimated width of a character in pixels, at 12 pixels of height; widths cannot be measured before it is
#: shown.
_CHARACTER = 6.6


@dataclass(frozen=True)
class Size:
    width: float
    height: int


def goal_size(words: str) -> Size:
    return Size(_width(words), GOAL_HEIGHT)


def firing_size(words: str) -> Size:
    return Size(_width(words) - 6, FIRING_HEIGHT)


def _width(words: str) -> float:
    # Short labels get a box that can still be pointed at.
    return max(44.0, len(words) * _CHARACTER + 18)


class Plan:
    """Boxes in layers, the upper ends of edges above the lower ones; a layer is as high as its highest box."""

    def __init__(self, sizes: Sequence[Size], edges: Sequence[tuple[int, int]], within: float) -> None:
        self.sizes = sizes
        self.edges = edges
        self.layout: Layered = lay_out([size.width for size in sizes], edges, within)
        self.heights = [0] * self.layout.layers
        for size, place in zip(sizes, self.layout.places, strict=True):
            self.heights[place.layer] = max(self.heights[place.layer], size.height)
        # The last entry is where the next layer would begin: one gap below the drawing.
        self._tops = list(accumulate((height + GAP for height in self.heights), initial=0))

    @property
    def width(self) -> float:
        return self.layout.width

    @property
    def height(self) -> int:
        return max(self._tops[-1] - GAP, 0)

    def x(self, box: int) -> float:
        return self.layout.places[box].x

    def layer(self, box: int) -> int:
        return self.layout.places[box].layer

    def top(self, box: int) -> int:
        return self._tops[self.layer(box)]

    def middle(self, edge: int) -> tuple[float, float]:
        """Return the point of an edge halfway to the layer below its upper end."""
        start, after = self.layout.routes[edge][:2]
        return (start.x + after.x) / 2, (self._bottom(start.layer) + self._tops[after.layer]) / 2

    def _bottom(self, layer: int) -> int:
        return self._tops[layer] + self.heights[layer]

    def path(self, edge: int) -> str:
        """Return the way from the bottom of the upper box to the top of the lower one.

        It goes straight past what is higher in its layer, and through the layers between them.
        """
        route = self.layout.routes[edge]
        # From the box itself, and not from its layer, which may be higher: the edge would hang in the air.
        x, bottom = route[0].x, self._tops[route[0].layer] + self.sizes[self.edges[edge][0]].height
        y = self._bottom(route[0].layer)
        parts = [f"M{x:.0f},{bottom}"]
        parts += [f"V{y}"] if y > bottom else []
        for k, place in enumerate(route[1:], start=1):
            top = self._tops[place.layer]
            middle = (y + top) / 2
            parts.append(f"C{x:.0f},{middle:.0f} {place.x:.0f},{middle:.0f} {place.x:.0f},{top}")
            x, y = place.x, top
            if k < len(route) - 1:
                y = self._bottom(place.layer)
                parts.append(f"V{y}")
        return "".join(parts)

    def route(self, edge: int) -> str:
        """Return the points of an edge as ``x,layer``."""
        return " ".join(f"{p.x:.0f},{p.layer}" for p in self.layout.routes[edge])


#: Two short parallel strokes, as one crosses out a line by hand.
_STROKE = "M-9,7L9,-3M-9,3L9,-7"


def goal_kinds(goal: Goal) -> list[str]:
    return ["goal", *(["absent"] if not goal.present else []), *(["given"] if goal.given else [])]


def firing_kinds(firing: Firing) -> list[str]:
    return ["firing", *(["message"] if firing.transfer else [])]


def goal_box(
    kinds: Sequence[str],
    data: str,
    at: tuple[float, float],
    size: Size,
    words: tuple[str, str, str],
    inside: str = "",
) -> str:
    """Draw a row: ``words`` are its label, its times, and what it says when it is pointed at."""
    label, times, title = map(safe, words)
    width = size.width
    return (
        f'<g class="{" ".join(kinds)}" {data} transform="{_translate(at)}"><title>{title}</title>'
        f'<rect x="{-width / 2:.0f}" width="{width:.0f}" height="{size.height}" rx="12"/>'
        f'<text y="16">{label} <tspan class="at">{times}</tspan></text>'
        f'<path class="strike" d="M{-width / 2 + 6:.0f},{size.height / 2:.0f}H{width / 2 - 6:.0f}"/>{inside}</g>'
    )


def firing_box(
    kinds: Sequence[str], data: str, at: tuple[float, float], size: Size, words: tuple[str, str]
) -> str:
    """Draw a rule or a message: ``words`` are its label, and what it says when it is pointed at."""
    label, title = map(safe, words)
    return (
        f'<g class="{" ".join(kinds)}" {data} transform="{_translate(at)}"><title>{title}</title>'
        f'<rect x="{-size.width / 2:.0f}" width="{size.width:.0f}" height="{size.height}" rx="3"/>'
        f'<text y="13">{label}</text></g>'
    )


def edge_line(kinds: Sequence[str], data: str, path: str) -> str:
    return f'<path class="{" ".join(["edge", *kinds])}" {data} d="{path}"/>'


def stroke(kinds: Sequence[str], data: str, at: tuple[float, float]) -> str:
    """Draw two strokes through the edge of a message."""
    return f'<path class="{" ".join(["strike", *kinds])}" {data} d="{_STROKE}" transform="{_translate(at)}"/>'


def _translate(at: tuple[float, float]) -> str:
    return f"translate({at[0]:.0f},{at[1]:.0f})"
