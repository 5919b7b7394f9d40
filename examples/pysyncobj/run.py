"""Fuzz the installed release of PySyncObj: all scenarios, all seeds, and a summary of what was found.

python examples/pysyncobj/run.py [runs of each scenario]

How far it is goes to standard error: in one line that is written over, or, if that is no terminal, now and then.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from pysyncobj.version import VERSION
from pysyncobj_scenarios import cluster, compaction, dump, uncrashed

from clew.simulation.fuzzing.random_run import random_run

SCENARIOS = {"cluster": cluster, "compaction": compaction, "uncrashed": uncrashed, "dump": dump}
RUNS = 200
#: What a run takes, roughly: 800 of 0.3.17 took 42 s of one core of an AMD EPYC, with Python 3.11.
SECONDS_A_RUN = 0.055
#: So often it is said how far it is: on a terminal, and in a log.
SECONDS_BETWEEN, SECONDS_BETWEEN_LINES = 0.2, 10.0


class Progress:
    """Says how many runs of a scenario are over."""

    def __init__(self, name: str, runs: int) -> None:
        self._name = name
        self._runs = runs
        self._begun = self._told = time.monotonic()
        self._terminal = sys.stderr.isatty()

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._begun

    def tell(self, done: int) -> None:
        now = time.monotonic()
        if now - self._told >= (SECONDS_BETWEEN if self._terminal else SECONDS_BETWEEN_LINES):
            self._told = now
            told = f"{self._name}: {done} of {self._runs} runs, {self.seconds:.0f} s"
            print(
                f"\r{told} " if self._terminal else told,
                end="" if self._terminal else "\n",
                file=sys.stderr,
                flush=True,
            )

    def wipe(self) -> None:
        """Make room for the result in the line that was written over."""
        if self._terminal:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def survey(name: str, runs: int) -> list[str]:
    """What the runs with the seeds from 0 came to: for each invariant, how often it broke, and the first time."""
    events = 0
    progress = Progress(name, runs)
    found: dict[str, int] = {}
    first: dict[str, list[str]] = {}
    for seed in range(runs):
        progress.tell(seed)
        run = random_run(SCENARIOS[name], seed)
        events += run.world.events
        if run.broken is not None:
            invariant = run.broken.invariant
            found[invariant] = found.get(invariant, 0) + 1
            first.setdefault(
                invariant,
                [
                    f"    seed {seed}, after {run.world.events} events: {run.broken.what}",
                    f"    clew fuzz {_here()}:{name} --seed {seed} --runs 1 -o {name}-{seed}.json",
                ],
            )
    progress.wipe()
    counted = f"{name}: {runs} runs, {events:,} events, {progress.seconds:.1f} s"
    lines = [counted + ("" if found else ": nothing found")]
    for invariant, times in found.items():
        lines += [f"  {invariant}: broken in {times} of them, for the first time in", *first[invariant]]
    return lines


def _here() -> str:
    path = Path(__file__).with_name("pysyncobj_scenarios.py")
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)


def expected(runs: int) -> str:
    """How long all scenarios take, in words."""
    seconds = runs * len(SCENARIOS) * SECONDS_A_RUN
    return f"{seconds / 60:.0f} min" if seconds >= 90 else f"{max(1.0, seconds):.0f} s"


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    print(f"PySyncObj {VERSION}: {len(SCENARIOS)} scenarios, about {expected(runs)}", flush=True)
    for name in SCENARIOS:
        print("\n".join(survey(name, runs)), flush=True)


if __name__ == "__main__":
    main()
