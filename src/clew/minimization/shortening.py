"""Looking for shorter executions away from the original one.

Delta debugging ends at an execution from which nothing can be left out; a different order may do with less.  So
the best execution is changed at random: a *walk* leaves out, moves or replaces events as long as the violation
stays; a *departure* follows the best execution for a while and then does anything.  What reproduces the
violation, is shorter than the best and delivers no more becomes the best.  This goes beyond the paper, whose
executions were up to 4.6 times longer than the shortest known.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import NamedTuple

from clew.minimization.search import Candidate, Search, TrialResult
from clew.minimization.trial import GuidedRun, Item, Match, Schedule, Target, attempt, length_of
from clew.simulation.events import Send
from clew.simulation.execution.steps import Do

#: How many executions make a walk or a departure, and how many changes are made at once.
_LENGTH = 100
_CHANGES = (1, 1, 1, 2, 2, 3)
#: By how much an execution may be longer than the best on the way to a shorter one.
_DETOURS = (0, 0, 1, 3)
#: Of so many candidates, one is a departure.
_DEPARTURES = 3


def shorten(search: Search, schedule: Schedule, seed: str, patience: int) -> Schedule:
    """Look for shorter executions until ``patience`` candidates in a row have led to none."""
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
        # By place and not by chance: a family must be the same in every process.
        departs = place % _DEPARTURES == _DEPARTURES - 1
        return Departure(self.schedule, seed) if departs else Walk(self.schedule, seed)


class Walk(NamedTuple):
    """Changes after changes, as long as the violation stays and the execution does not get much longer."""

    schedule: Schedule
    seed: str

    def evaluate(self, target: Target) -> TrialResult:
        random = Random(self.seed)
        current = self.schedule
        longest = length_of(self.schedule) + random.choice(_DETOURS)
        for executed in range(1, _LENGTH + 1):
            items = list(current)
            for _ in range(random.choice(_CHANGES)):
                random.choice(MOVES)(random, items, target)
            taken = attempt(target, items, Match.CAUSE)
            if taken is not None and length_of(taken) <= longest:
                current = taken
                # At the first success: the search goes on from there, with candidates made anew.
                if _is_better(current, self.schedule):
                    return TrialResult(current, executed)
        return TrialResult(None, _LENGTH)


class Departure(NamedTuple):
    """Executions that follow the best one for a while, and then do anything that is possible."""

    schedule: Schedule
    seed: str

    def evaluate(self, target: Target) -> TrialResult:
        random = Random(self.seed)
        for executed in range(1, _LENGTH + 1):
            items = self._depart(target, random)
            taken = attempt(target, items, Match.TYPE) if items is not None else None
            if taken is not None and _is_better(taken, self.schedule):
                return TrialResult(taken, executed)
        return TrialResult(None, _LENGTH)

    def _depart(self, target: Target, random: Random) -> list[Item] | None:
        """Make one such execution; None unless it reproduces the violation."""
        run = GuidedRun(target, Match.CAUSE)
        place = random.randrange(len(self.schedule))
        items = [item for item in self.schedule[:place] if run.take(item)]
        items += [item for item in self.schedule[place:] if isinstance(item, int) and run.take(item)]
        name = len(target.externals) + len(self.schedule)
        # One event fewer than the best at most, or it would be no gain.
        while run.broken is None and len(items) < len(self.schedule) - 1:
            pending = [*run.world.pool.messages, *run.world.pool.timers]
            if not pending:
                break
            envelope = random.choice(pending)
            name += 1
            scheduled = run.schedule_act(envelope, Do.DELIVER, name, run.origin(envelope))
            run.do(scheduled, envelope)
            items.append(scheduled)
        return items if run.reproduced else None


def _is_better(schedule: Schedule, than: Schedule) -> bool:
    # Both: fewer events in all must not be bought with more deliveries, which is what people read.
    return length_of(schedule) < length_of(than) and _deliveries(schedule) <= _deliveries(than)


def _deliveries(schedule: Schedule) -> int:
    return sum(not isinstance(item, int) and item.act.do is Do.DELIVER for item in schedule)


# -- the changes of a walk --------------------------------------------------------------------------------------

Move = Callable[[Random, list[Item], Target], None]


def leave_out(random: Random, items: list[Item], target: Target) -> None:
    if items:
        del items[random.randrange(len(items))]


def leave_out_some(random: Random, items: list[Item], target: Target) -> None:
    for _ in range(random.randrange(2, 5)):
        leave_out(random, items, target)


def move(random: Random, items: list[Item], target: Target) -> None:
    if len(items) > 1:
        item = items.pop(random.randrange(len(items)))
        items.insert(random.randrange(len(items) + 1), item)


def swap_neighbours(random: Random, items: list[Item], target: Target) -> None:
    if len(items) > 1:
        k = random.randrange(len(items) - 1)
        items[k], items[k + 1] = items[k + 1], items[k]


def copy(random: Random, items: list[Item], target: Target) -> None:
    """Deliver once more what was delivered somewhere else: there may be another of that type."""
    acts = [item for item in items if not isinstance(item, int)]
    if acts:
        items.insert(random.randrange(len(items) + 1), random.choice(acts))


def redirect(random: Random, items: list[Item], target: Target) -> None:
    """Replace a message from outside by one of its type that was recorded as sent to another node."""
    sent = {k: event for k, event in enumerate(target.externals) if isinstance(event, Send)}
    used = [item for item in items if isinstance(item, int) and item in sent]
    if not used:
        return
    old = random.choice(used)
    others = [
        k
        for k, event in sent.items()
        if k not in used and event.node != sent[old].node and type(event.message) is type(sent[old].message)
    ]
    if not others:
        return
    new = random.choice(others)
    for place, item in enumerate(items):
        if item == old:
            items[place] = new
        elif not isinstance(item, int) and item.origin == old:
            items[place] = item._replace(act=item.act._replace(target=sent[new].node), origin=new)


#: What a walk draws from: mostly leaving out, which is what it is for.
MOVES: tuple[Move, ...] = (leave_out, leave_out, leave_out_some, move, move, swap_neighbours, copy, redirect)
