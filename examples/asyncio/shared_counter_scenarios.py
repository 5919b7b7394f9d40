"""The counter of ``shared_counter.py`` in Clew's world: two workers, and somebody who counts along.

clew fuzz examples/asyncio/shared_counter_scenarios.py:careless
clew fuzz examples/asyncio/shared_counter_scenarios.py:comparing
"""

from __future__ import annotations

import asyncio

from shared_counter import PAUSE, TIMES, WORKERS, Client, count, run_counter

import clew.aio


@clew.aio.scenario(expect="violation", expect_runs=50)
async def careless(world: clew.aio.World) -> None:
    """Whoever writes last wins."""
    await count_together(world, compares=False)


@clew.aio.scenario(expect="no violation", expect_runs=50)
async def comparing(world: clew.aio.World) -> None:
    """The fix: compare and set."""
    await count_together(world, compares=True)


async def count_together(world: clew.aio.World, compares: bool) -> None:
    world.start("counter", run_counter)
    await asyncio.sleep(0.5)
    for name in WORKERS:
        world.start(name, count, compares)
    await asyncio.sleep(2 * TIMES * PAUSE)
    client = await Client().connect()
    world.promise("each increment counts", await client.ask(op="read") == TIMES * len(WORKERS))
    client.close()
