"""From Python: ``check_models`` tests all models below some paths."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from clew.budgets.deadline import Deadline
from clew.errors import ClewError, UsageError
from clew.model_tests.discovery import Candidate, discover
from clew.model_tests.judging import judge, judge_death, judge_refusal, with_printed
from clew.model_tests.listing import list_dedalus, list_python
from clew.model_tests.model import Kind, Model, ModelOutcome, Status
from clew.model_tests.performing import Finding, Refusal, answer_or_refuse, perform, refuse
from clew.model_tests.processes import Ended, Tell, run_all
from clew.model_tests.python_look import Look, look_at
from clew.model_tests.result import ModelTests
from clew.search.verdict import Progress
from clew.workers.processes import can_fork

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
        found = discover(paths, self._go_on)
        listed, to_import = self._look(found.candidates, found.unreadable)
        # With what needs no import: a Python file that hangs must not keep that waiting.
        texts = [one for ones in listed.values() for one in ones if isinstance(one, Model)]
        ends: list[Ended[Any]] = self._do(
            [*map(self._checking, texts), *map(_listing, to_import)],
            [*(model.name for model in texts), *(candidate.file for candidate in to_import)],
        )
        for (candidate, look), end in zip(to_import.items(), ends[len(texts) :], strict=True):
            listed[candidate] = [self._admit(one) for one in self._read_listing(candidate, look, end)]
        everything = _leave_out_repetitions(one for ones in listed.values() for one in ones)
        _refuse_nothing(everything, paths)
        known = frozenset(texts)
        imported = [one for one in everything if isinstance(one, Model) and one not in known]
        ends = [*ends[: len(texts)], *self._do(list(map(self._checking, imported)), [m.name for m in imported])]
        judged = {
            model.name: judge(model, end, self.seconds, self._cut_short())
            for model, end in zip([*texts, *imported], ends, strict=True)
        }
        outcomes = tuple(judged[one.name] if isinstance(one, Model) else one for one in everything)
        # A limit that came when everything was done has ended nothing.
        ended = self._cut_short() if self.has_left_work else None
        return ModelTests(paths, outcomes, ended, tuple(found.notices()))

    def _look(
        self, candidates: Sequence[Candidate], unreadable: list[str]
    ) -> tuple[dict[Candidate, _Listed], dict[Candidate, Look]]:
        """Return what the text of files tells of them, and which of them have to be imported to know more."""
        listed: dict[Candidate, _Listed] = {}
        to_import: dict[Candidate, Look] = {}
        for candidate in candidates:
            self._go_on()
            if not candidate.is_python:
                listed[candidate] = [self._admit(_list_text(candidate.file))]
                continue
            look = _look_at(candidate, unreadable)
            if look is Look.EXPECTATIONS or (look is Look.MODELS and self.check_all):
                to_import[candidate] = look
                listed[candidate] = []
            elif look is Look.MODELS:
                listed[candidate] = [self._admit(Model(candidate.file, Kind.PYTHON))]
        return listed, to_import

    def _checking(self, model: Model) -> Callable[[], Finding | Refusal]:
        """Return the work of checking a model."""
        of_user = model.kind is not Kind.DEDALUS
        return partial(answer_or_refuse, partial(perform, model, self.seconds), of_user=of_user)

    def _admit(self, one: Model | ModelOutcome) -> Model | ModelOutcome:
        """Return a model if it is to be checked, and otherwise that it was passed over."""
        if isinstance(one, ModelOutcome) or one.expectation is not None or self.check_all:
            return one
        return ModelOutcome(one, Status.NO_EXPECTATION)

    def _go_on(self) -> None:
        """Show that files are being looked for, and stop at Ctrl-C."""
        if self.progress is not None:
            self.progress(0, "looking for models")
        self.deadline.check_interrupt()

    def _read_listing(
        self, candidate: Candidate, look: Look, ended: Ended[tuple[Model, ...] | Refusal]
    ) -> _Listed:
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
        if look is Look.MODELS and outcome.status is not Status.BROKEN:
            outcome = replace(outcome, status=Status.NO_EXPECTATION)  # as far as its text tells
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


def _listing(candidate: Candidate) -> Callable[[], tuple[Model, ...] | Refusal]:
    """Return the work of finding out which models a Python file defines."""
    return partial(answer_or_refuse, partial(list_python, candidate), of_user=True)


def _leave_out_repetitions(listed: Iterable[Model | ModelOutcome]) -> _Listed:
    """Return each model once, also one that was named beside its file or folder."""
    names: dict[str, Model | ModelOutcome] = {}
    for one in listed:
        names.setdefault(one.name if isinstance(one, Model) else one.model.name, one)
    return list(names.values())


def _refuse_nothing(listed: Sequence[Model | ModelOutcome], paths: Sequence[str]) -> None:
    """Refuse what has nothing to test: that must not be taken for success."""
    if not listed:
        remedy = "name .ded files, Python files with models, or folders"
        raise UsageError(f"no model in {', '.join(paths)}", remedy=remedy)
    if all(isinstance(one, ModelOutcome) and one.status is Status.NO_EXPECTATION for one in listed):
        models = "1 model states" if len(listed) == 1 else f"{len(listed)} models state"
        remedy = f"{_STATE}, or use --all"
        raise UsageError(f"{models} no expectation, so there is nothing to test", remedy=remedy)


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
