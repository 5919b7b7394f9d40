"""Figure 11 as a picture.  The only module that needs matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

# The group `bench` has matplotlib, the group `dev` (which checks types) has not.
import matplotlib as mpl  # type: ignore[import-not-found, unused-ignore]
from matplotlib.axes import Axes  # type: ignore[import-not-found, unused-ignore]
from matplotlib.figure import Figure  # type: ignore[import-not-found, unused-ignore]
from matplotlib.ticker import MaxNLocator  # type: ignore[import-not-found, unused-ignore]

from benchmarks.growth import PROGRAMS, Point
from benchmarks.published import FIGURE_13

_STYLES = dict(zip(PROGRAMS, (("#0b6e4f", "o"), ("#b5481d", "s")), strict=True))


def draw(points: Sequence[Point], folder: Path) -> list[Path]:
    """Write ``fig11.png`` and ``fig11.svg``."""
    mpl.rcParams["svg.hashsalt"] = "fig11"  # the same numbers give the same file
    figure = Figure(figsize=(7.5, 5), layout="constrained")
    axes = figure.add_subplot()
    finished = [p for p in points if p.finished]
    bound = sorted({(p.eff, p.combinations) for p in finished})
    axes.plot(
        [eff for eff, _ in bound],
        [float(c) for _, c in bound],
        color="#555555",
        linestyle="--",
        label="combinations (both programs)",
    )
    for name in PROGRAMS:
        _draw_program(axes, name, [p for p in finished if p.program == name])
    axes.set_yscale("log")
    axes.set_ylim(bottom=0.8)
    axes.set_xlabel("EFF (EOT = EFF + 1, one crash, three nodes)")
    axes.set_ylabel("executions of the lineage search, combinations")
    axes.set_title("Executions needed to cover all combinations of failures")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.grid(visible=True, which="major", color="#dddddd", linewidth=0.6)
    axes.legend(loc="upper left")
    files = [folder / "fig11.png", folder / "fig11.svg"]
    figure.savefig(files[0], dpi=150)
    figure.savefig(files[1], metadata={"Date": None})
    return files


def _draw_program(axes: Axes, name: str, points: Sequence[Point]) -> None:
    colour, marker = _STYLES[name]
    effs, executions = [p.eff for p in points], [p.executions for p in points]
    axes.plot(effs, executions, color=colour, marker=marker, markersize=4, label=f"{name}, executions")
    paper = next(p for p in FIGURE_13 if p.program == name)
    axes.plot(
        [paper.eff],
        [paper.executions],
        color=colour,
        marker=marker,
        markersize=9,
        markerfacecolor="none",
        linestyle="none",
        label=f"{name}, as published in Figure 13",
    )
