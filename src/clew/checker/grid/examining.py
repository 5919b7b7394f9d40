"""Check the settings of a grid, in this process or in several, in whichever order, with the rows in theirs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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
from clew.workers.blocks import Answered, Blocks
from clew.workers.crew import Crew, Spent
from clew.workers.executors import ExecutorCrew, Team
from clew.workers.forks import ForkCrew
from clew.workers.processes import Serve, can_fork
from clew.workers.tasks import Job

#: How long workers may take to end their searches once the time is over, and once Ctrl-C was pressed.
_PATIENCE_SECONDS, _SHORT_PATIENCE_SECONDS = 5.0, 1.0
#: A search needs some time to notice that it has none.
_LEAST_SECONDS = 0.001


class Programs:
    """The program at each value of its params: read once, and prepared once for all bounds in a row."""

    def __init__(self, source: Template | Loaded) -> None:
        self.programs = source
        self._params: Mapping[str, str | int] | None = None
        self._prepared: Prepared | None = None

    def with_params(self, params: Mapping[str, str | int]) -> Prepared:
        """Return the program with these values; raise what is wrong with it."""
        if self._prepared is None or params != self._params:
            loaded = self.programs.instantiate(params) if isinstance(self.programs, Template) else self.programs
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


def examine_with_forks(
    grid: Grid, settings: Sequence[GridSetting], count: int, progress: Progress | None
) -> list[GridRow]:
    """Check settings in forks of this process, one in each at a time."""
    with ForkCrew(min(count, len(settings)), _serve(grid)) as crew:
        return _share_out(grid, settings, crew, progress)


def examine_with_team(
    grid: Grid, settings: Sequence[GridSetting], team: Team, progress: Progress | None
) -> list[GridRow]:
    """Check settings at the workers of an executor; what these do not come back with is checked here."""
    job = Job.of(open_grid, GridJob.of(grid))
    with ExecutorCrew(team, job, grid.deadline) as crew:
        return _share_out(grid, settings, crew, progress, redo=True)


class _Request(NamedTuple):
    """A setting, and the seconds that are left."""

    setting: GridSetting
    seconds: float | None


@dataclass(frozen=True)
class GridJob:
    """What all settings of a grid have in common, as it is sent; ``seconds``: the time limit of all."""

    source: Template | Loaded
    params: Mapping[str, str | int]
    options: Mapping[str, Any]
    param_axes: frozenset[str]
    time_limit_each: float | None
    seconds: float | None

    @staticmethod
    def of(grid: Grid) -> GridJob:
        """Return what is sent of a grid."""
        source, seconds = grid.source.programs, grid.deadline.seconds
        return GridJob(source, grid.params, grid.options, grid.param_axes, grid.time_limit_each, seconds)


def open_grid(job: GridJob, folder: str | None) -> Serve:
    """Return what checks settings at a worker."""
    deadline = Deadline(job.seconds)
    return _serve(
        Grid(Programs(job.source), job.params, job.options, job.param_axes, job.time_limit_each, deadline)
    )


def _serve(grid: Grid) -> Callable[[_Request], GridRow | Spent]:
    """Return what checks settings, in a worker."""

    def serve(request: _Request) -> GridRow | Spent:
        # The clock of another machine says something else; a limit is named as it was given.
        deadline = Deadline(request.seconds)
        deadline.seconds = grid.deadline.seconds
        row = replace(grid, deadline=deadline).examine(request.setting)
        # C code that outlived its deadline still runs there, and would take the time of the next.
        return Spent(row) if has_abandoned_work() else row

    return serve


def _share_out(
    grid: Grid, settings: Sequence[GridSetting], crew: Crew, progress: Progress | None, *, redo: bool = False
) -> list[GridRow]:
    """Let a crew check the settings; with ``redo``, what does not come back is checked again."""
    deadline = grid.deadline
    found: dict[int, GridRow] = {}
    blocks = Blocks(
        crew, 0, len(settings), lambda block: _Request(settings[block.first], deadline.remaining), largest=1
    )
    grace: Deadline | None = None
    with deadline.listening():
        while not blocks.finished:
            if not deadline.passed():
                blocks.hand_out()
            else:
                # They know themselves that the time is over, and have something to say.
                if grace is None:
                    grace = Deadline(_SHORT_PATIENCE_SECONDS if deadline.interrupted else _PATIENCE_SECONDS)
                if grace.passed() or not blocks.is_waiting:
                    break
            blocks.collect()
            for answered in (*blocks.in_order(), *blocks.rest()):
                number = answered.block.first
                if number not in found:
                    found[number] = _make_row(grid, settings[number], answered, redo=redo)
            _tell(progress, found, len(settings), crew)
    return [
        found.get(number) or _missing(grid, setting, was_begun=number < blocks.handed_out)
        for number, setting in enumerate(settings)
    ]


def _make_row(grid: Grid, setting: GridSetting, answered: Answered, *, redo: bool) -> GridRow:
    if answered.failure is None:
        row: GridRow = answered.value
        return row
    if redo and grid.deadline.passed():
        return _missing(grid, setting, was_begun=True)
    if not redo:
        # Only this setting cannot be checked.
        return GridRow(setting, reason=answered.failure.message)
    if not can_fork():
        return grid.examine(setting)
    # Memory may have run out there: it must not end this process, either.
    return examine_with_forks(grid, [setting], 1, None)[0]


def _tell(progress: Progress | None, found: Mapping[int, GridRow], settings: int, crew: Crew) -> None:
    if progress is not None:
        runs = sum(row.verdict.runs for row in found.values() if row.verdict)
        by = f" on {words}" if (words := crew.describe()) else ""
        progress(runs, f"{len(found)} of {settings} settings{by}")


def _missing(grid: Grid, setting: GridSetting, *, was_begun: bool) -> GridRow:
    return GridRow(setting, reason=grid.ending) if was_begun else _unreached(grid, setting)
