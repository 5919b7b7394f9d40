"""The store of ``streams_store.py`` in Clew's world: a client that puts a value, and reads it later.

    clew check examples/asyncio/streams_store_scenarios.py:read_one
    clew check examples/asyncio/streams_store_scenarios.py:busy
    clew check examples/asyncio/streams_store_scenarios.py:read_two --strategy exhaustive

Clew loses connections here: one that is lost is silent, and whoever waits for it gives up after its limit of time.
A run in which the write was not acknowledged, or too few replicas answered the read, is neither good nor bad.
"""

from __future__ import annotations

import asyncio
from typing import Any

from streams_store import LIMIT, REPLICAS, TRIES, Client, newest, run_monitor, run_replica

import clew.aio

#: What the bug takes.
BREAKING: dict[str, Any] = {"unit": "connection", "losses": 3, "expect": "counterexample", "expect_faults": 3}


@clew.aio.scenario(**BREAKING)
async def read_one(world: clew.aio.World) -> None:
    """R + W = N: a replica that has missed the write may be the only one that is asked."""
    await write_and_read(world, r=1)


@clew.aio.scenario(unit="connection", losses=3, crashes=1, faults=3, expect="certified")
async def read_two(world: clew.aio.World) -> None:
    """R + W > N: the fix."""
    await write_and_read(world, r=2)


@clew.aio.scenario(**BREAKING)
async def busy(world: clew.aio.World) -> None:
    """The bug, among ten times as many messages that do not matter."""
    world.start("monitor", run_monitor)
    await write_and_read(world, r=1, reports=0.3)


async def write_and_read(world: clew.aio.World, r: int, reports: float | None = None) -> None:
    for name in REPLICAS:
        world.start(name, run_replica, name, reports)
    await asyncio.sleep(1)
    client = Client()
    world.assume(await client.put("k", "v"))
    await asyncio.sleep(2 * TRIES * LIMIT)
    answers = await client.get("k", r)
    world.assume(len(answers) == r)
    world.promise("an acknowledged write is read", newest(answers) == "v")
