"""Client sessions: a request that is repeated is not done twice, and is answered again.

A client numbers its requests.  ``done`` is on disk, with the answer, and is the same at all replicas that have
read as far: it decides which of the requests that are read are new.  Of each client the last ``remembered``
numbers are kept; a client must not have more requests under way.  An older number is ``refused``, as is what is
too large for a message.
"""

from __future__ import annotations

from typing import Any

from clew.bloom import agg, bloom, interface, scratch, table
from clew.multipaxos.log import Log

OUTDATED = "outdated"
TOO_LARGE = "too large"


class Sessions(Log):
    """``submit`` takes requests; ``entry`` has those that are new, in sequence; ``answer`` is given to them."""

    #: How many requests of one client may be under way at once.
    remembered = 64
    #: How much an operation may weigh, see ``weigh``: it has to fit a message, with others.
    largest = 200_000

    submit = interface.input("client", "number", val=["operation"])
    entry = interface.output("instance", "place", "client", "number", "operation")
    answer = interface.input("client", "number", val=["answer"])
    response = interface.output("client", "number", val=["answer"])
    refused = interface.output("client", "number", "why")

    done = table("client", "number", val=["answer"], durable=True)
    newest = scratch("client", val=["number"])
    new_request = scratch("client", "number", "operation")
    queue = table("client", "number", val=["operation"])

    @bloom
    def know_sessions(self) -> None:
        self.newest <= self.done.group(["client"], number=agg.max("number"))

    @bloom
    def take_requests(self) -> None:
        remembered, largest = self.remembered, self.largest
        self.temp.known <= (self.submit * self.done).rights(client="client", number="number")
        self.response <= self.temp.known
        self.temp.unknown <= self.submit.notin(self.temp.known, client="client", number="number")
        self.refused <= (self.temp.unknown * self.newest).pairs(
            lambda s, n: (s.client, s.number, OUTDATED) if s.number + remembered <= n.number else None,
            client="client",
        )
        self.refused <= self.temp.unknown(
            lambda s: (s.client, s.number, TOO_LARGE) if weigh(s.operation) > largest else None
        )
        self.new_request <= self.temp.unknown.notin(self.refused, client="client", number="number")
        self.queue <= self.new_request

    @bloom
    def do_once(self) -> None:
        remembered = self.remembered
        self.temp.repeated <= (self.read * self.done).lefts(client="client", number="number")
        self.temp.too_old <= (self.read * self.newest).pairs(
            lambda r, n: r if r.number + remembered <= n.number else None, client="client"
        )
        self.temp.first_time <= self.read.notin(self.temp.repeated)
        self.entry <= self.temp.first_time.notin(self.temp.too_old)

    @bloom
    def remember(self) -> None:
        self.temp.answered <= (self.entry * self.answer).outer(
            lambda e, a: (e.client, e.number, a.answer), client="client", number="number"
        )
        self.response <= self.temp.answered
        self.done <+ self.temp.answered
        self.queue <- (self.queue * self.done).lefts(client="client", number="number")

    @bloom
    def forget_sessions(self) -> None:
        remembered = self.remembered
        self.temp.to_sweep <= (self.newest * self.sweep).lefts()
        self.done <- (self.done * self.temp.to_sweep).pairs(
            lambda d, n: d if d.number + remembered <= n.number else None, client="client"
        )


def weigh(value: Any) -> int:
    """Return about how many bytes a value takes in a message; each value in a tuple counts for at least eight."""
    if isinstance(value, str | bytes):
        return 8 + len(value)
    if isinstance(value, tuple | frozenset):
        return 8 + sum(weigh(part) for part in value)
    return 8
