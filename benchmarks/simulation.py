"""How fast the simulation runs, what it keeps in memory, and what a second worker brings.

Speed is by processor time, so that it means something on a machine that does other things as well.  Memory is
measured in fresh processes.  Workers are measured by the clock, one and two in turn, and beside them what two
processes that have nothing to do with each other bring on this machine, which no two workers can exceed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.minimization import scenario
from clew.minimization.minimizing import minimize
from clew.simulation import Context, Node, Scenario, Send
from clew.simulation.fuzzing.fuzz import fuzz
from clew.simulation.fuzzing.random_run import RandomRun, random_run

CORRECT = "raft/raft_bugs.py:correct"
#: The bug whose minimization is shared out to workers.
SHARED = "raft/raft_bugs.py:raft58b"

_MEGABYTE = 1e6
_SPIN = 5_000_000


# -- speed -------------------------------------------------------------------------------------------------------


def deliveries_per_second(deliveries: int, repetitions: int) -> float:
    """Of random executions of Raft without a look at invariants; the median of some measurements."""
    raft = replace(scenario(CORRECT).scenario, invariants=())
    return median(_rate(raft, deliveries // 10) for _ in range(repetitions))


def _rate(raft: Scenario, deliveries: int) -> float:
    done = seed = 0
    started = time.process_time()
    while done < deliveries:
        done += random_run(raft, seed).deliveries
        seed += 1
    return done / (time.process_time() - started)


# -- memory ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Memory:
    """Of an execution: resident megabytes after a tenth of its deliveries and after all; entries in a log then."""

    name: str
    deliveries: int
    early: float
    late: float
    entries: int

    @property
    def growth(self) -> float:
        return self.late - self.early


class Ring(Node):
    """Passes on what it gets: its state does not grow."""

    def __init__(self, following: str) -> None:
        self.following = following

    def on_message(self, ctx: Context, sender: str, message: Any) -> None:
        ctx.send(self.following, message)


def _ring() -> Scenario:
    names = ("a", "b", "c", "d")
    pairs = zip(names, (*names[1:], names[0]), strict=True)
    nodes: dict[str, Callable[[], Node]] = {name: partial(Ring, following) for name, following in pairs}
    return Scenario(nodes=nodes, running=names, before=[Send(name, {"from": name}) for name in names])


def _raft() -> Scenario:
    return replace(scenario(CORRECT).scenario, invariants=())


_REMEMBERED = {"ring": _ring, "raft": _raft}


def memory(name: str, deliveries: int) -> Memory:
    """Measured in a process of its own."""
    code = f"from benchmarks.simulation import remember; remember({name!r}, {deliveries})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return Memory(**json.loads(done.stdout))


def remember(name: str, deliveries: int) -> None:
    """In that process: print what was measured as JSON."""
    run = RandomRun(replace(_REMEMBERED[name](), steps=2 * deliveries), 0)
    early, late = (_resident_after(run, share) for share in (deliveries // 10, deliveries))
    entries = max(len(getattr(node, "log", ())) for node in run.world.nodes.values())
    print(json.dumps(asdict(Memory(name, run.deliveries, early, late, entries))))


def _resident_after(run: RandomRun, deliveries: int) -> float:
    while run.deliveries < deliveries:
        if not run.go_on(min(1000, deliveries - run.deliveries)):
            raise RuntimeError(f"the execution ended after {run.deliveries} deliveries")
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / _MEGABYTE


# -- workers -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Gain:
    """Schedules per second with one and with two workers, the best of some measurements."""

    what: str
    one: float
    two: float

    @property
    def ratio(self) -> float:
        return self.two / self.one


def workers_for_fuzz(runs: int, repetitions: int) -> Gain:
    loaded = scenario(CORRECT)

    def rate(workers: int) -> float:
        started = time.perf_counter()
        fuzz(loaded, runs=runs, workers=workers)
        return runs / (time.perf_counter() - started)

    return _gain("fuzz", rate, repetitions)


def workers_for_minimize(least: int, repetitions: int) -> Gain:
    """The same recording each time.  All schedules count that were executed, also those tried ahead in vain."""
    loaded = scenario(SHARED)
    recording = fuzz(loaded, runs=100_000, at_least=least).recording
    assert recording is not None, f"{SHARED} has violations"

    def rate(workers: int) -> float:
        started = time.perf_counter()
        found = minimize(recording, loaded, workers=workers)
        executed = sum(stage.schedules for stage in found.stages) + found.ahead
        return executed / (time.perf_counter() - started)

    return _gain("minimize", rate, repetitions)


def two_processes(repetitions: int) -> Gain:
    """What the machine gives to two processes that only count."""
    return _gain("two processes that share nothing", _counting_rate, repetitions)


def _gain(what: str, rate: Callable[[int], float], repetitions: int) -> Gain:
    """The best of each, in turn: on a machine that others use, too, two cores are disturbed more than one."""
    pairs = [(rate(1), rate(2)) for _ in range(repetitions)]
    return Gain(what, max(one for one, _ in pairs), max(two for _, two in pairs))


def _counting_rate(processes: int) -> float:
    fork = get_context("fork")
    started = time.perf_counter()
    running = [fork.Process(target=_count) for _ in range(processes)]
    for process in running:
        process.start()
    for process in running:
        process.join()
    return processes / (time.perf_counter() - started)


def _count() -> None:
    number = 0
    while number < _SPIN:
        number += 1
