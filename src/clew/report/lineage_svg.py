"""The lineage of an outcome as SVG: the outcome on top, causes below, messages dashed (as in Figures 4-7).

Goals are rounded boxes, the rules that connect them small ones; the box of a rule whose conclusion travelled names
the message.  A row that merely persists is one goal with a range of times: it opens to its single steps.

The drawing is static by itself.  For the page, every element says what it is, so that a script can open chains,
fold what lies below a goal and mark what a counterexample cuts: goals are ``g.goal[data-goal]``, rules
``g.firing[data-firing]``, edges ``path.edge`` with the two numbers they connect; ``data-y`` is the layer of a box,
and ``data-route`` the points of an edge as ``x,layer``.  ``cut`` marks a firing whose message is cut (its edge is
struck through), ``gone`` a goal that no longer holds.  Colours are the properties of ``colours``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from clew.engine.execution import row_text
from clew.explain.lineage_graph import Firing, Goal, LineageGraph
from clew.names import show
from clew.program.ir import Rule
from clew.report.colours import COLOURS
from clew.report.layered import Layered, Place, layered
from clew.report.markup import safe
from clew.report.rule_text import rule_place, rule_text

_CHARACTER = 6.6
_LONGEST_LABEL = 36
_GOAL_HEIGHT, _FIRING_HEIGHT, _GAP = 24, 18, 22
_STEP_HEIGHT = 15
_MARGIN = 12

STYLE = """
.lineage text{font:12px system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;fill:var(--ink,#1b1f24)}
.lineage text{text-anchor:middle}
.lineage .goal>rect{fill:var(--paper,#fff);stroke:var(--ink,#1b1f24);stroke-width:1.2}
.lineage .goal.absent>rect{stroke-dasharray:2 3}
.lineage .goal.absent>text{font-style:italic}
.lineage .goal.given>rect{stroke:var(--faint,#d8dde3);fill:var(--faint,#d8dde3)}
.lineage .goal.outcome>rect{stroke-width:2.4}
.lineage .at{fill:var(--soft,#57606a);font-size:11px}
.lineage .firing>rect{fill:var(--faint,#d8dde3);stroke:none}
.lineage .firing>text{font-size:10.5px;fill:var(--soft,#57606a)}
.lineage .firing.message>rect{fill:var(--paper,#fff);stroke:var(--message,#2563eb);stroke-dasharray:4 3}
.lineage .firing.message>text{fill:var(--message,#2563eb)}
.lineage .edge{fill:none;stroke:var(--muted,#8b949e);stroke-width:1.2}
.lineage .edge.message{stroke:var(--message,#2563eb);stroke-dasharray:5 4;stroke-width:1.6}
.lineage .strike,.lineage .steps{display:none}
.lineage .strike{stroke:var(--cut,#cf222e);stroke-width:3.2;fill:none}
.lineage .edge.cut{stroke:var(--cut,#cf222e);stroke-width:2.4}
.lineage .firing.cut>rect{stroke:var(--cut,#cf222e);stroke-width:2;stroke-dasharray:none}
.lineage .firing.cut>text{fill:var(--cut,#cf222e);font-weight:700;text-decoration:line-through}
.lineage .strike.cut{display:inline}
.lineage .goal.gone>rect{stroke:var(--cut,#cf222e);stroke-dasharray:3 2}
.lineage .goal.gone>text{fill:var(--cut,#cf222e)}
.lineage .goal.gone>.strike{display:inline;stroke-width:1.6}
.lineage .open>.steps{display:inline}
.lineage .steps text{font-size:10.5px;fill:var(--soft,#57606a)}
.lineage .folded>rect{stroke-width:2.6}
.lineage .away{display:none}
.lineage [role=button]{cursor:pointer}
.lineage [role=button]:focus{outline:none}
.lineage [role=button]:focus-visible>rect{stroke:var(--message,#2563eb);stroke-width:3}
""".strip()


@dataclass(frozen=True)
class Marks:
    """What a fault set does to a lineage: the firings whose message is cut, the goals that no longer hold."""

    cut: Collection[int] = ()
    gone: Collection[int] = ()


def lineage_svg(
    graph: LineageGraph,
    rules: Sequence[Rule],
    *,
    title: str,
    marks: Marks | None = None,
    standalone: bool = False,
) -> str:
    """The drawing; ``standalone`` for a file of its own."""
    return _Picture(graph, rules, marks or Marks()).svg(title, standalone)


class _Picture:
    def __init__(self, graph: LineageGraph, rules: Sequence[Rule], marks: Marks) -> None:
        self._graph = graph
        self._rules = rules
        self._marks = marks
        self._goal_labels = [_shortened(g.label) for g in graph.goals]
        several = len({rule.position.file for rule in rules if rule.position}) > 1
        self._firing_labels = [_firing_label(f, rules, several) for f in graph.firings]
        goals = len(graph.goals)
        above = [(g, goals + f) for g, firings in enumerate(graph.why) for f in firings]
        below = [(goals + f, g) for f, needs in enumerate(graph.needs) for g in needs]
        self._edges = [*above, *below]
        self._widths = [
            _width(f"{label} {_times(g)}") for label, g in zip(self._goal_labels, graph.goals, strict=True)
        ]
        self._widths += [_width(label) - 6 for label in self._firing_labels]
        self._layout: Layered = layered(self._widths, self._edges)

    def svg(self, title: str, standalone: bool) -> str:
        width = self._layout.width + 2 * _MARGIN
        height = _top(self._layout.layers) - _GAP + 2 * _MARGIN
        summary = f"{title}: {len(self._graph.goals)} goals, {len(self._graph.firings)} rule applications"
        parts = [
            f'<svg class="lineage" role="group" aria-label="{safe(summary)}" viewBox="0 0 {width:.0f} {height}"'
            f' width="{width:.0f}" height="{height}" data-layers="{self._layout.layers}"'
        ]
        parts.append(' xmlns="http://www.w3.org/2000/svg">' if standalone else ">")
        if standalone:
            parts.append(f"<style>{COLOURS}{STYLE}</style>")
            parts.append(f'<rect width="{width:.0f}" height="{height}" fill="var(--paper,#fff)"/>')
        parts.append(f'<g transform="translate({_MARGIN},{_MARGIN})">')
        parts.extend(self._edge(k) for k in range(len(self._edges)))
        parts.extend(self._strike(k) for k in range(len(self._graph.firings)))
        parts.extend(self._goal(k, goal) for k, goal in enumerate(self._graph.goals))
        parts.extend(self._firing(k, firing) for k, firing in enumerate(self._graph.firings))
        parts.append("</g></svg>")
        return "".join(parts)

    def _edge(self, number: int) -> str:
        goals = len(self._graph.goals)
        upper, lower = self._edges[number]
        route = self._layout.routes[number]
        kinds = ["edge"]
        if lower >= goals:
            what = f'data-goal="{upper}" data-below="{lower - goals}"'
            if self._graph.firings[lower - goals].transfer:
                kinds.append("message")
            if lower - goals in self._marks.cut:
                kinds.append("cut")
        else:
            what = f'data-firing="{upper - goals}" data-below="{lower}"'
        points = " ".join(f"{p.x:.0f},{p.layer}" for p in route)
        return f'<path class="{" ".join(kinds)}" {what} data-route="{points}" d="{_path(route)}"/>'

    def _strike(self, number: int) -> str:
        """Two strokes through the edge of a message."""
        if not self._graph.firings[number].transfer:
            return ""
        place = self._layout.places[len(self._graph.goals) + number]
        user = next(g for g, firings in enumerate(self._graph.why) if number in firings)
        x = (place.x + self._layout.places[user].x) / 2
        cut = " cut" if number in self._marks.cut else ""
        return (
            f'<path class="strike{cut}" data-firing="{number}" d="M-9,7L9,-3M-9,3L9,-7"'
            f' transform="translate({x:.0f},{_top(place.layer) - _GAP / 2:.0f})"/>'
        )

    def _goal(self, number: int, goal: Goal) -> str:
        place, width = self._layout.places[number], self._widths[number]
        kinds = ["goal"]
        kinds += ["outcome"] if number == 0 else []
        kinds += ["absent"] if not goal.present else []
        kinds += ["given"] if goal.given else []
        kinds += ["gone"] if number in self._marks.gone else []
        kinds += ["chain"] if goal.last > goal.first and not goal.crashes else []
        button = "chain" in kinds or bool(self._graph.why[number])
        role = f' role="button" tabindex="0" aria-expanded="{str("chain" not in kinds).lower()}"' if button else ""
        label = safe(self._goal_labels[number])
        mark = "▾" if "chain" in kinds else ""
        return (
            f'<g class="{" ".join(kinds)}" data-goal="{number}" data-y="{place.layer}"{role}'
            f' transform="translate({place.x:.0f},{_top(place.layer)})"><title>{safe(_goal_title(goal))}</title>'
            f'<rect x="{-width / 2:.0f}" width="{width:.0f}" height="{_GOAL_HEIGHT}" rx="12"/>'
            f'<text y="16">{label} <tspan class="at">{mark}{_times(goal)}</tspan></text>'
            f'<path class="strike" d="M{-width / 2 + 6:.0f},{_GOAL_HEIGHT / 2:.0f}H{width / 2 - 6:.0f}"/>'
            f"{''.join(self._steps(goal)) if 'chain' in kinds else ''}</g>"
        )

    def _steps(self, goal: Goal) -> Iterator[str]:
        yield '<g class="steps">'
        for k, time in enumerate(range(goal.last, goal.first - 1, -1)):
            how = "as before" if time > goal.first else "see below"
            yield f'<text y="{_GOAL_HEIGHT + 12 + k * _STEP_HEIGHT}">@{time} {how}</text>'
        yield "</g>"

    def _firing(self, number: int, firing: Firing) -> str:
        place = self._layout.places[len(self._graph.goals) + number]
        width = self._widths[len(self._graph.goals) + number]
        kinds = ["firing"]
        kinds += ["message"] if firing.transfer else []
        kinds += ["cut"] if number in self._marks.cut else []
        return (
            f'<g class="{" ".join(kinds)}" data-firing="{number}" data-y="{place.layer}"'
            f' transform="translate({place.x:.0f},{_top(place.layer)})">'
            f"<title>{safe(_firing_title(firing, self._rules))}</title>"
            f'<rect x="{-width / 2:.0f}" width="{width:.0f}" height="{_FIRING_HEIGHT}" rx="3"/>'
            f'<text y="13">{safe(self._firing_labels[number])}</text></g>'
        )


def _top(layer: int) -> int:
    """Goals and rules take turns."""
    pairs, rest = divmod(layer, 2)
    return pairs * (_GOAL_HEIGHT + _FIRING_HEIGHT + 2 * _GAP) + rest * (_GOAL_HEIGHT + _GAP)


def _height(layer: int) -> int:
    return _FIRING_HEIGHT if layer % 2 else _GOAL_HEIGHT


def _path(route: Sequence[Place]) -> str:
    """From the bottom of the upper box to the top of the lower one, straight through the layers between."""
    x, y = route[0].x, _top(route[0].layer) + _height(route[0].layer)
    parts = [f"M{x:.0f},{y}"]
    for k, place in enumerate(route[1:], start=1):
        top = _top(place.layer)
        middle = (y + top) / 2
        parts.append(f"C{x:.0f},{middle:.0f} {place.x:.0f},{middle:.0f} {place.x:.0f},{top}")
        x, y = place.x, top
        if k < len(route) - 1:
            y += _height(place.layer)
            parts.append(f"V{y}")
    return "".join(parts)


def _width(label: str) -> float:
    return max(44.0, len(label) * _CHARACTER + 18)


def _shortened(label: str) -> str:
    return label if len(label) <= _LONGEST_LABEL else label[: _LONGEST_LABEL - 1] + "…"


def _times(goal: Goal) -> str:
    if goal.crashes:
        return ""
    return f"@{goal.last}" if goal.first == goal.last else f"@{goal.first}–{goal.last}"


def _firing_label(firing: Firing, rules: Sequence[Rule], several_files: bool) -> str:
    if firing.transfer:
        t = firing.transfer
        label = f"{show(t.source)} → {show(t.target)} @{t.sent}"
        kind = "" if firing.fired else "not late: " if firing.punctual else "not sent: "
        return _shortened(kind + label)
    name = rule_place(rules[firing.rule], several_files)
    return _shortened(name if firing.fired else f"kept back: {name}")


def _goal_title(goal: Goal) -> str:
    times = f" at time {goal.last}" if goal.first == goal.last else f" at times {goal.first} to {goal.last}"
    if goal.crashes:
        return f"{goal.label}, otherwise: {', '.join(map(str, goal.crashes))}"
    return f"{goal.label}{times}{'; holds whenever pre does' if goal.given else ''}"


def _firing_title(firing: Firing, rules: Sequence[Rule]) -> str:
    text = rule_text(rules[firing.rule])
    if firing.transfer:
        t = firing.transfer
        row = f"{t.relation}({row_text(t.row)})"
        verb = "sent" if firing.fired or firing.punctual else "not sent"
        return f"{row} {verb} by {show(t.source)} to {show(t.target)} at time {t.sent}\n{text}"
    return f"{'applied' if firing.fired else 'kept from applying'} at time {firing.time}\n{text}"
