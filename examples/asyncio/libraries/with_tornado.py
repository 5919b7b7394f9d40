"""Tornado's HTTP server and client, on asyncio: it watches sockets itself, with add_reader and add_writer."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from tornado.httpclient import AsyncHTTPClient, HTTPClientError
from tornado.web import Application, RequestHandler

if TYPE_CHECKING:
    from clew.aio import World

PORT = 8888


class Greeting(RequestHandler):
    async def get(self, name: str) -> None:
        await asyncio.sleep(1)
        self.write({"hello": name})

    def post(self, name: str) -> None:
        self.write({name: len(self.request.body)})


async def run_web() -> None:
    logging.getLogger("tornado.access").setLevel(logging.ERROR)  # it warns of each 404
    application = Application([(r"/greet/(\w+)", Greeting)])
    server = application.listen(PORT)
    try:
        await asyncio.Event().wait()
    finally:
        server.stop()


async def scenario(world: World) -> None:
    world.start("web", run_web)
    await asyncio.sleep(1)
    client = AsyncHTTPClient()
    greeting = await client.fetch(f"http://web:{PORT}/greet/ann")
    large = await client.fetch(f"http://web:{PORT}/greet/size", method="POST", body=b"x" * 300_000)
    try:
        await client.fetch(f"http://web:{PORT}/nothing")
        missing = 200
    except HTTPClientError as error:
        missing = error.code
    client.close()
    world.promise("a handler that waits answers", greeting.body == b'{"hello": "ann"}')
    world.promise("a large body arrives", large.body == b'{"size": 300000}')
    world.promise("what is not there is 404", missing == 404)
