"""Boxes, edges and strokes of a lineage drawing as SVG."""

from __future__ import annotations

from collections.abc import Sequence

from clew.explain.lineage_graph import Firing, Goal
from clew.report.lineage.plan import Size
from clew.report.text.markup import safe

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
        f'<g class="{" ".join(kinds)}" {data} transform="{_moved(at)}"><title>{title}</title>'
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
        f'<g class="{" ".join(kinds)}" {data} transform="{_moved(at)}"><title>{title}</title>'
        f'<rect x="{-size.width / 2:.0f}" width="{size.width:.0f}" height="{size.height}" rx="3"/>'
        f'<text y="13">{label}</text></g>'
    )


def edge_line(kinds: Sequence[str], data: str, path: str) -> str:
    return f'<path class="{" ".join(["edge", *kinds])}" {data} d="{path}"/>'


def stroke(kinds: Sequence[str], data: str, at: tuple[float, float]) -> str:
    """Draw two strokes through the edge of a message."""
    return f'<path class="{" ".join(["strike", *kinds])}" {data} d="{_STROKE}" transform="{_moved(at)}"/>'


def _moved(at: tuple[float, float]) -> str:
    return f"translate({at[0]:.0f},{at[1]:.0f})"
