"""An execution that is being made: what can happen next, what an event did, and with which events it races.

Two events race when they are dependent, nothing comes between them, and the later one could have come first.  An
event that is prevented (its timer is cancelled, its node stops, its link is blocked) races with the one that
prevents it.  So that no class of executions is missed, this must be noted for whatever is possible after all
events that do not follow from the preventing one, and no longer after that:

- what was possible just before it;
- what becomes possible later in this execution, or would if it were not prevented, if it does not follow from the
  preventing event: sending has nothing to do with whether the link is blocked, or with what is lost on it.  A heal
  makes no difference: what is delivered after it can only come first if it precedes the partition, too.

Everything else that allows an event is in order with what prevents it, so the first case is all there is.
Whatever can prevent the same event is dependent on each other, so when the first of them is taken away, with all
that follows from it, none is left.
"""

from __future__ import annotations

from typing import NamedTuple

from clew.exploration.event import EVERYTHING, Event, Footprint, Key, Name, Rank, Thing, footprint
from clew.exploration.ledger import Ledger, Offer
from clew.exploration.repetition import NotRepeatableError, effect_of
from clew.exploration.system import System
from clew.simulation.events import Heal, Partition, Restart, Send, Start, Stop
from clew.simulation.execution.steps import Act, At, Do, Ended, Step, act_of, describe, perform
from clew.simulation.execution.trace import find_envelope
from clew.simulation.pool import OUTSIDE, Envelope, Link
from clew.simulation.world import CodeBlock, External, Happened

_DO = {Rank.DELIVER: Do.DELIVER, Rank.TIMER: Do.DELIVER, Rank.LOSE: Do.LOSE, Rank.DUPLICATE: Do.DUPLICATE}
#: Of what waits and of code blocks: nothing trades places with them.
_GLOBAL = Footprint(frozenset({EVERYTHING}), frozenset())


class Race(NamedTuple):
    """What ``key`` names could happen before the event at ``early``.

    At ``late`` it happened after it (-1: it was prevented).  ``node``: whose history it goes on with.
    ``seen``: the place of the event at which this came to light.
    """

    early: int
    late: int
    key: Key
    node: str | None
    seen: int


