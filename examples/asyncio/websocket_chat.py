"""A chat on websockets with reconnect: nothing in it knows of Clew.

A room keeps what was said, and tells everybody who is connected.  A member whose connection breaks connects
again, and says how much it has heard already, so that the room goes on from there.  That is the easy half.  The
other one is what a member has said when the connection broke: did the room hear it?

- who does not ask loses what was on its way;
- who says again what the room has not confirmed repeats what was heard, but not confirmed;
- who does so, too, and numbers what it says, lets the room know what it has heard already.
"""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import WebSocketException

PORT = 8765
#: What the members say, each in its turn.
WORDS = {"ann": ("hello", "bye"), "bob": ("welcome",)}
#: Seconds between two words, and until a member connects again.
PACE, PAUSE = 1.0, 0.5
#: The connection is broken if a ping is not answered within so many seconds.
PING = 2.0

FAILURES = (OSError, WebSocketException, TimeoutError, EOFError)


class Room:
    """Keeps what was said as (member, number, word), in one order for all."""

    def __init__(self) -> None:
        self.said: list[tuple[str, int | None, str]] = []
        self.more = asyncio.Condition()

    async def serve(self) -> None:
        async with serve(self._connected, port=PORT, ping_interval=PING, ping_timeout=PING) as server:
            await server.serve_forever()

    async def _connected(self, connection: ServerConnection) -> None:
        """Serve one connection: hear what its member says, and tell what it has not heard."""
        with suppress(*FAILURES):
            greeting = json.loads(await connection.recv())
            telling = asyncio.create_task(self._tell(connection, greeting["heard"]))
            try:
                async for message in connection:
                    await self._hear(connection, greeting["member"], json.loads(message))
            finally:
                telling.cancel()

    async def _hear(self, connection: ServerConnection, member: str, message: Any) -> None:
        said = (member, message["number"], message["word"])
        if said[1] is None or said not in self.said:
            async with self.more:
                self.said.append(said)
                self.more.notify_all()
        await connection.send(json.dumps({"confirmed": message["word"]}))

    async def _tell(self, connection: ServerConnection, heard: int) -> None:
        with suppress(*FAILURES):
            while True:
                async with self.more:
                    while len(self.said) <= heard:
                        await self.more.wait()
                member, _, word = self.said[heard]
                heard += 1
                await connection.send(json.dumps({"from": member, "word": word}))


class Member:
    """Says its words (``again``: until confirmed; ``numbers``: with a number each), and hears what all say."""

    def __init__(self, name: str, again: bool, numbers: bool) -> None:
        self.name = name
        self.heard: list[tuple[str, str]] = []
        self._again = again
        self._numbers = numbers
        self._to_say = list(enumerate(WORDS.get(name, ())))

    async def take_part(self) -> None:
        """Stay in the room: connect again whenever the connection breaks."""
        while True:
            with suppress(*FAILURES):
                async with connect(f"ws://room:{PORT}", ping_interval=PING, ping_timeout=PING) as connection:
                    await self._talk(connection)
            await asyncio.sleep(PAUSE)

    async def _talk(self, connection: ClientConnection) -> None:
        await connection.send(json.dumps({"member": self.name, "heard": len(self.heard)}))
        speaking = asyncio.create_task(self._speak(connection))
        try:
            async for message in connection:
                told = json.loads(message)
                if "confirmed" not in told:
                    self.heard.append((told["from"], told["word"]))
                elif self._again:
                    self._to_say = [each for each in self._to_say if each[1] != told["confirmed"]]
        finally:
            speaking.cancel()

    async def _speak(self, connection: ClientConnection) -> None:
        with suppress(*FAILURES):
            for number, word in tuple(self._to_say):
                await asyncio.sleep(PACE)
                if not self._again:
                    self._to_say.remove((number, word))
                said = {"word": word, "number": number if self._numbers else None}
                await connection.send(json.dumps(said))


async def run_room() -> None:
    await Room().serve()


async def run_member(name: str, again: bool, numbers: bool) -> None:
    await Member(name, again, numbers).take_part()
