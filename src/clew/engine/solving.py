"""Models of a clingo control one after another, while a deadline or Ctrl-C can come between."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import TypeVar

from clingo import Control, Model

from clew.interrupt import Deadline

T = TypeVar("T")


def models(control: Control, deadline: Deadline, assumptions: Sequence[int] = ()) -> Generator[Model, None, bool]:
    """Each model is to be read before the next one is asked for.  Returns whether these were all.

    They are not all when the control's own limit on the effort, which does not depend on the clock, was reached.
    """
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


def last(found: Generator[Model, None, bool], read: Callable[[Model], T]) -> tuple[T | None, bool]:
    """What the last model says (when optimising: the best), and whether it is known that no better one exists."""
    best: T | None = None
    while True:
        try:
            best = read(next(found))
        except StopIteration as end:
            return best, bool(end.value)
