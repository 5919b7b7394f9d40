"""How much work a measurement may be: the full one, and a quick one that only shows that everything runs."""

from __future__ import annotations

import sys
from dataclasses import dataclass


@dataclass(frozen=True)
class Effort:
    """``repetitions`` are of short measurements, of which the median counts; limits are per row or program."""

    name: str
    seeds: int
    random_runs: int
    repetitions: int
    lineage_seconds: float
    growth_seconds: float
    growth_eot: int
    cold_starts: int
    processes: int


FULL = Effort("full", 25, 20_000, 5, 60.0, 20.0, 24, 15, 5)
QUICK = Effort("quick", 3, 1_000, 1, 5.0, 2.0, 9, 3, 1)


def say(line: str) -> None:
    """A line on what is being measured."""
    print(line, file=sys.stderr, flush=True)
