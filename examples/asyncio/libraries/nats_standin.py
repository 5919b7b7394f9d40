"""A small server of the NATS protocol: INFO, CONNECT, PING, SUB with * and >, queue groups, UNSUB, PUB, HPUB.

Enough for publish, subscribe, request and reply, and drain of nats-py; there is no JetStream and no
authentication.
"""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from dataclasses import dataclass

PORT = 4222


@dataclass
class Subscription:
    client: Connection
    sid: str
    subject: str
    queue: str | None
    #: Messages that are still delivered, if there is a limit.
    left: int | None = None


class Connection:
    """One client: its subscriptions, by their identifiers, and a way to write to it."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self.writer = writer
        self.subscriptions: dict[str, Subscription] = {}

    def send(self, line: str, payload: bytes | None = None) -> None:
        self.writer.write(line.encode() + b"\r\n" + (b"" if payload is None else payload + b"\r\n"))


class Server:
    def __init__(self) -> None:
        self._connections: list[Connection] = []
        self._turn = 0  # members of a queue group get their messages in turn

    async def serve(self) -> None:
        server = await asyncio.start_server(self._connected, port=PORT)
        async with server:
            await server.serve_forever()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = Connection(writer)
        self._connections.append(connection)
        info = {"server_id": "standin", "version": "2.10.0", "proto": 1, "headers": True, "max_payload": 1 << 20}
        connection.send("INFO " + json.dumps(info))
        try:
            with suppress(OSError, EOFError):
                while line := await reader.readline():
                    await self._obey(connection, line.decode().split(), reader)
                    await writer.drain()
        finally:
            self._connections.remove(connection)
            writer.close()

    async def _obey(self, connection: Connection, words: list[str], reader: asyncio.StreamReader) -> None:
        match words:
            case ["PING"]:
                connection.send("PONG")
            case ["SUB", subject, *queue, sid]:
                one = Subscription(connection, sid, subject, queue[0] if queue else None)
                connection.subscriptions[sid] = one
            case ["UNSUB", sid, *most]:
                if most and int(most[0]) > 0 and sid in connection.subscriptions:
                    connection.subscriptions[sid].left = int(most[0])
                else:
                    connection.subscriptions.pop(sid, None)
            case ["PUB", subject, *reply, size]:
                self._publish(subject, reply, 0, await self._payload(reader, int(size)))
            case ["HPUB", subject, *reply, of_headers, size]:
                self._publish(subject, reply, int(of_headers), await self._payload(reader, int(size)))

    async def _payload(self, reader: asyncio.StreamReader, size: int) -> bytes:
        return (await reader.readexactly(size + 2))[:-2]

    def _publish(self, subject: str, reply: list[str], of_headers: int, payload: bytes) -> None:
        groups: dict[str, list[Subscription]] = {}
        for connection in self._connections:
            for one in list(connection.subscriptions.values()):
                if not matches(one.subject, subject):
                    continue
                if one.queue is None:
                    self._deliver(one, subject, reply, of_headers, payload)
                else:
                    groups.setdefault(one.queue, []).append(one)
        for members in groups.values():
            self._turn += 1
            self._deliver(members[self._turn % len(members)], subject, reply, of_headers, payload)

    def _deliver(self, one: Subscription, subject: str, reply: list[str], of_headers: int, payload: bytes) -> None:
        sizes = [str(of_headers)] * bool(of_headers) + [str(len(payload))]
        name = "HMSG" if of_headers else "MSG"
        one.client.send(" ".join([name, subject, one.sid, *reply, *sizes]), payload)
        if one.left is not None:
            one.left -= 1
            if one.left == 0:
                one.client.subscriptions.pop(one.sid, None)


def matches(pattern: str, subject: str) -> bool:
    """Tell whether a subject matches: * stands for one part, > for all that follow."""
    wanted, parts = pattern.split("."), subject.split(".")
    for place, want in enumerate(wanted):
        if want == ">":
            return len(parts) > place
        if place >= len(parts) or want not in ("*", parts[place]):
            return False
    return len(wanted) == len(parts)
