"""The task scheduler of an application: which task goes to which free executor.

A job is a set of tasks that do not depend on each other.  Where a task had better run depends on what it reads:

- a partition that an executor has cached in an earlier job: in that executor (PROCESS_LOCAL);
- a file on the disk of a worker: in an executor there (NODE_LOCAL);
- nothing: anywhere (NO_PREF).

Anywhere else is the level ANY, for which a task set waits a while before it gives in (the delay is a timer of the
driver).  When no task is left to be launched, second copies of slow ones are: SPECULATIVE.  An offer of free
executors goes through the levels in this order, so that nobody gets a task while there is a better one for it.

That is what SPARK-2294 is about.  There, each pass is limited to a level, but tasks without a preference are
handed out at every pass, and so are second copies.  This goes well as long as the first pass already allows
NODE_LOCAL; it goes wrong when something is cached, so that a pass for PROCESS_LOCAL comes first.

What a task computes is one row of a grid over the unit square: how many of its points are within the quarter
circle.  The sum over the rows gives pi, and the same sum wherever the tasks run.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isqrt


class Locality(enum.IntEnum):
    """How near a task is to what it reads; less is nearer."""

    PROCESS_LOCAL = 0
    NODE_LOCAL = 1
    NO_PREF = 2
    ANY = 3
    SPECULATIVE = 4


_LEVELS = (Locality.PROCESS_LOCAL, Locality.NODE_LOCAL, Locality.NO_PREF, Locality.ANY)
#: The part of a job that must be done before tasks count as slow.
_QUANTILE = 0.75


@dataclass(frozen=True)
class Task:
    """``file_at``: the worker that has its file; ``cached``: the task of the job before whose result it reads."""

    file_at: str = ""
    cached: int | None = None


Job = tuple[Task, ...]


@dataclass(frozen=True)
class Executor:
    """The executor of an application at a worker, in one life of that worker."""

    app: str
    host: str
    life: int


@dataclass(frozen=True)
class Launch:
    """A task was launched; ``best`` is the nearest that was to be launched for this executor at that moment."""

    task: int
    executor: Executor
    level: Locality
    best: Locality


def points_inside(row: int, rows: int) -> int:
    """How many of the ``rows`` points of a row are in the quarter circle; they are in the middles of cells."""
    return (isqrt((2 * rows) ** 2 - (2 * row + 1) ** 2) + 1) // 2


def pi(inside: int, rows: int) -> float:
    return 4 * inside / rows**2


class TaskSet:
    """The tasks of one job and where each of them stands."""

    def __init__(self, job: Job, cached_at: Mapping[int, Executor], spark_2294: bool) -> None:
        self.job = job
        self.pending = list(range(len(job)))
        #: The executors to which copies of a task went, and those among the tasks that are known to run.
        self.copies: dict[int, list[Executor]] = {}
        self.started: dict[int, None] = {}
        self.slow: list[int] = []
        self.results: dict[int, int] = {}
        #: Where a result was computed first, and is cached.
        self.computed_at: dict[int, Executor] = {}
        self.patient = True
        self._cached_at = dict(cached_at)
        self._spark_2294 = spark_2294

    @property
    def is_done(self) -> bool:
        return len(self.results) == len(self.job)

    @property
    def is_mostly_done(self) -> bool:
        return len(self.results) >= _QUANTILE * len(self.job)

    def level(self, task: int, executor: Executor) -> Locality:
        """How near a task that was not launched yet would be in this executor."""
        wanted = self.job[task]
        if wanted.file_at:
            return Locality.NODE_LOCAL if wanted.file_at == executor.host else Locality.ANY
        cached_at = self._cached_at.get(wanted.cached) if wanted.cached is not None else None
        if cached_at is None:
            return Locality.NO_PREF
        return Locality.PROCESS_LOCAL if cached_at == executor else Locality.ANY

    # -- an offer ------------------------------------------------------------------------------------------------

    def offer(self, free: Mapping[Executor, int]) -> list[Launch]:
        """Use what is free (executors, and how many cores of each) as well as can be."""
        left = dict(free)
        launches: list[Launch] = []
        for limit in self._limits(tuple(free)):
            while launched := self._pass(left, limit):
                launches += launched
        if any(launch.level < Locality.ANY for launch in launches):
            self.patient = True
        return launches

    def _limits(self, executors: Sequence[Executor]) -> list[Locality]:
        """The levels for which there is something, and ANY when there is nothing better to wait for."""
        there = {self.level(task, executor) for task in self.pending for executor in executors}
        limits = [level for level in _LEVELS[:3] if level in there]
        if not self.patient or not there & {Locality.PROCESS_LOCAL, Locality.NODE_LOCAL}:
            limits.append(Locality.ANY)
        return limits

    def _pass(self, left: dict[Executor, int], limit: Locality) -> list[Launch]:
        """At most one task for each executor, none further away than the limit."""
        launches = []
        for executor, cores in left.items():
            found = self._find(executor, limit) if cores else None
            if found is not None:
                launches.append(self._launch(*found, executor))
                left[executor] -= 1
        return launches

    def _find(self, executor: Executor, limit: Locality) -> tuple[int, Locality] | None:
        for level in _LEVELS:
            if level <= limit or (self._spark_2294 and level is Locality.NO_PREF):
                for task in self.pending:
                    if self.level(task, executor) is level:
                        return task, level
        if self._spark_2294 or not self.pending:
            for task in self.slow:
                if executor not in self.copies[task]:
                    return task, Locality.SPECULATIVE
        return None

    def _launch(self, task: int, level: Locality, executor: Executor) -> Launch:
        best = min((self.level(other, executor) for other in self.pending), default=Locality.SPECULATIVE)
        if level is Locality.SPECULATIVE:
            self.slow.remove(task)
        else:
            self.pending.remove(task)
        self.copies.setdefault(task, []).append(executor)
        return Launch(task, executor, level, best)

    # -- what becomes of tasks -----------------------------------------------------------------------------------

    def start(self, task: int) -> None:
        if task not in self.results:
            self.started[task] = None

    def finish(self, task: int, executor: Executor, value: int) -> None:
        """A copy is done; the first one gives the result."""
        if task in self.results:
            return
        self.results[task] = value
        self.computed_at[task] = executor
        self.started.pop(task, None)
        if task in self.slow:
            self.slow.remove(task)

    def find_slow(self) -> None:
        """When most are done, those that run and have no second copy yet may get one."""
        if self.is_mostly_done:
            self.slow += [t for t in self.started if len(self.copies[t]) == 1 and t not in self.slow]

    def lose(self, executor: Executor) -> None:
        """What ran there must run again, and what was cached there is gone."""
        self._cached_at = {task: at for task, at in self._cached_at.items() if at != executor}
        self.computed_at = {task: at for task, at in self.computed_at.items() if at != executor}
        for task, copies in self.copies.items():
            if executor in copies:
                copies.remove(executor)
                if not copies and task not in self.results:
                    self.pending.append(task)
                    self.started.pop(task, None)
                    if task in self.slow:
                        self.slow.remove(task)


def smaller(jobs: tuple[Job, ...]) -> list[tuple[Job, ...]]:
    """With one job less, with one task only in one of them, or with one task less."""
    fewer = [jobs[:n] + jobs[n + 1 :] for n in range(len(jobs))]
    fewer += [_with(jobs, n, (task,)) for n, job in enumerate(jobs) if len(job) > 2 for task in range(len(job))]
    for n, job in enumerate(jobs):
        every = tuple(range(len(job)))
        fewer += [_with(jobs, n, every[:task] + every[task + 1 :]) for task in every]
    return fewer


def _with(jobs: tuple[Job, ...], n: int, kept: tuple[int, ...]) -> tuple[Job, ...]:
    """With these tasks only in the nth job; what the next job reads of them is now at other places."""
    place = {task: new for new, task in enumerate(kept)}
    fewer = list(jobs)
    fewer[n] = tuple(jobs[n][task] for task in kept)
    if n + 1 < len(jobs):
        fewer[n + 1] = tuple(
            reader if reader.cached is None else replace(reader, cached=place.get(reader.cached))
            for reader in jobs[n + 1]
        )
    return tuple(fewer)
