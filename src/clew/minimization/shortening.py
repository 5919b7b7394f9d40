"""Looking for shorter executions away from the original one.

Delta debugging ends at an execution from which nothing can be left out; a different order may do with less.  So
the best execution is changed at random: a *walk* leaves out, moves or replaces events as long as the violation
stays; a *departure* follows the best execution for a while and then does anything.  What reproduces the
violation, is shorter than the best and delivers no more becomes the best.  This goes beyond the paper, whose
executions were up to 4.6 times longer than the shortest known.
"""

from __future__ import annotations

from random import Random
from typing import NamedTuple

from clew.minimization.moves import MOVES
from clew.minimization.searching import Candidate, Search, Tried
from clew.minimization.trial import Following, Item, Match, Schedule, Target, attempt, simplicity
from clew.simulation.execution.steps import Do

#: How many executions make a walk or a departure, and how many changes are made at once.
_LENGTH = 100
_CHANGES = (1, 1, 1, 2, 2, 3)
#: By how much an execution may be longer than the best on the way to a shorter one.
_DETOURS = (0, 0, 1, 3)
#: Of so many candidates, one is a departure.
_DEPARTURES = 3


def shortened(search: Search, schedule: Schedule, seed: str, patience: int) -> Schedule:
    """The shortest execution found when ``patience`` candidates in a row have led to no shorter one."""
    best = schedule
    generation = 0
    while best:
        success = search.first(_Around(best, f"{seed}/{generation}", patience))
        if success is None:
            break
        best = success.schedule
        generation += 1
    return best


class _Around(NamedTuple):
    """Walks and departures from the same execution, each with random numbers of its own."""

    schedule: Schedule
    seed: str
    candidates: int

    def __len__(self) -> int:
        return self.candidates

    def at(self, place: int) -> Candidate:
        seed = f"{self.seed}/{place}"
        departs = place % _DEPARTURES == _DEPARTURES - 1
        return Departure(self.schedule, seed) if departs else Walk(self.schedule, seed)


class Walk(NamedTuple):
    """Changes after changes, as long as the violation stays and the execution does not get much longer."""

    schedule: Schedule
    seed: str

    def tried(self, target: Target) -> Tried:
        random = Random(self.seed)
        current = self.schedule
        longest = simplicity(self.schedule) + random.choice(_DETOURS)
        for executed in range(1, _LENGTH + 1):
            items = list(current)
            for _ in range(random.choice(_CHANGES)):
                random.choice(MOVES)(random, items, target)
            taken = attempt(target, items, Match.CAUSE)
            if taken is not None and simplicity(taken) <= longest:
                current = taken
                if _is_better(current, self.schedule):
                    return Tried(current, executed)
        return Tried(None, _LENGTH)


class Departure(NamedTuple):
    """Executions that follow the best one for a while, and then do anything that is possible."""

    schedule: Schedule
    seed: str

    def tried(self, target: Target) -> Tried:
        random = Random(self.seed)
        for executed in range(1, _LENGTH + 1):
            items = self._departed(target, random)
            taken = attempt(target, items, Match.TYPE) if items is not None else None
            if taken is not None and _is_better(taken, self.schedule):
                return Tried(taken, executed)
        return Tried(None, _LENGTH)

    def _departed(self, target: Target, random: Random) -> list[Item] | None:
        """One such execution, if it reproduces the violation; what comes from outside does so at once."""
        run = Following(target, Match.CAUSE)
        place = random.randrange(len(self.schedule))
        items = [item for item in self.schedule[:place] if run.take(item)]
        items += [item for item in self.schedule[place:] if isinstance(item, int) and run.take(item)]
        name = len(target.externals) + len(self.schedule)
        while run.broken is None and len(items) < len(self.schedule) - 1:
            pending = [*run.world.pool.messages, *run.world.pool.timers]
            if not pending:
                break
            envelope = random.choice(pending)
            name += 1
            deed = run.deed(envelope, Do.DELIVER, name, run.origin(envelope))
            run.do(deed, envelope)
            items.append(deed)
        return items if run.reproduced else None


def _is_better(schedule: Schedule, than: Schedule) -> bool:
    return simplicity(schedule) < simplicity(than) and _deliveries(schedule) <= _deliveries(than)


def _deliveries(schedule: Schedule) -> int:
    return sum(not isinstance(item, int) and item.act.do is Do.DELIVER for item in schedule)
