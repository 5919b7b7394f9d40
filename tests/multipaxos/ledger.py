"""An application in which order and repetition show: it keeps all that was done, numbered, and answers the number."""

from __future__ import annotations

from typing import Any

from clew.bloom import agg, bloom, scratch, table
from clew.multipaxos import Multipaxos


class Ledger(Multipaxos):
    """With small limits, so that short executions come across them."""

    patience = 2
    keep = 2
    window = 3
    helping = 2
    remembered = 3
    most_requests = 2
    piece_weight = 80

    trace = table("place", val=["token"], durable=True)
    size = scratch("length")
    appended = scratch("place", "token", "client", "number")

    @bloom
    def append(self) -> None:
        self.temp.counted <= self.trace.group([], length=agg.count())
        self.temp.none <= [(0,)]
        self.temp.lengths <= self.temp.none.rename("length")
        self.temp.lengths <= self.temp.counted
        self.size <= self.temp.lengths.argmax([], "length")
        self.temp.batch <= self.entry(lambda e: ((e.place, e.client, e.number, e.operation),)).group(
            [], entries=agg.accum(0)
        )
        self.appended <= (self.temp.batch * self.size).pairs(
            lambda b, s: (s.length, b.entries)
        ).flat_map(number_entries)
        self.trace <+ self.appended.project("place", "token")
        self.answer <= self.appended(lambda a: (a.client, a.number, a.place))

    @bloom
    def keep_state(self) -> None:
        self.state <= (self.trace * self.photograph).lefts()(lambda t: ((t.place, t.token),))
        self.trace <- (self.trace * self.installing).lefts()
        self.trace <+ self.install(lambda i: i.part)


class WholeDecrees(Ledger):
    """Reads all requests of a decree in one step."""

    at_once = None


def number_entries(row: Any) -> list[tuple[int, Any, Any, int]]:
    """Return (place, token, client, number) of each entry, in their order."""
    length, entries = row
    return [
        (place, operation, client, number)
        for place, (_, client, number, operation) in enumerate(sorted(entries), length + 1)
    ]
