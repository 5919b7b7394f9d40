"""Faults injected into Python code: how many executions it takes to find them, and how fast these are.

Executions are counted and the same on every machine.  Speed is by processor time; where two versions of Clew are
compared they run in turn, each in processes of its own, and the best of each counts: what disturbs a measurement
on a machine that others use, too, only makes it slower.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.cases import EXAMPLES
from clew import check_scenario
from clew.faults import FaultsOf
from clew.injection.checking import complete_bounds
from clew.injection.result import CodeVerdict
from clew.injection.searching.system import CodeSystem
from clew.search.verdict import Answer
from clew.simulation import Context, Faults, Node, Scenario, Send, VirtualTime
from clew.simulation.loading import load_scenario

REPLICATION = EXAMPLES / "replication" / "replication.py"
#: Random injection is given up after so many executions.
MOST_RANDOM = 3_000
#: The faults of the certificate begin until then, in seconds: the write, and what leads to its acknowledgement.
CERTIFIED_UNTIL = 3.0
#: So many executions of a small system may lineage make before that is called a miss.
MOST_LINEAGE = 300
#: Deliveries of the executions that are timed.
EVENTS = 300


def replication(name: str) -> Scenario:
    return load_scenario(f"{REPLICATION}:{name}").scenario


# -- executions until the bug ------------------------------------------------------------------------------------


def by_lineage(name: str) -> CodeVerdict:
    """Search for the three faults; in this process, for its processor time is measured."""
    return check_scenario(replication(name), in_process=True)


@dataclass(frozen=True)
class Random:
    """Executions of random injection, by seed: those that found nothing have made as many as they may."""

    executions: tuple[int, ...]
    found: int

    @property
    def mean(self) -> float:
        return mean(self.executions)


def at_random(name: str, seeds: int) -> Random:
    scenario = replication(name)
    # The seed is that of the faults: the schedule, whose latencies are fixed, is the same with all.
    verdicts = [
        check_scenario(scenario, strategy="random", seed=seed, max_runs=MOST_RANDOM, in_process=True)
        for seed in range(seeds)
    ]
    found = sum(verdict.answer is Answer.COUNTEREXAMPLE for verdict in verdicts)
    return Random(tuple(verdict.runs for verdict in verdicts), found)


def certify() -> tuple[CodeVerdict, float]:
    """Try every two faults on the system with the fix; return the verdict and the seconds of the processor."""
    started = time.process_time()
    verdict = check_scenario(
        replication("careful"),
        losses=2,
        crashes=2,
        restarts=2,
        faults=2,
        faults_until=CERTIFIED_UNTIL,
        strategy="exhaustive",
        in_process=True,
    )
    return verdict, time.process_time() - started


# -- misses of lineage -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Misses:
    """Of ``systems`` that are drawn, so many are ``broken`` by faults, which exhaustion has shown.

    Of those lineage ``missed`` some, and found others with more faults than the fewest (``larger``).  ``runs`` are
    the executions of both, on those that both broke.
    """

    systems: int
    broken: int
    missed: int
    larger: int
    runs_of_lineage: int
    runs_of_exhaustion: int


def misses(systems: int) -> Misses:
    """Compare lineage with exhaustion on the systems with which the tests compare exhaustion and brute force."""
    counted: list[tuple[CodeVerdict, CodeVerdict]] = []
    for scenario in _draw(systems):
        exhaustive = check_scenario(scenario, strategy="exhaustive", max_runs=5_000, in_process=True)
        found = exhaustive.counterexample
        if found is not None and found.faults:
            by = check_scenario(scenario, max_runs=MOST_LINEAGE, in_process=True)
            counted.append((exhaustive, by))
    both = [(one, other) for one, other in counted if other.counterexample is not None]
    return Misses(
        systems,
        len(counted),
        len(counted) - len(both),
        sum(_size(other) > _size(one) for one, other in both),
        sum(other.runs for _, other in both),
        sum(one.runs for one, _ in both),
    )


def _size(verdict: CodeVerdict) -> int:
    assert verdict.counterexample is not None
    return len(verdict.counterexample.faults)


def _draw(number: int) -> Iterator[Scenario]:
    tests = str(Path(__file__).parent.parent / "tests")
    sys.path.insert(0, tests)
    try:
        from injection.systems import draw_system, scenario_of
    finally:
        with suppress(ValueError):
            sys.path.remove(tests)
    for system in range(number):
        yield scenario_of(draw_system(system))


# -- speed -------------------------------------------------------------------------------------------------------


class Ring(Node):
    """Passes on what it gets, and counts."""

    def __init__(self, following: str) -> None:
        self._following = following

    def on_start(self, ctx: Context) -> None:
        self.count = 0

    def on_message(self, ctx: Context, sender: str, message: Any) -> None:
        self.count += 1
        ctx.send(self._following, message)


def _ring_of(names: tuple[str, ...]) -> dict[str, Callable[[], Node]]:
    return {name: partial(Ring, following) for name, following in zip(names, (*names[1:], names[0]), strict=True)}


def _counted(nodes: Any) -> str | None:
    return None if all(node.count < EVENTS for node in nodes.values()) else "more than there can be"


def executions_per_second(runs: int, repetitions: int) -> float:
    """Of executions with some 300 events, a promise and an invariant: those of a check of every two losses."""
    names = ("a", "b", "c", "d")
    scenario = Scenario(
        nodes=_ring_of(names),
        running=names,
        before=[Send(name, {"from": name}) for name in names],
        promises=[_counted],
        invariants=[_counted],
        time=VirtualTime(latency=0.01, until=EVENTS / len(names) * 0.01),
        faults=Faults(losses=2),
    )
    return max(_rate(scenario, runs) for _ in range(repetitions))


def _rate(scenario: Scenario, runs: int) -> float:
    system = CodeSystem(scenario, complete_bounds(scenario, Faults()))
    events = len(system.execute(FaultsOf()).occurrences)
    assert abs(events - EVENTS) <= 10, f"an execution has {events} events"
    started = time.process_time()
    verdict = check_scenario(scenario, strategy="exhaustive", max_runs=runs, in_process=True)
    assert verdict.counterexample is None
    return verdict.runs / (time.process_time() - started)


# -- deliveries --------------------------------------------------------------------------------------------------

#: The version before there was virtual time.
BEFORE = "7de94cb^"

#: Executed by each version: Raft without invariants, in any order and where the version knows it in virtual time.
_DELIVER = """
import sys, time
from dataclasses import replace
from clew.simulation.loading import load_scenario
from clew.simulation.fuzzing.random_run import random_run
scenario = replace(load_scenario(sys.argv[1]).scenario, invariants=())
if sys.argv[3] == "timed":
    from clew.simulation import VirtualTime
    from clew.simulation.world import World
    arm = World.arm
    lengths = {"election": 0.3, "retry": 0.05}
    World.arm = lambda world, node, name, time, after=None: arm(world, node, name, time, lengths[name])
    scenario = replace(scenario, time=VirtualTime(latency=(0.005, 0.02), drift=0.1, until=1_000_000))
