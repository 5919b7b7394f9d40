"""TFB, "type fingerprints with backtracks": when a schedule does not reproduce, try those near it.

Algorithm 1 of the paper.  Wherever a message was delivered, other pending messages of the same type at the same
node could have been: the two do not commute, so that another execution follows from each.  Those are tried in
turn, the nearest to the original first, until one reproduces the violation or the budget is spent.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

from clew.minimization.search import TrialResult
from clew.minimization.trial import GuidedRun, Item, Match, Schedule, ScheduledAct, Target, attempt
from clew.simulation.execution.steps import act_of
from clew.simulation.pool import Envelope


class BacktrackingTrial(NamedTuple):
    """A schedule, and when it does not reproduce the violation, up to ``budget`` others near it."""

    schedule: Sequence[Item]
    budget: int

    def evaluate(self, target: Target) -> TrialResult:
        pending: deque[Schedule] = deque([tuple(self.schedule)])
        seen = set(pending)
        executed = 0
        while pending and executed <= self.budget:
            candidate = pending.popleft()
            executed += 1
            taken = attempt(target, candidate, Match.CAUSE)
            if taken is not None:
                return TrialResult(taken, executed)
            # Looking for neighbours costs an execution, too; not for more than can be tried.
            if len(pending) + executed <= self.budget:
                fresh = [other for other in _neighbours(target, candidate) if other not in seen]
                seen.update(fresh)
                pending.extend(fresh)
        return TrialResult(None, executed)


def _neighbours(target: Target, schedule: Schedule) -> list[Schedule]:
    """Return the schedule with one delivery replaced by another of the same type that was possible there."""
    run = GuidedRun(target, Match.CAUSE)
    found: list[Schedule] = []
    for place, item in enumerate(schedule):
        if not isinstance(item, int):
            chosen = run.resolve(item)
            if chosen is not None:
                found.extend(
                    (*schedule[:place], other, *schedule[place + 1 :])
                    for other in _rivals(target, run, item, chosen)
                )
        run.take(item)
        if run.broken is not None:
            break
    return found


def _rivals(target: Target, run: GuidedRun, scheduled: ScheduledAct, chosen: Envelope) -> list[ScheduledAct]:
    """Return messages of the same type to the same node that differ in what matters, oldest first."""
    # A timer has no sender and no contents: another one at the same node is another type.
    if chosen.timer:
        return []
    own = act_of(target.scenario, chosen)
    others = [
        e for e in run.world.pool.messages if e.target == chosen.target and e is not chosen and e.kind == own.kind
    ]
    others.sort(key=lambda e: (e.cause, e.source, e.nth))
    found = [run.schedule_act(e, scheduled.act.do, scheduled.name, run.origin(e)) for e in others]
    return [d for d in found if (d.act.source, d.act.fingerprint) != (own.source, own.fingerprint)]
