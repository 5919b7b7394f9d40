"""From Python: ``check_grid``, one program with many values of its params and bounds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import suppress
from typing import TypedDict, Unpack

from clew.budgets.deadline import Deadline
from clew.checker.grid.axes import Axis, list_settings, make_axes
from clew.checker.grid.examining import Grid, Programs, examine_alone, examine_with_forks, examine_with_team
from clew.checker.grid.result import GridResult, GridRow, Problem
from clew.checker.preparing import files_of
from clew.dedalus.loader import Template
from clew.dedalus.params import DeclaredParam, Settings, resolve_params
from clew.errors import ProgramError, UsageError
from clew.frontends.registry import Source, read_once
from clew.node_lists import WrittenNode
from clew.search.verdict import Progress
from clew.workers.executors import Team, as_team
from clew.workers.processes import can_fork

#: What ``check`` does when nothing is said.
DEFAULT_STRATEGY = "exact"


class CheckOptions(TypedDict, total=False):
    """What may be said for all settings; the meaning is that of ``clew.check``."""

    nodes: Sequence[WrittenNode] | None
    eot: int | None
    eff: int | None
    crashes: int | None
    delays: int | None
    duplicates: int | None
    restarts: int | None
    pauses: int | None
    partitions: int | None
    stops: int | None
    inputs: int | None
    strategy: str
    negation: str | None
    symmetry: bool
    find_all: bool
    effort: float | None
    sweep_seconds: float | None
    max_runs: int | None
    seed: int | None
    lasting: bool
    allow_hollow: bool
    strict: bool


def check_grid(
    source: Source,
    axes: Mapping[str, Iterable[str | int]],
    *,
    params: Settings | None = None,
    workers: int | None = None,
    executor: Executor | Team | None = None,
    time_limit: float | None = None,
    time_limit_each: float | None = None,
    progress: Progress | None = None,
    **options: Unpack[CheckOptions],
) -> GridResult:
    """Check a program at every setting of a grid.

    - ``source``: as for ``check``.  Files are read once.
    - ``axes``: by the name of a param or a bound (``eot``, ``crashes`` and so on, not ``nodes``), its values.
    - ``params``: values of params that do not vary.
    - ``workers``: how many processes (1); the rows are the same, whatever it is.  ``executor``: whose workers do
      it instead, see ``docs/scale.md``.
    - ``time_limit``: seconds for all settings together; those that are not reached are incomplete.
      ``time_limit_each``: seconds for one of them.
    - ``progress``: called with the number of executions and the stage, now and then.
    - ``options``: of ``check``, for all settings: bounds, ``strategy`` and its options, ``strict`` and so on.

    A setting that is no program (an interval is empty), or whose bounds contradict each other (more crashes than
    nodes), is an ``INVALID`` row.  If all are, the first of them raises.  Ctrl-C ends the grid: what is done is in
    the result.  Raises ``ProgramError`` or ``UsageError`` for what cannot be checked at all.
    """
    _check_arguments(options, workers, time_limit, time_limit_each)
    fixed = _leave_out_defaults(options)
    read = read_once(source)
    declared = read.params if isinstance(read, Template) else {}
    made = make_axes(axes, declared)
    given = dict(params or {})
    _check_params(declared, given)
    for axis in made:
        _check_axis(axis, declared, given, fixed)
    param_axes = frozenset(axis.name for axis in made if axis.is_param)
    grid = Grid(Programs(read), given, fixed, param_axes, time_limit_each, Deadline(time_limit))
    settings = list_settings(made)
    forks = 1 if workers is None else workers
    # A search that outlives its limit in C code goes on in its process, and would take the time of the next.
    if executor is not None:
        rows = examine_with_team(grid, settings, as_team(executor, workers), progress)
    elif (forks > 1 or time_limit_each is not None) and can_fork():
        rows = examine_with_forks(grid, settings, forks, progress)
    else:
        rows = examine_alone(grid, settings, progress)
    _raise_if_all_invalid(rows)
    return GridResult(made, tuple(rows), given, fixed, files_of(source))


def _leave_out_defaults(options: Mapping[str, object]) -> dict[str, object]:
    """Return what is more than nothing: it is what commands have to say, and what an axis contradicts."""
    kept = {name: value for name, value in options.items() if value is not None and value is not False}
    if kept.get("strategy") == DEFAULT_STRATEGY:
        del kept["strategy"]
    return kept


def _check_params(declared: Mapping[str, DeclaredParam], given: Settings) -> None:
    """Refuse names and kinds that no setting can have; what is wrong with a program is told of its setting."""
    with suppress(ProgramError):
        resolve_params(declared, given)


def _check_axis(
    axis: Axis, declared: Mapping[str, DeclaredParam], given: Settings, fixed: Mapping[str, object]
) -> None:
    if axis.name in given or axis.name in fixed:
        flag = f"--set {axis.name}" if axis.is_param else f"--{axis.name}"
        raise UsageError(
            f"'{axis.name}' is an axis of the grid, and {flag} gives it one value", remedy="give one of the two"
        )
    for value in axis.values if axis.is_param else ():
        _check_params(declared, {**given, axis.name: value})


def _check_arguments(
    options: Mapping[str, object], workers: int | None, time_limit: float | None, time_limit_each: float | None
) -> None:
    for name in options:
        if name not in CheckOptions.__annotations__:
            raise TypeError(f"check_grid() got an unexpected keyword argument '{name}'")
    if workers is not None and (not isinstance(workers, int) or workers < 1):
        raise UsageError(f"--workers is {workers}", remedy="give a number from 1 on")
    for flag, seconds in (("--time-limit", time_limit), ("--time-limit-each", time_limit_each)):
        if seconds is not None and not seconds > 0:  # also refuses "not a number"
            raise UsageError(f"{flag} is {seconds:g}", remedy="give a number larger than 0")


def _raise_if_all_invalid(rows: Sequence[GridRow]) -> None:
    """Raise what is wrong if that is wrong with every setting: then it is no matter of the grid."""
    problems: list[Problem] = [row.problem for row in rows if row.problem is not None]
    if len(problems) < len(rows):
        return
    first = problems[0]
    kind = ProgramError if first.of_program else UsageError
    raise kind(first.message, position=first.position, remedy=first.remedy)
