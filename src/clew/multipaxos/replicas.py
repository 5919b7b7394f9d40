"""Multipaxos as a module, and as a replica that serves clients on the network."""

from __future__ import annotations

from clew.bloom import bloom, interface, scratch, table
from clew.multipaxos.batches import Batches
from clew.multipaxos.clients import ClientMessages
from clew.multipaxos.rejoining import Rejoining
from clew.multipaxos.snapshots import Snapshots


class Multipaxos(Batches, Snapshots, Rejoining):
    """A log that more than half of the members keep; mix it in, or import it under a name.

    Give it: ``member`` (all addresses, its own included, the same at all nodes), ``submit`` (requests), ``answer``
    (what a request came to, in the step in which it is an ``entry``), ``state`` (when there is a ``photograph``).
    ``lost`` gets a row before the first step of a node that comes back without its disk.
    It gives: ``entry`` (new requests, in sequence), ``response``, ``refused``, ``install`` with ``installing``,
    and ``leader``.
    """

    leader = interface.output(val=["address"])

    @bloom
    def name_leader(self) -> None:
        self.leader <= self.latest(lambda v: (v.view[1],) if v.view[1] != "" else None)


class Replica(Multipaxos, ClientMessages):
    """Whoever is asked answers; who leads is in the answer, for the next request."""

    asker = table("client", "number", "sender")
    led_by = scratch("address")

    @bloom
    def serve(self) -> None:
        self.submit <= self.request(lambda r: (r.client, r.number, r.operation))
        self.asker <= self.request(lambda r: (r.client, r.number, r.sender))
        self.led_by <= self.latest(lambda v: (v.view[1],))
        self.temp.told <= (self.asker * self.response).pairs(
            lambda a, r: (a.sender, a.client, a.number, r.answer), client="client", number="number"
        )
        self.reply <~ (self.temp.told * self.led_by).pairs(
            lambda t, v: (t.sender, t.client, t.number, t.answer, v.address)
        )
        self.refusal <~ (self.asker * self.refused).pairs(
            lambda a, r: (a.sender, a.client, a.number, r.why), client="client", number="number"
        )
        self.asker <- (self.asker * self.response).lefts(client="client", number="number")
        self.asker <- (self.asker * self.refused).lefts(client="client", number="number")
