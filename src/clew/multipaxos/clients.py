"""What clients and replicas say to each other, and a client that asks until it is answered."""

from __future__ import annotations

from clew.bloom import Bloom, agg, bloom, channel, interface, periodic, scratch, table


class ClientMessages(Bloom):
    """``leader`` in a reply is the address that the replica takes for the leader's, or empty."""

    request = channel("@replica", "sender", "client", "number", "operation")
    reply = channel("@sender", "client", "number", "answer", "leader")
    refusal = channel("@sender", "client", "number", "why")


class Client(ClientMessages):
    """Asks one of the ``replicas``, and the next one if there is no answer for a while.

    ``ask`` takes an operation with its number; ``answered`` or ``turned_away`` tells what became of
    it.  ``name`` has one row, given before the first request: the name must be this client's own for ever, since
    another one that used it would be answered what this one was.
    """

    #: After so many ticks without an answer the next replica is asked.
    patience = 4

    name = table(val=["client"])
    replicas = table("address")
    ask = interface.input("number", val=["operation"])
    answered = interface.output("number", val=["answer"])
    turned_away = interface.output("number", val=["why"])

    again = periodic(0.5)
    under_way = table("number", val=["operation"])
    aim = table("address")
    waited = table("address", val=["ticks"])
    next_aim = scratch("address")
    to_send = scratch("number", "operation")
    over = scratch("number")
    given_up = scratch("address")

    @bloom
    def send(self) -> None:
        self.under_way <= self.ask
        self.to_send <= self.ask
        self.to_send <= (self.under_way * self.again).lefts()
        self.temp.signed <= (self.to_send * self.name).pairs(lambda u, n: (n.client, u.number, u.operation))
        self.request <~ (self.temp.signed * self.aim).pairs(
            lambda s, a: (a.address, self.ip_port, s.client, s.number, s.operation)
        )

    @bloom
    def hear(self) -> None:
        self.temp.replies <= (self.reply * self.under_way).lefts(number="number")
        self.answered <= self.temp.replies(lambda r: (r.number, r.answer))
        self.temp.refusals <= (self.refusal * self.under_way).lefts(number="number")
        self.turned_away <= self.temp.refusals(lambda r: (r.number, r.why))
        self.over <= self.reply.project("number")
        self.over <= self.refusal.project("number")
        self.under_way <- (self.under_way * self.over).lefts(number="number")

    @bloom
    def wait(self) -> None:
        patience = self.patience
        self.waited <+ self.aim.notin(self.waited, address="address")(lambda a: (a.address, 0))
        self.waited <- self.waited.notin(self.aim, address="address")
        self.temp.answered_now <= (self.waited * self.over).lefts()
        self.temp.asking <= (self.waited * self.under_way).lefts()
        self.temp.in_vain <= (self.temp.asking * self.again).lefts().notin(self.temp.answered_now)
        self.waited <- self.temp.answered_now
        self.waited <+ self.temp.answered_now(lambda w: (w.address, 0))
        self.waited <- self.temp.in_vain
        self.waited <+ self.temp.in_vain(lambda w: (w.address, w.ticks + 1 if w.ticks + 1 < patience else 0))
        self.given_up <= self.temp.in_vain(lambda w: (w.address,) if w.ticks + 1 >= patience else None)

    @bloom
    def choose_replica(self) -> None:
        self.temp.first <= self.replicas.group([], address=agg.min("address"))
        self.temp.chosen <= (self.temp.first * self.aim).lefts()
        self.next_aim <= self.temp.first.notin(self.temp.chosen)
        self.temp.all_replicas <= self.replicas.group([], addresses=agg.accum("address"))
        self.next_aim <= (self.given_up * self.temp.all_replicas).pairs(
            lambda g, r: (address_after(g.address, r.addresses),)
        )
        # Who leads answers in less time than who has to pass it on.
        self.temp.leaders <= (self.reply * self.replicas).rights(leader="address")
        self.next_aim <= self.temp.leaders.group([], address=agg.min("address"))
        self.aim <- (self.aim * self.next_aim).lefts()
        self.aim <+ self.next_aim.group([], address=agg.min("address"))


def address_after(address: str, addresses: frozenset[str]) -> str:
    """Return the next of all addresses in their order, and the first after the last."""
    return min((a for a in addresses if a > address), default=min(addresses))
