"""The books of a minimization: its stages, what each left and cost, and the searches that they use.

A minimizer derives from ``StagedMinimizer`` and says how its best execution is measured.  Whatever ends it, the
best so far is the result: the time limit, Ctrl-C, or code of the user that raises in an execution that only the
search made.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Generic

from clew.budgets.deadline import Deadline
from clew.errors import BudgetExhaustedError, ClewError
from clew.files.checkpoints import ForeignCheckpointError
from clew.minimization.searching.parallel_search import ParallelSearch
from clew.minimization.searching.remembered_search import Memory, RememberedSearch
from clew.minimization.searching.search import S, Search, SequentialSearch, T, Witness
from clew.simulation.execution.steps import Size, Step
from clew.simulation.execution.watchdog import StepLimit, step_limit

#: Told now and then: the stage, how many schedules were tried, and the size of the best execution.
Progress = Callable[[str, int, Size], None]


@dataclass(frozen=True)
class Stage:
    """One row of the table: what was left when a stage ended for the last time, and what all of it cost."""

    name: str
    size: Size
    schedules: int
    seconds: float


@dataclass(frozen=True)
class Smallest:
    """``steps`` is the smallest execution found; ``stopped``: why the search ended before its end, if it did.

    ``clocks``: with virtual time, how fast clocks run in it.
    ``problem``: the mistake of the user that ended it, if that did.  ``pace`` says after how many schedules how
    many deliveries were left, whenever that became less.  ``ahead``: how many schedules other processes executed
    in vain, because one before them succeeded.
    """

    steps: tuple[Step, ...]
    size: Size
    stages: tuple[Stage, ...]
    pace: tuple[tuple[int, int], ...]
    ahead: int
    stopped: str | None
    problem: ClewError | None
    clocks: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class Surroundings:
    """What a minimization may use: time, processes, and a checkpoint; and who is told of its progress."""

    deadline: Deadline
    workers: int = 1
    progress: Progress | None = None
    memory: Memory | None = None


class StagedMinimizer(ABC, Generic[T, S]):
    """One minimization; ``run`` may be called once."""

    def __init__(self, target: T, surroundings: Surroundings) -> None:
        self._target = target
        self._given = surroundings
        self._stage = "recorded"
        self._tried = 0
        self._effort = 0  # events performed, about
        self._ahead = 0
        self._stages: list[Stage] = []
        self._pace: list[tuple[int, int]] = []

    # -- what a minimizer says of its executions -----------------------------------------------------------------

    @abstractmethod
    def _minimize(self) -> None:
        """Go through the stages after the first."""

    @abstractmethod
    def _verify(self) -> None:
        """Execute what was recorded; raise if it does not end in the violation."""

    @abstractmethod
    def _measure(self) -> Size:
        """Return how big the smallest execution so far is."""

    @abstractmethod
    def _length(self) -> int:
        """Return how many events the present best execution has."""

    @abstractmethod
    def _consider(self, schedule: S) -> None:
        """Keep what reproduced the violation at once, if it is better: the search may be stopped at any time."""

    @abstractmethod
    def _write_steps(self) -> tuple[tuple[Step, ...], tuple[tuple[str, float], ...]]:
        """Return the smallest execution as steps, and how fast clocks run in it."""

    # -- running -------------------------------------------------------------------------------------------------

    def run(self) -> Smallest:
        self._verify()
        stopped = problem = None
        try:
            self._minimize()
        except BudgetExhaustedError as limit:
            stopped = str(limit)
        except ForeignCheckpointError:
            raise  # there is no best so far that could be trusted
        except ClewError as error:
            # Only a schedule that the search made up ended there; what was found before still holds.
            stopped, problem = f"an error ended the stage {self._stage}", error
        steps, clocks = self._write_steps()
        return Smallest(
            steps, self._measure(), tuple(self._stages), tuple(self._pace), self._ahead, stopped, problem, clocks
        )

    # -- keeping the books ---------------------------------------------------------------------------------------

    def _witness(self, executed: int, schedule: S | None) -> None:
        self._tried += executed
        # Estimated, but the same whenever it is computed again: by the clock it would not be.
        self._effort += executed * self._length()
        if schedule is not None:
            self._consider(schedule)
        size = self._measure()
        if not self._pace or size.deliveries < self._pace[-1][1]:
            self._pace.append((self._tried, size.deliveries))
        if self._given.progress:
            self._given.progress(self._stage, self._tried, size)

    def _witness_smaller(self, executed: int, schedule: S | None) -> None:
        """Count only: while contents shrink, a schedule belongs to another target until that is the one."""
        self._witness(executed, None)

    @contextmanager
    def _counting(self, name: str) -> Iterator[StepLimit]:
        self._stage = name
        started, before = time.monotonic(), self._tried
        try:
            with step_limit(self._target.scenario.step_seconds) as limit:
                yield limit
        finally:
            self._close(Stage(name, self._measure(), self._tried - before, time.monotonic() - started))

    def _close(self, stage: Stage) -> None:
        """Note a stage that ended; one that was there before goes on, so that all of it is one row."""
        for place, earlier in enumerate(self._stages):
            if earlier.name == stage.name:
                self._stages[place] = Stage(
                    stage.name,
                    stage.size,
                    earlier.schedules + stage.schedules,
                    earlier.seconds + stage.seconds,
                )
                return
        self._stages.append(stage)

    # -- searches ------------------------------------------------------------------------------------------------

    def _search_alone(self, target: T, witness: Witness[S]) -> Search[T, S]:
        memory = self._given.memory

        def make(told: Witness[S]) -> Search[T, S]:
            return SequentialSearch(target, self._given.deadline, told)

        return make(witness) if memory is None else RememberedSearch(memory, target, witness, make)

    @contextmanager
    def _searching(self, name: str) -> Iterator[Search[T, S]]:
        if self._given.workers == 1:
            with self._counting(name):
                yield self._search_alone(self._target, self._witness)
            return
        # Before the step limit begins: that is a thread, and a process with threads should not fork.
        before = self._tried
        with ExitStack() as stack:
            parallel, search = self._start_workers(stack)
            try:
                with self._counting(name) as limit:
                    parallel.set_limit(limit)
                    yield search
            finally:
                known = search.known if isinstance(search, RememberedSearch) else 0
                self._ahead += parallel.executed - (self._tried - before - known)

    def _start_workers(self, stack: ExitStack) -> tuple[ParallelSearch[T, S], Search[T, S]]:
        """Return the processes, and the search that uses them and may remember more than they tried."""
        started: list[ParallelSearch[T, S]] = []
        memory = self._given.memory

        def make(told: Witness[S]) -> Search[T, S]:
            started.append(ParallelSearch(self._target, self._given.deadline, told, self._given.workers))
            stack.callback(started[0].close)
            return started[0]

        search = (
            make(self._witness) if memory is None else RememberedSearch(memory, self._target, self._witness, make)
        )
        return started[0], search
