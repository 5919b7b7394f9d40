"""aiohttp's server and client: keep-alive, a body in chunks, a websocket, and a limit of time that is exceeded."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import aiohttp
from aiohttp import web

if TYPE_CHECKING:
    from clew.aio import World

PORT = 8080


async def measure(request: web.Request) -> web.Response:
    return web.json_response({"bytes": len(await request.read())})


async def sleep(request: web.Request) -> web.Response:
    await asyncio.sleep(3600)
    return web.Response()


async def echo(request: web.Request) -> web.WebSocketResponse:
    socket = web.WebSocketResponse()
    await socket.prepare(request)
    async for message in socket:
        await socket.send_str(message.data.upper())
    return socket


async def run_web() -> None:
    app = web.Application(client_max_size=2**20)
    app.add_routes([web.post("/measure", measure), web.get("/sleep", sleep), web.get("/echo", echo)])
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        await web.TCPSite(runner, port=PORT).start()
        await asyncio.Event().wait()
    finally:
        await runner.cleanup()


async def scenario(world: World) -> None:
    world.start("web", run_web)
    await asyncio.sleep(1)
    async with aiohttp.ClientSession(f"http://web:{PORT}") as session:
        async with session.post("/measure", data=b"x" * 300_000) as response:
            measured = await response.json()
        async with session.ws_connect("/echo") as socket:
            await socket.send_str("hello")
            echoed = await socket.receive_str()
        try:
            async with session.get("/sleep", timeout=aiohttp.ClientTimeout(total=1800)):
                late = False
        except TimeoutError:
            late = True
    world.promise("a large body arrives", measured == {"bytes": 300_000})
    world.promise("a websocket echoes", echoed == "HELLO")
    world.promise("half an hour is over", late)
