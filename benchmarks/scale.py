"""Searches on a cluster: the bars of two workers, and a measured model of a thousand (docs/scale.md).

The bars are on a LocalCluster of Dask.  A gain in time cannot be measured on a machine that others use, too, so
that of two workers is in processor time: all runs take as long as the workers need if they share them evenly, and
no less than all that is to be done on two processors.  The gain by the clock is stated beside it.

The model needs what an execution costs a worker, and what a block and an execution cost everybody else.  A worker
with a thousand threads that only wait shows what a thousand slots cost scheduler and client.
"""

from __future__ import annotations

import os
import pickle
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

from benchmarks.bars import Bar
from benchmarks.cases import EXAMPLES
from benchmarks.effort import Effort, say
from benchmarks.output import Table
from benchmarks.scale_cluster import many_slots, processor_seconds_below, two_workers, worker_pids
from clew.budgets.deadline import Deadline
from clew.simulation.fuzzing.fuzz import Fuzzed, fuzz
from clew.simulation.fuzzing.search import Search
from clew.simulation.fuzzing.serving import make_job
from clew.simulation.loading import LoadedScenario, load_scenario
from clew.workers import executors
from clew.workers.blocks import Block, Blocks
from clew.workers.dask_client import ClientExecutor
from clew.workers.executors import ExecutorCrew, Team, as_team
from clew.workers.tasks import Job, Reply, perform

#: Nothing breaks it, and a run takes some milliseconds.
SCENARIO = f"{EXAMPLES / 'raft' / 'raft_timed.py'}:correct"
#: Broken, but after so many deliveries not with one of the first seeds.
BROKEN, LEAST = f"{EXAMPLES / 'lock' / 'lock.py'}:hasty", 400
LEAST_GAIN = 1.6
PROCESSORS = 2
SIZES = (1, 2, 10, 100, 1000)


class Gain(NamedTuple):
    """How much sooner two workers are done than one: in processor time, and by the clock."""

    processor: float
    clock: float


class Coordination(NamedTuple):
    """Processor seconds of a block for who hands it out and for the scheduler, with so many at once."""

    slots: int
    client: float
    scheduler: float


@dataclass(frozen=True)
class Model:
    """What executions on a cluster cost.

    ``execution``: of a worker's processor, seconds; ``merging``: of it at home.  ``opening``: until a new process
    at a worker has executed its first.  ``sent`` and ``returned``: bytes of a block; ``returned_each``: of an
    execution in it.
    """

    execution: float
    merging: float
    opening: float
    sent: int
    returned: int
    returned_each: float
    coordination: Coordination


class Predicted(NamedTuple):
    """What a number of workers comes to; ``client`` and ``scheduler``: shares of a processor each."""

    workers: int
    block_seconds: float
    executions: float
    client: float
    scheduler: float
    bytes_per_second: float

    @property
    def efficiency(self) -> float:
        """Return the part of what the workers could do that is not lost to waiting for others."""
        return min(1.0, 1.0 / max(self.client, self.scheduler, 1e-9))


def predict(model: Model, workers: int) -> Predicted:
    """Say what so many workers come to, each with a processor of its own."""
    block_seconds = max(executors.SHORTEST_BLOCK, executors.BLOCK_PER_WORKER * workers)
    blocks = workers / block_seconds
    executions = workers / model.execution
    client = blocks * model.coordination.client + executions * model.merging
    scheduler = blocks * model.coordination.scheduler
    found = Predicted(
        workers,
        block_seconds,
        executions,
        client,
        scheduler,
        blocks * (model.sent + model.returned) + executions * model.returned_each,
    )
    return found._replace(executions=executions * found.efficiency)


# -- bars --------------------------------------------------------------------------------------------------------


def measure_bars(effort: Effort) -> Iterator[Bar]:
    """The bars of a cluster."""
    runs = 10 * effort.fuzz_runs
    say(f"scale: {runs} runs on two workers, one of which is killed")
    with two_workers() as cluster, cluster.get_client() as client:
        yield _killed(cluster, ClientExecutor(client), runs)
        yield _earliest(ClientExecutor(client))
    say(f"scale: {runs} runs on one worker and on two")
    gain = measure_gain(runs, effort.repetitions)
    yield Bar(
        f"scale: {runs} runs on two workers of a LocalCluster, beside one",
        f"{gain.processor:.2f} times (by the clock {gain.clock:.2f})",
        f"{LEAST_GAIN:g} times",
        gain.processor >= LEAST_GAIN,
    )


