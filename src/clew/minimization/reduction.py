"""A small delta debugging within one candidate: reduce what it came to before it is compared with the best."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from clew.minimization.deltas import TrialMode, remove_deliveries
from clew.minimization.search import Family, Success, TrialResult
from clew.minimization.trial import Item, Match, Schedule, Target, attempt, is_better

#: How many schedules a reduction may execute: what is then still longer than the best is given up.
_SCHEDULES = 200


class ReducedTrial(NamedTuple):
    """A schedule that counts only if what is left of it in the end is better than the ``best``."""

    schedule: Sequence[Item]
    best: Schedule
    match: Match

    def evaluate(self, target: Target) -> TrialResult:
        taken = attempt(target, self.schedule, self.match)
        if taken is None:
            return TrialResult(None, 1)
        search = _BoundedSearch(target, _SCHEDULES)
        reduced = remove_deliveries(search, taken, TrialMode(Match.TYPE), everything=True)
        return TrialResult(reduced if is_better(reduced, self.best) else None, 1 + search.executed)


class _BoundedSearch:
    """Reports to nobody, and finds nothing more once its schedules are spent."""

    def __init__(self, target: Target, schedules: int) -> None:
        self.executed = 0
        self._target = target
        self._schedules = schedules

    def first(self, family: Family) -> Success | None:
        for place in range(len(family)):
            if self.executed >= self._schedules:
                return None
            schedule, executed = family.at(place).evaluate(self._target)
            self.executed += executed
            if schedule is not None:
                return Success(place, schedule)
        return None
