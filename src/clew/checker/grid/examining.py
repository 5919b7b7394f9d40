"""Check the settings of a grid, in this process or in several, in whichever order, with the rows in theirs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from clew.budgets.deadline import Deadline, has_abandoned_work
from clew.checker.api import check
from clew.checker.grid.axes import GridSetting
from clew.checker.grid.result import GridRow, Problem
from clew.checker.preparing import Prepared, prepare
from clew.checker.result import Verdict
from clew.dedalus.loader import Loaded, Template
from clew.errors import BudgetExhaustedError, ClewError, ProgramError
from clew.search.verdict import Answer, Progress
from clew.workers.processes import Worker, WorkerDiedError, wait_for_replies, workers

#: Short enough that Ctrl-C seems to act at once.
_POLL_SECONDS = 0.05
#: How long workers may take to end their searches once the time is over, and once Ctrl-C was pressed.
_PATIENCE_SECONDS, _SHORT_PATIENCE_SECONDS = 5.0, 1.0
#: A search needs some time to notice that it has none.
_LEAST_SECONDS = 0.001


class Programs:
    """The program at each value of its params: read once, and prepared once for all bounds in a row."""

    def __init__(self, source: Template | Loaded) -> None:
        self._source = source
        self._params: Mapping[str, str | int] | None = None
        self._prepared: Prepared | None = None

    def with_params(self, params: Mapping[str, str | int]) -> Prepared:
        """Return the program with these values; raise what is wrong with it."""
        if self._prepared is None or params != self._params:
            loaded = self._source.instantiate(params) if isinstance(self._source, Template) else self._source
            # One is enough: bounds that come after params vary first, and hundreds of programs are much memory.
            self._prepared, self._params = Prepared(loaded, prepare(loaded)), params
        return self._prepared


@dataclass(frozen=True)
class Grid:
    """What is checked at every setting, and until when."""

    source: Programs
    params: Mapping[str, str | int]
    options: Mapping[str, Any]
    param_axes: frozenset[str]
    time_limit_each: float | None
    deadline: Deadline

    def examine(self, setting: GridSetting, progress: Progress | None = None) -> GridRow:
        """Check one setting."""
        params = {**self.params, **{name: value for name, value in setting if name in self.param_axes}}
        bounds = {name: value for name, value in setting if name not in self.param_axes}
        left = self.deadline.remaining
        limits = (self.time_limit_each, None if left is None else max(left, _LEAST_SECONDS))
        options: dict[str, Any] = {**self.options, **bounds}
        options["time_limit"] = min((seconds for seconds in limits if seconds is not None), default=None)
        try:
            verdict = check(self.source.with_params(params), progress=progress, **options)
        except ClewError as error:
            is_program = isinstance(error, ProgramError)
            return GridRow(setting, problem=Problem(error.message, error.position, error.remedy, is_program))
        except (BudgetExhaustedError, MemoryError, RecursionError) as limit:
            told = str(limit) if isinstance(limit, BudgetExhaustedError) else "memory or stack ran out"
            return GridRow(setting, reason=told)
        named = verdict.program.params if verdict.program else ()
        # Rows are kept by the hundred, and sent from process to process.
        slim = replace(verdict, program=None, executions=(), survey=None, solver=None)
        return GridRow(setting, self._name_limit(slim), params=named)

    def _name_limit(self, verdict: Verdict) -> Verdict:
        """Name the limit that was given, where what was left of it ended a search."""
        ended = verdict.answer is Answer.INCOMPLETE and (verdict.reason or "").startswith("the time limit of ")
        if not ended or self.deadline.interrupted or not self.deadline.passed():
            return verdict
        return replace(verdict, reason=self.ending)

    @property
    def ending(self) -> str:
        """Say what ended the whole."""
        if self.deadline.interrupted:
            return "interrupted"
        return f"the time limit of {self.deadline.seconds:g} s ran out"


def examine_alone(grid: Grid, settings: Sequence[GridSetting], progress: Progress | None) -> list[GridRow]:
    """Check one setting after the other."""
    rows: list[GridRow] = []
    runs = 0
    with grid.deadline.listening():
        for number, setting in enumerate(settings, start=1):
            if grid.deadline.passed():
                break
            rows.append(grid.examine(setting, _relay(progress, runs, number, settings)))
            runs += rows[-1].verdict.runs if rows[-1].verdict else 0
    return [*rows, *(_unreached(grid, setting) for setting in settings[len(rows) :])]


def _relay(
    progress: Progress | None, before: int, number: int, settings: Sequence[GridSetting]
) -> Progress | None:
    if progress is None:
        return None
    words = GridRow(settings[number - 1]).words
    return lambda runs, stage: progress(before + runs, f"setting {number} of {len(settings)}, {words}: {stage}")


def _unreached(grid: Grid, setting: GridSetting) -> GridRow:
    return GridRow(setting, reason=f"not reached: {grid.ending}")


def examine_with_workers(
    grid: Grid, settings: Sequence[GridSetting], count: int, progress: Progress | None
) -> list[GridRow]:
    """Check settings in other processes, which are handed out one by one."""
    with grid.deadline.listening(), ExitStack() as processes:
        hands = _Hands(grid, settings, progress, processes)
        for _ in range(min(count, len(settings))):
            hands.start_worker()
        while hands.work_on():
            pass
    return hands.rows()


class _Reply(NamedTuple):
    """A row, and whether the worker is ``exhausted``: C code that outlived its deadline still runs in it."""

    row: GridRow
    exhausted: bool


class _Hands:
    """Which worker does what, and what they have answered."""

    def __init__(
        self, grid: Grid, settings: Sequence[GridSetting], progress: Progress | None, processes: ExitStack
    ) -> None:
        self._grid = grid
        self._settings = settings
        self._progress = progress
        self._found: dict[int, GridRow] = {}
        self._next = 0
        self._busy: dict[Worker, int] = {}
        self._grace: Deadline | None = None
        self._processes = processes
        self._idle: list[Worker] = []

    def start_worker(self) -> None:
        """Add a process."""
        self._idle += self._processes.enter_context(workers(1, self._serve))

    def _serve(self, number: int) -> _Reply:
        """Check a setting, in a worker."""
        return _Reply(self._grid.examine(self._settings[number]), has_abandoned_work())

    def work_on(self) -> bool:
        """Hand out, and wait a moment for answers; False when there is nothing left to wait for."""
        if self._grid.deadline.passed():
            if self._grace is None:
                patience = _SHORT_PATIENCE_SECONDS if self._grid.deadline.interrupted else _PATIENCE_SECONDS
                self._grace = Deadline(patience)
            if self._grace.passed() or not self._busy:
                return False
        else:
            while self._idle and self._next < len(self._settings):
                worker = self._idle.pop(0)
                worker.ask(self._next)
                self._busy[worker] = self._next
                self._next += 1
        for worker in wait_for_replies(list(self._busy), _POLL_SECONDS):
            self._take(worker)
        if self._progress is not None:
            runs = sum(row.verdict.runs for row in self._found.values() if row.verdict)
            self._progress(runs, f"{len(self._found)} of {len(self._settings)} settings")
        return bool(self._busy) or (bool(self._idle) and self._next < len(self._settings))

    def _take(self, worker: Worker) -> None:
        number = self._busy.pop(worker)
        try:
            reply: _Reply = worker.reply()
        except WorkerDiedError as death:
            # Only its setting cannot be checked here.
            reply = _Reply(GridRow(self._settings[number], reason=death.message), exhausted=True)
        self._found[number] = reply.row
        if not reply.exhausted:
            self._idle.append(worker)
            return
        worker.end()
        if self._next < len(self._settings):
            self.start_worker()

    def rows(self) -> list[GridRow]:
        """Return a row for each setting, in order."""
        return [self._found.get(number) or self._missing(number) for number in range(len(self._settings))]

    def _missing(self, number: int) -> GridRow:
        setting = self._settings[number]
        if number < self._next:
            return GridRow(setting, reason=self._grid.ending)
        return _unreached(self._grid, setting)
