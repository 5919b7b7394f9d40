"""Looking for shorter executions away from the original one.

Delta debugging ends at an execution from which nothing can be left out; a different order may do with less.  So
the best execution is changed at random: a *walk* leaves out, moves or exchanges events as long as the violation
stays; a *departure* follows the best execution for a while, does anything, and is reduced.  What reproduces the
violation, is shorter than the best and delivers no more becomes the best.  This goes beyond the paper, whose
executions were up to 4.6 times longer than the shortest known.
"""

from __future__ import annotations

from random import Random
from typing import NamedTuple

from clew.minimization.deltas import externals_of
from clew.minimization.departing import Departure
from clew.minimization.moves import MOVES
from clew.minimization.search import Candidate, Search, TrialResult
from clew.minimization.trial import Match, Schedule, Target, attempt, is_better, length_of

#: How many executions make a walk or a departure, and how many changes are made at once.
LENGTH = 100
_CHANGES = (1, 1, 1, 2, 2, 3)
#: By how much an execution may be longer than the best on the way to a shorter one.
_DETOURS = (0, 0, 1, 3)


def shorten(search: Search, schedule: Schedule, seed: str, patience: int) -> Schedule:
    """Look for shorter executions until ``patience`` candidates in a row have led to none."""
    best = schedule
    generation = 0
    while best:
        lost = tuple(item for item in externals_of(schedule) if item not in best)
        success = search.first(_Around(best, lost, f"{seed}/{generation}", patience))
        if success is None:
            break
        best = success.schedule
        generation += 1
    return best


class _Around(NamedTuple):
    """Walks and departures from the same execution, each with random numbers of its own.

    ``lost`` are the events from outside that the search began with and the best execution has lost: the smallest
    one may need them, as that of raft-58b needs a third node which the next best does without.
    """

    best: Schedule
    lost: tuple[int, ...]
    seed: str
    candidates: int

    def __len__(self) -> int:
        return self.candidates

    def at(self, place: int) -> Candidate:
        seed = f"{self.seed}/{place}"
        # By place and not by chance: a family must be the same in every process.
        match place % 3:
            case 0:
                return Walk(self.best, seed)
            case 1:
                return Departure(self.best, seed, LENGTH)
            case _:
                return Departure(self.best, seed, LENGTH, self.lost)


class Walk(NamedTuple):
    """Changes after changes, as long as the violation stays and the execution does not get much longer."""

    schedule: Schedule
    seed: str

    def evaluate(self, target: Target) -> TrialResult:
        random = Random(self.seed)
        current = self.schedule
        longest = length_of(self.schedule) + random.choice(_DETOURS)
        for executed in range(1, LENGTH + 1):
            items = list(current)
            for _ in range(random.choice(_CHANGES)):
                random.choice(MOVES)(random, items, target)
            taken = attempt(target, items, Match.CAUSE)
            if taken is not None and length_of(taken) <= longest:
                current = taken
                # At the first success: the search goes on from there, with candidates made anew.
                if is_better(current, self.schedule):
                    return TrialResult(current, executed)
        return TrialResult(None, LENGTH)
