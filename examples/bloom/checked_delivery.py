"""The promises of ``delivery``, checked: what a sender takes for settled has arrived, once if that is promised.

``clew check examples/bloom/checked_delivery.py:BestEffort`` (and so on) says of

- ``BestEffort``, which takes a message for settled at once: one fault breaks the promise,
- ``Reliable``, which waits for the confirmation: certified,
- ``ReliableOnce``, the same protocol with the promise that nothing arrives twice: broken without any fault, as the
  timer fires before the confirmation can be there,
- ``Once``, which remembers what it has given out: certified, also for that promise.

The protocols are those that run on the network, unchanged; what is added here are tables that remember what the
interfaces said, and the outcomes.
"""

from __future__ import annotations

from typing import Any

from delivery import BestEffortDelivery, DeliveryProtocol, OnceDelivery, ReliableDelivery

from clew.bloom import agg, bloom, checked, outcome, scratch, table

#: How all of them are checked; each says what is to be expected of it, for ``clew test``.
BOUNDS: dict[str, Any] = {"nodes": ["a", "b"], "eot": 6, "eff": 4, "crashes": 1}
GIVEN = {"a": {"pipe_in": [("b", "a", 1, "hello")]}}


class Settled(DeliveryProtocol):
    """What is settled has arrived."""

    settled = table("dst", "src", "ident", "payload")
    arrived = table("dst", "src", "ident", "payload")
    pre = scratch("ident", "payload")
    post = scratch("ident", "payload")

    @bloom
    def remember(self) -> None:
        self.settled <= self.pipe_sent
        self.arrived <= self.pipe_out

    @outcome
    def settled_means_arrived(self) -> None:
        self.pre <= self.everywhere.settled.project("ident", "payload")
        self.post <= self.everywhere.arrived.project("ident", "payload")


class BestEffort(Settled, BestEffortDelivery):
    setting = checked(**BOUNDS, given=GIVEN, expect="counterexample", faults=1)


class Reliable(Settled, ReliableDelivery):
    setting = checked(**BOUNDS, given=GIVEN, expect="certified")


class AtMostOnce(DeliveryProtocol):
    """What arrives arrives at one time only."""

    times = table("src", "ident", val=["times"])
    pre = scratch("src", "ident")
    post = scratch("src", "ident")

    @bloom
    def count_times(self) -> None:
        self.temp.now <= self.pipe_out.group(["src", "ident"], agg.count())
        self.temp.before <= (self.times * self.temp.now).lefts(src="src", ident="ident")
        self.times <+ self.temp.now.notin(self.times, src="src", ident="ident").map(lambda n: (n.src, n.ident, 1))
        self.times <+ self.temp.before.map(lambda t: (t.src, t.ident, t.times + 1))
        self.times <- self.temp.before

    @outcome
    def once(self) -> None:
        self.pre <= self.everywhere.times.project("src", "ident")
        self.post <= self.everywhere.times.map(lambda t: (t.src, t.ident) if t.times == 1 else None)


class ReliableOnce(AtMostOnce, ReliableDelivery):
    setting = checked(**BOUNDS, given=GIVEN, expect="counterexample", faults=0)


class Once(AtMostOnce, OnceDelivery):
    setting = checked(**BOUNDS, given=GIVEN, expect="certified")
