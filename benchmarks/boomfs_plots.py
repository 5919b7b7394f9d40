"""Figures 2.2 and 2.3 of the thesis: which part of the tasks of a job has ended over time.  Needs matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

# The group `bench` has matplotlib, the group `dev` (which checks types) has not.
import matplotlib as mpl  # type: ignore[import-not-found, unused-ignore]
from matplotlib.figure import Figure  # type: ignore[import-not-found, unused-ignore]

from benchmarks.boomfs_bars import Pair
from benchmarks.boomfs_failover import Measured
from benchmarks.boomfs_wordcount import Job

_COLOURS = ("#0b6e4f", "#b5481d", "#2a5caa", "#555555")


def draw_beside_local(pairs: Sequence[Pair], folder: Path) -> list[Path]:
    """Write Figure 2.2: the pair with the median ratio by the clock."""
    typical = sorted(pairs, key=lambda pair: pair.clock)[(len(pairs) - 1) // 2]
    shown = [("local files", typical.local), ("BOOM-FS", typical.boomfs)]
    return _draw("fig2-2", "Word count on local files and on BOOM-FS", shown, folder)


def draw_failover(measured: Sequence[Measured], folder: Path) -> list[Path]:
    """Write Figure 2.3: of each setting the job with the median time."""
    shown = [(one.setting.name, one.typical) for one in measured]
    return _draw("fig2-3", "Tasks that have ended, while NameNodes are killed", shown, folder)


def _draw(name: str, title: str, shown: Sequence[tuple[str, Job]], folder: Path) -> list[Path]:
    mpl.rcParams["svg.hashsalt"] = name  # the same numbers give the same file
    folder.mkdir(exist_ok=True)
    figure = Figure(figsize=(7.5, 5), layout="constrained")
    axes = figure.add_subplot()
    for (label, job), colour in zip(shown, _COLOURS, strict=False):
        for kind, ended, line in (("maps", job.maps, "-"), ("reduces", job.reduces, "--")):
            part = [number / len(ended) for number in range(len(ended) + 1)]
            axes.plot(
                [0, *ended], part, color=colour, linestyle=line, drawstyle="steps-post", label=f"{label}: {kind}"
            )
    axes.set_xlim(left=0)
    axes.set_ylim(0, 1.02)
    axes.set_xlabel("seconds since the job began")
    axes.set_ylabel("part of the tasks that has ended")
    axes.set_title(title)
    axes.grid(visible=True, which="major", color="#dddddd", linewidth=0.6)
    axes.legend(loc="lower right")
    files = [folder / f"{name}.png", folder / f"{name}.svg"]
    figure.savefig(files[0], dpi=150)
    figure.savefig(files[1], metadata={"Date": None})
    return files
