"""Broadcast, simple and reliable (thesis, section 3.1, the last listings).

``SimpleBroadcast`` sends a message to all members, and a member delivers what arrives.  If the sender stops in the
middle, some have the message and others never will.

``ReliableBroadcast`` is built on it: who hears a message for the first time passes it on to all members and
delivers it in the next step, so a message that was delivered anywhere is under way to everybody.  It assumes that
only messages to nodes that stopped are lost.  That only the first hearing counts is what ends the passing on.
"""

from __future__ import annotations

from clew.bloom import Bloom, bloom, channel, interface, scratch, table


class SimpleBroadcast(Bloom):
    members = table("member")
    smessage = interface.input("sender", "message")
    sbcast = channel("@member", "sender", "message")
    sdeliver = interface.output("sender", "message")

    @bloom
    def send_to_all(self) -> None:
        self.sbcast <~ (self.smessage * self.members).pairs(lambda s, m: (m.member, s.sender, s.message))

    @bloom
    def deliver_at_once(self) -> None:
        self.sdeliver <= self.sbcast(lambda b: (b.sender, b.message))


class ReliableBroadcast(SimpleBroadcast):
    rmessage = interface.input("sender", "message")
    buf_bcast = scratch("sender", "message")
    rdeliver = table("sender", "message")

    @bloom
    def begin(self) -> None:
        self.smessage <= self.rmessage

    @bloom
    def relay(self) -> None:
        self.buf_bcast <= self.sdeliver.notin(self.rdeliver)
        self.smessage <= self.buf_bcast

    @bloom
    def deliver_later(self) -> None:
        self.rdeliver <+ self.buf_bcast
