"""One execution in virtual time, choice by choice; it can be followed again from its beginning.

What comes from outside comes when what it waits for is over, after all that is due until then, as in random runs.
Everything else that happens is due first; of what is due at the same time, which comes first is a choice, and so
is whether a message arrives, gets lost or is copied.  How long messages take and how fast clocks run is chosen
when they ask for it (``clock``).  Worlds are not copied: what came before is executed again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from clew.exploration.findings import holds
from clew.exploration.repetition import NotRepeatableError
from clew.exploration.timed.clock import ChoosingClock, Pick
from clew.exploration.timed.situation import Viewer
from clew.exploration.timed.system import TimedSystem
from clew.simulation.events import Elapse, WaitQuiescence
from clew.simulation.execution.steps import Do, Step, act_of, perform
from clew.simulation.pool import Envelope, Link, TimedPool
from clew.simulation.scenario import Broken
from clew.simulation.timing import to_ticks
from clew.simulation.world import CodeBlock, Wait, WaitCondition


class Choice(NamedTuple):
    """What happens next: ``do`` with what ``source`` sent as its ``nth``; None for an event from outside."""

    do: Do | None
    source: str = ""
    nth: int = 0


#: The next event from outside; and what nodes do that are up before the first event.
FROM_OUTSIDE, BEGINNING = Choice(None), Choice(None, "", -1)


class Place(NamedTuple):
    """A place in an execution: what happened last, with which choices, and the place ``before`` that.

    ``size``: how many events there were.  ``digest``: the situation then.
    """

    before: Place | None
    choice: Choice
    picks: tuple[Pick, ...]
    size: int
    digest: bytes

    def path(self) -> list[Place]:
        """Return the places from the first to this one."""
        found: list[Place] = []
        place: Place | None = self
        while place is not None:
            found.append(place)
            place = place.before
        return found[::-1]


class TimedRun:
    """``item``: how many events from outside there were; ``is_ready``: the next one is what happens next.

    ``since``: when it began to wait.  ``size``: how many events there were.  ``used``: of losses and copies.
    """

    def __init__(self, system: TimedSystem, picks: Iterable[Pick] = ()) -> None:
        self._system = system
        self.world = system.world(picks)
        clock, pool = self.world.clock, self.world.pool
        assert isinstance(clock, ChoosingClock) and isinstance(pool, TimedPool)
        self.clock, self._pool = clock, pool
        self.item = 0
        self.is_ready = False
        self.since = 0
        self.size = 0
        self.used: dict[tuple[Do, Link], int] = {}
        self.viewer = Viewer(self.world, system.names, system.scenario.is_fifo)

    # -- what can happen -----------------------------------------------------------------------------------------

    def possible(self) -> list[Choice]:
        """Return what can happen next; nothing at the end."""
        if self.is_ready:
            return [FROM_OUTSIDE]
        due = self._pool.next_due
        # Also where something outside still waits: what it waits for comes no more.
        if due is None or due > self.clock.until:
            return []
        return [choice for envelope in self._pool.list_due(self.world.ticks) for choice in self._fates(envelope)]

    def _fates(self, envelope: Envelope) -> Iterator[Choice]:
        yield Choice(Do.DELIVER, envelope.source, envelope.nth)
        # Timers, and what a node sends itself, are inside of a node, where the network does nothing.
        if envelope.source != envelope.target:
            link = (envelope.source, envelope.target)
            bounds = self._system.bounds
            for do, most in ((Do.LOSE, bounds.losses), (Do.DUPLICATE, bounds.duplicates)):
                if self.used.get((do, link), 0) < most:
                    yield Choice(do, envelope.source, envelope.nth)

    # -- doing it ------------------------------------------------------------------------------------------------

    def describe(self, choice: Choice) -> tuple[int, Step]:
        """Return when something that is possible happens, and what it is called in a schedule."""
        if choice.do is None:
            event = self._system.plan[self.item].event
            assert event is not None
            return self.world.ticks, event
        envelope = self.find(choice)
        return max(envelope.due, self.world.ticks), act_of(self._system.scenario, envelope, choice.do)

    def do(self, choice: Choice, picks: Iterable[Pick] = ()) -> None:
        """Let something happen, with these choices in it; ``settle`` is to follow."""
        self.clock.begin(picks)
        self.size += 1
        if choice.do is None:
            self._take_external()
            return
        envelope = self.find(choice)
        if choice.do is not Do.DELIVER:
            key = choice.do, (envelope.source, envelope.target)
            self.used[key] = self.used.get(key, 0) + 1
        # Before it is delivered: its receiver may change it.
        note = self.viewer.describe(envelope)
        perform(self.world, envelope, choice.do)
        if choice.do is Do.DELIVER:
            self.viewer.note(envelope.target, note)

    def find(self, choice: Choice) -> Envelope:
        """Return what a choice is about; from outside, there is nothing on its way."""
        for envelope in self._pool.list_due(self.world.ticks):
            if (envelope.source, envelope.nth) == choice[1:]:
                return envelope
        raise NotRepeatableError(
            f"what {choice.source or 'the scenario'} sent as number {choice.nth} is not sent again"
        )

    def _take_external(self) -> None:
        event = self._system.plan[self.item].event
        assert event is not None
        # What a code block does to a node may depend on all other nodes, so that is a part of the node's history.
        before = self.digest() if isinstance(event, CodeBlock) else b""
        self.item += 1
        self.since = self.world.ticks
        self.world.inject(event)
        self.viewer.note_external(event, self.item, before)

    def look(self) -> Broken | None:
        """Return what is broken now."""
        with self._watching():
            return self._system.scenario.look(self.world)

    def settle(self) -> None:
        """Let the time pass that the next event from outside waits for, if nothing happens until then."""
        plan = self._system.plan
        with self._watching():
            while self.item < len(plan):
                self.is_ready = self._is_over(plan[self.item].gate)
                if not self.is_ready or plan[self.item].event is not None:
                    return
                self.item += 1
                self.since = self.world.ticks
        self.is_ready = False

    def _is_over(self, gate: Wait | None) -> bool:
        match gate:
            case None:
                return True
            case WaitCondition():
                return holds(gate, self.world)
            case WaitQuiescence():
                return self._pool.next_due is None
            case Elapse(seconds):
                # As random runs have it: what is due until then comes first, also what is due at that very time.
                time, due = self.since + to_ticks(seconds), self._pool.next_due
                if time > self.clock.until or (due is not None and due <= time):
                    return False
                self.world.elapse(time)
                return True

    def finish(self) -> Broken | None:
        """Return which promise is not kept at the end, if all that was to come has come."""
        # What is due later never happens; the time before it passes all the same, and clocks show that.
        if self._pool.next_due is not None:
            self.world.elapse(self.clock.until)
        with self._watching():
            return self._system.scenario.look_at_end(self.world) if self.is_done else None

    @contextmanager
    def _watching(self) -> Iterator[None]:
        self.clock.is_watched = True
        try:
            yield
        finally:
            self.clock.is_watched = False

    @property
    def is_done(self) -> bool:
        """Tell whether everything from outside has happened."""
        return self.item == len(self._system.plan)

    def digest(self) -> bytes:
        """Return a digest of the situation: of all that decides what can follow.  ``settle`` comes after it."""
        looking = self._system.shows_everything(self.item)
        plan = self._system.plan
        # Only where it still decides something when the waiting began.
        since = self.since if not self.is_done and isinstance(plan[self.item].gate, Elapse) else 0
        account = (self.item, since, sorted((do.value, *link, n) for (do, link), n in self.used.items()))
        return self.viewer.digest((account, self.clock.read_speeds()), everything=looking)
