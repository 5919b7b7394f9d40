"""redis-py's asyncio client with a small stand-in for the server: pool, pipeline, expiry, channels."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import redis.asyncio as redis
import redis_standin

if TYPE_CHECKING:
    from clew.aio import World


async def run_server() -> None:
    await redis_standin.Server().serve()


def connect() -> redis.Redis:
    # The stand-in speaks the older protocol, without the maintenance notices of the newer one.
    return redis.Redis(host="store", port=redis_standin.PORT, protocol=2)


async def run_counter(times: int) -> None:
    """Count in the store as one of several."""
    async with connect() as client:
        for _ in range(times):
            await client.incr("count")


async def scenario(world: World) -> None:
    world.start("store", run_server)
    await asyncio.sleep(0.5)
    world.start("one", run_counter, 3)
    world.start("other", run_counter, 4)
    async with connect() as client:
        async with client.pubsub() as listener:
            await listener.subscribe("news")
            await client.set("session", "open", ex=30)
            async with client.pipeline(transaction=True) as pipeline:
                done: list[Any] = await pipeline.rpush("list", "a", "b").lrange("list", 0, -1).execute()
            await client.publish("news", "hello")
            heard = [await listener.get_message(ignore_subscribe_messages=True, timeout=1) for _ in range(2)]
        before = await client.get("session")
        await asyncio.sleep(60)
        after = await client.get("session")
        count = await client.get("count")
    world.promise("a transaction answers in order", done == [2, [b"a", b"b"]])
    world.promise("what was published is heard", [each["data"] for each in heard if each] == [b"hello"])
    world.promise("what has expired is gone", (before, after) == (b"open", None))
    world.promise("all have counted", count == b"7")
