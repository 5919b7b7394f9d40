"""How much work a measurement may be: the full one, and a quick one that only shows that everything runs."""

from __future__ import annotations

import sys
from dataclasses import dataclass


@dataclass(frozen=True)
class Effort:
    """``repetitions`` are of short measurements, of which the median counts; limits are per row or program.

    ``bugs`` are those that are minimized (None: all), ``deliveries`` the number that speed and memory are measured
    over, ``fuzz_runs`` the runs that one and two workers share out, ``replays`` the recordings that are replayed,
    ``recordings`` how many of each bug are minimized to see how much luck matters, ``systems`` on how many drawn
    ones lineage is compared with exhaustion.
    """

    name: str
    seeds: int
    random_runs: int
    repetitions: int
    lineage_seconds: float
    growth_seconds: float
    growth_eot: int
    cold_starts: int
    processes: int
    bugs: tuple[str, ...] | None
    deliveries: int
    fuzz_runs: int
    replays: int
    recordings: int
    systems: int


FULL = Effort("full", 25, 20_000, 5, 60.0, 20.0, 24, 15, 5, None, 1_000_000, 400, 1_000, 10, 200)
QUICK = Effort("quick", 3, 1_000, 1, 5.0, 2.0, 9, 3, 1, ("spark-3150", "spark-9256"), 100_000, 20, 20, 2, 40)


def say(line: str) -> None:
    """A line on what is being measured."""
    print(line, file=sys.stderr, flush=True)
