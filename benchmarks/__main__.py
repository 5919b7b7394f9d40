"""``python -m benchmarks``: measure, print, write to ``benchmarks/out``.  Exit code 1 if a bar is not met."""

from __future__ import annotations

import argparse
import sys
from importlib.util import find_spec

from benchmarks import bars
from benchmarks.effort import FULL, QUICK, Effort, say
from benchmarks.figures import figure_12, figure_13, table_12, table_13
from benchmarks.growth import figure_11, table_11
from benchmarks.output import OUT, publish

PARTS = ("fig11", "fig12", "fig13", "bars")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=PARTS, help="one part; bars measures what it needs of fig12 and fig13")
    parser.add_argument("--quick", action="store_true", help="few seeds and repetitions: to see that it runs")
    given = parser.parse_args()
    wanted = PARTS if given.only is None else (given.only,)
    if "fig11" in wanted and find_spec("matplotlib") is None:
        parser.error("the plot needs matplotlib: pip install -e '.[bench]', or leave it out with --only")
    return _measure(wanted, QUICK if given.quick else FULL)


def _measure(wanted: tuple[str, ...], effort: Effort) -> int:
    if "fig11" in wanted:
        _figure_11(effort)
    rows_12 = figure_12(effort) if {"fig12", "bars"} & set(wanted) else []
    if "fig12" in wanted:
        publish("fig12", table_12(rows_12), rows_12, effort)
    rows_13 = figure_13(effort) if {"fig13", "bars"} & set(wanted) else []
    if "fig13" in wanted:
        publish("fig13", table_13(rows_13), rows_13, effort)
    if "bars" not in wanted:
        return 0
    measured = bars.measure(rows_12, rows_13, effort)
    publish("bars", bars.table(measured), measured, effort)
    return 0 if all(bar.passed for bar in measured) else 1


def _figure_11(effort: Effort) -> None:
    from benchmarks.plot import draw

    points = figure_11(effort)
    publish("fig11", table_11(points), points, effort)
    files = draw(points, OUT)
    say("written: " + " and ".join(f"benchmarks/out/{f.name}" for f in files))


if __name__ == "__main__":
    sys.exit(main())
