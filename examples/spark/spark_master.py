"""The master of the Spark-like cluster: what it knows, what of that it keeps on record, and how it recovers."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from spark_messages import (
    EXECUTOR_CORES,
    MAX_EXECUTORS,
    WORKER_CORES,
    ApplicationRemoved,
    Bugs,
    DriverState,
    DriverStateChanged,
    KillDriver,
    KillExecutor,
    LaunchDriver,
    LaunchExecutor,
    MasterChanged,
    RegisterApplication,
    RegisteredApplication,
    RegisteredWorker,
    RegisterWorker,
    SubmitDriver,
    UnregisterApplication,
    WorkerRestarted,
    WorkerState,
)
from spark_tasks import Executor, Job

from clew.simulation import Context, Node


@dataclass
class WorkerInfo:
    """What the master knows of a worker; of this, its name and its life are on record."""

    name: str
    life: int
    driver: str = ""
    executors: list[Executor] = field(default_factory=list)


@dataclass(frozen=True)
class DriverRecord:
    name: str
    jobs: tuple[Job, ...]
    attempt: int = 1
    state: DriverState = DriverState.SUBMITTED

    @property
    def app(self) -> str:
        return f"{self.name}.{self.attempt}"


@dataclass
class DriverInfo:
    """A driver's record, and the worker it is at: that is not on record, the worker says it after a recovery."""

    record: DriverRecord
    worker: WorkerInfo | None = None


@dataclass(frozen=True)
class AppRecord:
    app: str
    address: str


@dataclass(frozen=True)
class Completed:
    """For each job of a driver, how many tasks it had and how many points they found inside the circle."""

    tasks: tuple[int, ...]
    inside: tuple[int, ...]


