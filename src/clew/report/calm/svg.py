"""The dataflow of a program as SVG, with the signs of figure 3.4.

Dashed is sent, a circle is not monotone, +/- takes a step.  Points of order of an output whose outcome depends on
order are red.  Colours are the properties of ``colours``.
"""

from __future__ import annotations

from collections.abc import Sequence

from clew.analysis.calm.analysis import Analysis
from clew.analysis.calm.dataflow.graph import Statement
from clew.report.calm.layout import Arrow, Box, Laid, Shape, lay_out_dataflow
from clew.report.diagrams.layered import Place
from clew.report.text.colours import COLOURS
from clew.report.text.html import safe

#: Pixels: the height of a box, between two layers, and around the drawing.
_HEIGHT, _GAP, _MARGIN = 30, 46, 26

STYLE = """
.dataflow text{font:12px system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;fill:var(--ink,#1b1f24)}
.dataflow text{text-anchor:middle}
.dataflow .box>.outline{fill:var(--paper,#fff);stroke:var(--ink,#1b1f24);stroke-width:1.3}
.dataflow .end>.outline{fill:var(--faint,#e8ebef)}
.dataflow .cluster>.outline,.dataflow .open>.outline{stroke:var(--cut,#d1242f);stroke-width:2}
.dataflow .open>text{fill:var(--cut,#d1242f);font-weight:700}
.dataflow .verdict{font-size:11px;font-weight:700;fill:var(--soft,#4b5563)}
.dataflow .verdict.D{fill:var(--cut,#d1242f)}
.dataflow .arrow>path{fill:none;stroke:var(--soft,#4b5563);stroke-width:1.3}
.dataflow .arrow>.head{fill:var(--soft,#4b5563)}
.dataflow .arrow.sends>.way{stroke-dasharray:6 4}
.dataflow .arrow>circle{fill:var(--paper,#fff);stroke:var(--soft,#4b5563);stroke-width:1.3}
.dataflow .arrow>text{font-size:11px;fill:var(--soft,#4b5563)}
.dataflow .point>path,.dataflow .point>circle{stroke:var(--cut,#d1242f)}
.dataflow .point>.head,.dataflow .point>text{fill:var(--cut,#d1242f)}
""".strip()


def dataflow_svg(analysis: Analysis, *, standalone: bool = False) -> str:
    """Draw the dataflow; ``standalone`` for a file of its own."""
    laid = lay_out_dataflow(analysis)
    width = laid.layout.width + 2 * _MARGIN
    height = _top(laid.layout.layers) - _GAP + 2 * _MARGIN
    summary = f"Dataflow of {analysis.flow.name}: {len(analysis.flow.nodes)} collections"
    size = f'viewBox="0 0 {width:.0f} {height}" width="{width:.0f}" height="{height}"'
    parts = [f'<svg class="dataflow" role="img" aria-label="{safe(summary)}" {size}']
    parts.append(' xmlns="http://www.w3.org/2000/svg">' if standalone else ">")
    if standalone:
        parts.append(f"<style>{COLOURS}{STYLE}</style>")
        parts.append(f'<rect width="{width:.0f}" height="{height}" fill="var(--paper,#fff)"/>')
    parts.append(f'<g transform="translate({_MARGIN},{_MARGIN})">')
    statements = analysis.flow.statements
    parts += [_arrow(laid, k, statements) for k in range(len(laid.arrows))]
    parts += [_loop(laid, loop, statements) for loop in laid.loops]
    parts += [_box(box, laid.layout.places[k]) for k, box in enumerate(laid.boxes)]
    parts.append("</g></svg>")
    return "".join(parts)


def _top(layer: int) -> int:
    return layer * (_HEIGHT + _GAP)


def _box(box: Box, place: Place) -> str:
    verdict = ""
    if box.label_of_output:
        kind = "D" if "D" in box.label_of_output else "consistent"
        verdict = (
            f'<text class="verdict {kind}" x="{box.width / 2 + 9:.0f}" y="4">{safe(box.label_of_output)}</text>'
        )
    return (
        f'<g class="box {box.shape.value}" transform="translate({place.x:.0f},{_top(place.layer)})">'
        f"<title>{safe(box.title)}</title>{_outline(box)}"
        f'<text y="19">{safe(box.label)}</text>{verdict}</g>'
    )


