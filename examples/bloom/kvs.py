"""A key-value store: on one node, on several, and as a server for clients on the network (thesis, section 3.3).

``KVSProtocol`` (listing 3.2) is put and get.  Both carry a number that the client has not used before.

- ``BasicKVS`` (listing 3.3) replaces the old value in the next step, removing and inserting at once: a get in the
  step of a put still sees the old value.
- ``LastPutKVS`` is the same for a store that gets many puts in one step: of those to one key it takes the one with
  the largest number, instead of two values for a key.
- ``ReplicatedKVS`` (listing 3.4) declares ``kvput`` again and so stands between the clients and the store below:
  a put goes to all members first, and the store sees it when the multicast is done, or when one arrives.
- ``RealizedReplicatedKVS`` (listing 3.5) says which multicast and which delivery.

``KVSServer`` and ``KVSClient`` put a network between the two sides.  A client sends a put again until it is
answered; ``DurableKVSServer`` answers when all members have it on disk.
"""

from __future__ import annotations

from delivery import BestEffortDelivery, DeliveryProtocol, DurableDelivery
from multicast import MulticastProtocol, ReliableMulticast, SimpleMulticast

from clew.bloom import Bloom, bloom, channel, interface, periodic, table


class KVSProtocol(Bloom):
    kvput = interface.input("client", "key", "reqid", val=["value"])
    kvget = interface.input("reqid", val=["key"])
    kvget_response = interface.output("reqid", val=["key", "value"])


class BasicKVS(KVSProtocol):
    kvstate = table("key", val=["value"])

    @bloom
    def do_put(self) -> None:
        self.kvstate <+ self.kvput(lambda p: (p.key, p.value))
        self.kvstate <- (self.kvstate * self.kvput).lefts(key="key")

    @bloom
    def do_get(self) -> None:
        self.temp.getj <= (self.kvget * self.kvstate).pairs(key="key")
        self.kvget_response <= self.temp.getj(lambda g, t: (g.reqid, t.key, t.value))


class LastPutKVS(BasicKVS):
    @bloom
    def do_put(self) -> None:
        self.temp.last <= self.kvput.argmax(["key"], "reqid").argmax(["key"], "client")
        self.kvstate <+ self.temp.last(lambda p: (p.key, p.value))
        self.kvstate <- (self.kvstate * self.temp.last).lefts(key="key")


class ReplicatedKVS(BasicKVS, MulticastProtocol, DeliveryProtocol):
    kvput = interface.input("client", "key", "reqid", val=["value"])

    @bloom
    def replicate(self) -> None:
        self.temp.mcasts <= self.kvput.notin(self.members, client="peer")
        self.send_mcast <= self.temp.mcasts(
            lambda k: ((k.client, k.reqid), (self.ip_port, k.key, k.reqid, k.value))
        )

    @bloom
    def apply_put(self) -> None:
        self.kvput <= self.mcast_done(lambda m: m.payload)
        self.kvput <= self.pipe_out(lambda d: d.payload if d.payload[0] != self.ip_port else None)


class RealizedReplicatedKVS(ReplicatedKVS, SimpleMulticast, BestEffortDelivery):
    """Replicas that may miss a put, or see two of them in different orders."""


class KVSMessages(Bloom):
    put_msg = channel("@server", "client", "reqid", val=["key", "value"])
    put_done = channel("@client", "server", "reqid")
    get_msg = channel("@server", "client", "reqid", val=["key"])
    get_reply = channel("@client", "server", "reqid", val=["key", "value"])


class KVSClient(KVSMessages):
    put = interface.input("server", "reqid", val=["key", "value"])
    get = interface.input("server", "reqid", val=["key"])
    acknowledged = interface.output("reqid")
    found = interface.output("reqid", val=["key", "value"])
    open_puts = table("server", "reqid", val=["key", "value"])
    ask_again = periodic(1)

    @bloom
    def ask(self) -> None:
        self.open_puts <= self.put
        self.put_msg <~ self.put(lambda p: (p.server, self.ip_port, p.reqid, p.key, p.value))
        self.put_msg <~ (self.open_puts * self.ask_again).pairs(
            lambda p, t: (p.server, self.ip_port, p.reqid, p.key, p.value)
        )
        self.get_msg <~ self.get(lambda g: (g.server, self.ip_port, g.reqid, g.key))

    @bloom
    def hear(self) -> None:
        self.acknowledged <= self.put_done(lambda d: (d.reqid,))
        self.open_puts <- (self.open_puts * self.put_done).lefts(reqid="reqid")
        self.found <= self.get_reply(lambda r: (r.reqid, r.key, r.value))


class KVSServer(KVSMessages, KVSProtocol):
    @bloom
    def serve_get(self) -> None:
        self.kvget <= self.get_msg(lambda g: ((g.client, g.reqid), g.key))
        self.get_reply <~ self.kvget_response(
            lambda r: (r.reqid[0], self.ip_port, r.reqid[1], r.key, r.value)
        )

    @bloom
    def serve_put(self) -> None:
        self.kvput <= self.put_msg(lambda p: (p.client, p.key, p.reqid, p.value))
        self.put_done <~ self.put_msg(lambda p: (p.client, p.server, p.reqid))


class SingleKVSServer(KVSServer, LastPutKVS):
    """One node, and no promise beyond it."""


class DurableKVSServer(KVSServer, ReplicatedKVS, LastPutKVS, ReliableMulticast, DurableDelivery):
    """A put is acknowledged when every member has it; a member that was away gets it when it is back.

    ``put_log`` is what clients asked for and where it stands, so that a put that is sent again is not done again.
    """

    kvstate = table("key", val=["value"], durable=True)
    settled = table("ident", "peer", val=["payload"], durable=True)
    members = table("peer", durable=True)
    put_log = table("client", "reqid", durable=True)
    put_finished = table("client", "reqid", durable=True)

    @bloom
    def serve_put(self) -> None:
        self.temp.fresh <= self.put_msg.notin(self.put_log, client="client", reqid="reqid")
        self.put_log <+ self.temp.fresh(lambda p: (p.client, p.reqid))
        self.kvput <= self.temp.fresh(lambda p: (p.client, p.key, p.reqid, p.value))

    @bloom
    def answer_put(self) -> None:
        self.put_finished <+ self.mcast_done(lambda m: m.ident)
        self.put_done <~ self.mcast_done(lambda m: (m.ident[0], self.ip_port, m.ident[1]))
        self.put_done <~ (self.put_msg * self.put_finished).lefts(client="client", reqid="reqid")(
            lambda p: (p.client, p.server, p.reqid)
        )
