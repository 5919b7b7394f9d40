"""nats-py with a small stand-in for the server: publish, wildcards, queue groups, request and reply, drain."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import nats
import nats_standin
from nats.aio.client import Client
from nats.aio.msg import Msg

if TYPE_CHECKING:
    from clew.aio import World

SERVER = f"nats://broker:{nats_standin.PORT}"


async def run_broker() -> None:
    await nats_standin.Server().serve()


async def connect() -> Client:
    return await nats.connect(SERVER, max_reconnect_attempts=3, reconnect_time_wait=1)


async def run_worker() -> None:
    """Answer requests as a member of a group, until the node ends."""
    connection = await connect()

    async def answer(message: Msg) -> None:
        await message.respond(message.data.upper())

    await connection.subscribe("work.*", queue="workers", cb=answer)
    await asyncio.Event().wait()


async def scenario(world: World) -> None:
    world.start("broker", run_broker)
    await asyncio.sleep(0.5)
    world.start("one", run_worker)
    world.start("other", run_worker)
    await asyncio.sleep(0.5)
    connection = await connect()
    heard: list[tuple[str, bytes]] = []

    async def hear(message: Msg) -> None:
        heard.append((message.subject, message.data))

    await connection.subscribe("news.>", cb=hear)
    answers = [(await connection.request("work.upper", word, timeout=5)).data for word in (b"a", b"b")]
    await connection.publish("news.today.morning", b"sun", headers={"from": "client"})
    await connection.flush()
    await asyncio.sleep(0.5)
    await connection.drain()
    world.promise("each request is answered", answers == [b"A", b"B"])
    world.promise("what was published is heard", heard == [("news.today.morning", b"sun")])
