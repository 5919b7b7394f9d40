"""Fuzz the installed release of PySyncObj: all scenarios, all seeds, and a summary of what was found.

python examples/pysyncobj/run.py [runs of each scenario]
"""

from __future__ import annotations

import sys
from pathlib import Path

from pysyncobj.version import VERSION
from pysyncobj_scenarios import cluster, compaction, dump, uncrashed

from clew.simulation.fuzzing.random_run import random_run

SCENARIOS = {"cluster": cluster, "compaction": compaction, "uncrashed": uncrashed, "dump": dump}
RUNS = 200


def survey(name: str, runs: int) -> list[str]:
    """What the runs with the seeds from 0 came to: for each invariant, how often it broke, and the first time."""
    events = 0
    found: dict[str, int] = {}
    first: dict[str, list[str]] = {}
    for seed in range(runs):
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
    lines = [f"{name}: {runs} runs, {events:,} events" + ("" if found else ": nothing found")]
    for invariant, times in found.items():
        lines += [f"  {invariant}: broken in {times} of them, for the first time in", *first[invariant]]
    return lines


def _here() -> str:
    path = Path(__file__).with_name("pysyncobj_scenarios.py")
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    print(f"PySyncObj {VERSION}")
    for name in SCENARIOS:
        print("\n".join(survey(name, runs)), flush=True)


if __name__ == "__main__":
    main()
