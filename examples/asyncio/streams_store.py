"""A replicated key-value store on asyncio streams, as one writes it: nothing in it knows of Clew.

Three replicas have all keys.  Whichever is asked to put a value gives it a version, copies it to the others, and
acknowledges it as soon as W = 2 replicas have it; a copy is tried twice.  To get a value, a client asks replicas
one after the other until R of them have answered, and takes the newest version.  Each request has a connection of
its own, and a limit of time.

With R = 1 every test passes, and so does a read after any two faults.  It takes three connections: both copies to
b do not get through, so that b is the one replica without the value, and then a does not answer the read.  With
R = 2 each read meets a replica of each acknowledged write (R + W > 3), or there are too few answers, and a client
is told so.

Replicas may tell a monitor how they are, with many messages that nothing rests on.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

REPLICAS = ("a", "b", "c")
PORT = 7000
#: Replicas that must have a value before it is acknowledged.
W = 2
#: Seconds after which a request is given up, and how often a copy is tried.
LIMIT, TRIES = 1.0, 2

#: A version, and the value that it has; version 0 is none.
Versioned = tuple[int, Any]

#: What can go wrong with a request: no connection, one that ends early, or no answer in time.
FAILURES = (OSError, EOFError, TimeoutError)


async def request(host: str, **question: Any) -> Any:
    """Ask a host one question, on a connection of its own."""
    async with asyncio.timeout(LIMIT):
        reader, writer = await asyncio.open_connection(host, PORT)
        try:
            writer.write(json.dumps(question).encode() + b"\n")
            await writer.drain()
            line = await reader.readline()
            if not line.endswith(b"\n"):
                raise EOFError(f"{host} closed the connection")
            return json.loads(line)
        finally:
            writer.close()


class Service:
    """Answers questions, one a connection, by its methods."""

    async def serve(self) -> None:
        server = await asyncio.start_server(self._connected, port=PORT)
        async with server:
            await server.serve_forever()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            question = json.loads(await reader.readline() or b"{}")
            if question:
                answer = await self.answer(**question)
                writer.write(json.dumps(answer).encode() + b"\n")
                await writer.drain()
        except OSError:
            pass  # whoever asked is gone
        finally:
            writer.close()

    async def answer(self, op: str, **question: Any) -> Any:
        return await getattr(self, f"on_{op}")(**question)


class Replica(Service):
    def __init__(self, name: str) -> None:
        self.others = [other for other in REPLICAS if other != name]
        self.data: dict[str, Versioned] = {}

    async def on_put(self, key: str, value: Any) -> bool:
        """Keep a value, copy it, and say whether W replicas have it."""
        version = self.data.get(key, (0, None))[0] + 1
        await self.on_copy(key, version, value)
        copies = [asyncio.create_task(self._copy(other, key, version, value)) for other in self.others]
        kept = 1
        for copy in asyncio.as_completed(copies):
            kept += await copy
            if kept >= W:
                return True  # the other copy goes on by itself
        return False

    async def _copy(self, other: str, key: str, version: int, value: Any) -> bool:
        for _ in range(TRIES):
            with suppress(*FAILURES):
                return bool(await request(other, op="copy", key=key, version=version, value=value))
        return False

    async def on_copy(self, key: str, version: int, value: Any) -> bool:
        if version > self.data.get(key, (0, None))[0]:
            self.data[key] = (version, value)
        return True

    async def on_get(self, key: str) -> Versioned:
        return self.data.get(key, (0, None))


class Monitor(Service):
    """Counts what it is told; nobody is promised anything about it."""

    def __init__(self) -> None:
        self.heard = 0

    async def on_alive(self, name: str) -> int:
        self.heard += 1
        return self.heard


class Client:
    """Puts and gets; begins with the replica that answered last, and goes on to the others if that does not."""

    def __init__(self) -> None:
        self._replicas = list(REPLICAS)

    async def put(self, key: str, value: Any) -> bool:
        """Put a value by the first replica that answers; tell whether it was acknowledged."""
        async for answer in self._ask(op="put", key=key, value=value):
            return bool(answer)
        return False

    async def get(self, key: str, r: int) -> list[Versioned]:
        """Return what r replicas have, or fewer if fewer answer."""
        answers: list[Versioned] = []
        async for version, value in self._ask(op="get", key=key):
            answers.append((version, value))
            if len(answers) == r:
                break
        return answers

    async def _ask(self, **question: Any) -> AsyncIterator[Any]:
        """Go through the replicas, and yield the answers of those that give one."""
        for replica in tuple(self._replicas):
            try:
                answer = await request(replica, **question)
            except FAILURES:
                self._replicas.remove(replica)
                self._replicas.append(replica)
                continue
            yield answer


def newest(answers: list[Versioned]) -> Any:
    return max(answers, key=lambda answer: answer[0])[1]


async def run_replica(name: str, reports: float | None = None) -> None:
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(Replica(name).serve())
        if reports is not None:
            tasks.create_task(report(name, reports))


async def report(name: str, every: float) -> None:
    """Tell the monitor again and again that this node is alive."""
    while True:
        await asyncio.sleep(every)
        with suppress(*FAILURES):
            await request("monitor", op="alive", name=name)


async def run_monitor() -> None:
    await Monitor().serve()