class Master(Node):
    def __init__(self, bugs: Bugs) -> None:
        self._bugs = bugs
        self.life = 0
        self.workers: dict[str, WorkerInfo] = {}
        self.drivers: dict[str, DriverInfo] = {}
        self.apps: dict[str, AppRecord] = {}
        self.completed: dict[str, Completed] = {}
        #: The workers that have not said yet what they run, while the master recovers.
        self.awaited: list[str] = []

    def on_start(self, ctx: Context) -> None:
        self._read(ctx)
        self.life += 1
        ctx.durable["master", "life"] = self.life
        self.awaited = list(self.workers)
        for name in self.awaited:
            ctx.send(name, MasterChanged(self.life))
        if not self.awaited:
            self._complete_recovery(ctx)

    def _read(self, ctx: Context) -> None:
        for (kind, name), record in ctx.durable.items():
            match kind:
                case "master":
                    self.life = record
                case "worker":
                    self.workers[name] = WorkerInfo(name, record)
                case "driver":
                    self.drivers[name] = DriverInfo(record)
                case "app":
                    self.apps[name] = record
                case "completed":
                    self.completed[name] = record

    def on_message(self, ctx: Context, sender: str, message: Any) -> None:
        match message:
            case SubmitDriver(name, jobs):
                self._submit(ctx, name, jobs)
            case RegisterWorker(life):
                if self._register_worker(ctx, sender, life):
                    self._answered(ctx, sender)  # a worker that just started runs nothing
                ctx.send(sender, RegisteredWorker())
            case WorkerState(master_life) if master_life == self.life and sender in self.awaited:
                self._recover(ctx, sender, message)
            case DriverStateChanged(app, state):
                self._driver_changed(ctx, sender, app, state)
            case RegisterApplication(app):
                self._register_application(ctx, sender, app)
            case UnregisterApplication(app, inside):
                self._unregister(ctx, sender, app, inside)
        if not self.awaited:
            self._schedule(ctx)

    # -- recovery ------------------------------------------------------------------------------------------------

    def _recover(self, ctx: Context, name: str, state: WorkerState) -> None:
        """A worker says what it runs; what belongs to nothing the master knows is to end."""
        self._register_worker(ctx, name, state.life)
        worker = self.workers[name]
        driver = self._driver_of(state.driver)
        if driver is not None:
            driver.worker = worker
            worker.driver = state.driver
        elif state.driver:
            ctx.send(name, KillDriver(state.driver))
        for executor in state.executors:
            if executor.app in self.apps:
                worker.executors.append(executor)
            else:
                ctx.send(name, KillExecutor(executor))
        self._answered(ctx, name)

    def _answered(self, ctx: Context, name: str) -> None:
        if name in self.awaited:
            self.awaited.remove(name)
            if not self.awaited:
                self._complete_recovery(ctx)

    def _complete_recovery(self, ctx: Context) -> None:
        for driver in self.drivers.values():
            if self._is_lost(driver):
                self._drop_driver(ctx, driver)

    def _is_lost(self, driver: DriverInfo) -> bool:
        """None of the workers runs it.

        SPARK-3150: a driver that ran is taken to be at some worker, if only at one that is no more.  A driver that
        failed while the master did is at none, and that is so again whenever the master recovers.
        """
        if self._bugs.spark_3150 and driver.record.state is DriverState.RUNNING:
            return driver.worker.name not in self.workers  # type: ignore[union-attr]  # the bug itself
        return driver.worker is None

    # -- workers and drivers -------------------------------------------------------------------------------------

    def _register_worker(self, ctx: Context, name: str, life: int) -> bool:
        """Whether the worker, or this life of it, is new."""
        known = self.workers.get(name)
        if known is not None and known.life == life:
            return False
        self.workers[name] = WorkerInfo(name, life)
        ctx.durable["worker", name] = life
        if known is not None:
            for app in self.apps.values():
                ctx.send(app.address, WorkerRestarted(name, life))
            driver = self._driver_of(known.driver)
            if driver is not None:
                self._drop_driver(ctx, driver)
        return True

    def _driver_of(self, app: str) -> DriverInfo | None:
        """The driver of an application, if this is its latest attempt."""
        driver = self.drivers.get(app.rpartition(".")[0])
        return driver if driver is not None and driver.record.app == app else None

    def _submit(self, ctx: Context, name: str, jobs: tuple[Job, ...]) -> None:
        if name not in self.drivers and name not in self.completed:
            self.drivers[name] = DriverInfo(DriverRecord(name, jobs))
            self._write(ctx, self.drivers[name])

    def _write(self, ctx: Context, driver: DriverInfo) -> None:
        ctx.durable["driver", driver.record.name] = driver.record

    def _driver_changed(self, ctx: Context, worker: str, app: str, state: DriverState) -> None:
        known = self.workers.get(worker)
        if known is not None and known.driver == app and state is DriverState.EXITED:
            known.driver = ""
        driver = self._driver_of(app)
        if driver is None:
            return
        if state is DriverState.RUNNING:
            driver.record = replace(driver.record, state=state)
            self._write(ctx, driver)
        else:
            self._drop_driver(ctx, driver)

    def _drop_driver(self, ctx: Context, driver: DriverInfo) -> None:
        """The driver is gone, and its application with it; it is to be launched again."""
        record = driver.record
        ctx.log(f"driver {record.app} is lost")
        self._remove_app(ctx, record.app)
        driver.record = replace(record, state=DriverState.SUBMITTED, attempt=record.attempt + 1)
        driver.worker = None
        self._write(ctx, driver)

    # -- applications --------------------------------------------------------------------------------------------

    def _register_application(self, ctx: Context, address: str, app: str) -> None:
        """SPARK-9256: whether the application is known already is not asked before it is put on record."""
        if self._driver_of(app) is None:
            return
        if app not in self.apps or self._bugs.spark_9256:
            record = AppRecord(app, address)
            _write_new(ctx, ("app", app), record)
            self.apps[app] = record
        ctx.send(address, RegisteredApplication(app))

    def _unregister(self, ctx: Context, address: str, app: str, inside: tuple[int, ...]) -> None:
        driver = self._driver_of(app)
        if driver is not None:
            name = driver.record.name
            self.completed[name] = Completed(tuple(map(len, driver.record.jobs)), inside)
            ctx.durable["completed", name] = self.completed[name]
            del self.drivers[name], ctx.durable["driver", name]
            self._remove_app(ctx, app)
        ctx.send(address, ApplicationRemoved(app))

    def _remove_app(self, ctx: Context, app: str) -> None:
        if self.apps.pop(app, None) is None:
            return
        del ctx.durable["app", app]
        for worker in self.workers.values():
            for executor in [e for e in worker.executors if e.app == app]:
                worker.executors.remove(executor)
                ctx.send(worker.name, KillExecutor(executor))

    # -- scheduling ----------------------------------------------------------------------------------------------

    def _schedule(self, ctx: Context) -> None:
        """Drivers first, then executors, each in the order in which they were asked for."""
        places = [worker for worker in self.workers.values() if not worker.driver]
        waiting = [driver for driver in self.drivers.values() if driver.worker is None]
        for driver, worker in zip(waiting, places, strict=False):
            driver.worker = worker
            worker.driver = driver.record.app
            ctx.send(worker.name, LaunchDriver(worker.life, driver.record.app, driver.record.jobs))
        for app in self.apps.values():
            self._give_executors(ctx, app)

    def _give_executors(self, ctx: Context, app: AppRecord) -> None:
        wanted = MAX_EXECUTORS - sum(e.app == app.app for w in self.workers.values() for e in w.executors)
        for worker in self.workers.values():
            if wanted == 0:
                return
            executor = Executor(app.app, worker.name, worker.life)
            is_free = (len(worker.executors) + 1) * EXECUTOR_CORES <= WORKER_CORES
            if is_free and executor not in worker.executors:
                wanted -= 1
                worker.executors.append(executor)
                ctx.send(worker.name, LaunchExecutor(executor, app.address))


def _write_new(ctx: Context, key: tuple[str, str], record: Any) -> None:
    """Write a file that must not be there yet."""
    if key in ctx.durable:
        raise FileExistsError(f"the file of {key[0]} {key[1]} exists already")
    ctx.durable[key] = record
