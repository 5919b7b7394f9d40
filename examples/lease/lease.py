"""A lease: the right to do something for a while, which ends by the clock and without a word.

A client asks for the lease, works while it has it, and stops when its time is over: nobody has to tell it, so
nothing that gets lost can leave two of them at work.  What it rests on is time.  The client counts from when it
asked, the server from when it granted, and each has a clock of its own.  So the server waits a little longer than
it said, by ``MARGIN``.

Where clocks differ by less than that the margin is enough; where they differ by more, a fast clock at the server
and a slow one at the holder are two holders:

    clew fuzz examples/lease/lease.py:bounded
    clew fuzz examples/lease/lease.py:drifting -o rec.json

The first seconds have few enough events to try everything, with each message as fast or as slow as it can be, and
each clock, too:

    clew explore examples/lease/lease.py:small_bounded
    clew explore examples/lease/lease.py:small_drifting

Without virtual time there would be no telling these apart: a timer could go off at any time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from clew.simulation import Broken, Context, Node, Scenario, VirtualTime

#: Seconds for which the lease is granted, and how much longer the server waits, as a share of it.
LEASE, MARGIN = 1.0, 0.05


@dataclass(frozen=True)
class Ask:
    """``number`` tells the questions of one client apart."""

    number: int


@dataclass(frozen=True)
class Grant:
    number: int


class Server(Node):
    """Grants the lease to one client at a time; ``until``: when it is free again, by its own clock."""

    def on_start(self, ctx: Context) -> None:
        self.until = 0.0

    def on_message(self, ctx: Context, sender: str, message: Any) -> None:
        if ctx.now >= self.until:
            self.until = ctx.now + LEASE * (1 + MARGIN)
            ctx.send(sender, Grant(message.number))


class Client(Node):
    """Asks again and again; ``asked``: when it asked last, by its own clock."""

    def on_start(self, ctx: Context) -> None:
        self.works = False
        self.number = 0
        self.asked = 0.0
        ctx.set_timer("ask", after=0.25)

    def on_timer(self, ctx: Context, name: str) -> None:
        if name == "over":
            self.works = False
        elif not self.works:
            self.number += 1
            self.asked = ctx.now
            ctx.send("server", Ask(self.number))
        ctx.set_timer("ask", after=0.25)

    def on_message(self, ctx: Context, sender: str, message: Any) -> None:
        # An answer to an earlier question has run for longer than this one knows.
        if message.number == self.number and ctx.now < self.asked + LEASE:
            self.works = True
            ctx.set_timer("over", after=self.asked + LEASE - ctx.now)


def one_at_work(nodes: Mapping[str, Any]) -> Broken | None:
    """Check that no two clients work at the same time."""
    at_work = tuple(name for name, node in nodes.items() if getattr(node, "works", False))
    if len(at_work) > 1:
        return Broken("one at work", f"{' and '.join(at_work)} work at the same time", at_work)
    return None


def _scenario(drift: float, until: float, expect: str | None = None) -> Scenario:
    nodes = {"a": Client, "b": Client, "server": Server}
    return Scenario(
        nodes=nodes,
        running=tuple(nodes),
        invariants=[one_at_work],
        time=VirtualTime(latency=(0.01, 0.1), drift=drift, until=until),
        loss=0.05,
        expect=expect,
        expect_runs=50,
    )


#: Clocks differ by at most 4 in 100: the margin is enough.
bounded = _scenario(0.02, 30, "no violation")
#: By up to 40 in 100: it is not.
drifting = _scenario(0.2, 30, "violation")
#: The same for as long as it takes until the lease is granted again.
small_bounded = _scenario(0.02, 2.5)
small_drifting = _scenario(0.2, 2.5)
