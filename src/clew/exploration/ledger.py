"""What can happen next in an execution, and which earlier events prevent the rest.

For this an account is kept of the bounds that are spent and the links that are blocked: at which places of the
execution that happened.
"""

from __future__ import annotations

from typing import NamedTuple

from clew.exploration.event import Event, Key, Name, Rank
from clew.exploration.system import System
from clew.simulation.execution.steps import Act
from clew.simulation.pool import OUTSIDE, Envelope, Link, Pool


class Offer(NamedTuple):
    """Something that can happen next, unless its link is ``blocked`` for now, or a bound is spent.

    ``spent``: the place of the event that used up the bound (-1: none).
    """

    envelope: Envelope | None
    blocked: bool = False
    spent: int = -1

    @property
    def is_possible(self) -> bool:
        return not self.blocked and self.spent < 0

    @property
    def link(self) -> Link | None:
        """Return the link of the message that this is about; None for timers and what comes from outside."""
        envelope = self.envelope
        return None if envelope is None or envelope.timer else (envelope.source, envelope.target)


class Ledger:
    """``item``: how many events from outside there were.  ``held``: the links that are blocked now."""

    def __init__(self, system: System) -> None:
        self.item = 0
        self.held: tuple[Link, ...] = ()
        self._system = system
        self._fired: dict[str, int] = {}
        self._spent: dict[tuple[Rank, Link], list[int]] = {}
        #: Where a message was duplicated.
        self._copied: dict[Name, list[int]] = {}
        #: Where a link was blocked, also if it was freed since.
        self._blocked: dict[Link, list[int]] = {}
        #: Where the last message of a link was delivered or lost.
        self._taken: dict[Link, int] = {}

    # -- what can happen -----------------------------------------------------------------------------------------

    def offers(self, pool: Pool) -> dict[Key, Offer]:
        """Return everything that can happen next, and what could but for an earlier event."""
        system = self._system
        offers: dict[Key, Offer] = {}
        if self.item < len(system.plan) and not system.plan[self.item].is_global:
            offers[Key(Rank.OUTSIDE, OUTSIDE, self.item)] = Offer(None)
        for envelope in pool.timers:
            if self._fired.get(envelope.target, 0) < system.bounds.timers:
                offers[Key(Rank.TIMER, envelope.source, envelope.nth)] = Offer(envelope)
        for envelope in pool.messages:
            self._offer(offers, envelope, blocked=False)
        if self.held:
            self._offer_held(offers, pool)
        return offers

    def _offer_held(self, offers: dict[Key, Offer], pool: Pool) -> None:
        first: set[Link] = set()
        for envelope in pool:
            link = (envelope.source, envelope.target)
            # Over FIFO only the oldest of a link could be delivered if it were free.
            if not envelope.timer and link in self.held and not (self._system.fifo and link in first):
                first.add(link)
                self._offer(offers, envelope, blocked=True)

    def _offer(self, offers: dict[Key, Offer], envelope: Envelope, *, blocked: bool) -> None:
        source, nth, bounds = envelope.source, envelope.nth, self._system.bounds
        offers[Key(Rank.DELIVER, source, nth)] = Offer(envelope, blocked)
        if source == envelope.target:
            return  # what a node sends itself does not leave it
        for rank, most in ((Rank.LOSE, bounds.losses), (Rank.DUPLICATE, bounds.duplicates)):
            if most:
                places = self._spent.get((rank, (source, envelope.target)), [])
                # The event that used the bound up, not the latest: without that one, this would have been
                # possible.
                spent = places[most - 1] if len(places) >= most else -1
                again = len(self._copied.get((source, nth), ())) if rank is Rank.DUPLICATE else 0
                offers[Key(rank, source, nth, again)] = Offer(envelope, blocked, spent)

    # -- and what could have happened earlier --------------------------------------------------------------------

    def preventing(self, offer: Offer) -> list[int]:
        """Return the places of the events that prevent this, or would have if it had been there already.

        Those that blocked its link count even if the link was freed since: when such an event is taken away with
        all that follows from it, the heal is gone, too.  After a bound was spent, nothing else prevents anything.
        """
        if offer.link is None:
            return []
        spent = [offer.spent] if offer.spent >= 0 else []
        return [*spent, *(p for p in self._blocked.get(offer.link, ()) if not spent or p < offer.spent)]

    def enabling(self, key: Key, link: Link) -> list[int]:
        """Return the places of the events, besides that which sent it, without which a message is not next."""
        places = self._copied.get(key.name, [])[: key.again]
        return [*places, self._taken[link]] if self._system.fifo and link in self._taken else places

    # -- keeping account -----------------------------------------------------------------------------------------

    def account(self, event: Event, place: int) -> None:
        """Take an event into account that happened at this place."""
        rank = event.key.rank
        if rank is Rank.OUTSIDE:
            self.item += 1
            for link in event.held:
                if link not in self.held:
                    self._blocked.setdefault(link, []).append(place)
            self.held = event.held
            return
        assert isinstance(event.step, Act)
        if rank is Rank.TIMER:
            self._fired[event.step.target] = self._fired.get(event.step.target, 0) + 1
            return
        link = (event.step.source, event.step.target)
        # A duplicate takes nothing from the queue, and what comes from outside is in none.
        if rank is not Rank.DUPLICATE and link[0] != OUTSIDE:
            self._taken[link] = place
        if rank is not Rank.DELIVER:
            self._spent.setdefault((rank, link), []).append(place)
        if rank is Rank.DUPLICATE:
            self._copied.setdefault(event.key.name, []).append(place)
