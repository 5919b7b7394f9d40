"""Tables 1 and 2 of the second paper (DEMi), repeated: ten bugs, each recorded and minimized.

The recording of a bug is that of the first seed, from 0, whose violation comes after enough deliveries.  It is
looked for every time, which takes seconds, so that it never belongs to other code.  Minimization runs in one
process and without a time limit.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from benchmarks.cases import EXAMPLES
from benchmarks.effort import Effort, say
from benchmarks.output import Table
from benchmarks.published_sizes import BUGS, Cost, PublishedBug
from benchmarks.smallest import SMALLEST, size_of
from clew.minimization.minimizing import minimize
from clew.minimization.searching.stages import Stage
from clew.simulation.execution.steps import Size
from clew.simulation.fuzzing.fuzz import fuzz
from clew.simulation.loading import LoadedScenario, load_scenario
from clew.simulation.recordings.recording import Recording

#: How many deliveries a recording has at least: the paper asked for 300 of each.
LEAST_RAFT, LEAST_SPARK = 1000, 300
_RUNS = 100_000


@dataclass(frozen=True)
class Row:
    """What became of the recording of one bug.  ``processor`` is the processor time in seconds."""

    published: PublishedBug
    seed: int
    stages: tuple[Stage, ...]
    final: Size
    smallest: Size
    how: str
    seconds: float
    processor: float
    pace: tuple[tuple[int, int], ...]

    @property
    def name(self) -> str:
        return self.published.name

    @property
    def ratio(self) -> float:
        return self.final.deliveries / self.smallest.deliveries

    @property
    def schedules(self) -> int:
        return sum(stage.schedules for stage in self.stages)

    def after(self, name: str) -> Stage:
        return next(stage for stage in self.stages if stage.name == name)


def scenario(where: str) -> LoadedScenario:
    """A scenario of the examples."""
    return load_scenario(str(EXAMPLES / where))


def recording(bug: PublishedBug, loaded: LoadedScenario) -> Recording:
    """Of the first seed whose violation comes after enough deliveries."""
    found = fuzz(loaded, runs=_RUNS, at_least=LEAST_RAFT if bug.name.startswith("raft") else LEAST_SPARK)
    if found.recording is None:
        raise RuntimeError(f"{bug.name}: no violation in {_RUNS} runs")
    return found.recording


def measure(effort: Effort) -> list[Row]:
    """With a quick effort, of the bugs that take the least time."""
    chosen = BUGS if effort.bugs is None else [bug for bug in BUGS if bug.name in effort.bugs]
    return [_measured(bug) for bug in chosen]


def _measured(bug: PublishedBug) -> Row:
    loaded = scenario(bug.scenario)
    say(f"{bug.name}: recording")
    recorded = recording(bug, loaded)
    say(f"{bug.name}: minimizing {recorded.deliveries} deliveries (seed {recorded.seed})")
    started, processor = time.perf_counter(), time.process_time()
    found = minimize(recorded, loaded)
    seconds, processor = time.perf_counter() - started, time.process_time() - processor
    smallest = SMALLEST[loaded.name]
    return Row(
        bug,
        recorded.seed,
        found.stages,
        found.size,
        size_of(smallest, loaded),
        smallest.how,
        seconds,
        processor,
        found.pace,
    )


# -- Tables 1 and 2 ----------------------------------------------------------------------------------------------


def table_1(rows: Sequence[Row]) -> Table:
    columns = ("bug", "initial", "provenance", "STSSched", "TFB", "final", "smallest known", "final / smallest")
    return Table("Table 1: sizes", columns, [_sizes(row) for row in rows], list(_remarks_1(rows)))


def _sizes(row: Row) -> tuple[str, ...]:
    paper = row.published
    return (
        row.name,
        _beside(row.after("recorded").size, paper.initial),
        _beside(row.after("provenance").size, paper.provenance),
        _beside(row.after("STSSched").size, paper.stssched),
        _beside(row.after("TFB").size, paper.tfb),
        _size(row.final),
        _beside(row.smallest, paper.optimal),
        f"{row.ratio:.2f} ({paper.tfb.deliveries / paper.optimal.deliveries:.2f})",
    )


def _size(size: Size) -> str:
    return f"{size.deliveries} E:{size.externals}"


def _beside(ours: Size, published: Size) -> str:
    return f"{_size(ours)} ({_size(published)})"


def _remarks_1(rows: Sequence[Row]) -> Iterator[str]:
    yield (
        "Deliveries, and E: events from outside.  In brackets: as published; there TFB is the end.  Final: after "
        "shrinking of contents and shortening.  Initial: seeds " + ", ".join(f"{r.seed}" for r in rows) + "."
    )
    hows = {how: [row.name for row in rows if row.how == how] for how in dict.fromkeys(row.how for row in rows)}
    yield "Smallest known: " + "; ".join(f"{how}: {', '.join(names)}" for how, names in hows.items()) + "."
    if rows:
        published = median(r.published.tfb.deliveries / r.published.optimal.deliveries for r in rows)
        yield f"Median of final / smallest: {median(r.ratio for r in rows):.2f} ({published:.2f})."


def table_2(rows: Sequence[Row]) -> Table:
    columns = ("bug", "STSSched s", "schedules", "TFB s", "schedules", "total s", "processor s", "schedules")
    remark = (
        "In brackets: as published; its total is STSSched and TFB together, ours has shrinking of contents and "
        "shortening as well."
    )
    return Table("Table 2: seconds and schedules executed", columns, [_costs(row) for row in rows], [remark])


def _costs(row: Row) -> tuple[str, ...]:
    paper = row.published
    seconds = paper.stssched_cost.seconds + paper.tfb_cost.seconds
    schedules = paper.stssched_cost.schedules + paper.tfb_cost.schedules
    return (
        row.name,
        *_cost(row.after("STSSched"), paper.stssched_cost),
        *_cost(row.after("TFB"), paper.tfb_cost),
        f"{row.seconds:.1f} ({seconds})",
        f"{row.processor:.1f}",
        f"{row.schedules} ({schedules})",
    )


def _cost(stage: Stage, published: Cost) -> tuple[str, str]:
    return (f"{stage.seconds:.1f} ({published.seconds})", f"{stage.schedules} ({published.schedules})")
