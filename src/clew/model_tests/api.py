"""From Python: ``check_models`` tests all models below some paths."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

from clew.budgets.deadline import Deadline
from clew.errors import ClewError, UsageError
from clew.model_tests.discovery import Candidate, discover
from clew.model_tests.judging import judge, judge_death, judge_refusal, with_printed
from clew.model_tests.listing import list_dedalus, list_python
from clew.model_tests.model import Kind, Model, ModelOutcome, Status
from clew.model_tests.performing import Refusal, answer_or_refuse, perform, refuse
from clew.model_tests.processes import Ended, Tell, run_all
from clew.model_tests.python_look import Look, look_at
from clew.model_tests.result import ModelTests
from clew.search.verdict import Progress
from clew.simulation.execution.workers import can_fork

T = TypeVar("T")

#: Seconds for each model when nothing is said: one that hangs must not keep the others waiting for ever.
DEFAULT_TIME_LIMIT = 300.0

_STATE = "state what is expected: //! expect=certified, checked(..., expect=...) or Scenario(..., expect=...)"


def check_models(
    paths: str | Path | Sequence[str | Path] = ".",
    *,
    workers: int | None = None,
    time_limit: float | None = DEFAULT_TIME_LIMIT,
    total_time_limit: float | None = None,
    check_all: bool = False,
    progress: Progress | None = None,
    in_process: bool = False,
) -> ModelTests:
    """Check all models below some paths, and compare each answer with what the model expects.

    - ``paths``: Dedalus files, Python files with Bloom classes or scenarios, ``"FILE.py:NAME"``, folders.
    - ``workers``: how many at a time, each in a process of its own; by default as many as there are cores.
    - ``time_limit``: seconds for each model, ``total_time_limit`` for all of them.
    - ``check_all``: check also what states no expectation, and tell the answer; it decides nothing.
    - ``progress``: called with the number of models that are done, and a word on the others, now and then.
    - ``in_process``: one after the other, in this process, for a debugger.

    Ctrl-C ends it, too: what was not checked is ``incomplete``.  Raises ``UsageError`` where there is nothing to
    test.
    """
    named = (str(paths),) if isinstance(paths, str | Path) else tuple(map(str, paths))
    _check_arguments(named, workers, time_limit, total_time_limit)
    if not in_process and not can_fork():
        raise UsageError(
            "this system cannot fork a process, and every model needs its own", remedy="use --in-process"
        )
    deadline = Deadline(total_time_limit)
    with deadline.listening():
        run = _Run(deadline, workers or count_cores(), time_limit, check_all, progress, in_process)
        return run.test(named)


def count_cores() -> int:
    """Return how many processes can run at the same time."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1


def _check_arguments(paths: Sequence[str], workers: int | None, *limits: float | None) -> None:
    if not paths:
        raise UsageError("no path is given", remedy="name models, or folders with models")
    if workers is not None and workers < 1:
        raise UsageError(f"--workers is {workers}", remedy="give at least 1")
    for name, seconds in zip(("--time-limit", "--total-time-limit"), limits, strict=True):
        if seconds is not None and not seconds > 0:  # also refuses "not a number"
            raise UsageError(f"{name} is {seconds:g}", remedy="give a number larger than 0")


#: What is worth a table, even where nothing else is tested.
_TELLING = frozenset(Status) - {Status.NO_EXPECTATION}

#: A file, and what is known about it: what became of it already, or the models in it.
_Listed = list[Model | ModelOutcome]


