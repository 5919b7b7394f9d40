"""A small model of Spark's standalone cluster: master, workers, drivers.

**Who is who.**  The *master* (``spark_master``) knows the workers, the drivers that were submitted and the
applications they run, and keeps records of all three in durable storage.  A *worker* has one place for a driver
and some cores for executors.  A *driver* is the main program of an application: it registers it with the master,
is given executors, runs its jobs on them with a task scheduler of its own (``spark_tasks``), unregisters and ends.
The messages are in ``spark_messages``.

**A run.**  ``SubmitDriver`` comes from outside.  The master launches the driver at a worker that has no driver
(``LaunchDriver``, ``StartDriver``).  The driver sends ``RegisterApplication`` until it is answered.  The master
gives the application executors (``LaunchExecutor``), which report to the driver (``RegisterExecutor``) and get
tasks (``LaunchTask``, ``StatusUpdate``).  After the last job the driver sends ``UnregisterApplication`` until it
is answered.

**Failures.**  A worker that comes back registers in a new life; what ran there is lost.  A driver process that
crashes says so to its worker when it is up again, the worker reports it, and the master launches the driver once
more, as another attempt.  A master that comes back reads its records and asks the workers it knows what they run
(``MasterChanged``, ``WorkerState``).  When all have answered, recovery is complete: a driver that nobody runs any
more is launched again.

**Left out.**  Standby masters and their election; heartbeats (a worker that is gone for good is missed by nobody:
recovery waits until it is back); applications whose driver runs outside the cluster; memory, racks and shuffles;
stages that depend on each other, except that a job may read what the one before it cached; the killing of the
slower copy of a task.  An executor is part of its worker's process.  The network is TCP: what is sent to a
process that is up arrives, and in order for each pair.  Only registrations are repeated.

**Three bugs of Spark**, as switches (``Bugs``): SPARK-2294, see ``spark_tasks``; SPARK-3150, see
``Master._is_lost``; SPARK-9256, see ``Master._register_application``.
"""

from __future__ import annotations

from typing import Any

from spark_master import Master
from spark_messages import (
    EXECUTOR_CORES,
    MASTER,
    WORKER_CORES,
    ApplicationRemoved,
    Bugs,
    DriverExited,
    DriverStarted,
    DriverState,
    DriverStateChanged,
    KillDriver,
    KillExecutor,
    LaunchDriver,
    LaunchExecutor,
    LaunchTask,
    MasterChanged,
    RegisterApplication,
    RegisteredApplication,
    RegisteredWorker,
    RegisterExecutor,
    RegisterWorker,
    StartDriver,
    StatusUpdate,
    StopDriver,
    TaskState,
    UnregisterApplication,
    WorkerRestarted,
    WorkerState,
)
from spark_tasks import Executor, Job, Launch, TaskSet, points_inside

from clew.simulation import Context, Node

__all__ = ["Bugs", "Driver", "Master", "Worker"]


class Worker(Node):
    """``place`` is the process on this machine in which a driver can run."""

    def __init__(self, place: str) -> None:
        self._place = place
        self.life = 0
        self.driver = ""
        #: The executors here, each with the address of its driver.
        self.executors: dict[Executor, str] = {}
        #: The cores that are busy, and with what.
        self.cores: dict[int, LaunchTask] = {}

    def on_start(self, ctx: Context) -> None:
        self.life = ctx.durable.get("life", 0) + 1
        ctx.durable["life"] = self.life
        if self.life > 1:
            ctx.send(self._place, StopDriver(""))
        self._register(ctx)

    def _register(self, ctx: Context) -> None:
        ctx.send(MASTER, RegisterWorker(self.life))
        ctx.set_timer("register")

    def on_message(self, ctx: Context, sender: str, message: Any) -> None:
        match message:
            case RegisteredWorker():
                ctx.cancel_timer("register")
            case MasterChanged(life):
                ctx.cancel_timer("register")
                ctx.send(MASTER, WorkerState(life, self.life, self.driver, tuple(self.executors)))
            case LaunchDriver(life, app, jobs) if life == self.life:
                self.driver = app
                ctx.send(self._place, StartDriver(app, jobs))
            case DriverStarted(app) if app == self.driver:
                ctx.send(MASTER, DriverStateChanged(app, DriverState.RUNNING))
            case DriverExited(app) if app and app == self.driver:
                self._driver_ended(ctx)
            case DriverExited("") if self.driver:
                # It may have been told to start this driver after the crash.
                ctx.send(self._place, StopDriver(self.driver))
                self._driver_ended(ctx)
            case KillDriver(app) if app == self.driver:
                ctx.send(self._place, StopDriver(app))
                self._driver_ended(ctx)
            case LaunchExecutor(executor, driver) if executor.life == self.life:
                self.executors[executor] = driver
                ctx.send(driver, RegisterExecutor(executor, EXECUTOR_CORES))
            case KillExecutor(executor):
                self._kill(ctx, executor)
            case LaunchTask(executor) if executor in self.executors:
                self._run(ctx, message)

    def _driver_ended(self, ctx: Context) -> None:
        ctx.send(MASTER, DriverStateChanged(self.driver, DriverState.EXITED))
        self.driver = ""

    # -- executors -----------------------------------------------------------------------------------------------

    def _kill(self, ctx: Context, executor: Executor) -> None:
        self.executors.pop(executor, None)
        for core in [core for core, task in self.cores.items() if task.executor == executor]:
            ctx.cancel_timer(f"core {core}")
            del self.cores[core]

    def _run(self, ctx: Context, task: LaunchTask) -> None:
        core = next(core for core in range(WORKER_CORES) if core not in self.cores)
        self.cores[core] = task
        ctx.set_timer(f"core {core}")
        self._report(ctx, task, TaskState.RUNNING)

    def _report(self, ctx: Context, task: LaunchTask, state: TaskState, value: int = 0) -> None:
        update = StatusUpdate(task.executor, task.job, task.task, state, value)
        ctx.send(self.executors[task.executor], update)

    def on_timer(self, ctx: Context, name: str) -> None:
        if name == "register":
            self._register(ctx)
        else:
            task = self.cores.pop(int(name.removeprefix("core ")))
            self._report(ctx, task, TaskState.FINISHED, points_inside(task.task, task.tasks))


