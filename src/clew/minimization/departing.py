"""Departures: follow the best execution for a while, do anything that is possible, then reduce what came of it.

Walks only reach executions near the best one.  Two executions of a bug can have nothing in common but their
violation, and then every way between them leads through executions that do not end in it: raft-58b with 22
deliveries has no smaller neighbour, and another one has 13.  A departure may therefore become longer than the
best; what ends in the violation loses whatever can be spared before the two are compared.
"""

from __future__ import annotations

from random import Random
from typing import NamedTuple

from clew.minimization.deltas import externals_of
from clew.minimization.reduction import ReducedTrial
from clew.minimization.search import TrialResult
from clew.minimization.trial import GuidedRun, Item, Match, Schedule, Target
from clew.simulation.execution.steps import Do
from clew.simulation.pool import Envelope

#: How many events may follow after a departure; and how many times as long as the best execution it may become.
_MORE, _TIMES = 150, 3
#: Of shortcuts: how many departures make a candidate, at which event they leave at the latest, and for how many
#: events of the execution one candidate is worth its cost.  To leave out events one by one, of 2000 of raft-56,
#: takes 20 s; 1000 departures take 2 s.
_SHORTCUTS, _LATEST, _EVENTS_EACH = 25, 100, 50
#: One of so many departures leaves at the beginning, with nothing but the events from outside.
_AFRESH = 4


class Departure(NamedTuple):
    """Departures from one execution, until one comes to a better one or enough schedules were executed.

    Those of reductions count among the ``schedules``; the last reduction may exceed them.  ``more``: events from
    outside that happen as well when it departs.  ``latest``: how many events it follows at most.
    """

    schedule: Schedule
    seed: str
    schedules: int
    more: tuple[int, ...] = ()
    latest: int | None = None

    def evaluate(self, target: Target) -> TrialResult:
        random = Random(self.seed)
        executed = 0
        while executed < self.schedules:
            executed += 1
            items = self._depart(target, random)
            if items is None:
                continue
            reduced, more = ReducedTrial(items, self.schedule, Match.TYPE).evaluate(target)
            executed += more
            if reduced is not None:
                return TrialResult(reduced, executed)
        return TrialResult(None, executed)

    def _depart(self, target: Target, random: Random) -> list[Item] | None:
        """Make one such execution; None unless it ends in the violation."""
        run = GuidedRun(target, Match.CAUSE)
        place = random.randrange(len(self.schedule[: self.latest])) if random.randrange(_AFRESH) else 0
        items = [item for item in self.schedule[:place] if run.take(item)]
        # The rest of what comes from outside at once: messages are delivered whenever they are drawn.
        items += [item for item in (*externals_of(self.schedule[place:]), *self.more) if run.take(item)]
        name = len(target.externals) + len(self.schedule)
        longest = min(_TIMES * len(self.schedule), len(items) + _MORE)
        while run.broken is None and len(items) < longest:
            envelope = _draw(target, run, random)
            if envelope is None:
                break
            name += 1
            scheduled = run.schedule_act(envelope, Do.DELIVER, name, run.origin(envelope))
            run.do(scheduled, envelope)
            items.append(scheduled)
        return items if run.reproduced else None


def _draw(target: Target, run: GuidedRun, random: Random) -> Envelope | None:
    """Draw what happens next as a random run would: where timers went off all the time, little else would."""
    scenario = target.scenario
    messages, timers = run.world.pool.messages, run.world.pool.timers
    if timers and (not messages or random.random() < scenario.timers):
        timer = random.choice(timers)
        if not messages or random.random() < scenario.rare.get(timer.payload, 1.0):
            return timer
    return random.choice(messages) if messages else None


class Shortcuts(NamedTuple):
    """Departures near the beginning of a long execution: a bug that shows late may show early as well."""

    schedule: Schedule
    seed: str

    def __len__(self) -> int:
        return len(self.schedule) // _EVENTS_EACH

    def at(self, place: int) -> Departure:
        return Departure(self.schedule, f"{self.seed}/{place}", _SHORTCUTS, latest=_LATEST)
