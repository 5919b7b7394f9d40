"""Scenarios for the Spark-like cluster: the three bugs, and the cluster without them.

    clew fuzz examples/spark/spark_bugs.py:spark2294

The master, the processes for drivers and two workers or all are up from the beginning.  From outside come drivers
that are submitted, workers that join, and crashes, as it says.  All drivers approximate pi; what differs is where
the input of their tasks is.

- ``spark2294``: a task without preference, or a second copy, is launched before one whose file is at that worker.
  Workers join while drivers run.
- ``spark3150``: a driver and the master crash together, and the master cannot recover, ever.
- ``spark9256``: a driver does not wait long enough for the answer to its registration, and the master crashes.
- ``correct``: none of the bugs, and nothing is found.
- ``correct_faulty``: nor is it when the master, drivers and workers crash.

The protocol takes its network to be TCP: messages neither get lost on the way nor overtake each other, so there is
no scenario in which they do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from random import Random
from typing import Any

from spark import Bugs, Driver, Master, Worker
from spark_messages import (
    EXECUTOR_CORES,
    MASTER,
    WORKER_CORES,
    DriverStateChanged,
    LaunchTask,
    StatusUpdate,
    SubmitDriver,
)
from spark_tasks import Job, Task, points_inside

from clew.simulation import Broken, Node, Restart, Scenario, Send, Start, Stop, World
from clew.simulation.scenario import NO_EXCEPTION

WORKERS = tuple(f"worker{n}" for n in range(1, 7))
DRIVERS = {worker: worker.replace("worker", "driver") for worker in WORKERS}


# -- what must hold -----------------------------------------------------------------------------------------------


def locality(nodes: Mapping[str, Any]) -> Broken | None:
    """No executor gets a task while there is a nearer one for it, in the same job."""
    for name in DRIVERS.values():
        if name in nodes:
            for launch in nodes[name].launches:
                if launch.level > launch.best:
                    at = launch.executor.host
                    what = f"{at} gets a {launch.level.name} task while a {launch.best.name} one is pending"
                    return Broken("locality", what, (name,))
    return None


def results(nodes: Mapping[str, Any]) -> Broken | None:
    """A job that is completed has the result of each of its tasks, once.

    An event completes one driver at most, and invariants are checked after every event: the latest will do.
    """
    master = nodes.get(MASTER)
    if master is not None and master.completed:
        name, done = next(reversed(master.completed.items()))
        if done.inside != tuple(map(_inside, done.tasks)):
            what = f"{name} found {done.inside} points with jobs of {done.tasks} tasks"
            return Broken("results", what, (MASTER,))
    return None


def cores(nodes: Mapping[str, Any]) -> Broken | None:
    """No worker has more executors than cores for them."""
    for name in WORKERS:
        if name in nodes and len(nodes[name].executors) * EXECUTOR_CORES > WORKER_CORES:
            return Broken("cores", f"{len(nodes[name].executors)} executors on {WORKER_CORES} cores", (name,))
    return None


@cache
def _inside(rows: int) -> int:
    return sum(points_inside(row, rows) for row in range(rows))


def identity(broken: Broken) -> str:
    """The invariant; for an exception also where it arose, whichever application it was about."""
    if broken.invariant == NO_EXCEPTION:
        return f"{broken.invariant} ({broken.what.rpartition('(')[2]}"
    return broken.invariant


def fingerprint(message: Any) -> str:
    """Which job, which state.  Names of applications and numbers of tasks depend on what else was submitted."""
    kind = type(message).__name__
    match message:
        case SubmitDriver(name):
            return f"{kind} {name}"
        case DriverStateChanged(_, state):
            return f"{kind} {state.name}"
        case LaunchTask(_, job):
            return f"{kind} {job}"
        case StatusUpdate(_, job, _, state):
            return f"{kind} {job} {state.name}"
    return kind


# -- what is done to the cluster ----------------------------------------------------------------------------------


def submit(mixed: float) -> Callable[[Random, World], Send]:
    """Two jobs; the tasks of the second are of two kinds, of all three as often as ``mixed`` says."""

    def make(random: Random, world: World) -> Send:
        first = _job(random, "plain", "file")
        kinds = ["plain", "file", "cached"]
        if random.random() >= mixed:
            kinds.remove(random.choice(kinds))
        return Send(MASTER, SubmitDriver(f"pi-{world.events}", (first, _job(random, *kinds))))

    return make


def _job(random: Random, *kinds: str) -> Job:
    return tuple(_task(random, random.choice(kinds)) for _ in range(random.randint(4, 8)))


def _task(random: Random, kind: str) -> Task:
    match kind:
        case "file":
            return Task(file_at=random.choice(WORKERS))
        case "cached":
            return Task(cached=random.randrange(4))
    return Task()


def join(random: Random, world: World) -> Start | None:
    """The next worker joins the cluster, or one that is down comes back."""
    down = [worker for worker in WORKERS if worker not in world.processes]
    return Start(down[0]) if down else None


def crash_master(random: Random, world: World) -> Restart:
    return Restart(MASTER)


def crash_driver(random: Random, world: World) -> Restart | None:
    """One that runs something."""
    busy = [name for name in DRIVERS.values() if getattr(world.nodes.get(name), "app", "")]
    return Restart(random.choice(busy)) if busy else None


def crash_worker(random: Random, world: World) -> Restart | Stop | None:
    """It is back at once, or when it joins again."""
    up = [worker for worker in WORKERS if worker in world.processes]
    return random.choice((Restart, Stop))(random.choice(up)) if up else None


# -- the scenarios ------------------------------------------------------------------------------------------------


def _cluster(bugs: Bugs) -> dict[str, Callable[[], Node]]:
    nodes: dict[str, Callable[[], Node]] = {MASTER: partial(Master, bugs)}
    for worker, driver in DRIVERS.items():
        nodes[worker] = partial(Worker, driver)
        nodes[driver] = partial(Driver, worker, bugs)
    return nodes


def _scenario(bugs: Bugs, workers: int, **settings: Any) -> Scenario:
    """So many of the workers are there from the beginning."""
    return Scenario(
        nodes=_cluster(bugs),
        running=(MASTER, *WORKERS[:workers], *DRIVERS.values()),
        invariants=(locality, results, cores),
        fingerprint=fingerprint,
        identity=identity,
        timers=0.2,
        **settings,
    )


#: What a process waits for usually comes before it stops waiting; tasks are rarely so slow that they get a copy.
_PATIENT = {"register": 0.02, "unregister": 0.02, "locality wait": 0.1, "speculate": 0.01}
_GROWTH = (1, join)
_CRASHES = ((2, crash_master), (2, crash_driver))

#: What ``clew test`` is to find.
_BREAKS: dict[str, Any] = {"rare": _PATIENT, "expect": "violation"}
_HOLDS: dict[str, Any] = {"steps": 2000, "expect": "no violation", "expect_runs": 3}

spark2294 = _scenario(
    Bugs(spark_2294=True), 2, events=((4, submit(0.02)), _GROWTH), count=30, steps=2500, **_BREAKS
)
spark3150 = _scenario(
    Bugs(spark_3150=True), 6, events=((4, submit(0.3)), *_CRASHES), count=35, steps=1000, **_BREAKS
)
spark9256 = _scenario(Bugs(spark_9256=True), 6, events=((1, submit(0.3)),), count=25, steps=1200, **_BREAKS)
correct = _scenario(Bugs(), 2, events=((4, submit(0.5)), _GROWTH), count=40, **_HOLDS)
correct_faulty = _scenario(
    Bugs(), 2, events=((4, submit(0.3)), _GROWTH, *_CRASHES, (2, crash_worker)), count=50, **_HOLDS
)