class Driver:
    """Begins with ``events``, which are executed again; races are noted from there on.

    Nothing before ``base`` is to be changed.
    """

    def __init__(self, system: System, events: list[Event], base: int) -> None:
        self.events: list[Event] = []
        self.races: list[Race] = []
        self._system = system
        self._base = base
        self._counts = [0] * system.chains
        self._changed: dict[Thing, int] = {}
        self._readers: dict[Thing, list[int]] = {}
        # The latest event that looks at everything: all after it depend on it.
        self._barrier = -1
        self._local = {name: system.at_start(name) for name in (*system.names, OUTSIDE)}
        # The latest code block, which is part of every local history after it: it may have changed anything.
        self._era = 0
        self._creators: dict[Name, int] = {}
        self._ledger = Ledger(system)
        self.world = system.world()
        for event in events:
            self._redo(event)
        self.world.history = []
        self._offers = self._ledger.offers(self.world.pool)

    @property
    def item(self) -> int:
        """Return how many events from outside there were."""
        return self._ledger.item

    @property
    def local(self) -> tuple[int, ...]:
        """Return the history of each node of the scenario."""
        return tuple(self._local[name] for name in self._system.names)

    # -- what can happen -----------------------------------------------------------------------------------------

    def possible(self) -> list[Key]:
        """Return what can happen next, in the order in which it is to be tried."""
        return sorted(key for key, offer in self._offers.items() if offer.is_possible)

    # -- doing it ------------------------------------------------------------------------------------------------

    def do(self, key: Key) -> Event:
        """Let it happen, and note with what it races."""
        if key not in self._offers or not self._offers[key].is_possible:
            raise NotRepeatableError(
                f"what {key.source or 'the scenario'} sent as number {key.nth} is not sent again"
            )
        envelope = self._offers[key].envelope
        item = self._system.plan[key.nth] if envelope is None else None
        before = self._count_messages() if item else {}
        if envelope is not None:
            step: Step | None = act_of(self._system.scenario, envelope, _DO[key.rank])
        else:
            assert item is not None
            step = item.event
        happened = self._perform(item.gate if item else None, step, envelope)
        held = self._find_blocked_links(step)
        mark = self._footprint(key, happened, held)
        preds = self._predecessors(mark)
        event = self._event(key, step, happened, mark, preds, held, before)
        place = len(self.events)
        self._note_races(place, event, preds)
        self._account(event)
        self._note_prevented(place, key)
        if happened is not None:
            self._compare(event, happened)
        return event

    def do_global(self) -> Event:
        """Perform the next event from outside, which looks at everything."""
        key = Key(Rank.OUTSIDE, OUTSIDE, self.item)
        self._offers[key] = Offer(None)
        return self.do(key)

    def _redo(self, event: Event) -> None:
        envelope = None
        if isinstance(event.step, Act):
            envelope = find_envelope(self.world, event.step)
            if envelope is None:
                what = f"a schedule cannot be executed again: {event.step}, and nothing is on its way"
                raise NotRepeatableError(what)
        # Recording costs time, and hardly any event is executed for the second time only.
        self.world.history = [] if self._system.repetition.is_wanted(_history_number(event)) else None
        happened = self._perform(event.gate, event.step, envelope)
        self._account(event)
        if happened is not None:
            self._compare(event, happened)

    def _perform(self, gate: Step | None, step: Step | None, envelope: Envelope | None) -> Happened | None:
        # An exploration goes on after an exception: executions in which it comes later count as well.
        self.world.failure = None
        self._system.begin_event(self.events, gate, step)
        if envelope is not None:
            assert isinstance(step, Act)
            perform(self.world, envelope, step.do)
        elif step is not None:
            assert not isinstance(step, Act | At | Ended)
            self.world.inject(step)
        # Code that does several things leaves several entries; its own is the last.
        history = self.world.history
        happened = history[-1] if history else None
        # Or what a block did inside would be taken for the next event.
        if history:
            history.clear()
        return happened

    def _compare(self, event: Event, happened: Happened) -> None:
        """Hold what an event did against what it did in other executions."""
        effect = effect_of(happened, self.world)
        if effect is not None:
            assert event.step is not None
            what = f"'{describe(event.step)}'"
            self._system.repetition.compare(
                _history_number(event), effect, what, self.events, len(self.events) - 1
            )

    # -- what it was ---------------------------------------------------------------------------------------------

    def _event(
        self,
        key: Key,
        step: Step | None,
        happened: Happened | None,
        mark: Footprint,
        preds: list[int],
        held: tuple[Link, ...],
        before: dict[Link, int],
    ) -> Event:
        system, world = self._system, self.world
        outside = key.rank is Rank.OUTSIDE
        gate = system.plan[key.nth].gate if outside else None
        node = _history_owner(key, happened.what if happened else None)
        if outside:
            place: str | Link = OUTSIDE
            moves = tuple((link, n - before.get(link, 0)) for link, n in self._count_messages(before).items())
        else:
            assert happened is not None and isinstance(happened.what, Envelope)
            place = happened.node or (happened.what.source, happened.what.target)
            moves = _link_changes(happened)
        chain = system.chain(place)
        clock = list(map(max, zip(*(self.events[p].clock for p in preds), strict=True))) or [0] * system.chains
        clock[chain] = nth = self._counts[chain] + 1
        whole = system.number((key, tuple(sorted(self.events[p].whole for p in preds))))
        was = self._local[node] if node is not None else 0
        local = system.local(key, was, self._creator(key), self._era)
        system.keep_footprint(local, mark, step)
        self._keep_states(step, node, local, whole)
        system.note_draws(world, world.processes if mark.is_global else [node] if node else [])
        return Event(
            key, step, gate, node, chain, nth, tuple(clock), mark, local, was, whole,
            tuple((e.source, e.nth) for e in happened.sent) if happened else (),
            moves, world.failure, tuple(world.nodes) if outside else (), held,
        )  # fmt: skip

    def _footprint(self, key: Key, happened: Happened | None, held: tuple[Link, ...]) -> Footprint:
        if happened is None or (key.rank is Rank.OUTSIDE and self._system.plan[key.nth].is_global):
            return _GLOBAL
        changed = {*held} ^ {*self._ledger.held} if isinstance(happened.what, Partition | Heal) else ()
        return footprint(happened, changed)

    def _find_blocked_links(self, step: Step | None) -> tuple[Link, ...]:
        if not isinstance(step, Partition | Heal | CodeBlock):
            return self._ledger.held
        return tuple(link for link in self._system.links if self.world.pool.is_held(*link))

    def _count_messages(self, also: dict[Link, int] | None = None) -> dict[Link, int]:
        """Count the messages on each link; links in ``also`` are counted even if there are none."""
        counted = dict.fromkeys(also or (), 0)
        if self._system.counts_messages:
            for envelope in self.world.pool:
                if not envelope.timer:
                    link = (envelope.source, envelope.target)
                    counted[link] = counted.get(link, 0) + 1
        return counted

    def _creator(self, key: Key) -> int:
        place = self._creators.get(key.name, -1) if key.rank is not Rank.OUTSIDE else -1
        return self.events[place].local if place >= 0 else 0

    def _keep_states(self, step: Step | None, node: str | None, local: int, whole: int) -> None:
        if isinstance(step, CodeBlock):
            for name in self._system.names:
                self._system.keep_state(self._system.after_code(whole, name), name, self.world)
        elif node:
            self._system.keep_state(local, node, self.world)

    # -- order and races -----------------------------------------------------------------------------------------

    def _predecessors(self, mark: Footprint) -> list[int]:
        """Return the places of the events that come immediately before one with this footprint."""
        if mark.is_global:
            found = set(range(len(self.events)))
        else:
            found = {self._barrier} - {-1}
            for thing in mark.changes:
                found.update(self._readers.get(thing, ()))
            for thing in (*mark.changes, *mark.reads):
                if thing in self._changed:
                    found.add(self._changed[thing])
        events = self.events
        # Only those that nothing comes between: a race with an earlier one is no race, since what is between
        # depends on it.
        return sorted(p for p in found if not any(q > p and events[q].is_after(events[p]) for q in found))

    def _note_races(self, place: int, event: Event, preds: list[int]) -> None:
        for early in preds:
            if early >= self._base and self._can_be_first(event, self.events[early]):
                self.races.append(Race(early, place, event.key, event.node, place))

    def _can_be_first(self, event: Event, early: Event) -> bool:
        key, other = event.key, early.key
        if key.rank is Rank.OUTSIDE:
            return other.rank is not Rank.OUTSIDE
        # It needs the earlier one: that sent it, or is the duplicate before it.
        if key.name in early.created or other == key.previous:
            return False
        if key.rank is Rank.TIMER:
            return True
        assert isinstance(event.step, Act)
        link = (event.step.source, event.step.target)
        if other.rank is Rank.OUTSIDE:
            return not (isinstance(early.step, Heal) and ("link", *link) in early.footprint.changes)
        assert isinstance(early.step, Act)
        # Over FIFO the head of the queue goes first, whether it is delivered or lost.
        in_line = self._system.fifo and link[0] != OUTSIDE and link == (early.step.source, early.step.target)
        return not (in_line and other.rank in (Rank.DELIVER, Rank.LOSE))

    def _note_prevented(self, place: int, done: Key) -> None:
        """Note what this event made impossible, and what it made possible that could have come earlier still."""
        old, new = self._offers, self._ledger.offers(self.world.pool)
        # Sorted, here and below: races must be noted in the same order whatever the order of the pool is.
        for key in sorted(old):
            if key != done and old[key].is_possible and not (key in new and new[key].is_possible):
                self._note_prevention(place, key, old[key])
        for key in sorted(new):
            # A message that becomes possible after a heal can only come first if it precedes the partition, too:
            # whole classes of schedules were missed as long as it raced with the heal alone.
            if key not in old:
                for by in self._ledger.preventing(new[key]):
                    if not self._needs(key, new[key], self.events[by]):
                        self._note_prevention(by, key, new[key])
        self._offers = new

    def _needs(self, key: Key, offer: Offer, earlier: Event) -> bool:
        """Tell whether a message would not be there, or not be the next of its link, without an earlier event."""
        assert offer.link is not None
        places = [self._creators.get(key.name, -1), *self._ledger.enabling(key, offer.link)]
        return any(place >= 0 and self.events[place].is_after(earlier) for place in places)

    def _note_prevention(self, by: int, key: Key, offer: Offer) -> None:
        if by >= self._base:
            assert offer.envelope is not None
            self.races.append(Race(by, -1, key, _history_owner(key, offer.envelope), len(self.events) - 1))

    def reversal(self, race: Race) -> list[Event]:
        """Return what else happened, from the first event of a race on, that depends on neither of the two."""
        early = self.events[race.early]
        others = [e for e in self.events[race.early + 1 :] if not e.is_after(early)]
        # One that was prevented has not happened, so nothing depends on it.
        if race.late >= 0:
            late = self.events[race.late]
            others = [e for e in others if not e.is_after(late)]
        return others

    def local_of(self, race: Race, between: list[Event]) -> int:
        """Return the local history that the later event of a race would have if it came first."""
        was = 0
        if race.node is not None:
            earlier = (e for e in (*reversed(between), *reversed(self.events[: race.early])))
            was = self._system.at_start(race.node)
            for event in earlier:
                if event.node == race.node:
                    was = event.local
                    break
                if isinstance(event.step, CodeBlock):
                    was = self._system.after_code(event.whole, race.node)
                    break
        return self._system.local(race.key, was, self._creator(race.key), self._era)

    # -- keeping account -----------------------------------------------------------------------------------------

    def _account(self, event: Event) -> None:
        place = len(self.events)
        self.events.append(event)
        self._counts[event.chain] += 1
        for name in event.created:
            self._creators[name] = place
        if event.footprint.is_global:
            self._changed.clear()
            self._readers.clear()
            self._barrier = place
        for thing in event.footprint.changes:
            self._changed[thing] = place
            self._readers.pop(thing, None)
        for thing in event.footprint.reads:
            self._readers.setdefault(thing, []).append(place)
        if event.node is not None:
            self._local[event.node] = event.local
        self._ledger.account(event, place)
        if isinstance(event.step, CodeBlock):
            self._era = event.whole
            self._local = {name: self._system.after_code(event.whole, name) for name in self._local}


def _history_number(event: Event) -> int:
    """Return the number of the history on which the effect of an event depends: arbitrary code sees everything."""
    return event.whole if isinstance(event.step, CodeBlock) else event.local


def _history_owner(key: Key, what: Envelope | External | None) -> str | None:
    """Return whose history an event goes on with."""
    if isinstance(what, Envelope):
        if key.rank is Rank.LOSE:
            return None
        return what.source if key.rank is Rank.DUPLICATE else what.target
    if isinstance(what, Start | Stop | Restart):
        return what.node
    return OUTSIDE if isinstance(what, Send) else None


def _link_changes(happened: Happened) -> tuple[tuple[Link, int], ...]:
    assert isinstance(happened.what, Envelope)
    lost = {e.nth for e in happened.lost}
    moves = [((e.source, e.target), 1) for e in happened.sent if not e.timer and e.nth not in lost]
    if not happened.what.timer and happened.fate != "duplicate":
        moves.append(((happened.what.source, happened.what.target), -1))
    return tuple(moves)
