"""What the processes of the Spark-like cluster say to each other, and what all of them know.

``app`` is the name of a driver and the number of the attempt to run it: it names the application of that attempt.
A ``life`` is how often a process has started so far.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

from spark_tasks import Executor, Job, smaller

MASTER = "master"
WORKER_CORES = 4
EXECUTOR_CORES = 2
#: How many executors an application gets at most.
MAX_EXECUTORS = 3


@dataclass(frozen=True)
class Bugs:
    """Which of Spark's bugs are in."""

    spark_2294: bool = False
    spark_3150: bool = False
    spark_9256: bool = False


class DriverState(enum.Enum):
    """SUBMITTED: to be launched, or being launched."""

    SUBMITTED = "submitted"
    RUNNING = "running"
    EXITED = "exited"


class TaskState(enum.Enum):
    RUNNING = "running"
    FINISHED = "finished"


# -- from outside, to the master ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class SubmitDriver:
    """Run these jobs, one after the other, in an application of their own."""

    name: str
    jobs: tuple[Job, ...]

    def smaller(self) -> list[SubmitDriver]:
        """What minimization may try in its place."""
        return [SubmitDriver(self.name, jobs) for jobs in smaller(self.jobs)]


# -- workers and the master ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RegisterWorker:
    life: int


@dataclass(frozen=True)
class RegisteredWorker:
    pass


@dataclass(frozen=True)
class MasterChanged:
    """A master is recovering: what runs at the worker?"""

    master_life: int


@dataclass(frozen=True)
class WorkerState:
    """The answer; ``driver`` is "" if there is none."""

    master_life: int
    life: int
    driver: str
    executors: tuple[Executor, ...]


@dataclass(frozen=True)
class LaunchDriver:
    """For the worker in this life, as an executor is."""

    life: int
    app: str
    jobs: tuple[Job, ...]


@dataclass(frozen=True)
class KillDriver:
    app: str


@dataclass(frozen=True)
class DriverStateChanged:
    app: str
    state: DriverState


@dataclass(frozen=True)
class LaunchExecutor:
    executor: Executor
    driver: str


@dataclass(frozen=True)
class KillExecutor:
    executor: Executor


# -- a worker and the driver process on its machine ---------------------------------------------------------------


@dataclass(frozen=True)
class StartDriver:
    app: str
    jobs: tuple[Job, ...]


@dataclass(frozen=True)
class StopDriver:
    """End the driver of this application; whatever runs there if it is ""."""

    app: str


@dataclass(frozen=True)
class DriverStarted:
    app: str


@dataclass(frozen=True)
class DriverExited:
    """By itself or because it was told to; if ``app`` is "", the process has crashed, whatever it ran."""

    app: str


# -- the driver and the master ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RegisterApplication:
    app: str


@dataclass(frozen=True)
class RegisteredApplication:
    app: str


@dataclass(frozen=True)
class UnregisterApplication:
    """All jobs are done; ``inside`` of the grid's points are in the circle, for each job."""

    app: str
    inside: tuple[int, ...]


@dataclass(frozen=True)
class ApplicationRemoved:
    app: str


@dataclass(frozen=True)
class WorkerRestarted:
    """The executors that a worker had in earlier lives are gone."""

    host: str
    life: int


# -- the driver and its executors ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class RegisterExecutor:
    executor: Executor
    cores: int


@dataclass(frozen=True)
class LaunchTask:
    """Compute row ``task`` of ``tasks`` for this job."""

    executor: Executor
    job: int
    task: int
    tasks: int


@dataclass(frozen=True)
class StatusUpdate:
    executor: Executor
    job: int
    task: int
    state: TaskState
    value: int = 0
