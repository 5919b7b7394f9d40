"""Trying a schedule: does it still end in the same violation?

A schedule is followed as far as it can be: what it wants delivered and is not there is skipped, as in STSSched.
What counts as "there" is the ``Match``: the paper begins with the fingerprint of a message (observation 2) and
goes on to its type (observation 3).  Of several messages of a type, the one that the same item of the schedule
sent is meant, whatever it says now; the paper takes any.

Whatever an execution skipped is not part of its result: that is what was *taken*.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

from clew.errors import UsageError
from clew.minimization.searching.search import Plain
from clew.simulation.execution.steps import Act, Do, Ended, Pause, Size, Step, act_of, describe, perform, size_of
from clew.simulation.execution.trace import find_envelope, is_over
from clew.simulation.pool import OUTSIDE, Envelope
from clew.simulation.scenario import Broken, Network, Scenario
from clew.simulation.world import External


class ScheduledAct(NamedTuple):
    """Something to do with a message or timer.

    ``name`` is what other items of the schedule call this one, ``origin`` the name of the item that sent it.
    ``rank``: how many of the type that one had sent to the same node before.
    """

    act: Act
    name: int
    origin: int
    rank: int = 0


#: An event from outside, by its number in ``Target.externals``, which is its name, too; or a scheduled act.
Item = int | ScheduledAct
Schedule = tuple[Item, ...]

#: The origin of what is there from the beginning.
_BEGINNING = -1


class Match(enum.Enum):
    """Which pending message is meant: one of equal fingerprint only, or else one of its type, or else one of its
    type that the same item sent, whoever it is for: another node may have taken over.
    """

    FINGERPRINT = "fingerprint"
    TYPE = "type"
    CAUSE = "cause"


@dataclass(frozen=True)
class Target:
    """What is being minimized: executions of ``scenario`` that end in the violation ``identity``.

    ``externals`` are all events from outside that a schedule may use.  ``at_end``: it is a promise that is broken,
    so that an execution has to come to its end.
    """

    scenario: Scenario
    seed: int
    externals: tuple[External, ...]
    identity: str
    at_end: bool = False

    def steps(self, schedule: Iterable[Item]) -> tuple[Step, ...]:
        steps = (self.externals[item] if isinstance(item, int) else item.act for item in schedule)
        return (*steps, Ended()) if self.at_end else tuple(steps)

    def with_externals(self, externals: tuple[External, ...]) -> Target:
        return replace(self, externals=externals)

    def pack(self, schedule: Schedule) -> Plain:
        return plain(schedule)

    def unpack(self, packed: Plain) -> Schedule:
        return from_plain(packed)


def split_steps(steps: Iterable[Step]) -> tuple[tuple[External, ...], Schedule]:
    """Return the events from outside, and the schedule that refers to them, in which nothing needs to wait."""
    events = [step for step in steps if not isinstance(step, Pause)]
    externals = tuple(step for step in events if not isinstance(step, Act))
    numbers = iter(range(len(externals)))
    # Where things come from is known after the first execution: see ``complete_recorded``.
    items: list[Item] = [
        ScheduledAct(s, _BEGINNING, _BEGINNING) if isinstance(s, Act) else next(numbers) for s in events
    ]
    return externals, tuple(items)


def measure(target: Target, schedule: Sequence[Item]) -> Size:
    """Measure a schedule, as every recording and execution is measured."""
    return size_of(target.steps(schedule))


def length_of(schedule: Sequence[Item]) -> int:
    """Return what every stage makes smaller: everything that happens counts, from outside or not."""
    return len(schedule)


def is_better(schedule: Sequence[Item], than: Sequence[Item]) -> bool:
    """Tell whether an execution is shorter and delivers no more."""
    # Both: fewer events in all must not be bought with more deliveries, which is what people read.
    return length_of(schedule) < length_of(than) and _deliveries(schedule) <= _deliveries(than)


def _deliveries(schedule: Sequence[Item]) -> int:
    return sum(not isinstance(item, int) and item.act.do is Do.DELIVER for item in schedule)


def attempt(target: Target, schedule: Sequence[Item], match: Match) -> Schedule | None:
    """Return what was taken of the schedule, if it ends in the violation; None if it does not."""
    run = GuidedRun(target, match)
    taken = [item for item in schedule if run.take(item)]
    if target.at_end:
        taken += run.complete(len(schedule) - len(taken))
    if not run.reproduced:
        return None
    return rewrite(target, taken, match)


class GuidedRun:
    """An execution that follows a schedule as far as it can; it ends where an invariant breaks."""

    def __init__(self, target: Target, match: Match, *, recording: bool = False) -> None:
        self.world = target.scenario.world(target.seed, recording=recording)
        self.broken: Broken | None = target.scenario.look(self.world)
        self._target = target
        self._exact = match is Match.FINGERPRINT
        self._by_cause = match is Match.CAUSE
        self._fifo = target.scenario.network is Network.FIFO
        self._names: list[int] = []  # of the items taken, by the number of the event
        self._taken: dict[tuple[int, str, str], list[Envelope]] = {}  # by the event that sent it, and the link

    def take(self, item: Item) -> bool:
        """Do what the item says; False if that is impossible."""
        if self.broken is not None:
            return False
        if isinstance(item, int):
            self.do(item, None)
            return True
        envelope = self.resolve(item)
        if envelope is None:
            return False
        self.do(item, envelope)
        return True

    def do(self, item: Item, envelope: Envelope | None) -> None:
        """Take an item that is about this envelope, if it is about any."""
        if isinstance(item, int):
            self._names.append(item)
            self.world.inject(self._target.externals[item])
        else:
            assert envelope is not None
            self._names.append(item.name)
            # For ``_rank``: what was taken still counts as sent before.
            if item.act.do is not Do.DUPLICATE and not self._alone(envelope):
                link = (envelope.cause, envelope.source, envelope.target)
                self._taken.setdefault(link, []).append(envelope)
            perform(self.world, envelope, item.act.do)
        self.broken = self._target.scenario.look(self.world)

    def complete(self, most: int) -> list[Item]:
        """Deliver what is left, at most so many messages, so that an execution comes to its end; return that."""
        items: list[Item] = []
        while self.broken is None and self.world.pool.messages and len(items) < most:
            envelope = min(self.world.pool.messages, key=lambda e: (e.cause, e.nth))
            # A name that nothing else has: ``rewrite`` gives it its own.
            item = self.schedule_act(envelope, Do.DELIVER, -2 - len(items), self.origin(envelope))
            items.append(item)
            self.do(item, envelope)
        return items

    @property
    def reproduced(self) -> bool:
        target, world = self._target, self.world
        if target.at_end and self.broken is None and is_over(world):
            self.broken = target.scenario.look_at_end(world)
        broken = self.broken
        return broken is not None and target.scenario.same(broken, self.world) == target.identity

    def resolve(self, scheduled: ScheduledAct) -> Envelope | None:
        """Find the pending message or timer that an act is about in this execution."""
        act, pool = scheduled.act, self.world.pool
        if act.timer:
            return pool.timer(act.target, act.kind) or self._sibling(scheduled, pool.timers)
        best: Envelope | None = None
        grade = 0
        for envelope in pool.ready(act.source, act.target):
            if type(envelope.payload).__qualname__ != act.kind:
                continue
            # Grades: 1 of the type, 2 also of equal fingerprint, from 3 on sent by the same item, which outweighs
            # both; 6 is that one exactly.
            sibling = self.origin(envelope) == scheduled.origin
            # It could not become better, and a fingerprint is a call into the user's code.
            if grade >= 2 and not sibling:
                continue
            same = self._target.scenario.fingerprint_of(envelope.payload) == act.fingerprint
            if self._exact and not same:
                continue
            found = 1 + same
            if sibling:
                found = 3 + 2 * same + (self._rank(envelope) == scheduled.rank)
            if found > grade:
                best, grade = envelope, found
            if grade == 6:
                break
        return best or self._sibling(scheduled, pool.messages)

    def _sibling(self, scheduled: ScheduledAct, pending: Sequence[Envelope]) -> Envelope | None:
        """Find a timer, or a message of that type, that the same item has sent here, wherever it goes."""
        if self._by_cause and scheduled.origin != _BEGINNING:
            for envelope in pending:
                if self.origin(envelope) == scheduled.origin and (
                    envelope.timer or envelope.kind == scheduled.act.kind
                ):
                    return envelope
        return None

    def origin(self, envelope: Envelope) -> int:
        """Return the name of the item that sent it."""
        return self._names[envelope.cause] if envelope.cause >= 0 else _BEGINNING

    def schedule_act(self, envelope: Envelope, do: Do, name: int, origin: int) -> ScheduledAct:
        """Write down what is done with a pending envelope, so that just this one is meant."""
        act = act_of(self._target.scenario, envelope, do)
        return ScheduledAct(act, name, origin, self._rank(envelope))

    def _rank(self, envelope: Envelope) -> int:
        if self._alone(envelope):
            return 0
        # Among what the same event sent on this link, for an event may send several of one type.
        cause, kind, rank = envelope.cause, envelope.kind, 0
        for taken in self._taken.get((cause, envelope.source, envelope.target), ()):
            rank += taken.nth < envelope.nth and taken.kind == kind
        for older in self.world.pool.ready(envelope.source, envelope.target):
            if older is envelope:
                break
            rank += older.cause == cause and older.kind == kind
        return rank

    def _alone(self, envelope: Envelope) -> bool:
        """Tell whether it is the only one that could be meant: a timer, or the first of its pair over FIFO."""
        return envelope.timer or (self._fifo and envelope.source != OUTSIDE)


def rewrite(target: Target, schedule: Sequence[Item], match: Match) -> Schedule:
    """Write the execution down anew: numbers, fingerprints and origins of its acts may have changed."""
    run = GuidedRun(target, match)
    items = _rewrite_items(target, run, schedule, run.resolve)
    if not run.reproduced:
        raise not_repeatable_error(target.steps(schedule[len(items) :]))
    return items


def complete_recorded(target: Target, schedule: Schedule) -> Schedule | None:
    """Add to a recorded schedule what its acts do not say yet; None if it does not end in the violation."""
    run = GuidedRun(target, Match.FINGERPRINT)
    items = _rewrite_items(target, run, schedule, lambda scheduled: find_envelope(run.world, scheduled.act))
    return items if run.reproduced else None


def repeat_recorded(target: Target, schedule: Schedule) -> GuidedRun:
    """Repeat an execution that is known to end in the violation, with the world recording it."""
    run = GuidedRun(target, Match.FINGERPRINT, recording=True)
    taken = [item for item in schedule if run.take(item)]
    if len(taken) < len(schedule) or not run.reproduced:
        raise not_repeatable_error(target.steps(schedule[len(taken) :]))
    return run


def _rewrite_items(
    target: Target, run: GuidedRun, schedule: Sequence[Item], choose: Callable[[ScheduledAct], Envelope | None]
) -> Schedule:
    """Return the items that are taken, up to the violation or to what is not there."""
    items: list[Item] = []
    fresh: dict[int, int] = {}  # the new names by the number of the event
    for place, item in enumerate(schedule):
        if run.broken is not None:
            break
        envelope = None
        written = item
        if not isinstance(item, int):
            envelope = choose(item)
            if envelope is None:
                break
            # Named anew by place: after something was left out, the numbers of events are others.
            origin = fresh.get(envelope.cause, _BEGINNING)
            written = run.schedule_act(envelope, item.act.do, len(target.externals) + place, origin)
        fresh[run.world.events] = written if isinstance(written, int) else written.name
        items.append(written)
        run.do(item, envelope)
    return tuple(items)


def not_repeatable_error(rest: Sequence[Step]) -> UsageError:
    """Make the error that an execution was repeated and took another way; ``rest`` was not taken any more."""
    where = f", from this step on: {describe(rest[0])}" if rest else ""
    return UsageError(
        f"the same schedule twice is not the same execution{where}",
        remedy="let nodes take time and random numbers from their context, and nothing else from outside",
    )


# -- for other processes -----------------------------------------------------------------------------------------


def plain(schedule: Sequence[Item]) -> Plain:
    return tuple(
        item if isinstance(item, int) else (item.act.do.value, *item.act[1:], *item[1:]) for item in schedule
    )


def from_plain(items: Plain) -> Schedule:
    return tuple(item if isinstance(item, int) else _act_from_plain(item) for item in items)


@lru_cache(maxsize=1 << 14)  # most of a schedule is as it was before the last success
def _act_from_plain(item: Plain) -> ScheduledAct:
    return ScheduledAct(Act(_DO[item[0]], *item[1:7]), *item[7:])


_DO = {do.value: do for do in Do}
