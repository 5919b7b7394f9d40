"""A small server of Redis (RESP2): strings, counters, lists, expiry, transactions, channels.

Enough for the asyncio client of redis-py as it is, with a pool of connections, a pipeline and a listener.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any

PORT = 6379


class Failure(str):
    """An answer that the client raises."""


class Simple(str):
    """An answer that is a word and no value."""


def encode(answer: Any) -> bytes:
    """Write an answer as RESP2 has it."""
    match answer:
        case Failure():
            return f"-{answer}\r\n".encode()
        case Simple():
            return f"+{answer}\r\n".encode()
        case None:
            return b"$-1\r\n"
        case int():
            return f":{int(answer)}\r\n".encode()
        case bytes():
            return b"$%d\r\n%s\r\n" % (len(answer), answer)
        case str():
            return encode(answer.encode())
        case _:
            return b"*%d\r\n" % len(answer) + b"".join(map(encode, answer))


async def read_command(reader: asyncio.StreamReader) -> list[bytes]:
    """Read one command; EOFError at the end of the connection."""
    count = int((await reader.readuntil(b"\r\n"))[1:])
    words = []
    for _ in range(count):
        size = int((await reader.readuntil(b"\r\n"))[1:])
        words.append((await reader.readexactly(size + 2))[:-2])
    return words


class Session:
    """One connection: what it listens to, and its transaction, if one is open."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self.writer = writer
        self.channels: list[bytes] = []
        self.queued: list[list[bytes]] | None = None


class Server:
    def __init__(self) -> None:
        self.values: dict[bytes, Any] = {}
        self.due: dict[bytes, float] = {}
        self._sessions: list[Session] = []
        self._commands: dict[bytes, Callable[..., Any]] = {
            b"PING": lambda: Simple("PONG"),
            b"SELECT": lambda _: Simple("OK"),
            b"CLIENT": lambda *_: Simple("OK"),
            b"SET": self._set,
            b"GET": lambda key: self._value(key),
            b"DEL": lambda *keys: sum(self.values.pop(key, None) is not None for key in keys),
            b"INCRBY": self._increase,
            b"RPUSH": self._push,
            b"LRANGE": lambda key, first, last: (self._value(key) or [])[int(first) :],
            b"PUBLISH": self._publish,
        }

    async def serve(self) -> None:
        server = await asyncio.start_server(self._connected, port=PORT)
        async with server:
            await server.serve_forever()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        session = Session(writer)
        self._sessions.append(session)
        try:
            with suppress(OSError, EOFError):
                while True:
                    for answer in self._obey(session, await read_command(reader)):
                        writer.write(encode(answer))
                    await writer.drain()
        finally:
            self._sessions.remove(session)
            writer.close()

    def _obey(self, session: Session, words: list[bytes]) -> list[Any]:
        name = words[0].upper()
        if name == b"MULTI":
            session.queued = []
            return [Simple("OK")]
        if name == b"EXEC" and session.queued is not None:
            queued, session.queued = session.queued, None
            return [[self._execute(each) for each in queued]]
        if name in (b"SUBSCRIBE", b"UNSUBSCRIBE"):
            return [self._listen(session, name, channel) for channel in words[1:] or tuple(session.channels)]
        if session.queued is not None:
            session.queued.append(words)
            return [Simple("QUEUED")]
        return [self._execute(words)]

    def _execute(self, words: list[bytes]) -> Any:
        command = self._commands.get(words[0].upper())
        if command is None:
            return Failure(f"ERR unknown command '{words[0].decode()}'")
        return command(*words[1:])

    def _value(self, key: bytes) -> Any:
        if self.due.get(key, float("inf")) <= asyncio.get_running_loop().time():
            self.values.pop(key, None)
            del self.due[key]
        return self.values.get(key)

    def _set(self, key: bytes, value: bytes, *options: bytes) -> Simple | None:
        if b"NX" in options and self._value(key) is not None:
            return None
        self.values[key] = value
        self.due.pop(key, None)
        if b"EX" in options:
            self.due[key] = asyncio.get_running_loop().time() + int(options[options.index(b"EX") + 1])
        return Simple("OK")

    def _increase(self, key: bytes, by: bytes) -> int:
        self.values[key] = str(int(self._value(key) or 0) + int(by)).encode()
        return int(self.values[key])

    def _push(self, key: bytes, *values: bytes) -> int:
        self.values.setdefault(key, []).extend(values)
        return len(self.values[key])

    def _listen(self, session: Session, name: bytes, channel: bytes) -> list[Any]:
        if name == b"SUBSCRIBE":
            session.channels.append(channel)
        elif channel in session.channels:
            session.channels.remove(channel)
        return [name.lower(), channel, len(session.channels)]

    def _publish(self, channel: bytes, message: bytes) -> int:
        listeners = [session for session in self._sessions if channel in session.channels]
        for session in listeners:
            session.writer.write(encode([b"message", channel, message]))
        return len(listeners)
