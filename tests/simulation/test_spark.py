"""The Spark-like example: the protocol driven by hand, its invariants, and its three bugs."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from clew.simulation import Broken, Restart, Scenario, Send, World
from clew.simulation.fuzzing.random_run import random_run
from clew.simulation.loading import load_scenario
from clew.simulation.pool import Envelope
from clew.simulation.world import External

_FILE = Path(__file__).parents[2] / "examples" / "spark" / "spark_bugs.py"


def _scenario(name: str) -> Scenario:
    return load_scenario(f"{_FILE}:{name}").scenario


_scenario("correct")
bugs: Any = next(m for m in list(sys.modules.values()) if getattr(m, "__file__", None) == str(_FILE))
say: Any = sys.modules["spark_messages"]
tasks: Any = sys.modules["spark_tasks"]
Task = tasks.Task
HERE, THERE, ELSEWHERE = (tasks.Executor("app", f"worker{n}", 1) for n in (1, 2, 3))

BOTH_JOBS = ((Task(),) * 4, (Task(cached=0), Task(file_at="worker2"), Task(), Task(cached=3), Task()))

Delivery = tuple[str, str, str]
#: A driver is submitted and starts at the first worker: the messages, by kind, source and target.
STARTED: tuple[Delivery, ...] = (
    ("RegisterWorker", "worker1", "master"),
    ("SubmitDriver", "", "master"),
    ("RegisteredWorker", "master", "worker1"),
    ("LaunchDriver", "master", "worker1"),
    ("StartDriver", "worker1", "driver1"),
)


class Cluster:
    """A world that is driven by hand."""

    def __init__(self, scenario: str, *jobs: Any) -> None:
        self.scenario = _scenario(scenario)
        self.world: World = self.scenario.world()
        if jobs:
            self.world.inject(Send("master", say.SubmitDriver("pi", jobs)))

    def __getitem__(self, node: str) -> Any:
        return self.world.nodes[node]

    @property
    def broken(self) -> Broken | None:
        return self.scenario.look(self.world)

    def next(self, kind: str, source: str, target: str) -> Envelope:
        found = self.world.pool.timer(target, kind) if source == target else None
        envelope = found or next(iter(self.world.pool.ready(source, target)))
        assert envelope.kind == kind
        return envelope

    def deliver(self, *deliveries: Delivery) -> None:
        for delivery in deliveries:
            assert self.broken is None
            self.world.deliver(self.next(*delivery))

    def inject(self, event: External) -> None:
        self.world.inject(event)

    def messages(self, *, until: str = "") -> None:
        """Deliver messages, the oldest first, and look after each; stop before the first of the kind ``until``."""
        while self.world.pool.messages:
            oldest = min(self.world.pool.messages, key=lambda e: e.cause)
            if oldest.kind == until:
                return
            self.world.deliver(oldest)
            assert self.broken is None

    def settle(self) -> None:
        """Until no message is left and nothing is being computed or waited for."""
        self.messages()
        while timers := [e for e in self.world.pool.timers if e.payload.startswith(("core", "locality"))]:
            self.world.deliver(timers[0])
            self.messages()

    def is_idle(self) -> bool:
        """Nothing runs anywhere, and the master knows it."""
        workers = [self[name] for name in ("worker1", "worker2")]
        known = self["master"].workers.values()
        return (
            not any(worker.driver or worker.executors or worker.cores for worker in workers)
            and not any(worker.driver or worker.executors for worker in known)
            and not any(self[name].app for name in ("driver1", "driver2"))
        )


# -- the protocol -------------------------------------------------------------------------------------------------


def test_a_worker_registers_until_it_is_answered() -> None:
    cluster = Cluster("correct")
    cluster.deliver(("register", "worker1", "worker1"), ("RegisterWorker", "worker1", "master"))
    assert list(cluster["master"].workers) == ["worker1"]
    assert cluster.world.pool.timer("worker1", "register") is not None
    cluster.deliver(("RegisteredWorker", "master", "worker1"), ("RegisterWorker", "worker1", "master"))
    assert cluster.world.pool.timer("worker1", "register") is None
    assert list(cluster["master"].workers) == ["worker1"]


def test_an_application_that_registers_twice_is_one() -> None:
    cluster = Cluster("correct", *BOTH_JOBS)
    cluster.deliver(*STARTED, ("register", "driver1", "driver1"))
    cluster.deliver(("RegisterApplication", "driver1", "master"), ("RegisterApplication", "driver1", "master"))
    assert list(cluster["master"].apps) == ["pi.1"]
    assert cluster.world.pool.timer("driver1", "register") is not None
    cluster.deliver(("RegisteredApplication", "master", "driver1"))
    assert cluster.world.pool.timer("driver1", "register") is None


def test_jobs_run_to_the_end() -> None:
    cluster = Cluster("correct", *BOTH_JOBS)
    cluster.settle()
    done = cluster["master"].completed["pi"]
    assert done.tasks == (4, 5)
    assert done.inside == (4 + 4 + 3 + 2, 5 + 5 + 4 + 4 + 2)
    assert cluster["master"].drivers == {}
    assert cluster.is_idle()


def test_a_driver_without_jobs_ends() -> None:
    cluster = Cluster("correct", ())
    cluster.settle()
    assert cluster["master"].completed["pi"].inside == (0,)
    assert cluster.is_idle()


def test_drivers_wait_for_a_place() -> None:
    cluster = Cluster("correct")
    for name in ("one", "two", "three"):
        cluster.inject(Send("master", say.SubmitDriver(name, ((Task(),),))))
    cluster.messages()
    places = {name: info.worker and info.worker.name for name, info in cluster["master"].drivers.items()}
    assert places == {"one": "worker1", "two": "worker2", "three": None}
    cluster.settle()
    assert sorted(cluster["master"].completed) == ["one", "three", "two"]
    assert cluster.is_idle()


# -- failures -----------------------------------------------------------------------------------------------------


def _in_the_middle(scenario: str = "correct") -> Cluster:
    """The first tasks run on two executors."""
    cluster = Cluster(scenario, *BOTH_JOBS)
    cluster.messages()
    assert [len(cluster[name].cores) for name in ("worker1", "worker2")] == [2, 2]
    return cluster


def test_a_master_recovers_what_it_knew() -> None:
    cluster = _in_the_middle()
    before = cluster["master"].workers
    cluster.inject(Restart("master"))
    assert cluster["master"].awaited == ["worker1", "worker2"]
    cluster.messages()
    assert cluster["master"].awaited == []
    assert cluster["master"].workers == before
    assert cluster["master"].drivers["pi"].worker is cluster["master"].workers["worker1"]
    cluster.settle()
    assert cluster["master"].completed["pi"].tasks == (4, 5)
    assert cluster.is_idle()


def test_a_driver_that_is_submitted_during_recovery_waits() -> None:
    cluster = Cluster("correct")
    cluster.messages()
    cluster.inject(Restart("master"))
    cluster.inject(Send("master", say.SubmitDriver("pi", ((Task(),),))))
    cluster.deliver(("SubmitDriver", "", "master"))
    assert cluster["master"].drivers["pi"].worker is None
    cluster.messages()
    assert cluster["master"].drivers["pi"].worker is not None


@pytest.mark.parametrize(
    "crashes",
    [("driver1",), ("worker1",), ("driver1", "master"), ("worker1", "master"), ("master", "worker1")],
    ids=" then ".join,
)
def test_a_driver_that_is_lost_is_launched_again(crashes: tuple[str, ...]) -> None:
    cluster = _in_the_middle()
    for name in crashes:
        cluster.inject(Restart(name))
        cluster.messages(
            until="DriverStateChanged"
        )  # the report of the crash dies with the master, if that is next
    cluster.messages()
    assert cluster["master"].drivers["pi"].record.app == "pi.2"
    cluster.settle()
    assert list(cluster["master"].completed) == ["pi"]
    assert cluster.is_idle()


def test_what_ran_at_a_worker_that_crashed_runs_again() -> None:
    cluster = _in_the_middle()
    cluster.inject(Restart("worker2"))
    cluster.messages()
    assert [executor.life for executor in cluster["driver1"].free] == [1, 2]
    cluster.settle()
    assert cluster["master"].completed["pi"].inside == (13, 20)
    assert cluster.is_idle()


def test_a_message_to_an_earlier_life_of_a_worker_is_ignored() -> None:
    cluster = Cluster("correct", *BOTH_JOBS)
    cluster.deliver(("RegisterWorker", "worker1", "master"))
    cluster.inject(Restart("worker1"))
    cluster.deliver(("SubmitDriver", "", "master"), ("LaunchDriver", "master", "worker1"))
    assert cluster["worker1"].driver == ""


# -- what must hold -----------------------------------------------------------------------------------------------


def test_the_invariants_see_what_is_wrong() -> None:
    launch = tasks.Launch(0, HERE, tasks.Locality.ANY, tasks.Locality.NODE_LOCAL)
    driver = SimpleNamespace(launches=[launch])
    what = "worker1 gets a ANY task while a NODE_LOCAL one is pending"
    assert bugs.locality({"driver1": driver}) == Broken("locality", what, ("driver1",))
    master = SimpleNamespace(completed={"pi": SimpleNamespace(tasks=(4,), inside=(12,))})
    assert bugs.results({"master": master}).what == "pi found (12,) points with jobs of (4,) tasks"
    worker = SimpleNamespace(executors={HERE: "", THERE: "", ELSEWHERE: ""})
    assert bugs.cores({"worker1": worker}).what == "3 executors on 4 cores"


@pytest.mark.parametrize(("name", "runs"), [("correct", 30), ("correct_faulty", 15)])
def test_without_bugs_nothing_is_found(name: str, runs: int) -> None:
    for seed in range(runs):
        run = random_run(_scenario(name), seed)
        assert run.broken is None, seed
        master: Any = run.world.nodes["master"]
        assert master.completed, seed


LOST = "no uncaught exception (in Master._is_lost)"
TWICE = "no uncaught exception (in _write_new)"


@pytest.mark.parametrize(
    ("name", "seed", "deliveries", "identity"),
    [
        ("spark2294", 1, 1410, "locality"),
        ("spark2294", 11, 1358, "locality"),
        ("spark3150", 1, 501, LOST),
        ("spark3150", 2, 600, LOST),
        ("spark9256", 2, 438, TWICE),
        ("spark9256", 11, 525, TWICE),
    ],
)
def test_a_bug_is_found(name: str, seed: int, deliveries: int, identity: str) -> None:
    scenario = _scenario(name)
    run = random_run(scenario, seed)
    assert run.broken is not None
    assert (run.deliveries, scenario.same(run.broken, run.world)) == (deliveries, identity)


# -- the smallest executions known: no schedule of fewer deliveries breaks with these events from outside ---------

INVERTED = ((Task(),), (Task(cached=0), Task(file_at="worker1"), Task()))
SMALLEST_2294: tuple[Delivery, ...] = (
    *STARTED,
    ("DriverStarted", "driver1", "worker1"),
    ("RegisterApplication", "driver1", "master"),
    ("LaunchExecutor", "master", "worker1"),
    ("RegisterExecutor", "worker1", "driver1"),
    ("LaunchTask", "driver1", "worker1"),
    ("StatusUpdate", "worker1", "driver1"),
    ("core 0", "worker1", "worker1"),
    ("StatusUpdate", "worker1", "driver1"),
)
CRASHED: tuple[Delivery, ...] = (
    ("DriverStarted", "driver1", "worker1"),
    ("DriverExited", "driver1", "worker1"),
    ("DriverStateChanged", "worker1", "master"),
)
RECOVERED: tuple[Delivery, ...] = (
    ("MasterChanged", "master", "worker1"),
    ("WorkerState", "worker1", "master"),
)
SMALLEST_9256: tuple[Delivery, ...] = (
    *STARTED,
    ("RegisterApplication", "driver1", "master"),
    ("register", "driver1", "driver1"),
    ("RegisterApplication", "driver1", "master"),
)


def test_the_smallest_execution_of_2294() -> None:
    cluster = Cluster("spark2294", *INVERTED)
    cluster.deliver(*SMALLEST_2294)
    what = "worker1 gets a NO_PREF task while a NODE_LOCAL one is pending"
    assert cluster.broken == Broken("locality", what, ("driver1",))
    assert len(SMALLEST_2294) == 13
    correct = Cluster("correct", *INVERTED)
    correct.deliver(*SMALLEST_2294)
    assert correct.broken is None
    assert [launch.level.name for launch in correct["driver1"].launches] == ["PROCESS_LOCAL", "NODE_LOCAL"]


def _both_crash(scenario: str) -> Cluster:
    cluster = Cluster(scenario, (Task(),))
    cluster.deliver(*STARTED)
    cluster.inject(Restart("driver1"))
    cluster.deliver(*CRASHED)
    cluster.inject(Restart("master"))
    cluster.deliver(*RECOVERED)
    return cluster


def test_the_smallest_execution_of_3150_and_that_the_master_never_recovers() -> None:
    cluster = _both_crash("spark3150")
    what = "AttributeError: 'NoneType' object has no attribute 'name' (in Master._is_lost)"
    for _ in range(3):
        assert cluster.broken == Broken("no uncaught exception", what, ("master",))
        cluster.world.failure = None
        cluster.inject(Restart("master"))
        cluster.deliver(*RECOVERED)
    assert len(STARTED + CRASHED + RECOVERED) == 10
    correct = _both_crash("correct")
    assert correct.broken is None
    assert correct["master"].drivers["pi"].record.app == "pi.2"


def test_the_smallest_execution_of_9256() -> None:
    cluster = Cluster("spark9256", (Task(),))
    cluster.deliver(*SMALLEST_9256)
    what = "FileExistsError: the file of app pi.1 exists already (in _write_new)"
    assert cluster.broken == Broken("no uncaught exception", what, ("master",))
    assert len(SMALLEST_9256) == 8
    correct = Cluster("correct", (Task(),))
    correct.deliver(*SMALLEST_9256)
    assert correct.broken is None


# -- comparing and shrinking --------------------------------------------------------------------------------------


def test_a_submission_loses_a_job_or_a_task() -> None:
    plain, file = Task(), Task(file_at="worker1")
    smaller = say.SubmitDriver("pi", ((plain, file), (file,))).smaller()
    jobs = [((file,),), ((plain, file),), ((file,), (file,)), ((plain,), (file,)), ((plain, file), ())]
    assert [message.jobs for message in smaller] == jobs


def test_what_is_cached_is_still_what_it_was_when_a_job_has_one_task_only() -> None:
    one, two, three = (Task(file_at=f"worker{n}") for n in (1, 2, 3))
    reader = (Task(cached=1), Task(cached=2))
    smaller = say.SubmitDriver("pi", ((one, two, three), reader)).smaller()
    assert [message.jobs for message in smaller[2:5]] == [
        ((one,), (Task(), Task())),
        ((two,), (Task(cached=0), Task())),
        ((three,), (Task(), Task(cached=0))),
    ]
    assert smaller[5].jobs == ((two, three), (Task(cached=0), Task(cached=1)))
    assert len(smaller) == 2 + 3 + 3 + 2


def test_what_matters_of_a_message() -> None:
    state, exited = say.TaskState.FINISHED, say.DriverState.EXITED
    assert bugs.fingerprint(say.StatusUpdate(HERE, 1, 2, state, 7)) == "StatusUpdate 1 FINISHED"
    assert bugs.fingerprint(say.LaunchTask(HERE, 1, 2, 8)) == "LaunchTask 1"
    assert bugs.fingerprint(say.DriverStateChanged("pi.1", exited)) == "DriverStateChanged EXITED"
    assert bugs.fingerprint(say.SubmitDriver("pi", ())) == "SubmitDriver pi"
    assert bugs.fingerprint(say.RegisterApplication("pi.1")) == "RegisterApplication"