def _killed(cluster: Any, executor: Executor, runs: int) -> Bar:
    killed: list[int] = []

    def kill_one(done: int, what: str) -> None:
        if done > runs // 4 and not killed:
            killed.append(worker_pids(cluster)[0])
            os.kill(killed[0], signal.SIGKILL)

    found = fuzz(SCENARIO, runs=runs, executor=executor, progress=kill_one)
    missing = runs - found.coverage.runs
    same = _answer(found) == _answer(fuzz(SCENARIO, runs=runs))
    return Bar(
        f"scale: runs that are lost when one of two workers is killed, of {runs}",
        f"{missing}, {'the same' if same else 'another'} answer",
        "0, the same answer",
        missing == 0 and same and bool(killed),
    )


def _answer(found: Fuzzed) -> Fuzzed:
    """Return what must not depend on the workers."""
    return replace(found, notices=())


def _earliest(executor: Executor) -> Bar:
    there, here = (fuzz(BROKEN, at_least=LEAST, executor=each) for each in (executor, None))
    return Bar(
        "scale: seed of the violation on two workers, and here",
        f"{there.run} and {here.run}",
        "the same",
        there.run is not None and _answer(there) == _answer(here),
    )


def measure_gain(runs: int, repetitions: int) -> Gain:
    """Fuzz on one worker and on two, in turn; the median of the gains in processor time, the best by the clock."""
    spent: dict[int, list[_Spent]] = {1: [], 2: []}
    for _ in range(repetitions):
        for count, found in spent.items():
            with two_workers(count) as cluster, cluster.get_client() as client:
                executor = ClientExecutor(client)
                fuzz(SCENARIO, runs=50, executor=executor)  # so that the processes are there
                search = partial(fuzz, SCENARIO, runs=runs, executor=executor)
                found.append(_spend(search, worker_pids(cluster)))
    makespans = {count: sorted(each.makespan for each in found) for count, found in spent.items()}
    middle = repetitions // 2
    clock = {count: min(each.clock for each in found) for count, found in spent.items()}
    return Gain(makespans[1][middle] / makespans[2][middle], clock[1] / clock[2])


class _Spent(NamedTuple):
    """Seconds: of this process with the scheduler in it, of each worker, and by the clock."""

    here: float
    workers: list[float]
    clock: float

    @property
    def makespan(self) -> float:
        """Return how long it takes at least, on two processors that do nothing else.

        Shared evenly: on a machine that others use, whichever worker gets more of it is handed more.
        """
        work = sum(self.workers)
        return max(work / len(self.workers), self.here, (self.here + work) / PROCESSORS)


def _spend(work: Callable[[], object], pids: list[int]) -> _Spent:
    before = [processor_seconds_below(pid) for pid in pids]
    here, clock = time.process_time(), time.perf_counter()
    work()
    here, clock = time.process_time() - here, time.perf_counter() - clock
    return _Spent(here, [processor_seconds_below(p) - b for p, b in zip(pids, before, strict=True)], clock)


# -- the model ---------------------------------------------------------------------------------------------------


def measure_model(effort: Effort) -> Model:
    """Measure what the model needs."""
    loaded = load_scenario(SCENARIO)
    runs = 2 * effort.fuzz_runs
    say(f"scale: {runs} runs, and what they cost at home")
    execution, reply = _execute(loaded, runs)
    merging = _merge(loaded, reply, runs)
    job = make_job(loaded, 0, 0, 0, in_process=True)
    request = (perform, job, Block(10**6, runs), 3600.0, "0123456789abcdef-100000")
    nothing = Reply({**reply, "tally": {**reply["tally"], "states": []}}, 10.0, "a-machine, process 100000")
    states = len(pickle.dumps(reply)) - len(pickle.dumps(nothing.value))
    slots = 1000 if effort.repetitions > 1 else 50
    return Model(
        execution,
        merging,
        _open(job),
        len(pickle.dumps(request)),
        len(pickle.dumps(nothing)),
        max(0, states) / runs,
        measure_coordination(job, nothing, slots, seconds=5.0 if slots == 1000 else 0.5),
    )


