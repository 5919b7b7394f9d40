"""The lease of ``lease.py`` when nodes restart: what the server forgets is that somebody is at work.

Clocks differ by less than the margin here, and yet there is a way to two at work: the server grants the lease,
restarts, and grants it again.  It need not even lose a message; being back before the lease is over is enough:

    clew check examples/lease/lease_restarts.py:forgetful

The cure needs no disk.  A server that has just started does not know who is at work, but for how long at most: it
waits as long as a lease lasts, by its own clock, before it grants one.  -> ``WaitingServer``

    clew check examples/lease/lease_restarts.py:waiting --strategy exhaustive

That a client restarts is harmless: it stops working.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from lease import LEASE, MARGIN, Client, Server, bounded

from clew.simulation import Context, Faults, Node, Scenario, VirtualTime


class WaitingServer(Server):
    """Grants nothing before a lease of an earlier life must be over."""

    def on_start(self, ctx: Context) -> None:
        self.until = ctx.now + LEASE * (1 + MARGIN)


def _restarting(server: Callable[[], Node], **how: Any) -> Scenario:
    return replace(
        bounded,
        nodes={"a": Client, "b": Client, "server": server},
        time=VirtualTime(latency=(0.01, 0.1), drift=0.02, until=5),
        faults=Faults(losses=1, crashes=1, restarts=1, total=2, until=3, outages=(0.2,)),
        **how,
    )


forgetful = _restarting(Server, expect="counterexample", expect_faults=1)
waiting = _restarting(WaitingServer, expect="certified")