class Driver(Node):
    """A process on a worker's machine that runs one driver at a time; ``app`` is "" while there is none."""

    def __init__(self, worker: str, bugs: Bugs) -> None:
        self._worker = worker
        self._bugs = bugs
        self._forget()

    def _forget(self) -> None:
        self.app = ""
        self.jobs: tuple[Job, ...] = ()
        #: The points inside the circle, for each job that is done.
        self.inside: tuple[int, ...] = ()
        self.tasks: TaskSet | None = None
        #: The executors and how many cores of each are free, and the latest life of each worker heard of.
        self.free: dict[Executor, int] = {}
        self.lives: dict[str, int] = {}
        #: What the last offer led to.
        self.launches: list[Launch] = []

    def on_start(self, ctx: Context) -> None:
        if "started" in ctx.durable:
            ctx.send(self._worker, DriverExited(""))
        ctx.durable["started"] = True

    def on_message(self, ctx: Context, sender: str, message: Any) -> None:
        match message:
            case StartDriver(app, jobs):
                self._start(ctx, app, jobs)
            case StopDriver(app) if self.app and app in ("", self.app):
                self._exit(ctx)
            case RegisteredApplication(app) if app == self.app:
                ctx.cancel_timer("register")
            case ApplicationRemoved(app) if app == self.app:
                self._exit(ctx)
            case RegisterExecutor(executor, cores) if executor.app == self.app:
                self._heard_of(executor.host, executor.life)
                if executor.life == self.lives[executor.host]:
                    self.free[executor] = cores
                self._offer(ctx)
            case WorkerRestarted(host, life):
                self._heard_of(host, life)
                self._offer(ctx)
            case StatusUpdate(executor) if executor in self.free:
                self._update(ctx, message)

    def on_timer(self, ctx: Context, name: str) -> None:
        if name == "register":
            self._register(ctx)
        elif name == "unregister":
            self._unregister(ctx)
        elif self.tasks is not None:
            if name == "speculate":
                self.tasks.find_slow()
            else:
                self.tasks.patient = False
            self._offer(ctx)

    # -- the application -----------------------------------------------------------------------------------------

    def _start(self, ctx: Context, app: str, jobs: tuple[Job, ...]) -> None:
        self._forget()
        self.app, self.jobs = app, jobs
        ctx.send(self._worker, DriverStarted(app))
        self._register(ctx)
        self._next_job(ctx, {})

    def _register(self, ctx: Context) -> None:
        ctx.send(MASTER, RegisterApplication(self.app))
        ctx.set_timer("register")

    def _unregister(self, ctx: Context) -> None:
        ctx.send(MASTER, UnregisterApplication(self.app, self.inside))
        ctx.set_timer("unregister")

    def _exit(self, ctx: Context) -> None:
        for timer in ("register", "unregister", "locality wait", "speculate"):
            ctx.cancel_timer(timer)
        ctx.send(self._worker, DriverExited(self.app))
        self._forget()

    # -- its jobs ------------------------------------------------------------------------------------------------

    def _next_job(self, ctx: Context, cached_at: dict[int, Executor]) -> None:
        if len(self.inside) < len(self.jobs):
            self.tasks = TaskSet(self.jobs[len(self.inside)], cached_at, self._bugs.spark_2294)
            self._offer(ctx)
        else:
            self.tasks = None
            self._unregister(ctx)

    def _offer(self, ctx: Context) -> None:
        """Use what is free; when all is done, go on with the next job."""
        tasks = self.tasks
        if tasks is None:
            return
        if tasks.is_done:
            ctx.cancel_timer("locality wait")
            ctx.cancel_timer("speculate")
            self.inside += (sum(tasks.results.values()),)
            self._next_job(ctx, tasks.computed_at)
            return
        self.launches = tasks.offer(self.free)
        for launch in self.launches:
            self.free[launch.executor] -= 1
            order = LaunchTask(launch.executor, len(self.inside), launch.task, len(tasks.job))
            ctx.send(launch.executor.host, order)
        if tasks.pending and tasks.patient:
            ctx.set_timer("locality wait")
        if tasks.is_mostly_done:
            ctx.set_timer("speculate")

    def _update(self, ctx: Context, update: StatusUpdate) -> None:
        tasks = self.tasks if update.job == len(self.inside) else None
        if update.state is TaskState.RUNNING:
            if tasks is not None:
                tasks.start(update.task)
            return
        self.free[update.executor] += 1
        if tasks is not None:
            tasks.finish(update.task, update.executor, update.value)
        self._offer(ctx)

    def _heard_of(self, host: str, life: int) -> None:
        """A worker's executors of earlier lives are gone."""
        if life > self.lives.get(host, 0):
            self.lives[host] = life
            for executor in [e for e in self.free if e.host == host]:
                del self.free[executor]
                if self.tasks is not None:
                    self.tasks.lose(executor)