def _execute(loaded: LoadedScenario, runs: int) -> tuple[float, Any]:
    search = _search(loaded)
    search.serve(Block(0, 10))
    started = time.process_time()
    reply = search.serve(Block(10, runs))
    return (time.process_time() - started) / runs, reply


def _search(loaded: LoadedScenario) -> Search:
    return Search(loaded, 0, 10**9, 10**9, Deadline(None), None, in_process=True)


def _merge(loaded: LoadedScenario, reply: Any, runs: int) -> float:
    home, packed = _search(loaded), pickle.dumps(reply)
    times = 200
    started = time.process_time()
    for _ in range(times):
        home.tally.merge(pickle.loads(packed)["tally"])
    return (time.process_time() - started) / times / runs


def _open(job: Job) -> float:
    """Return how many seconds a worker takes that has nothing yet."""
    before = processor_seconds_below(os.getpid())
    reply = perform(job, Block(0, 1), None, "first")
    assert reply.failed is None, reply.failed
    assert reply.unfit is None, reply.unfit
    return processor_seconds_below(os.getpid()) - before


def measure_coordination(job: Job, reply: Reply, slots: int, seconds: float) -> Coordination:
    """Hand out blocks to so many slots that only wait, and count what that costs."""
    say(f"scale: blocks for {slots} slots that wait for {seconds:g} s")
    from distributed import Client

    with many_slots(slots) as apart, Client(apart.address, set_as_default=False) as client:
        client.wait_for_workers(1, timeout=120)
        idle = _Idle(ClientExecutor(client), reply, seconds)
        team = Team(idle, as_team(client).count)
        scheduler, here = processor_seconds_below(apart.scheduler), time.process_time()
        blocks = _hand_out(ExecutorCrew(team, job, Deadline(None)), 3 * slots)
        here, scheduler = time.process_time() - here, processor_seconds_below(apart.scheduler) - scheduler
    return Coordination(slots, here / blocks, scheduler / blocks)


def _hand_out(crew: ExecutorCrew, count: int) -> int:
    blocks = Blocks(crew, 0, count, lambda block: block, largest=1)
    taken = 0
    with crew:
        while not blocks.finished:
            blocks.hand_out()
            blocks.collect()
            taken += sum(1 for _ in blocks.in_order())
    return taken


class _Idle(Executor):
    """Sends what is sent to a cluster, where it is not executed but waited for."""

    def __init__(self, executor: Executor, reply: Reply, seconds: float) -> None:
        self._executor = executor
        self._reply = reply
        self._seconds = seconds

    def submit(self, work: Callable[..., Any], /, *given: Any, **more: Any) -> Future[Any]:
        return self._executor.submit(wait_instead, self._reply, self._seconds, *given, **more)


def wait_instead(reply: Reply, seconds: float, *given: object) -> Reply:
    """Do nothing for a while, at a worker."""
    with suppress(InterruptedError):
        time.sleep(seconds)
    return reply


# -- the table ---------------------------------------------------------------------------------------------------


def table(model: Model) -> Table:
    """Return what the model says of clusters of several sizes."""
    rows = [
        (
            str(each.workers),
            f"{each.block_seconds:g} s",
            f"{each.executions:,.0f}",
            f"{each.efficiency:.0%}",
            f"{each.client:.1%}",
            f"{each.scheduler:.1%}",
            f"{each.bytes_per_second / 1e3:,.1f} kB/s",
        )
        for each in (predict(model, workers) for workers in SIZES)
    ]
    head = ("workers", "block", "executions/s", "efficiency", "this process", "scheduler", "transfer")
    cost = model.coordination
    notes = (
        f"Measured: an execution of raft_timed.py:correct takes {model.execution * 1e3:.2f} ms of a worker's "
        f"processor and {model.merging * 1e6:.2f} us here; a new process {model.opening:.2f} s until its first; "
        f"a block {model.sent} bytes there and {model.returned} back, and {model.returned_each:.1f} for each "
        f"execution; with {cost.slots} blocks at once, one costs {cost.client * 1e3:.2f} ms here and "
        f"{cost.scheduler * 1e3:.2f} ms at the scheduler.",
    )
    return Table("Model of a cluster", head, rows, notes)
