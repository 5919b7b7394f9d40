"""Figure 11: how executions and combinations grow with the bounds, with redundancy in sight and out of it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.cases import example, within
from benchmarks.effort import Effort, say
from benchmarks.output import Table, several
from benchmarks.searches import lineage_search

PROGRAMS = ("redun-deliv", "ack-deliv")

#: The shortest executions in which a message can be lost and another one can make up for it.
_FIRST_EOT = 3


@dataclass(frozen=True)
class Point:
    """The lineage search of a program at one setting."""

    program: str
    eot: int
    eff: int
    combinations: int
    executions: int
    seconds: float
    finished: bool


def figure_11(effort: Effort) -> list[Point]:
    return [point for name in PROGRAMS for point in _grow(name, effort)]


def _grow(name: str, effort: Effort) -> list[Point]:
    """Larger and larger bounds until the time is up; the last point may be unfinished."""
    say(f"{name}: growing EOT and EFF for {effort.growth_seconds:g} s")
    end = time.monotonic() + effort.growth_seconds
    case = example(name)
    points: list[Point] = []
    for eot in range(_FIRST_EOT, effort.growth_eot + 1):
        left = end - time.monotonic()
        if left <= 0:
            break
        here = within(case, eot)
        found = lineage_search(here, left)
        spec = here.spec
        points.append(
            Point(name, eot, spec.eff, spec.combinations(), found.executions, found.seconds, found.finished)
        )
        if not found.finished:
            break
    return points


def table_11(points: Sequence[Point]) -> Table:
    """One line a setting, the programs side by side."""
    by_setting = {(p.program, p.eot): p for p in points}
    settings = sorted({(p.eot, p.eff, p.combinations) for p in points})
    columns = ["EOT", "EFF", "combinations", *(f"{name} {what}" for name in PROGRAMS for what in ("exe", "s"))]
    cells = [
        (
            str(eot),
            str(eff),
            several(combinations),
            *(cell for name in PROGRAMS for cell in _cells(by_setting.get((name, eot)))),
        )
        for eot, eff, combinations in settings
    ]
    remark = "Lineage search, one crash, three nodes.  Empty: not reached within the time."
    return Table("Figure 11: executions as EOT and EFF grow", columns, cells, [remark])


def _cells(point: Point | None) -> tuple[str, str]:
    if point is None:
        return ("", "")
    if not point.finished:
        return (f"not finished after {point.executions}", f"{point.seconds:.2f}")
    return (str(point.executions), f"{point.seconds:.2f}")
