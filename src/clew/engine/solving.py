"""Models of a clingo control one after another, while a deadline or Ctrl-C can come between."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import TypeVar

from clingo import Control, Model

from clew.budgets.deadline import Deadline
from clew.budgets.effort import CONFLICT, USED_UP, Effort
from clew.errors import BudgetExhaustedError, EffortExhaustedError

T = TypeVar("T")


def models(control: Control, deadline: Deadline, assumptions: Sequence[int] = ()) -> Generator[Model, None, bool]:
    """Yield each model, to be read before the next one is asked for; return whether these were all.

    They are not all when the control's own limit on the effort, which does not depend on the clock, was reached.
    When it is the deadline's effort that ends the search, that is an error: no answer must rest on half a search.
    """
    if deadline.effort is None:
        return (yield from _models(control, deadline, assumptions))
    return (yield from _models_within(deadline.effort, control, deadline, assumptions))


# The effort cannot be spent afterwards: a single question can take forever, so clingo is told what is left.
def _models_within(
    effort: Effort, control: Control, deadline: Deadline, assumptions: Sequence[int]
) -> Generator[Model, None, bool]:
    options = control.configuration.solve
    own_limit: str = options.solve_limit  # type: ignore[union-attr, assignment]
    most = effort.conflicts_left
    smaller = _conflicts(own_limit) > most
    if smaller:
        options.solve_limit = str(most)  # type: ignore[union-attr]
    conflicts = 0
    try:
        exhausted = yield from _models(control, deadline, assumptions)
    finally:
        options.solve_limit = own_limit  # type: ignore[union-attr]
        conflicts = int(control.statistics["solving"]["solvers"]["conflicts"])
        effort.count(conflicts * CONFLICT)
    if smaller and not exhausted and conflicts >= most:
        raise EffortExhaustedError(USED_UP)
    return exhausted


def _conflicts(limit: str) -> float:
    """Return the conflicts that a limit of clingo admits, as in "100,umax"."""
    first = limit.split(",")[0]
    return float("inf") if first == "umax" else int(first)


def _models(control: Control, deadline: Deadline, assumptions: Sequence[int]) -> Generator[Model, None, bool]:
    # Asynchronous, because a blocking call would not let Ctrl-C or the deadline through.
    with control.solve(assumptions=list(assumptions), yield_=True, async_=True) as handle:
        while True:
            try:
                deadline.wait_for(handle.wait)
            except BaseException:
                handle.cancel()
                raise
            model = handle.model()
            if model is None:
                return bool(handle.get().exhausted)
            yield model
            handle.resume()


def every(found: Generator[Model, None, bool]) -> Generator[Model, None, bool]:
    """Yield models that must be all there are; that they are not is an error, so that no answer rests on it."""
    # "No model" of a search that had merely stopped would be a certificate.
    if not (yield from found):
        raise BudgetExhaustedError("the solver stopped before it had searched everything")
    return True


def last(found: Generator[Model, None, bool], read: Callable[[Model], T]) -> tuple[T | None, bool]:
    """Return what the last model says (when optimizing: the best), and whether it is known that none is better."""
    best: T | None = None
    while True:
        try:
            best = read(next(found))
        except StopIteration as end:
            return best, bool(end.value)
