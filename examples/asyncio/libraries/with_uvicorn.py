"""httpx with uvicorn and starlette: an endpoint that is a coroutine, a *sync* one in a thread, and a stream."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

import httpx
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, StreamingResponse
from starlette.routing import Route

if TYPE_CHECKING:
    from clew.aio import World

PORT = 8000


async def echo(request: Request) -> JSONResponse:
    return JSONResponse({"echo": await request.json()})


def blocking(request: Request) -> PlainTextResponse:
    """Answer as a plain function: starlette has anyio call it in a thread."""
    return PlainTextResponse(f"sync {request.query_params['name']}")


async def numbers(request: Request) -> StreamingResponse:
    async def count() -> AsyncIterator[str]:
        for number in range(3):
            yield f"{number}\n"
            await asyncio.sleep(1)

    return StreamingResponse(count())


APP = Starlette(
    routes=[
        Route("/echo", echo, methods=["POST"]),
        Route("/blocking", blocking),
        Route("/numbers", numbers),
    ]
)


async def run_web() -> None:
    config = uvicorn.Config(APP, host="0.0.0.0", port=PORT, lifespan="off", log_level="warning")
    await uvicorn.Server(config).serve()


async def scenario(world: World) -> None:
    world.start("web", run_web)
    await asyncio.sleep(1)
    async with httpx.AsyncClient(base_url=f"http://web:{PORT}", timeout=10) as client:
        echoed, sync, lines = await asyncio.gather(
            client.post("/echo", json={"a": 1}),
            client.get("/blocking", params={"name": "endpoint"}),
            read_lines(client),
        )
    world.promise("a coroutine answers", echoed.json() == {"echo": {"a": 1}})
    world.promise("a plain function answers", sync.text == "sync endpoint")
    world.promise("a stream arrives", lines == ["0", "1", "2"])


async def read_lines(client: httpx.AsyncClient) -> list[str]:
    async with client.stream("GET", "/numbers") as response:
        return [line async for line in response.aiter_lines()]
