"""Figure 2 of the second paper: how many deliveries are left after so many schedules.  Needs matplotlib."""

from __future__ import annotations

from pathlib import Path

# The group `bench` has matplotlib, the group `dev` (which checks types) has not.
import matplotlib as mpl  # type: ignore[import-not-found, unused-ignore]
from matplotlib.axes import Axes  # type: ignore[import-not-found, unused-ignore]
from matplotlib.figure import Figure  # type: ignore[import-not-found, unused-ignore]
from matplotlib.ticker import ScalarFormatter  # type: ignore[import-not-found, unused-ignore]

from benchmarks.minimization import Row

#: The bug whose pace the paper shows.
PACE_OF = "raft-58b"

#: A stage with fewer schedules than this share of those before it has no room in the picture.
_VISIBLE = 0.2


def draw(row: Row, folder: Path) -> list[Path]:
    """Write ``fig2.png`` and ``fig2.svg``."""
    mpl.rcParams["svg.hashsalt"] = "fig2"  # the same numbers give the same file
    figure = Figure(figsize=(7.5, 5), layout="constrained")
    axes = figure.add_subplot()
    tried, left = zip(*row.pace, (row.schedules, row.final.deliveries), strict=True)
    axes.plot(tried, left, drawstyle="steps-post", color="#0b6e4f")
    _mark_stages(axes, row)
    axes.axhline(row.smallest.deliveries, color="#b5481d", linestyle="--", linewidth=0.8, label="smallest known")
    axes.set_xscale("log")
    axes.set_yscale("log")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(ScalarFormatter())
    axes.set_xlabel("schedules executed")
    axes.set_ylabel("deliveries left")
    axes.set_title(f"Pace of minimization, {row.name}")
    axes.grid(visible=True, which="major", color="#dddddd", linewidth=0.6)
    axes.legend(loc="lower left")
    files = [folder / "fig2.png", folder / "fig2.svg"]
    figure.savefig(files[0], dpi=150)
    figure.savefig(files[1], metadata={"Date": None})
    return files


def _mark_stages(axes: Axes, row: Row) -> None:
    """Where each stage begins; one that is too short to be seen is left out."""
    before = 0
    for stage in row.stages:
        if stage.schedules > max(1, _VISIBLE * before):
            axes.axvline(before, color="#aaaaaa", linestyle=":", linewidth=0.8)
            axes.annotate(f" {stage.name}", (before, 1), xycoords=("data", "axes fraction"), va="top", fontsize=8)
        before += stage.schedules
