"""The log in sequence: how far it is known without gaps, and how far it has been read.

``horizon`` is the first instance that is not known to be chosen.  ``reached`` is on disk and says which request is
read next: the instance, and its place in the decree.  In each step in which the next decree is there, up to
``at_once`` of its requests are ``read``, and the position after them counts from the next step on; what is derived
from them with ``<+`` and ``<-`` is written together with that, so that it happens once, restarts or not.
"""

from __future__ import annotations

from typing import Any

from clew.bloom import bloom, periodic, scratch, table
from clew.multipaxos.votes import Votes


class Log(Votes):
    """Decrees are tuples of requests (client, number, operation)."""

    #: How many requests are read in one step: None for a whole decree.
    at_once: int | None = 1
    #: How many decrees that were read are kept, for replicas that have missed them.
    keep = 1000

    sweep = periodic(1)
    reached = table("instance", "place", durable=True)
    known_position = scratch("instance", "place")
    here = scratch("instance", "place")
    #: While a row is in it, nothing is read: what else is derived in this step belongs to ``here``.
    still = scratch("why")
    #: Who knows more of the log than this node might.
    ahead_of = scratch("sender", "horizon")
    up_next = scratch("instance", "place", "decree")
    read = scratch("instance", "place", "client", "number", "operation")

    @bloom
    def know_position(self) -> None:
        self.known_position <= [(1, 0)]
        self.known_position <= self.reached
        self.here <= self.known_position.argmax(["instance"], "place").argmax([], "instance")
        self.reached <- (self.reached * self.here).pairs(
            lambda r, h: r if (r.instance, r.place) < (h.instance, h.place) else None
        )

    @bloom
    def know_horizon(self) -> None:
        self.temp.candidates <= self.here.project("instance")
        self.temp.candidates <= self.chosen(lambda c: (c.instance + 1,))
        self.temp.gap <= self.temp.candidates.notin(self.chosen, instance="instance")
        self.temp.open <= (self.temp.gap * self.here).pairs(
            lambda g, h: (g.instance,) if g.instance >= h.instance else None
        )
        self.horizon <= self.temp.open.argmin([], "instance")

    @bloom
    def read_on(self) -> None:
        self.temp.there <= (self.chosen * self.here).pairs(
            lambda c, h: (h.instance, h.place, c.decree), instance="instance"
        )
        self.temp.busy <= (self.temp.there * self.still).lefts()
        self.up_next <= self.temp.there.notin(self.temp.busy)
        at_once = self.at_once
        self.read <= self.up_next.flat_map(lambda u: requests_of(u, at_once))
        self.reached <+ self.up_next(lambda u: position_after(u, at_once))

    @bloom
    def forget_decrees(self) -> None:
        keep = self.keep
        self.temp.read_until <= (self.here * self.sweep).lefts().project("instance")
        self.chosen <- (self.chosen * self.temp.read_until).pairs(
            lambda c, u: c if c.instance + keep < u.instance else None
        )
        # Of what was chosen without this node; what it had a part in has gone with the vote.
        for kept in (self.voted, self.proposed, self.committed, self.accepts, self.announced):
            kept <- (kept * self.temp.read_until).pairs(lambda k, u: k if k.instance < u.instance else None)


def requests_of(up_next: Any, at_once: int | None) -> list[tuple[Any, ...]]:
    """Return the rows of the requests that are read now, with their places in the decree."""
    end = len(up_next.decree) if at_once is None else up_next.place + at_once
    now = up_next.decree[up_next.place : end]
    return [(up_next.instance, place, *request) for place, request in enumerate(now, up_next.place)]


def position_after(up_next: Any, at_once: int | None) -> tuple[int, int]:
    """Return the position when that has been read."""
    end = len(up_next.decree) if at_once is None else up_next.place + at_once
    return (up_next.instance + 1, 0) if end >= len(up_next.decree) else (up_next.instance, end)
