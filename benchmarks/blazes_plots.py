"""Figures 4.9, 4.10 and 4.11 of the thesis: clicks processed over time.  Needs matplotlib."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

# The group `bench` has matplotlib, the group `dev` (which checks types) has not.
import matplotlib as mpl  # type: ignore[import-not-found, unused-ignore]
from matplotlib.figure import Figure  # type: ignore[import-not-found, unused-ignore]

from benchmarks.blazes_evaluation import Measured
from benchmarks.blazes_servers import SAMPLE, Variant

_STYLES = {
    Variant.UNCOORDINATED: ("#555555", "--"),
    Variant.ORDERED: ("#b5481d", "-"),
    Variant.SEALED: ("#0b6e4f", "-"),
    Variant.INDEPENDENT: ("#2a5caa", "-"),
}


def draw(measured: Sequence[Measured], folder: Path) -> list[Path]:
    """PNG and SVG of each figure; the curves are of the runs with the median times."""
    folder.mkdir(exist_ok=True)
    return [file for name, title, shown in _figures(measured) for file in _draw(name, title, shown, folder)]


def _figures(measured: Sequence[Measured]) -> Iterator[tuple[str, str, list[Measured]]]:
    """Name, title, and what is in it: fewest and most ad servers, and the latter without the order."""
    numbers = sorted({m.ad_servers for m in measured})
    few = [m for m in measured if m.ad_servers == numbers[0]]
    many = [m for m in measured if m.ad_servers == numbers[-1]]
    yield "fig4-9", f"Clicks processed over time, {numbers[0]} ad servers", few
    yield "fig4-10", f"Clicks processed over time, {numbers[-1]} ad servers", many
    unordered = [m for m in many if m.variant is not Variant.ORDERED]
    yield "fig4-11", f"Seals and no coordination, {numbers[-1]} ad servers", unordered


def _draw(name: str, title: str, shown: Sequence[Measured], folder: Path) -> list[Path]:
    mpl.rcParams["svg.hashsalt"] = name  # the same numbers give the same file
    figure = Figure(figsize=(7.5, 5), layout="constrained")
    axes = figure.add_subplot()
    for one in shown:
        colour, line = _STYLES[one.variant]
        curve = one.typical.curve
        seconds = [sample * SAMPLE for sample in range(len(curve))]
        axes.plot(seconds, curve, color=colour, linestyle=line, drawstyle="steps-post", label=one.variant.value)
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("seconds since all were connected")
    axes.set_ylabel("clicks in the log of the last report server")
    axes.set_title(title)
    axes.grid(visible=True, which="major", color="#dddddd", linewidth=0.6)
    axes.legend(loc="lower right")
    files = [folder / f"{name}.png", folder / f"{name}.svg"]
    figure.savefig(files[0], dpi=150)
    figure.savefig(files[1], metadata={"Date": None})
    return files
