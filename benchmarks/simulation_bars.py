"""The bars of the simulation and of minimization, each as measured, its limit, and whether it is met."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median

from benchmarks import replaying, simulation
from benchmarks.bars import Bar
from benchmarks.cases import EXAMPLES
from benchmarks.effort import Effort, say
from benchmarks.minimization import LEAST_SPARK, Row

MEDIAN_RATIO = 1.5
LARGEST_RATIO = 2.0
MINIMIZE_SECONDS = 120
DELIVERIES_PER_SECOND = 50_000
#: What the allocator may keep of a million deliveries.
MEMORY_GROWTH_MEGABYTES = 2.0
WORKERS_GAIN = 1.6

#: What is recorded and replayed: all scenarios of the case studies.
REPLAYED = tuple(
    str(EXAMPLES / f"{study}/{study}_bugs.py:{name}")
    for study, names in (
        ("raft", "raft45 raft46 raft56 raft58a raft58b raft42 raft66 raft45_nine correct correct_lossy"),
        ("spark", "spark2294 spark3150 spark9256 correct correct_faulty"),
    )
    for name in names.split()
)
#: They are cut short: to record takes far longer than to execute.
REPLAYED_STEPS = 300


def of_minimization(rows: Sequence[Row]) -> list[Bar]:
    ratio = median(row.ratio for row in rows)
    return [
        Bar(
            f"minimization: final / smallest known, median of {len(rows)} bugs",
            f"{ratio:.2f}",
            f"{MEDIAN_RATIO:g}",
            ratio <= MEDIAN_RATIO,
        ),
        *(_ratio(row) for row in rows),
        *(_externals(row) for row in rows),
        *(_seconds(row) for row in rows),
    ]


def _ratio(row: Row) -> Bar:
    measured = f"{row.ratio:.2f} ({row.final.deliveries} / {row.smallest.deliveries})"
    name = f"minimization: final / smallest known, {row.name}"
    return Bar(name, measured, f"{LARGEST_RATIO:g}", row.ratio <= LARGEST_RATIO)


def _externals(row: Row) -> Bar:
    ours, limit = row.final.externals, row.published.tfb.externals
    return Bar(f"minimization: events from outside, {row.name}", str(ours), str(limit), ours <= limit)


def _seconds(row: Row) -> Bar:
    measured = f"{row.seconds:.1f} s ({row.processor:.1f} s of processor time)"
    name = f"minimization: time, {row.name}"
    return Bar(name, measured, f"{MINIMIZE_SECONDS} s", row.seconds <= MINIMIZE_SECONDS)


def of_simulation(effort: Effort) -> list[Bar]:
    return [_speed(effort), *_memory(effort), *_workers(effort), _replays(effort)]


def _speed(effort: Effort) -> Bar:
    say("simulation: speed")
    rate = simulation.deliveries_per_second(effort.deliveries, effort.repetitions)
    return Bar(
        "simulation: deliveries per second, Raft, no invariants",
        f"{rate:.0f}",
        f"{DELIVERIES_PER_SECOND}",
        rate >= DELIVERIES_PER_SECOND,
    )


def _memory(effort: Effort) -> Iterator[Bar]:
    say(f"simulation: memory over {effort.deliveries} deliveries")
    ring, raft = (simulation.memory(name, effort.deliveries) for name in ("ring", "raft"))
    yield Bar(
        f"simulation: memory, from {ring.deliveries // 10} to {ring.deliveries} deliveries in a ring",
        f"{ring.growth:+.1f} MB of {ring.late:.0f} MB; Raft, with {raft.entries} entries in a log: "
        f"{raft.growth:+.1f} MB",
        f"{MEMORY_GROWTH_MEGABYTES:g} MB",
        ring.growth <= MEMORY_GROWTH_MEGABYTES,
    )


def _workers(effort: Effort) -> Iterator[Bar]:
    say("simulation: workers")
    machine = simulation.two_processes(effort.repetitions)
    gains = (
        simulation.workers_for_fuzz(effort.fuzz_runs, effort.repetitions),
        simulation.workers_for_minimize(LEAST_SPARK, effort.repetitions),
    )
    for gain in gains:
        yield Bar(
            f"simulation: schedules per second with 2 workers, {gain.what}",
            f"{gain.ratio:.2f} times ({gain.one:.0f} to {gain.two:.0f}; {machine.what}: {machine.ratio:.2f})",
            f"{WORKERS_GAIN:g} times",
            gain.ratio >= WORKERS_GAIN,
        )


def _replays(effort: Effort) -> Bar:
    say(f"simulation: {effort.replays} recordings and their replays")
    found = replaying.measure(REPLAYED, effort.replays, REPLAYED_STEPS)
    return Bar(
        "simulation: recordings that replay to the same bytes, under another PYTHONHASHSEED",
        f"{found.identical} ({found.violations} with a violation, {found.events} events)",
        str(found.runs),
        found.identical == found.runs,
    )
