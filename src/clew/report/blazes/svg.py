"""The annotated dataflow as SVG: components with their paths, streams with their labels, and where a remedy goes.

Streams are boxes of their own between components, so that their labels have room.  What can differ is red; where
the cheapest remedy of some sink puts a seal or an order is green.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from clew.analysis.blazes.annotations import Label
from clew.analysis.blazes.dataflow import Component, Stream
from clew.analysis.blazes.derivation import labels_of_all
from clew.analysis.blazes.remedies import Remedy
from clew.analysis.blazes.verdict import Verdict
from clew.report.diagrams.layered import Layered, Place, backward_edges, lay_out
from clew.report.text.colours import COLOURS
from clew.report.text.html import safe
from clew.report.text.plain import shorten

#: Pixels: a line of text, between two layers, around the drawing, and a character.
_LINE, _GAP, _MARGIN, _CHARACTER = 16, 26, 20, 7.0
_LONGEST = 44

STYLE = """
.blazes text{font:12px system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;fill:var(--ink,#1b1f24)}
.blazes text{text-anchor:middle}
.blazes rect{fill:var(--paper,#fff);stroke:var(--ink,#1b1f24);stroke-width:1.3}
.blazes .component .name{font-weight:700}
.blazes .stream rect{stroke:var(--muted,#98a2ae);fill:var(--faint,#e8ebef)}
.blazes .bad rect{stroke:var(--cut,#d1242f)}
.blazes .bad .label{fill:var(--cut,#d1242f);font-weight:700}
.blazes .blamed rect{stroke:var(--cut,#d1242f);stroke-width:2.2}
.blazes .remedy{fill:var(--good,#1a7f37);font-weight:700}
.blazes .way{fill:none;stroke:var(--soft,#4b5563);stroke-width:1.3}
.blazes .head{fill:var(--soft,#4b5563)}
""".strip()


@dataclass(frozen=True)
class _Line:
    text: str
    kind: str = ""


@dataclass(frozen=True)
class _Box:
    kinds: tuple[str, ...]
    lines: tuple[_Line, ...]

    @property
    def width(self) -> float:
        return max(len(line.text) for line in self.lines) * _CHARACTER + 22

    @property
    def height(self) -> int:
        return len(self.lines) * _LINE + 12


@dataclass(frozen=True)
class _Drawing:
    boxes: tuple[_Box, ...]
    edges: tuple[tuple[int, int], ...]
    backwards: frozenset[int]
    layout: Layered

    @cached_property
    def heights(self) -> list[int]:
        """Return the height of each layer, that of its highest box."""
        found = [0] * self.layout.layers
        for box, place in zip(self.boxes, self.layout.places, strict=True):
            found[place.layer] = max(found[place.layer], box.height)
        return found

    @cached_property
    def tops(self) -> list[int]:
        """Return where layers begin; the last is the end of the drawing, with a gap."""
        return list(accumulate((height + _GAP for height in self.heights), initial=0))


def blazes_svg(verdict: Verdict, *, standalone: bool = False) -> str:
    """Draw the dataflow; ``standalone`` for a file of its own."""
    drawing = _drawing(verdict)
    width = drawing.layout.width + 2 * _MARGIN
    height = drawing.tops[drawing.layout.layers] - _GAP + 2 * _MARGIN
    flow = verdict.dataflow
    summary = f"Dataflow of {len(flow.components)} components and {len(flow.streams)} streams"
    size = f'viewBox="0 0 {width:.0f} {height}" width="{width:.0f}" height="{height}"'
    parts = [f'<svg class="blazes" role="img" aria-label="{summary}" {size}']
    parts.append(' xmlns="http://www.w3.org/2000/svg">' if standalone else ">")
    if standalone:
        parts.append(f"<style>{COLOURS}{STYLE}.blazes .ground{{fill:var(--paper,#fff);stroke:none}}</style>")
        parts.append(f'<rect class="ground" width="{width:.0f}" height="{height}"/>')
    parts.append(f'<g transform="translate({_MARGIN},{_MARGIN})">')
    parts += [_edge(drawing, number) for number in range(len(drawing.edges))]
    parts += [_box(drawing, box, place) for box, place in zip(drawing.boxes, drawing.layout.places, strict=True)]
    parts.append("</g></svg>")
    return "".join(parts)


def stream_labels(verdict: Verdict) -> dict[str, Label]:
    """Return the label of every stream; inside a cycle it is that of the cycle."""
    return labels_of_all(verdict.dataflow)


def _drawing(verdict: Verdict) -> _Drawing:
    flow = verdict.dataflow
    # Remedies are sorted by their price: the first of each sink is the one to draw.
    first = [sink.remedies[0] for sink in verdict.sinks if sink.remedies]
    blamed = {name for sink in verdict.sinks for blame in sink.blame for name in blame.components}
    labels = stream_labels(verdict)
    boxes = [_component(c, blamed, first) for c in flow.components]
    boxes += [_stream(s, labels[s.name], first) for s in flow.streams]
    number = {component.name: k for k, component in enumerate(flow.components)}
    edges = []
    for k, stream in enumerate(flow.streams, start=len(flow.components)):
        edges += [(number[stream.source.component], k)] if stream.source is not None else []
        edges += [(k, number[stream.target.component])] if stream.target is not None else []
    fed = {end for _, end in edges}
    # From the sources, so that what they feed comes below them also where it is part of a cycle.
    backwards = backward_edges(edges, sorted(range(len(boxes)), key=lambda box: box in fed))
    downwards = [(b, a) if k in backwards else (a, b) for k, (a, b) in enumerate(edges)]
    layout = lay_out([box.width for box in boxes], downwards)
    return _Drawing(tuple(boxes), tuple(edges), backwards, layout)


def _component(component: Component, blamed: set[str], remedies: Sequence[Remedy]) -> _Box:
    name = f"{component.name} (Rep)" if component.replicated else component.name
    lines = [_Line(_shorten_line(name), "name")]
    lines += [_Line(_shorten_line(f"{p.source} → {p.target}  {p.annotation}")) for p in component.paths]
    if any(component.name in remedy.ordered for remedy in remedies):
        lines.append(_Line("order the inputs", "remedy"))
    return _Box(("component", *(["blamed"] if component.name in blamed else [])), tuple(lines))


def _stream(stream: Stream, label: Label, remedies: Sequence[Remedy]) -> _Box:
    lines = [_Line(_shorten_line(f"{stream.name} (Rep)" if stream.replicated else stream.name))]
    lines.append(_Line(_shorten_line(str(label)), "label"))
    keys = [seal.key for remedy in remedies for seal in remedy.seals if seal.stream == stream.name]
    lines += [_Line(_shorten_line(f"seal on {', '.join(sorted(key))}"), "remedy") for key in dict.fromkeys(keys)]
    return _Box(("stream", *(["bad"] if label.bad else [])), tuple(lines))


def _shorten_line(text: str) -> str:
    return shorten(text, _LONGEST)


def _box(drawing: _Drawing, box: _Box, place: Place) -> str:
    lines = "".join(
        f'<text class="{line.kind}" y="{_LINE * (k + 1) + 2}">{safe(line.text)}</text>'
        for k, line in enumerate(box.lines)
    )
    round_corners = ' rx="10"' if "stream" in box.kinds else ""
    return (
        f'<g class="{" ".join(box.kinds)}" transform="translate({place.x:.0f},{drawing.tops[place.layer]})">'
        f'<rect x="{-box.width / 2:.0f}" width="{box.width:.0f}" height="{box.height}"{round_corners}/>{lines}</g>'
    )


def _edge(drawing: _Drawing, number: int) -> str:
    route = drawing.layout.routes[number]
    start, end = drawing.edges[number]
    upper = end if number in drawing.backwards else start
    x, y = route[0].x, drawing.tops[route[0].layer] + drawing.boxes[upper].height
    way = [f"M{x:.0f},{y}"]
    for place in route[1:]:
        top = drawing.tops[place.layer]
        middle = (y + top) / 2
        way.append(f"C{x:.0f},{middle:.0f} {place.x:.0f},{middle:.0f} {place.x:.0f},{top}")
        x, y = place.x, top
        if place is not route[-1]:
            y += drawing.heights[place.layer]
            way.append(f"V{y}")
    if number in drawing.backwards:
        tip = f"M{route[0].x:.0f},{drawing.tops[route[0].layer] + drawing.boxes[upper].height}l-4,8h8z"
    else:
        tip = f"M{x:.0f},{y}l-4,-8h8z"
    return f'<path class="way" d="{"".join(way)}"/><path class="head" d="{tip}"/>'
