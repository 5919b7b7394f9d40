"""How much the result of a minimization depends on luck: ten recordings of each bug, each minimized.

The bugs are those of Tables 1 and 2, and three small systems whose smallest executions are known (``systems``).
The recordings are those of the first seeds whose violation comes after enough deliveries.  Time is that of the
processor, and of the minimization alone.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path
from statistics import median

from benchmarks.bars import Bar
from benchmarks.effort import Effort, say
from benchmarks.minimization import LEAST_RAFT, LEAST_SPARK, scenario
from benchmarks.output import Table
from benchmarks.published_sizes import BUGS
from benchmarks.smallest import SMALLEST, size_of
from clew.minimization.minimizing import minimize
from clew.simulation.execution.steps import Size
from clew.simulation.fuzzing.fuzz import record
from clew.simulation.fuzzing.random_run import random_run
from clew.simulation.loading import LoadedScenario, load_scenario

MEDIAN_RATIO = 1.1
LARGEST_RATIO = 1.5

_SYSTEMS = Path(__file__).parent / "systems"
#: What violations of the small systems come after, at least: shorter recordings leave nothing to minimize.
_LEAST_SMALL = 10


@dataclass(frozen=True)
class Subject:
    """Something to minimize: ``least`` is how many deliveries a recording has at least."""

    name: str
    loaded: LoadedScenario
    least: int


@dataclass(frozen=True)
class Minimization:
    """The recording with this seed, and what became of it."""

    seed: int
    recorded: int
    final: Size
    schedules: int
    processor: float


@dataclass(frozen=True)
class Row:
    """All recordings of one bug."""

    name: str
    smallest: Size
    minimizations: tuple[Minimization, ...]

    @property
    def ratios(self) -> list[float]:
        """By deliveries, as in Table 1, from the best to the worst."""
        return sorted(found.final.deliveries / self.smallest.deliveries for found in self.minimizations)

    @property
    def event_ratios(self) -> list[float]:
        """By deliveries and events from outside together."""
        return sorted(_events(found.final) / _events(self.smallest) for found in self.minimizations)

    @property
    def processor(self) -> float:
        return sum(found.processor for found in self.minimizations) / len(self.minimizations)


def _events(size: Size) -> int:
    return size.deliveries + size.externals


def measure(effort: Effort) -> list[Row]:
    """With a quick effort, few recordings of the bugs that take the least time."""
    return [_measure(subject, effort.recordings) for subject in _subjects(effort)]


def _subjects(effort: Effort) -> Iterator[Subject]:
    for bug in BUGS:
        if effort.bugs is None or bug.name in effort.bugs:
            least = LEAST_RAFT if bug.name.startswith("raft") else LEAST_SPARK
            yield Subject(bug.name, scenario(bug.scenario), least)
    yield from list_systems()


def list_systems() -> Iterator[Subject]:
    """Yield the small systems."""
    for where in ("orders.py:early", "bank.py:doubling", "replicas.py:even"):
        yield Subject(where.partition(".")[0], load_scenario(str(_SYSTEMS / where)), _LEAST_SMALL)


def _measure(subject: Subject, recordings: int) -> Row:
    found: list[Minimization] = []
    for seed in islice(find_violating(subject), recordings):
        found.append(_minimize(subject, seed))
        say(f"{subject.name}, seed {seed}: {found[-1].final}, {found[-1].processor:.1f} s")
    loaded = subject.loaded
    return Row(subject.name, size_of(SMALLEST[loaded.name], loaded), tuple(found))


def find_violating(subject: Subject) -> Iterator[int]:
    """Yield the seeds whose violation comes after enough deliveries."""
    for seed in count():
        run = random_run(subject.loaded.scenario, seed)
        if run.broken is not None and run.deliveries >= subject.least:
            yield seed


def _minimize(subject: Subject, seed: int) -> Minimization:
    recorded = record(subject.loaded, seed)
    started = time.process_time()
    # In this process: the time of a child is not counted before it has ended.
    found = minimize(recorded, subject.loaded, in_process=True)
    processor = time.process_time() - started
    schedules = sum(stage.schedules for stage in found.stages)
    return Minimization(seed, recorded.deliveries, found.size, schedules, processor)


def table(rows: Sequence[Row]) -> Table:
    columns = (
        *("bug", "recordings", "smallest known", "median size", "largest", "median ratio", "largest"),
        *("of all events", "largest", "processor s"),
    )
    remark = (
        "Ratio: deliveries of the result by those of the smallest known execution; then the same of deliveries "
        "and events from outside together.  Processor: seconds for one recording, on average."
    )
    return Table("Luck: ten recordings of each bug", columns, [_cells(row) for row in rows], [remark])


def _cells(row: Row) -> tuple[str, ...]:
    finals = sorted((found.final for found in row.minimizations), key=_events)
    return (
        row.name,
        str(len(finals)),
        _size(row.smallest),
        _size(finals[len(finals) // 2]),
        _size(finals[-1]),
        f"{median(row.ratios):.2f}",
        f"{row.ratios[-1]:.2f}",
        f"{median(row.event_ratios):.2f}",
        f"{row.event_ratios[-1]:.2f}",
        f"{row.processor:.1f}",
    )


def _size(size: Size) -> str:
    return f"{size.deliveries} E:{size.externals}"


def bars(rows: Sequence[Row]) -> Iterator[Bar]:
    for row in rows:
        middle, largest = median(row.ratios), row.ratios[-1]
        yield Bar(
            f"luck: final / smallest known, median, {row.name}",
            f"{middle:.2f}",
            f"{MEDIAN_RATIO:g}",
            middle <= MEDIAN_RATIO,
        )
        yield Bar(
            f"luck: final / smallest known, largest, {row.name}",
            f"{largest:.2f}",
            f"{LARGEST_RATIO:g}",
            largest <= LARGEST_RATIO,
        )
