"""An execution that is being made: what can happen next, what an event did, and with which events it races.

Two events race when they are dependent, nothing comes between them, and the later one could have come first.  An
event that is prevented (its timer is cancelled, its node stops, its link is blocked) races with the one that
prevents it, whether it was possible already or would have become so later.  Whatever can prevent the same event is
dependent on each other, so when the first of them is taken away, with all that follows from it, none is left.
"""

from __future__ import annotations

from typing import NamedTuple

from clew.exploration.dependence import EVERYTHING, Footprint, Thing, footprint
from clew.exploration.event import Event, Key, Name, Rank
from clew.exploration.system import NotRepeatableError, System
from clew.simulation.events import CodeBlock, External, Heal, Partition, Restart, Send, Start, Stop
from clew.simulation.execution import find
from clew.simulation.pool import OUTSIDE, Envelope, Link
from clew.simulation.steps import Act, Do, Step, act_of, perform
from clew.simulation.world import Happened

_DO = {Rank.DELIVER: Do.DELIVER, Rank.TIMER: Do.DELIVER, Rank.LOSE: Do.LOSE, Rank.DUPLICATE: Do.DUPLICATE}
_GLOBAL = Footprint(frozenset({EVERYTHING}), frozenset())


class Offer(NamedTuple):
    """Something that can happen next, unless the event at the place ``blocker`` (-1: none) prevents it for now."""

    envelope: Envelope | None
    blocker: int = -1


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
        self._barrier = -1
        self._local = {name: system.at_start(name) for name in (*system.names, OUTSIDE)}
        self._era = 0
        self._creators: dict[Name, int] = {}
        self._fired: dict[str, int] = {}
        self._spent: dict[tuple[Rank, Link], list[int]] = {}
        self._duplicated: set[Name] = set()
        self._held: dict[Link, int] = {}
        #: Where the last message of a link was delivered or lost.
        self._taken: dict[Link, int] = {}
        self.item = 0
        self.world = system.world()
        for event in events:
            self._redo(event)
        self.world.history = []
        self._offers = self._look()

    @property
    def local(self) -> tuple[int, ...]:
        """The history of each node of the scenario."""
        return tuple(self._local[name] for name in self._system.names)

    # -- what can happen -----------------------------------------------------------------------------------------

    def possible(self) -> list[Key]:
        """What can happen next, in the order in which it is to be tried."""
        return sorted(key for key, offer in self._offers.items() if offer.blocker < 0)

    def _look(self) -> dict[Key, Offer]:
        system, pool = self._system, self.world.pool
        offers: dict[Key, Offer] = {}
        if self.item < len(system.plan) and not system.plan[self.item].is_global:
            offers[Key(Rank.OUTSIDE, OUTSIDE, self.item)] = Offer(None)
        for envelope in pool.timers:
            if self._fired.get(envelope.target, 0) < system.bounds.timers:
                offers[Key(Rank.TIMER, envelope.source, envelope.nth)] = Offer(envelope)
        for envelope in pool.messages:
            self._offer(offers, envelope, -1)
        if self._held:
            self._offer_held(offers)
        return offers

    def _offer_held(self, offers: dict[Key, Offer]) -> None:
        first: set[Link] = set()
        for envelope in self.world.pool:
            link = (envelope.source, envelope.target)
            if link in self._held and not (self._system.fifo and link in first):
                first.add(link)
                self._offer(offers, envelope, self._held[link])

    def _offer(self, offers: dict[Key, Offer], envelope: Envelope, blocker: int) -> None:
        if envelope.timer:
            return
        source, nth, bounds = envelope.source, envelope.nth, self._system.bounds
        offers[Key(Rank.DELIVER, source, nth)] = Offer(envelope, blocker)
        for rank, most in ((Rank.LOSE, bounds.losses), (Rank.DUPLICATE, bounds.duplicates)):
            if most and not (rank is Rank.DUPLICATE and (source, nth) in self._duplicated):
                # With nothing left to spend, it is the event that spent the last that prevents this one.
                spent = self._spent.get((rank, (source, envelope.target)), [])[most - 1 :]
                reasons = [place for place in (blocker, *spent) if place >= 0]
                offers[Key(rank, source, nth)] = Offer(envelope, min(reasons, default=-1))

    # -- doing it ------------------------------------------------------------------------------------------------

    def do(self, key: Key) -> Event:
        """Let it happen, and note with what it races."""
        if key not in self._offers:
            raise NotRepeatableError(
                f"what {key.source or 'the scenario'} sent as number {key.nth} is not sent again"
            )
        envelope = self._offers[key].envelope
        item = self._system.plan[key.nth] if envelope is None else None
        before = self._counted() if item else {}
        self.world.failure = None
        self._system.performed += 1
        if envelope is not None:
            step: Step | None = act_of(self._system.scenario, envelope, _DO[key.rank])
            perform(self.world, envelope, _DO[key.rank])
        else:
            assert item is not None
            step = item.event
            if step is not None:
                self.world.inject(step)
        happened = self.world.history.pop() if self.world.history else None
        held = self._held_now(step)
        mark = self._footprint(key, happened, held)
        preds = self._predecessors(mark)
        event = self._event(key, step, happened, mark, preds, held, before)
        place = len(self.events)
        self._note_races(place, event, preds)
        self._account(event)
        self._note_prevented(place, key)
        return event

    def do_global(self) -> Event:
        """The next event from outside, which looks at everything."""
        key = Key(Rank.OUTSIDE, OUTSIDE, self.item)
        self._offers[key] = Offer(None)
        return self.do(key)

    def _redo(self, event: Event) -> None:
        self._system.performed += 1
        step = event.step
        if isinstance(step, Act):
            envelope = find(self.world, step)
            if envelope is None:
                raise NotRepeatableError(f"a schedule cannot be executed again: {step}, and nothing is on its way")
            perform(self.world, envelope, step.do)
        elif step is not None:
            self.world.inject(step)
        self._account(event)

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
        node = _node(key, happened.what if happened else None)
        if outside:
            place: str | Link = OUTSIDE
            moves = tuple((link, n - before.get(link, 0)) for link, n in self._counted(before).items())
        else:
            assert happened is not None and isinstance(happened.what, Envelope)
            place = happened.node or (happened.what.source, happened.what.target)
            moves = _moves(happened)
        chain = system.chain(place)
        clock = list(map(max, zip(*(self.events[p].clock for p in preds), strict=True))) or [0] * system.chains
        clock[chain] = nth = self._counts[chain] + 1
        whole = system.number((key, tuple(sorted(self.events[p].whole for p in preds))))
        was = self._local[node] if node is not None else 0
        local = system.local(key, was, self._creator(key), self._era)
        system.keep_footprint(local, mark, step)
        self._keep_states(step, node, local, whole)
        return Event(
            key, step, gate, node, chain, nth, tuple(clock), mark, local, was, whole,
            tuple((e.source, e.nth) for e in happened.sent) if happened else (),
            moves, world.failure, tuple(world.nodes) if outside else (), held,
        )  # fmt: skip

    def _footprint(self, key: Key, happened: Happened | None, held: tuple[Link, ...]) -> Footprint:
        if happened is None or (key.rank is Rank.OUTSIDE and self._system.plan[key.nth].is_global):
            return _GLOBAL
        changed = {*held} ^ {*self._held} if isinstance(happened.what, Partition | Heal) else ()
        return footprint(happened, changed)

    def _held_now(self, step: Step | None) -> tuple[Link, ...]:
        if not isinstance(step, Partition | Heal | CodeBlock):
            return tuple(self._held)
        return tuple(link for link in self._system.links if self.world.pool.is_held(*link))

    def _counted(self, also: dict[Link, int] | None = None) -> dict[Link, int]:
        """How many messages are on each link; links in ``also`` are counted even if there are none."""
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
        """The places of the events that come immediately before one with this footprint."""
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
        return sorted(p for p in found if not any(q > p and events[q].is_after(events[p]) for q in found))

    def _note_races(self, place: int, event: Event, preds: list[int]) -> None:
        for early in preds:
            if early >= self._base and self._can_be_first(event, self.events[early]):
                self.races.append(Race(early, place, event.key, event.node, place))

    def _can_be_first(self, event: Event, early: Event) -> bool:
        key, other = event.key, early.key
        if key.rank is Rank.OUTSIDE:
            return other.rank is not Rank.OUTSIDE
        if key.name in early.created:
            return False
        if key.rank is Rank.TIMER:
            return True
        assert isinstance(event.step, Act)
        link = (event.step.source, event.step.target)
        if other.rank is Rank.OUTSIDE:
            return not (isinstance(early.step, Heal) and ("link", *link) in early.footprint.changes)
        assert isinstance(early.step, Act)
        in_line = self._system.fifo and link[0] != OUTSIDE and link == (early.step.source, early.step.target)
        return not (in_line and other.rank in (Rank.DELIVER, Rank.LOSE))

    def _note_prevented(self, place: int, done: Key) -> None:
        """What this event made impossible, and what it would have made possible but for an earlier one."""
        old, new = self._offers, self._look()
        for key in sorted(old):
            if key != done and old[key].blocker < 0 and (key not in new or new[key].blocker >= 0):
                self._prevented(place, key, old[key], ())
        for key in sorted(new):
            if key not in old and new[key].blocker >= 0:
                self._prevented(new[key].blocker, key, new[key], self._enabling(key, new[key]))
        self._offers = new

    def _enabling(self, key: Key, offer: Offer) -> tuple[int, ...]:
        """The places of the events without which a message that is blocked would not be the next of its link."""
        assert offer.envelope is not None
        creator = self._creators.get(key.name, -1)
        link = (offer.envelope.source, offer.envelope.target)
        return (creator, self._taken.get(link, -1)) if self._system.fifo else (creator,)

    def _prevented(self, by: int, key: Key, offer: Offer, enabling: tuple[int, ...]) -> None:
        """``enabling``: the places of the events without which it would not be possible (-1: none)."""
        if by < self._base or any(p >= 0 and self.events[p].is_after(self.events[by]) for p in enabling):
            return
        assert offer.envelope is not None
        self.races.append(Race(by, -1, key, _node(key, offer.envelope), len(self.events) - 1))

    def reversal(self, race: Race) -> list[Event]:
        """What else happened, from the first event of a race on, that depends on neither of the two."""
        early = self.events[race.early]
        others = [e for e in self.events[race.early + 1 :] if not e.is_after(early)]
        if race.late >= 0:
            late = self.events[race.late]
            others = [e for e in others if not e.is_after(late)]
        return others

    def local_of(self, race: Race, between: list[Event]) -> int:
        """The local history that the later event of a race would have if it came first."""
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
        if event.key.rank is Rank.OUTSIDE:
            self._account_outside(event, place)
        else:
            self._account_bounds(event, place)

    def _account_outside(self, event: Event, place: int) -> None:
        self.item += 1
        self._held = {link: self._held.get(link, place) for link in event.held}
        if isinstance(event.step, CodeBlock):
            self._era = event.whole
            self._local = {name: self._system.after_code(event.whole, name) for name in self._local}

    def _account_bounds(self, event: Event, place: int) -> None:
        assert isinstance(event.step, Act)
        if event.key.rank is Rank.TIMER:
            self._fired[event.step.target] = self._fired.get(event.step.target, 0) + 1
            return
        link = (event.step.source, event.step.target)
        if event.key.rank is not Rank.DUPLICATE and link[0] != OUTSIDE:
            self._taken[link] = place
        if event.key.rank is not Rank.DELIVER:
            self._spent.setdefault((event.key.rank, link), []).append(place)
            if event.key.rank is Rank.DUPLICATE:
                self._duplicated.add(event.key.name)


def _node(key: Key, what: Envelope | External | None) -> str | None:
    """Whose history an event goes on with."""
    if isinstance(what, Envelope):
        if key.rank is Rank.LOSE:
            return None
        return what.source if key.rank is Rank.DUPLICATE else what.target
    if isinstance(what, Start | Stop | Restart):
        return what.node
    return OUTSIDE if isinstance(what, Send) else None


def _moves(happened: Happened) -> tuple[tuple[Link, int], ...]:
    assert isinstance(happened.what, Envelope)
    lost = {e.nth for e in happened.lost}
    moves = [((e.source, e.target), 1) for e in happened.sent if not e.timer and e.nth not in lost]
    if not happened.what.timer and happened.fate != "duplicate":
        moves.append(((happened.what.source, happened.what.target), -1))
    return tuple(moves)
