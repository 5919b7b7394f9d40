"""``python -m benchmarks``: measure, print, write to ``benchmarks/out``.  Exit code 1 if a bar is not met.

Of the first paper (lineage): fig11, fig12, fig13, and bars; fewest has the bars of the search for the fewest
faults, passing those of restarts, partitions and their like, and grids that of a hundred settings.  Of the second
(DEMi): minimization prints Tables 1 to 4 with the published numbers in brackets, draws Figure 2, and has bars of
its own; luck minimizes ten recordings of each bug, and has bars; simulation has the bars of speed, memory, workers
and replays; injection has those of faults that are injected into code, asyncio those of unmodified asyncio
programs.  bloom has the bars of the Bloom runtime.  Of the thesis: boomfs is section 2.4, with Table 2.4 and
Figures 2.2 and 2.3, and has bars; blazes is the evaluation of section 4.7, with Figures 4.9 to 4.11, and has bars.
histories has the bars of linearizability and serializability, plugin that of what the pytest plugin costs where it
is not used, scale those of two workers of a Dask cluster, and a model of a thousand.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib.util import find_spec

from benchmarks import (
    asyncio_bars,
    bars,
    blazes_bars,
    blazes_evaluation,
    bloom_bars,
    fewest,
    grids,
    histories,
    injection_bars,
    instrumentation,
    luck,
    minimization,
    passing,
    plugin,
    scale,
    shrinking,
    simulation_bars,
)
from benchmarks.effort import FULL, QUICK, Effort, say
from benchmarks.figures import figure_12, figure_13, table_12, table_13
from benchmarks.growth import figure_11, table_11
from benchmarks.output import OUT, publish

PARTS = (
    *("fig11", "fig12", "fig13", "bars", "fewest", "passing", "grids"),
    *(
        "minimization",
        "luck",
        "simulation",
        "injection",
        "bloom",
        "boomfs",
        "blazes",
        "histories",
        "plugin",
        "scale",
    ),
)


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--only", choices=PARTS, help="one part; bars measures what it needs of fig12 and fig13")
    parser.add_argument("--quick", action="store_true", help="few seeds and repetitions: to see that it runs")
    given = parser.parse_args()
    wanted = PARTS if given.only is None else (given.only,)
    if {"fig11", "minimization", "boomfs", "blazes"} & set(wanted) and find_spec("matplotlib") is None:
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
    met = True
    if "bars" in wanted:
        met &= _judge("bars", bars.measure(rows_12, rows_13, effort), effort)
    if "fewest" in wanted:
        met &= _judge("fewest-bars", list(fewest.measure(effort)), effort)
    if "passing" in wanted:
        met &= _judge("passing-bars", list(passing.measure(effort)), effort)
    if "grids" in wanted:
        met &= _judge("grids-bars", list(grids.measure(effort)), effort)
    if "minimization" in wanted:
        met &= _minimization(effort)
    if "luck" in wanted:
        rows = luck.measure(effort)
        publish("luck", luck.table(rows), rows, effort)
        met &= _judge("luck-bars", list(luck.bars(rows)), effort)
    if "simulation" in wanted:
        met &= _judge("simulation-bars", simulation_bars.of_simulation(effort), effort)
    if "injection" in wanted:
        met &= _judge("injection-bars", injection_bars.of_injection(effort), effort)
    if "asyncio" in wanted:
        met &= _judge("asyncio-bars", asyncio_bars.of_asyncio(effort), effort)
    if "plugin" in wanted:
        met &= _judge("plugin-bars", list(plugin.measure(effort)), effort)
    if "bloom" in wanted:
        met &= _judge("bloom-bars", bloom_bars.of_bloom(effort), effort)
    if "boomfs" in wanted:
        met &= _boomfs(effort)
    if "blazes" in wanted:
        met &= _blazes(effort)
    if "histories" in wanted:
        met &= _judge("histories-bars", list(histories.measure(effort)), effort)
    if "scale" in wanted:
        model = scale.measure_model(effort)
        publish("scale", scale.table(model), [model], effort)
        met &= _judge("scale-bars", list(scale.measure_bars(effort)), effort)
    return 0 if met else 1


def _judge(name: str, measured: Sequence[bars.Bar], effort: Effort) -> bool:
    publish(name, bars.table(measured), measured, effort)
    return all(bar.passed for bar in measured)


def _figure_11(effort: Effort) -> None:
    from benchmarks.plot import draw

    points = figure_11(effort)
    publish("fig11", table_11(points), points, effort)
    files = draw(points, OUT)
    say("written: " + " and ".join(f"benchmarks/out/{f.name}" for f in files))


def _minimization(effort: Effort) -> bool:
    from benchmarks.pace import PACE_OF, draw

    rows = minimization.measure(effort)
    publish("table1", minimization.table_1(rows), rows, effort)
    publish("table2", minimization.table_2(rows), rows, effort)
    columns = shrinking.measure()
    publish("table3", shrinking.table_3(columns), columns, effort)
    lines = instrumentation.measure()
    publish("table4", instrumentation.table_4(lines), lines, effort)
    for row in rows:
        if row.name == PACE_OF:
            files = draw(row, OUT)
            say("written: " + " and ".join(f"benchmarks/out/{f.name}" for f in files))
    return _judge("minimization-bars", simulation_bars.of_minimization(rows), effort)


def _boomfs(effort: Effort) -> bool:
    # Here, since Dask and fsspec are extras, and slow to import.
    from benchmarks import boomfs_bars, boomfs_failover, boomfs_plots

    parts = 128 if effort.repetitions > 1 else 8
    pairs = boomfs_bars.measure_pairs(parts, effort.repetitions)
    publish("fig2-2", boomfs_bars.table_of_pairs(pairs), pairs, effort)
    failing = boomfs_bars.measure_failover(effort)
    publish("table2-4", boomfs_failover.table(failing), failing, effort)
    files = [*boomfs_plots.draw_beside_local(pairs, OUT), *boomfs_plots.draw_failover(failing, OUT)]
    say("written: " + ", ".join(f"benchmarks/out/{f.name}" for f in files))
    sizes = boomfs_bars.measure_files(effort)
    publish("boomfs-files", boomfs_bars.table_of_files(sizes), sizes, effort)
    bars_of_boomfs = (
        *boomfs_bars.of_pairs(pairs, parts * 8),
        *boomfs_bars.of_files(sizes),
        *boomfs_bars.of_failover(failing),
    )
    return _judge("boomfs-bars", bars_of_boomfs, effort)


def _blazes(effort: Effort) -> bool:
    from benchmarks.blazes_plots import draw

    measured = blazes_evaluation.measure(effort)
    publish("blazes", blazes_evaluation.table(measured, blazes_evaluation.TITLE), measured, effort)
    files = draw(measured, OUT)
    say("written: " + ", ".join(f"benchmarks/out/{f.name}" for f in files))
    busy = blazes_evaluation.measure_without_pauses(effort)
    title = f"{blazes_evaluation.TITLE}, without pauses"
    publish("blazes-without-pauses", blazes_evaluation.table(busy, title), busy, effort)
    return _judge("blazes-bars", blazes_bars.of_blazes(measured), effort)


if __name__ == "__main__":
    sys.exit(main())
