"""websockets: server and client, pings, a message larger than a window, compression, and an orderly end."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from websockets.asyncio.client import connect
from websockets.asyncio.server import ServerConnection, serve

if TYPE_CHECKING:
    from clew.aio import World

PORT = 8765


async def echo(connection: ServerConnection) -> None:
    async for message in connection:
        await connection.send(message)


async def run_server() -> None:
    async with serve(echo, "0.0.0.0", PORT, ping_interval=20, ping_timeout=20) as server:
        await server.serve_forever()


async def scenario(world: World) -> None:
    world.start("server", run_server)
    await asyncio.sleep(1)
    large = "x" * 200_000
    async with connect(f"ws://server:{PORT}") as connection:
        await connection.send("hello")
        first = await connection.recv()
        await asyncio.sleep(120)  # six pings
        await connection.send(large)
        second = await connection.recv()
        waiter = await connection.ping()
        latency = await waiter
    world.promise("what is said is heard", (first, second) == ("hello", large))
    world.promise("a ping is answered", 0 <= latency < 1)
    world.promise("it ends in order", connection.close_code == 1000)
