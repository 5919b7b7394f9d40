"""The shop of ``aiohttp_shop.py`` in Clew's world: a customer who orders tea, and looks at the bank statement.

clew check examples/asyncio/aiohttp_shop_scenarios.py:retrying
clew check examples/asyncio/aiohttp_shop_scenarios.py:with_keys --strategy exhaustive
"""

from __future__ import annotations

import asyncio
from typing import Any

import aiohttp
from aiohttp_shop import FAILURES, PAUSE, PORT, run_payments, run_shop, run_stock

import clew.aio

#: Seconds that a customer waits: longer than the shop tries.
PATIENCE = aiohttp.ClientTimeout(total=10)


@clew.aio.scenario(losses=2, expect="counterexample", expect_faults=1)
async def retrying(world: clew.aio.World) -> None:
    """The shop charges again if it was not answered."""
    await order_tea(world, keys=False)


@clew.aio.scenario(losses=2, expect="certified")
async def with_keys(world: clew.aio.World) -> None:
    """The fix: each try of a charge has the same key."""
    await order_tea(world, keys=True)


async def order_tea(world: clew.aio.World, keys: bool) -> None:
    world.start("stock", run_stock)
    world.start("payments", run_payments)
    world.start("shop", run_shop, keys)
    await asyncio.sleep(1)
    async with aiohttp.ClientSession(timeout=PATIENCE) as session:
        accepted = await post_order(session, "order-1")
        charges = await look_at_charges(session)
    world.promise("an order is charged at most once", charges.count("order-1") <= 1)
    world.promise("an accepted order is charged", not accepted or "order-1" in charges)


async def post_order(session: aiohttp.ClientSession, order: str) -> bool:
    """Order tea; False if it was refused, and if nobody knows, since there was no answer."""
    order_of_tea = {"order": order, "article": "tea"}
    try:
        async with session.post(f"http://shop:{PORT}/orders", json=order_of_tea) as response:
            return bool((await response.json())["accepted"])
    except FAILURES:
        return False


async def look_at_charges(session: aiohttp.ClientSession) -> list[Any]:
    """Read the bank statement, which takes as many tries as it takes."""
    while True:
        try:
            async with session.get(f"http://payments:{PORT}/charges") as response:
                return list(await response.json())
        except FAILURES:
            await asyncio.sleep(PAUSE)
