"""Sending a message to every member of a group, over any delivery protocol (thesis, figure 3.3).

A row put into ``send_mcast`` goes to all rows of ``members``; in ``mcast_done`` it says that this is done.

- ``SimpleMulticast`` takes the word of the delivery protocol for *one* member: with best-effort delivery that is
  at once, with reliable delivery the first confirmation.
- ``ReliableMulticast`` waits until the delivery to *every* member is settled: a barrier, as chapter 2 calls it.
  Over ``ReliableDelivery`` this is the eager replication that section 3.3 weighs against a disorderly design.
"""

from __future__ import annotations

from delivery import DeliveryProtocol

from clew.bloom import Bloom, agg, bloom, interface, scratch, table


class MulticastProtocol(Bloom):
    members = table("peer")
    send_mcast = interface.input("ident", val=["payload"])
    mcast_done = interface.output("ident", val=["payload"])


class SimpleMulticast(MulticastProtocol, DeliveryProtocol):
    @bloom
    def send_to_members(self) -> None:
        self.pipe_in <= (self.send_mcast * self.members).pairs(
            lambda s, m: (m.peer, self.ip_port, s.ident, s.payload)
        )

    @bloom
    def done_mcast(self) -> None:
        self.mcast_done <= self.pipe_sent(lambda p: (p.ident, p.payload))


class ReliableMulticast(SimpleMulticast):
    settled = table("ident", "peer", val=["payload"])
    settled_cnt = scratch("ident", "payload", val=["cnt"])
    member_cnt = scratch(val=["cnt"])

    @bloom
    def done_mcast(self) -> None:
        self.settled <= self.pipe_sent(lambda p: (p.ident, p.dst, p.payload))
        self.settled_cnt <= self.settled.group(["ident", "payload"], agg.count())
        self.member_cnt <= self.members.group([], agg.count())
        self.temp.all_settled <= (self.settled_cnt * self.member_cnt).lefts(cnt="cnt")
        self.mcast_done <= self.temp.all_settled(lambda s: (s.ident, s.payload))

    @bloom
    def forget(self) -> None:
        self.settled <- (self.settled * self.mcast_done).lefts(ident="ident")
