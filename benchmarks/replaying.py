"""Whether recordings replay to the byte, in another process with another hash seed.

One process records runs and writes them down; another reads each, replays it, records it anew and compares the
bytes.

    python -m benchmarks.replaying --runs 1000 examples/raft/raft_bugs.py:raft45 examples/raft/raft_bugs.py:raft66
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from clew.simulation.fuzzing.fuzz import record
from clew.simulation.loading import load_scenario
from clew.simulation.recordings.reading import open_recording
from clew.simulation.recordings.recording import make_recording, write_recording
from clew.simulation.recordings.replaying import ReplayOutcome, replay

#: The hash seeds of the process that records and of the one that replays.
_RECORDING, _REPLAYING = "1", "2"


@dataclass(frozen=True)
class Replays:
    """``identical`` of ``runs`` gave the same bytes; ``violations`` of them break an invariant."""

    runs: int
    identical: int
    violations: int
    events: int


def measure(scenarios: Sequence[str], runs: int, steps: int = 0) -> Replays:
    """``runs`` in all, spread evenly over the scenarios; ``steps`` stands for the scenarios' bound, unless 0."""
    parts = [runs // len(scenarios) + (k < runs % len(scenarios)) for k in range(len(scenarios))]
    total = [0, 0, 0, 0]
    for scenario, count in zip(scenarios, parts, strict=True):
        with tempfile.TemporaryDirectory() as folder:
            _in_process(_RECORDING, "record", scenario, str(count), folder, str(steps))
            answer = _in_process(_REPLAYING, "replay", scenario, str(count), folder, str(steps))
        total = [a + b for a, b in zip(total, json.loads(answer), strict=True)]
    return Replays(*total)


def _in_process(hash_seed: str, *arguments: str) -> str:
    command = [sys.executable, "-m", "benchmarks.replaying", "--part", *arguments]
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    return subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout


# -- in a process of its own -------------------------------------------------------------------------------------


def _record(scenario: str, runs: int, folder: Path, steps: int) -> None:
    loaded = load_scenario(scenario)
    for seed in range(runs):
        text = write_recording(record(loaded, seed, steps=steps or None))
        (folder / f"{seed}.json").write_text(text, encoding="utf-8")


def _replay(scenario: str, runs: int, folder: Path) -> list[int]:
    identical = violations = events = 0
    for seed in range(runs):
        file = folder / f"{seed}.json"
        recording, loaded = open_recording(str(file), scenario)
        replayed = replay(recording, loaded)
        again = make_recording(loaded, recording.seed, recording.steps, replayed.execution)
        same = write_recording(again) == file.read_text(encoding="utf-8")
        identical += replayed.outcome is ReplayOutcome.SAME and same
        violations += recording.broken is not None
        events += len(replayed.execution.moments)
    return [runs, identical, violations, events]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.replaying", description=__doc__)
    parser.add_argument("--runs", type=int, default=1000, help="how many in all")
    parser.add_argument("--steps", type=int, default=0, help="the longest run; default: what the scenario says")
    parser.add_argument("--part", nargs=5, help=argparse.SUPPRESS)
    parser.add_argument("scenarios", nargs="*", metavar="SCENARIO.py:NAME")
    given = parser.parse_args()
    if given.part:
        part, scenario, runs, folder, steps = given.part
        if part == "record":
            _record(scenario, int(runs), Path(folder), int(steps))
        else:
            print(json.dumps(_replay(scenario, int(runs), Path(folder))))
        return 0
    if not given.scenarios:
        parser.error("name a scenario")
    replays = measure(given.scenarios, given.runs, given.steps)
    print(json.dumps(asdict(replays)))
    return 0 if replays.identical == replays.runs else 1


if __name__ == "__main__":
    sys.exit(main())
