"""Broadcast in Bloom, from once to until it is acknowledged; the same protocols as ``examples/*-deliv.ded``.

A payload that one correct node has must be had by all nodes: section 3.1 of the paper.  ``clew check`` says of

- ``Simple``, which says everything once: one lost message is enough to break it,
- ``Retry``, which repeats itself: a loss and then a crash of the sender break it,
- ``Redundant``, in which all repeat what they have: certified,
- ``Acknowledged``, in which all repeat it to those who have not acknowledged it yet: certified.

The classes also run on the network as they are: the setting and the outcome are only for checking.
"""

from clew.bloom import EVERY, Bloom, bloom, channel, checked, outcome, periodic, scratch, table

NODES = ["a", "b", "c"]
GIVEN = {EVERY: {"members": [(node,) for node in NODES]}, "a": {"bcast": [("data",)]}}


class Delivery(Bloom):
    """What all have in common: the members know each other, and keep what they have."""

    members = table("peer")
    bcast = scratch("payload")
    data_chan = channel("@peer", "sender", "payload")
    log = table("payload")

    pre = scratch("node", "payload")
    post = scratch("node", "payload")

    @bloom
    def deliver(self) -> None:
        self.log <= self.bcast
        self.log <= self.data_chan(lambda d: (d.payload,))

    @outcome
    def reliable_delivery(self) -> None:
        everywhere = self.everywhere
        known = (everywhere.log * everywhere.members).pairs(lambda has, m: (m.peer, has.payload), node="node")
        self.temp.missing <= known.notin(everywhere.log)
        self.pre <= everywhere.log.notin(everywhere.crash, node="node")
        self.post <= everywhere.log.notin(self.temp.missing, payload="payload")


class Simple(Delivery):
    """Each payload goes out once."""

    setting = checked(nodes=NODES, eot=4, eff=2, crashes=0, given=GIVEN, expect="counterexample", faults=1)

    @bloom
    def send(self) -> None:
        self.data_chan <~ (self.bcast * self.members).pairs(lambda b, m: (m.peer, self.ip_port, b.payload))


class Retry(Delivery):
    """The sender repeats itself."""

    setting = checked(nodes=NODES, eot=4, eff=2, crashes=1, given=GIVEN, expect="counterexample", faults=2)
    buffer = table("payload")
    timer = periodic(1)

    @bloom
    def send(self) -> None:
        self.buffer <= self.bcast
        self.data_chan <~ (self.buffer * self.members * self.timer).pairs(
            lambda b, m, t: (m.peer, self.ip_port, b.payload)
        )


class Redundant(Delivery):
    """Everyone repeats what it has."""

    setting = checked(nodes=NODES, eot=11, eff=10, crashes=1, given=GIVEN, expect="certified")
    timer = periodic(1)

    @bloom
    def send(self) -> None:
        self.data_chan <~ (self.log * self.members * self.timer).pairs(
            lambda has, m, t: (m.peer, self.ip_port, has.payload)
        )


class Acknowledged(Delivery):
    """Everyone repeats what it has to those who have not acknowledged it."""

    setting = checked(nodes=NODES, eot=8, eff=7, crashes=1, given=GIVEN, expect="certified")
    timer = periodic(1)
    ack_chan = channel("@sender", "peer", "payload")
    acked = table("peer", "payload")

    @bloom
    def send(self) -> None:
        self.temp.owed <= (self.log * self.members).pairs(lambda has, m: (m.peer, has.payload)).notin(self.acked)
        self.data_chan <~ (self.temp.owed * self.timer).pairs(lambda o, t: (o.peer, self.ip_port, o.payload))

    @bloom
    def acknowledge(self) -> None:
        self.ack_chan <~ self.data_chan(lambda d: (d.sender, d.peer, d.payload))
        self.acked <= self.ack_chan(lambda a: (a.peer, a.payload))
