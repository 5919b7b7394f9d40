"""Unmodified asyncio programs in the simulation: virtual time, a simulated network, crashes, and chosen faults.

    async def scenario(world):
        for name in "abc":
            world.start(name, replica_main, name)
        store = await connect("a", 7000)
        world.promise("a write is acknowledged", await store.put("k", 1))

A scenario is a coroutine function of one parameter, ``world`` (``scenarios.world``), and runs as a host like
those that it starts.  Read ``hosts.node`` for how a host becomes a node of the simulation, ``loop`` for what
programs see, ``network.streams`` for what a connection is, and ``patching`` for what stands in for the real
world.
"""

from __future__ import annotations

from clew.aio.fences import FencedError
from clew.aio.network.decoding import length_prefixed
from clew.aio.scenarios.testing import test
from clew.aio.scenarios.world import World
from clew.aio.settings import Settings, scenario

__all__ = ["FencedError", "Settings", "World", "length_prefixed", "scenario", "test"]
