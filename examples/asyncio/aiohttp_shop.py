"""A shop of three aiohttp services with retries and a fallback: nothing in them knows of Clew.

``shop`` takes an order: it asks ``stock`` whether there is any, and lets ``payments`` charge the customer.  Both
are other machines, which may be slow or away for a while, so it does what everybody does:

- **a fallback**: if ``stock`` does not answer, the shop goes by what it was told last;
- **retries**: if ``payments`` does not answer, it is asked again, up to three times.

To look is harmless when it is done twice; to charge is not.  If the answer to the first request gets lost, the
customer has been charged, the shop cannot know, and asks again.  The fix is a key that the shop makes for each
order and sends with each try: payments charges once for a key, and repeats what it answered.
"""

from __future__ import annotations

import asyncio
import uuid

import aiohttp
from aiohttp import web

PORT = 8080
#: Seconds until a service gives up a request to another.
LIMIT = aiohttp.ClientTimeout(total=1)
#: A retry waits for so long, so that a short outage is over by then.
PAUSE = 0.2
TRIES = 3

#: What aiohttp raises when a service does not answer.
FAILURES = (aiohttp.ClientError, TimeoutError)


class Stock:
    """How many there are of each article."""

    def __init__(self) -> None:
        self.left = {"tea": 3}

    async def look(self, request: web.Request) -> web.Response:
        return web.json_response({"left": self.left.get(request.match_info["article"], 0)})

    def routes(self) -> list[web.RouteDef]:
        return [web.get("/stock/{article}", self.look)]


class Payments:
    """Charges customers; what came with a key is charged once for that key."""

    def __init__(self) -> None:
        self.charges: list[str] = []
        self.answered: dict[str, int] = {}

    async def charge(self, request: web.Request) -> web.Response:
        asked = await request.json()
        key = request.headers.get("Idempotency-Key")
        if key is None or key not in self.answered:
            self.charges.append(asked["order"])
            if key is not None:
                self.answered[key] = len(self.charges)
        number = self.answered[key] if key is not None else len(self.charges)
        return web.json_response({"receipt": number})

    async def show(self, request: web.Request) -> web.Response:
        return web.json_response(self.charges)

    def routes(self) -> list[web.RouteDef]:
        return [web.post("/charges", self.charge), web.get("/charges", self.show)]


class Shop:
    """Takes orders; ``keys``: whether tries of one charge can be told from two charges."""

    def __init__(self, session: aiohttp.ClientSession, keys: bool) -> None:
        self._session = session
        self._keys = keys
        self._known: dict[str, int] = {}

    async def order(self, request: web.Request) -> web.Response:
        asked = await request.json()
        if not await self._left(asked["article"]):
            return web.json_response({"accepted": False}, status=409)
        receipt = await self._charge(asked["order"])
        if receipt is None:
            return web.json_response({"accepted": False}, status=503)
        return web.json_response({"accepted": True, "receipt": receipt})

    async def _left(self, article: str) -> int:
        """Return how many there are, or how many there were when stock answered last."""
        try:
            async with self._session.get(f"http://stock:{PORT}/stock/{article}") as response:
                self._known[article] = (await response.json())["left"]
        except FAILURES:
            pass
        return self._known.get(article, 0)

    async def _charge(self, order: str) -> int | None:
        headers = {"Idempotency-Key": str(uuid.uuid4())} if self._keys else {}
        for _ in range(TRIES):
            try:
                async with self._session.post(
                    f"http://payments:{PORT}/charges", json={"order": order}, headers=headers
                ) as response:
                    return int((await response.json())["receipt"])
            except FAILURES:
                await asyncio.sleep(PAUSE)
        return None

    def routes(self) -> list[web.RouteDef]:
        return [web.post("/orders", self.order)]


async def serve(routes: list[web.RouteDef]) -> None:
    """Serve HTTP until cancelled."""
    app = web.Application()
    app.add_routes(routes)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        await web.TCPSite(runner, port=PORT).start()
        await asyncio.Event().wait()
    finally:
        await runner.cleanup()


async def run_stock() -> None:
    await serve(Stock().routes())


async def run_payments() -> None:
    await serve(Payments().routes())


async def run_shop(keys: bool) -> None:
    async with aiohttp.ClientSession(timeout=LIMIT) as session:
        await serve(Shop(session, keys).routes())
