"""Clocks that say what can have caused what (thesis, section 3.1).

Every node counts its steps.  A message carries the number of the step it was sent in: it is *entangled* with time.

- ``WaitingClock``: a message from a later step than the receiver's waits until the receiver is past it, as in the
  thesis.  Nothing is delivered at a time that is not later than the one it was sent at.
- ``LamportClock``: instead of waiting the receiver puts its clock forward; a lattice, because a clock only grows.
- ``VectorClock``: one entry for each node that was heard of, a map of such lattices.  Of two stamps one is at most
  the other exactly if the event of the one can have caused that of the other.
"""

from __future__ import annotations

from idioms import FirstStep

from clew.bloom import agg, bloom, channel, interface, lmap, lmax, table


class WaitingClock(FirstStep):
    now = table(val=["time"])
    say = interface.input("dst", "text")
    message = channel("@dst", "src", "text", "time")
    waiting = table("src", "text", "time")
    heard = table("src", "text", "sent", "received")

    @bloom
    def tick_on(self) -> None:
        self.now <= self.first(lambda f: (0,))
        self.now <- self.now
        self.now <+ self.now(lambda n: (n.time + 1,))

    @bloom
    def send(self) -> None:
        self.message <~ (self.say * self.now).pairs(lambda s, n: (s.dst, self.ip_port, s.text, n.time))

    @bloom
    def receive(self) -> None:
        self.waiting <= self.message(lambda m: (m.src, m.text, m.time))
        self.temp.ready <= (self.waiting * self.now).pairs().filter(lambda w, n: w.time < n.time)
        self.waiting <- self.temp.ready(lambda w, n: w)
        self.heard <+ self.temp.ready(lambda w, n: (w.src, w.text, w.time, n.time + 1))


class LamportClock(FirstStep):
    clock = lmax()
    say = interface.input("dst", "text")
    message = channel("@dst", "src", "text", "time")
    heard = table("src", "text", "sent", "received")

    @bloom
    def tick_on(self) -> None:
        self.clock <= self.first(lambda f: (0,))
        self.clock <= self.message(lambda m: (m.time + 1,))
        self.clock <+ (self.clock + 1)

    @bloom
    def send(self) -> None:
        self.message <~ (self.say * self.clock.elements("time")).pairs(
            lambda s, c: (s.dst, self.ip_port, s.text, c.time)
        )

    @bloom
    def receive(self) -> None:
        self.heard <= (self.message * self.clock.elements("time")).pairs(
            lambda m, c: (m.src, m.text, m.time, c.time)
        )


class VectorClock(FirstStep):
    """``own`` counts the steps of this node; ``stamp`` is the vector as a set of pairs, as it is sent."""

    own = lmax()
    clock = lmap(lmax)
    say = interface.input("dst", "text")
    message = channel("@dst", "src", "text", "stamp")
    heard = table("src", "text", "stamp")
    said = table("dst", "text", "stamp")

    @bloom
    def tick_on(self) -> None:
        self.own <= self.first(lambda f: (1,))
        self.own <+ (self.own + 1)
        self.clock <= self.own.elements("time")(lambda o: (self.ip_port, o.time))

    @bloom
    def send(self) -> None:
        self.temp.stamp <= self.clock.elements("node", "time").group([], stamp=agg.accum_pair("node", "time"))
        self.temp.sent <= (self.say * self.temp.stamp).pairs()
        self.message <~ self.temp.sent(lambda s, c: (s.dst, self.ip_port, s.text, c.stamp))
        self.said <= self.temp.sent(lambda s, c: (s.dst, s.text, c.stamp))

    @bloom
    def receive(self) -> None:
        self.clock <= self.message.flat_map(lambda m: m.stamp)
        self.heard <= self.message(lambda m: (m.src, m.text, m.stamp))
