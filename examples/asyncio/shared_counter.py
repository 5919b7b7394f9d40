"""A counter that two workers increase over the network, by reading it and writing it back: a lost update.

No fault is needed, only an unlucky moment: both read before either writes.  Each worker pauses for a random
time, so that most runs are lucky.  The fix is to write only if nobody has written since, and to begin again
otherwise.
"""

from __future__ import annotations

import asyncio
import json
import random
from typing import Any

PORT = 7100
WORKERS = ("ann", "bob")
#: How often each worker counts, and for how long it pauses before that, at most.
TIMES, PAUSE = 2, 1.0


class Counter:
    def __init__(self) -> None:
        self.value = 0

    async def serve(self) -> None:
        async with await asyncio.start_server(self._connected, port=PORT) as server:
            await server.serve_forever()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while line := await reader.readline():
            writer.write(json.dumps(self._answer(**json.loads(line))).encode() + b"\n")
        writer.close()

    def _answer(self, op: str, value: int = 0, expected: int | None = None) -> Any:
        if op == "read":
            return self.value
        if expected is not None and expected != self.value:
            return False
        self.value = value
        return True


class Client:
    """A connection to the counter."""

    async def connect(self) -> Client:
        self._reader, self._writer = await asyncio.open_connection("counter", PORT)
        return self

    async def ask(self, **question: Any) -> Any:
        self._writer.write(json.dumps(question).encode() + b"\n")
        return json.loads(await self._reader.readline())

    def close(self) -> None:
        self._writer.close()


async def count(compares: bool) -> None:
    """Increase the counter a few times, each time by one."""
    client = await Client().connect()
    for _ in range(TIMES):
        await asyncio.sleep(random.uniform(0, PAUSE))
        done = False
        while not done:
            value = await client.ask(op="read")
            expected = value if compares else None
            done = await client.ask(op="write", value=value + 1, expected=expected)
    client.close()


async def run_counter() -> None:
    await Counter().serve()