def _outline(box: Box) -> str:
    half, height = box.width / 2, float(_HEIGHT)
    corners: list[tuple[float, float]]
    match box.shape:
        case Shape.STORED:
            return f'<rect class="outline" x="{-half:.0f}" width="{box.width:.0f}" height="{_HEIGHT}"/>'
        case Shape.CLUSTER:
            cut = 9
            corners = [(-half + cut, 0), (half - cut, 0), (half, cut), (half, height - cut), (half - cut, height)]
            corners += [(-half + cut, height), (-half, height - cut), (-half, cut)]
        case Shape.OPEN:
            corners = [(0, -6), (half, height / 2), (0, height + 6), (-half, height / 2)]
        case _:
            middle = height / 2
            return f'<ellipse class="outline" cy="{middle:.0f}" rx="{half:.0f}" ry="{middle:.0f}"/>'
    points = " ".join(f"{x:.0f},{y:.0f}" for x, y in corners)
    return f'<polygon class="outline" points="{points}"/>'


def _arrow(laid: Laid, number: int, statements: Sequence[Statement]) -> str:
    arrow, route = laid.arrows[number], laid.layout.routes[number]
    twin = any(a.start == arrow.start and a.end == arrow.end for a in laid.arrows[:number])
    # Two arrows between the same boxes, one dashed and one not, would otherwise lie on each other.
    shift = 12 if twin else 0
    backwards = number in laid.backwards
    first, last = route[0], route[-1]
    y = _top(first.layer) + _HEIGHT
    way = [f"M{first.x + shift:.0f},{y}"]
    x = first.x + shift
    for place in route[1:]:
        top = _top(place.layer)
        middle = (y + top) / 2
        way.append(f"C{x:.0f},{middle:.0f} {place.x + shift:.0f},{middle:.0f} {place.x + shift:.0f},{top}")
        x, y = place.x + shift, top
        if place is not last:
            y += _HEIGHT
            way.append(f"V{y}")
    bottom = _top(first.layer) + _HEIGHT
    tip = (first.x + shift, bottom, -1) if backwards else (last.x + shift, _top(last.layer), 1)
    after = route[1]
    mark = ((first.x + after.x) / 2 + shift, (bottom + _top(after.layer)) / 2)
    return _draw_arrow(arrow, "".join(way), tip, mark, statements)


def _loop(laid: Laid, arrow: Arrow, statements: Sequence[Statement]) -> str:
    """Draw an arrow from the right side of a box back to it."""
    place, box = laid.layout.places[arrow.start], laid.boxes[arrow.start]
    x, y = place.x + box.width / 2 - 10, _top(place.layer) + _HEIGHT
    way = f"M{x:.0f},{y}C{x + 4:.0f},{y + 26} {x - 28:.0f},{y + 26} {x - 24:.0f},{y}"
    return _draw_arrow(arrow, way, (x - 24, y, -1), (x - 12, y + 19), statements)


def _draw_arrow(
    arrow: Arrow,
    way: str,
    tip: tuple[float, int, int],
    mark: tuple[float, float],
    statements: Sequence[Statement],
) -> str:
    """Draw one arrow; ``tip``: the point and whether it points down (1) or up (-1)."""
    x, y, down = tip
    kinds = ["arrow", *(["sends"] if arrow.sends else []), *(["point"] if arrow.point else [])]
    title = "\n".join(_title(statements[number]) for number in arrow.rules)
    parts = [f'<g class="{" ".join(kinds)}">', f"<title>{safe(title)}</title>" if title else ""]
    parts.append(f'<path class="way" d="{way}"/>')
    parts.append(f'<path class="head" d="M{x:.0f},{y}l-4,{-8 * down}h8z"/>')
    if arrow.nonmonotone:
        parts.append(f'<circle cx="{mark[0]:.0f}" cy="{mark[1]:.0f}" r="5"/>')
    if arrow.temporal:
        parts.append(f'<text x="{mark[0] + 20:.0f}" y="{mark[1] + 4:.0f}">+/-</text>')
    parts.append("</g>")
    return "".join(parts)


def _title(statement: Statement) -> str:
    place = f"  ({statement.position.file}:{statement.position.line})" if statement.position else ""
    return f"{statement.text}{place}"
