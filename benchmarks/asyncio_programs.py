"""Unmodified asyncio programs: executions until their bugs, how small these become, events a second, and simloom.

The programs are those of ``examples/asyncio``.  Executions are counted and the same on every machine; speed is by
processor time, the best of a few.  simloom 0.5.0 is measured in an environment of its own (``.venv-simloom``),
which is made where there is a Python 3.12: it runs the same files, by the adapter in ``simloom_side.py``.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

from benchmarks.cases import EXAMPLES
from benchmarks.effort import say
from clew import check_scenario, fuzz, minimize
from clew.injection.result import CodeVerdict
from clew.search.verdict import Answer
from clew.simulation.fuzzing.random_run import random_run
from clew.simulation.loading import load_scenario

PROGRAMS = EXAMPLES / "asyncio"
STORE, BUSY = PROGRAMS / "streams_store_scenarios.py", "busy"
TABLE, COUNTER = PROGRAMS / "kademlia_scenarios.py", PROGRAMS / "shared_counter_scenarios.py"
#: Random injection is given up after so many executions, and so is simloom.
MOST_RANDOM = 2_000
#: The faults that break the store, and the seconds in which they happen.
FAULTS, UNTIL = 3, 4.0

SIMLOOM = Path(__file__).parent.parent / ".venv-simloom"


@dataclass(frozen=True)
class Executions:
    """Executions until a failure is found, by seed; ``found``: in how many of them it was."""

    counts: tuple[int, ...]
    found: int

    @property
    def mean(self) -> float:
        return mean(self.counts)

    def __str__(self) -> str:
        bound = "" if self.found == len(self.counts) else "at least "
        return f"{bound}{self.mean:.0f} ({self.found} of {len(self.counts)} seeds found it)"


# -- the store ---------------------------------------------------------------------------------------------------


def store_by_lineage(name: str) -> CodeVerdict:
    return check_scenario(f"{STORE}:{name}", in_process=True)


def store_at_random(name: str, seeds: int) -> Executions:
    verdicts = [
        check_scenario(f"{STORE}:{name}", strategy="random", seed=seed, max_runs=MOST_RANDOM, in_process=True)
        for seed in range(seeds)
    ]
    found = sum(verdict.answer is Answer.COUNTEREXAMPLE for verdict in verdicts)
    return Executions(tuple(verdict.runs for verdict in verdicts), found)


# -- kademlia ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Minimized:
    """What fuzzing found and minimization left of it: deliveries and seconds of the processor."""

    what: str
    runs: int
    before: int
    after: int
    finding: float
    minimizing: float


def minimize_table(deliveries: int) -> Minimized:
    """Find the failure of kademlia by fuzzing, after at least so many deliveries, and minimize it."""
    started = time.process_time()
    found = fuzz(f"{TABLE}:put_often", at_least=deliveries, in_process=True)
    finding = time.process_time() - started
    recording = found.recording
    assert recording is not None and recording.broken is not None and found.run is not None, "kademlia fails"
    started = time.process_time()
    small = minimize(recording, in_process=True)
    minimizing = time.process_time() - started
    return Minimized(
        recording.broken.what, found.run + 1, recording.deliveries, small.size.deliveries, finding, minimizing
    )


# -- speed -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Pace:
    """Per second of the processor."""

    events: float
    executions: float


def measure_pace(target: str, runs: int, repetitions: int) -> Pace:
    """Execute a scenario without faults and without a recording; the best of a few repetitions counts."""
    scenario = load_scenario(target).scenario
    random_run(scenario, 0)  # what is imported and compiled for the first time
    return max((_pace_once(scenario, runs) for _ in range(repetitions)), key=lambda pace: pace.events)


def _pace_once(scenario: Any, runs: int) -> Pace:
    started = time.process_time()
    events = sum(random_run(scenario, seed).world.events for seed in range(runs))
    seconds = time.process_time() - started
    return Pace(events / seconds, runs / seconds)


# -- simloom -----------------------------------------------------------------------------------------------------


def prepare_simloom() -> Path | None:
    """Return the Python of an environment with simloom, which is made at need; None where it cannot be made."""
    python = SIMLOOM / "bin" / "python"
    if (SIMLOOM / "ready").exists():
        return python
    base = find_python()
    if base is None:
        return None
    say("asyncio: making an environment with simloom 0.5.0")
    packages = ("simloom==0.5.0", "kademlia==2.2.3")
    quiet = ("--quiet", "--disable-pip-version-check")
    for command in (
        [base, "-m", "venv", str(SIMLOOM)],
        [str(python), "-m", "pip", "install", *quiet, *packages],
    ):
        if subprocess.run(command, capture_output=True, check=False).returncode != 0:
            return None
    (SIMLOOM / "ready").touch()
    return python


def find_python() -> str | None:
    """Return a Python that simloom runs on, if the machine has one."""
    # One that pyenv has and has not been told to use only says so when it is called.
    installed = sorted(Path.home().glob(".pyenv/versions/3.1[23]*/bin/python3"))
    for each in (shutil.which("python3.12"), shutil.which("python3.13"), *map(str, installed)):
        if each and subprocess.run([each, "--version"], capture_output=True, check=False).returncode == 0:
            return each
    return None


def ask_simloom(python: Path, program: Path, scenario: str, what: str, **how: Any) -> dict[str, Any]:
    asked = json.dumps({"what": what, "file": str(program), "scenario": scenario, **how})
    done = subprocess.run(
        [str(python), str(Path(__file__).with_name("simloom_side.py")), asked],
        env={**os.environ, "PYTHONHASHSEED": "0"},
        capture_output=True,
        text=True,
        check=True,
    )
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def executions_of_simloom(
    python: Path, program: Path, scenario: str, what: str, seeds: int, **how: Any
) -> Executions:
    """Ask simloom for the failure of a program, from several seeds on."""
    answers = [
        ask_simloom(python, program, scenario, what, most=MOST_RANDOM, seed=MOST_RANDOM * n, minimize=False, **how)
        for n in range(seeds)
    ]
    return Executions(tuple(a["executions"] for a in answers), sum(a["found"] for a in answers))


def store_by_simloom(python: Path, scenario: str, seeds: int, nodes: Sequence[str]) -> Executions:
    return executions_of_simloom(
        python, STORE, scenario, "faults", seeds, nodes=list(nodes), faults=FAULTS, until=UNTIL
    )
