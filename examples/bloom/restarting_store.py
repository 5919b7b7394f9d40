"""A store that goes down and comes back: what it has acknowledged must still be there.

The client c sends its write to the server s, which stores what it hears and acknowledges it in the same step.
What gets lost on the way is not acknowledged, and nobody was promised anything.  ``clew check`` says of

- ``InMemory``, whose table is lost with the process: one restart after the acknowledgment breaks it,
- ``OnDisk``, the same with ``durable=True``: certified, for two restarts with any losses.  A step is atomic on the
  network as in the checker: durable tables are written before its messages are sent.

The client has what was acknowledged on disk in both.
"""

from __future__ import annotations

from clew.bloom import Bloom, bloom, channel, checked, outcome, scratch, table

GIVEN = {"c": {"server": [("s",)], 2: {"write": [("x", 1)]}}}


class InMemory(Bloom):
    """The server keeps what it stores in memory."""

    stored = table("key", "value")
    server = table("address")
    write = scratch("key", "value")
    acknowledged = table("key", "value", durable=True)
    put = channel("@server", "client", "key", "value")
    done = channel("@client", "key", "value")

    pre = scratch("key", "value")
    post = scratch("key", "value")
    setting = checked(nodes=["c", "s"], eot=8, eff=6, restarts=1, given=GIVEN, expect="counterexample", faults=1)

    @bloom
    def client(self) -> None:
        self.acknowledged <= self.done(lambda d: (d.key, d.value))
        self.put <~ (self.write * self.server).pairs(lambda w, s: (s.address, self.ip_port, w.key, w.value))

    @bloom
    def store(self) -> None:
        self.stored <= self.put(lambda p: (p.key, p.value))
        self.done <~ self.put(lambda p: (p.client, p.key, p.value))

    @outcome
    def acknowledged_is_stored(self) -> None:
        self.pre <= self.everywhere.acknowledged.project("key", "value")
        self.post <= self.everywhere.stored.project("key", "value")


class OnDisk(InMemory):
    """The server keeps it on disk."""

    stored = table("key", "value", durable=True)
    setting = checked(nodes=["c", "s"], eot=8, eff=6, restarts=2, given=GIVEN, expect="certified")