done = seed = 0
started = time.process_time()
while done < int(sys.argv[2]):
    done += random_run(scenario, seed).deliveries
    seed += 1
print(done / (time.process_time() - started))
"""


@dataclass(frozen=True)
class Deliveries:
    """Deliveries per second, the best of each: before there was virtual time, now in any order, and in time."""

    before: float
    any_order: float
    timed: float


def deliveries(number: int, repetitions: int) -> Deliveries:
    """Measure the version before and this one in turn."""
    here = Path(__file__).parent.parent
    with TemporaryDirectory() as folder:
        archive = subprocess.run(["git", "archive", BEFORE, "src"], cwd=here, capture_output=True, check=True)
        subprocess.run(["tar", "-x", "-C", folder], input=archive.stdout, check=True)
        rounds = [
            (
                _deliver(Path(folder), number, "any order"),
                _deliver(here, number, "any order"),
                _deliver(here, number, "timed"),
            )
            for _ in range(repetitions)
        ]
    return Deliveries(*(max(each) for each in zip(*rounds, strict=True)))


def _deliver(checkout: Path, number: int, how: str) -> float:
    raft = str(EXAMPLES / "raft" / "raft_bugs.py") + ":correct"
    command = [sys.executable, "-c", _DELIVER, raft, str(number), how]
    surroundings = {**os.environ, "PYTHONPATH": str(checkout / "src")}
    done = subprocess.run(command, env=surroundings, capture_output=True, text=True, check=True)
    return float(done.stdout)