@dataclass
class _Run:
    """One test of models: how it is done, and whether something was left undone."""

    deadline: Deadline
    workers: int
    seconds: float | None
    check_all: bool
    progress: Progress | None
    in_process: bool
    has_left_work: bool = False

    def test(self, paths: tuple[str, ...]) -> ModelTests:
        """Find the models, check them, and compare."""
        found = discover(paths)
        listed = self._list(found.candidates, found.unreadable)
        if not listed:
            raise UsageError(
                f"no model in {', '.join(paths)}", remedy="name .ded files, Python files with models, or folders"
            )
        due = [model for model in listed if isinstance(model, Model)]
        if not due and not any(isinstance(one, ModelOutcome) and one.status in _TELLING for one in listed):
            files = "1 file with models states" if len(listed) == 1 else f"{len(listed)} files with models state"
            raise UsageError(
                f"{files} no expectation, so there is nothing to test", remedy=f"{_STATE}, or use --all"
            )
        works = [partial(answer_or_refuse, partial(perform, model, self.seconds)) for model in due]
        ends = self._do(works, [model.name for model in due])
        judged = {
            model.name: judge(model, end, self.seconds, self._cut_short())
            for model, end in zip(due, ends, strict=True)
        }
        outcomes = tuple(judged[one.name] if isinstance(one, Model) else one for one in listed)
        # A limit that came when everything was done has ended nothing.
        ended = self._cut_short() if self.has_left_work else None
        return ModelTests(paths, outcomes, ended, tuple(found.notices()))

    def _list(self, candidates: Sequence[Candidate], unreadable: list[str]) -> _Listed:
        """List the models of all files, and what is known of those that need no check."""
        listed: dict[Candidate, _Listed] = {}
        to_import = []
        for candidate in candidates:
            if not candidate.is_python:
                listed[candidate] = [self._admit(_list_text(candidate.file))]
                continue
            look = _look_at(candidate, unreadable)
            if look is Look.EXPECTATIONS or (look is Look.MODELS and self.check_all):
                to_import.append(candidate)
                listed[candidate] = []
            elif look is Look.MODELS:
                listed[candidate] = [self._admit(Model(candidate.file, Kind.PYTHON))]
        works = [partial(answer_or_refuse, partial(list_python, candidate)) for candidate in to_import]
        ends = self._do(works, [candidate.file for candidate in to_import])
        for candidate, ended in zip(to_import, ends, strict=True):
            listed[candidate] = [self._admit(one) for one in self._read_listing(candidate, ended)]
        return [one for candidate in listed for one in listed[candidate]]

    def _admit(self, one: Model | ModelOutcome) -> Model | ModelOutcome:
        """Return a model if it is to be checked, and otherwise that it was passed over."""
        if isinstance(one, ModelOutcome) or one.expectation is not None or self.check_all:
            return one
        return ModelOutcome(one, Status.NO_EXPECTATION)

    def _read_listing(self, candidate: Candidate, ended: Ended[tuple[Model, ...] | Refusal]) -> _Listed:
        """Return the models of a Python file, or what became of it instead."""
        if isinstance(ended.value, tuple):
            if candidate.name and not ended.value:
                raise UsageError(
                    f"{candidate.file}: defines no model '{candidate.name}'",
                    remedy="name a Bloom class with a setting, or a scenario",
                )
            return list(ended.value)
        file = Model(candidate.file, Kind.PYTHON)
        if isinstance(ended.value, Refusal):
            outcome = judge_refusal(file, ended.value)
        elif ended.died is not None:
            outcome = judge_death(file, ended.died)
        else:
            late = f"the time limit of {self.seconds:g} s ran out while it was loaded" if ended.late else None
            outcome = ModelOutcome(file, Status.INCOMPLETE, reason=late or f"not loaded: {self._cut_short()}")
        return [with_printed(outcome, ended.printed)]

    def _do(self, works: Sequence[Callable[[], T]], names: Sequence[str]) -> list[Ended[T]]:
        """Do pieces of work, each in a process of its own, and tell how far that has come."""

        def tell(done: int, running: Sequence[int]) -> None:
            if self.progress is not None:
                self.progress(done, f"{done} of {len(works)} done, now {', '.join(names[k] for k in running)}")

        if self.in_process:
            ends = self._do_here(works, tell)
        else:
            ends = run_all(works, self.workers, self.seconds, self.deadline, tell)
        self.has_left_work = self.has_left_work or any(end.is_unfinished for end in ends)
        return ends

    def _do_here(self, works: Sequence[Callable[[], T]], tell: Tell) -> list[Ended[T]]:
        """Do pieces of work in this process."""
        ends: list[Ended[T]] = []
        for number, work in enumerate(works):
            tell(number, [number])
            ends.append(Ended() if self.deadline.passed() else Ended(work()))
        return ends

    def _cut_short(self) -> str | None:
        """Say what ended everything, if something has."""
        if self.deadline.interrupted:
            return "interrupted"
        return f"the total time limit of {self.deadline.seconds:g} s ran out" if self.deadline.passed() else None


def _list_text(file: str) -> Model | ModelOutcome:
    try:
        return list_dedalus(file)
    except ClewError as error:
        return judge_refusal(Model(file, Kind.DEDALUS), refuse(error))


def _look_at(candidate: Candidate, unreadable: list[str]) -> Look:
    # Whoever names a model in a file wants it to be executed.
    if candidate.name:
        return Look.EXPECTATIONS
    try:
        return look_at(candidate.file)
    except (OSError, ValueError):
        unreadable.append(candidate.file)
        return Look.NOTHING
