"""Sending a message to another node: one protocol, three promises.

``DeliveryProtocol`` says what a sender sees.  A row put into ``pipe_in`` is a message for ``dst``; the same row in
``pipe_sent`` says that the matter is settled on this side; ``pipe_out`` is what arrives on the other.

- ``BestEffortDelivery`` sends once and is done (thesis, figure 3.2).
- ``ReliableDelivery`` keeps a message and sends it again until the other side confirms it (listing 3.1).  It can
  arrive several times, because a confirmation can be lost.
- ``OnceDelivery`` is reliable, and the receiver remembers what it has given out already.

``DurableDelivery`` is the last one for processes that crash: what it must remember is on disk, and a message is
confirmed one step later, when that is so.
"""

from __future__ import annotations

from clew.bloom import Bloom, bloom, channel, interface, periodic, scratch, table


class DeliveryProtocol(Bloom):
    pipe_in = interface.input("dst", "src", "ident", val=["payload"])
    pipe_sent = interface.output("dst", "src", "ident", val=["payload"])
    pipe_out = interface.output("dst", "src", "ident", val=["payload"])


class BestEffortDelivery(DeliveryProtocol):
    pipe_chan = channel("@dst", "src", "ident", val=["payload"])

    @bloom
    def send(self) -> None:
        self.pipe_chan <~ self.pipe_in

    @bloom
    def done(self) -> None:
        self.pipe_sent <= self.pipe_in

    @bloom
    def arrive(self) -> None:
        self.pipe_out <= self.pipe_chan


class ReliableDelivery(DeliveryProtocol):
    data_chan = channel("@dst", "src", "ident", val=["payload"])
    ack_chan = channel("@src", "dst", "ident")
    send_buf = table("dst", "src", "ident", val=["payload"])
    timer = periodic(10)

    @bloom
    def send_packet(self) -> None:
        self.send_buf <= self.pipe_in
        self.data_chan <~ self.pipe_in

    @bloom
    def timer_retry(self) -> None:
        self.data_chan <~ (self.send_buf * self.timer).lefts()

    @bloom
    def send_ack(self) -> None:
        self.ack_chan <~ self.data_chan(lambda p: (p.src, p.dst, p.ident))

    @bloom
    def recv_ack(self) -> None:
        # All three columns: a multicast has the same ident for every destination, and each must confirm.
        self.temp.got_ack <= (self.ack_chan * self.send_buf).rights(src="src", dst="dst", ident="ident")
        self.pipe_sent <= self.temp.got_ack
        self.send_buf <- self.temp.got_ack

    @bloom
    def arrive(self) -> None:
        self.pipe_out <= self.data_chan


class OnceDelivery(ReliableDelivery):
    given_out = table("src", "ident")

    @bloom
    def arrive(self) -> None:
        self.temp.fresh <= self.data_chan.notin(self.given_out, src="src", ident="ident")
        self.pipe_out <= self.temp.fresh
        self.given_out <+ self.temp.fresh(lambda p: (p.src, p.ident))


class DurableDelivery(OnceDelivery):
    send_buf = table("dst", "src", "ident", val=["payload"], durable=True)
    given_out = table("src", "ident", durable=True)
    confirmed = scratch("src", "dst", "ident")
    timer = periodic(0.2)

    @bloom
    def send_ack(self) -> None:
        self.confirmed <+ self.data_chan(lambda p: (p.src, p.dst, p.ident))
        self.ack_chan <~ self.confirmed
