"""Check one model, in the process that it has for itself.

What comes back is plain data: the process may be ended by the code that it executes, and its parent, where none of
that code is, has to go on.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

from clew.budgets.deadline import telling_exhaustion
from clew.budgets.whereabouts import current_whereabouts, end_copy, set_whereabouts
from clew.checker.api import check
from clew.checker.expected import count_faults
from clew.errors import BudgetExhaustedError, ClewError, describe_exception
from clew.faults import FailureSpec
from clew.injection.bounds import InjectionBounds
from clew.injection.checking import check_scenario
from clew.model_tests.model import Kind, Model, Status
from clew.search.verdict import Answer
from clew.simulation.fuzzing.fuzz import fuzz
from clew.simulation.loading import load_scenario

T = TypeVar("T")


@dataclass(frozen=True)
class Finding:
    """What a check or a fuzz came to; ``limited``: the clock ended it, and not a bound of its own."""

    answer: str
    faults: int | None = None
    spec: FailureSpec | InjectionBounds | None = None
    runs: int | None = None
    reason: str | None = None
    limited: bool = False


@dataclass(frozen=True)
class Refusal:
    """Why there is no answer; ``status``: whether that is up to the model, to Clew, or to a limit."""

    reason: str
    remedy: str | None = None
    status: Status = Status.FAILED


def perform(model: Model, seconds: float | None) -> Finding:
    """Do what ``clew check`` or ``clew fuzz`` does with a model."""
    begun = time.monotonic()
    try:
        with telling_exhaustion():
            found = _find_answer(model, seconds)
    except BudgetExhaustedError as limit:
        found = Finding(Answer.INCOMPLETE.value, reason=str(limit))
    # By the clock, not by the reason: a search that was cut short tells it in many words.
    is_late = seconds is not None and time.monotonic() >= begun + seconds
    return replace(found, limited=is_late and found.answer == Answer.INCOMPLETE.value)


def _find_answer(model: Model, seconds: float | None) -> Finding:
    if model.kind is not Kind.SCENARIO:
        return _check(model, seconds)
    return _fuzz(model, seconds) if model.strategy is None else _check_code(model, model.strategy, seconds)


def _check(model: Model, seconds: float | None) -> Finding:
    verdict = check(model.name, time_limit=seconds)
    return Finding(verdict.answer.value, count_faults(verdict), verdict.spec, reason=verdict.reason)


def _check_code(model: Model, strategy: str, seconds: float | None) -> Finding:
    assert model.seed is not None, "it is a scenario"
    loaded = load_scenario(model.name)
    end_copy()
    verdict = check_scenario(loaded, strategy=strategy, seed=model.seed, time_limit=seconds)
    found = verdict.counterexample
    faults = None if found is None else len(found.faults)
    return Finding(verdict.answer.value, faults, verdict.bounds, verdict.runs, verdict.reason)


def _fuzz(model: Model, seconds: float | None) -> Finding:
    assert model.runs is not None, "it is a scenario"
    assert model.seed is not None
    loaded = load_scenario(model.name)
    end_copy()
    page = current_whereabouts()
    # Fuzzing isolates what nobody watches: a run that ends its process is then a violation like others.
    set_whereabouts(None)
    try:
        fuzzed = fuzz(loaded, seed=model.seed, runs=model.runs, time_limit=seconds)
    finally:
        set_whereabouts(page)
    if fuzzed.recording is None or fuzzed.recording.broken is None:
        return Finding(fuzzed.answer.value, runs=fuzzed.coverage.runs, reason=fuzzed.reason)
    broken = fuzzed.recording.broken
    return Finding(fuzzed.answer.value, runs=(fuzzed.run or 0) + 1, reason=f"{broken.invariant}: {broken.what}")


def refuse(error: ClewError) -> Refusal:
    """Return an error as a refusal, with its place."""
    where = f"{error.position}: " if error.position else ""
    return Refusal(where + error.message, error.remedy)


def answer_or_refuse(work: Callable[[], T], *, of_user: bool) -> T | Refusal:
    """Return what work comes to, or why it comes to nothing; ``of_user``: code of the user is executed in it."""
    try:
        result: T | Refusal = work()
    except ClewError as error:
        result = refuse(error)
    except (BudgetExhaustedError, MemoryError, RecursionError) as limit:
        result = Refusal(describe_exception(limit), status=Status.INCOMPLETE)
    except (Exception, SystemExit) as mistake:
        # The innermost place: that is where somebody will look for the mistake.
        place = traceback.extract_tb(mistake.__traceback__)[-1]
        where = f"(in {place.name}, line {place.lineno})"
        if of_user and isinstance(mistake, SystemExit):
            result = Refusal(f"its code ended the process by SystemExit {where}", "let it return")
        else:  # whatever else the user's code raises is told by a ClewError
            result = Refusal(f"{describe_exception(mistake)} {where}", status=Status.BROKEN)
    end_copy()
    return result
