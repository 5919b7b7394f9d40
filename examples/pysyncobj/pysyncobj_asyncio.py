"""PySyncObj with its own TCP, on an asyncio loop: nothing of its network is replaced.

PySyncObj polls its sockets itself.  ``LoopPoller`` lets a loop do that, which works on any loop; ``doTick`` is
called twenty times a second, as its own thread would.  So its elections, its log and its connections (their
handshakes, reconnects and limits of time) run in Clew's world as they are:

    clew run examples/pysyncobj/pysyncobj_asyncio.py:three
    clew check examples/pysyncobj/pysyncobj_asyncio.py:three --losses 0 --partitions 1

``pysyncobj_cluster.py`` replaces clock, disk and network of the library instead, so that messages have names and
come in any order: what is found in two releases is found there.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pysyncobj
from pysyncobj import syncobj
from pysyncobj.poller import POLL_EVENT_TYPE, Poller

if TYPE_CHECKING:
    from clew.aio import World

NODES = ("a", "b", "c")
RAFT_PORT, QUESTION_PORT = 4321, 4400
#: Seconds between two ticks, until the cluster has a leader, and for a value to get everywhere.
TICK, BEGINNING, PATIENCE = 0.05, 10.0, 5.0

#: What a poller calls: with a descriptor, and what has become possible.
Callback = Callable[[int, int], None]


class LoopPoller(Poller):  # type: ignore[misc]
    """PySyncObj's poller, by the loop that runs."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()

    def subscribe(self, descr: int, callback: Callback, event_mask: int) -> None:
        self.unsubscribe(descr)
        if event_mask & POLL_EVENT_TYPE.READ:
            self._loop.add_reader(descr, callback, descr, POLL_EVENT_TYPE.READ)
        if event_mask & POLL_EVENT_TYPE.WRITE:
            self._loop.add_writer(descr, callback, descr, POLL_EVENT_TYPE.WRITE)

    def unsubscribe(self, descr: int) -> None:
        self._loop.remove_reader(descr)
        self._loop.remove_writer(descr)

    def poll(self, timeout: float) -> None:
        """Do nothing: the loop has called whoever waited."""


class Ledger(pysyncobj.SyncObj):  # type: ignore[misc]
    """The replicated object: a list to which values are appended."""

    def __init__(self, name: str) -> None:
        self.values: list[int] = []
        conf = pysyncobj.SyncObjConf(autoTick=False, useFork=False)
        others = [f"{other}:{RAFT_PORT}" for other in NODES if other != name]
        super().__init__(f"{name}:{RAFT_PORT}", others, conf)

    @pysyncobj.replicated  # type: ignore[untyped-decorator]
    def append(self, value: int) -> None:
        self.values.append(value)


async def run_node(name: str) -> None:
    """Be a member of the cluster, and answer questions of clients."""
    await asyncio.sleep(2)
    syncobj.createPoller = lambda _: LoopPoller()
    ledger = Ledger(name)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        question = json.loads(await reader.readline())
        if "append" in question:
            agreed: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
            ledger.append(question["append"], callback=lambda _, error: agreed.set_result(error == 0))
            said: Any = await agreed
        else:
            said = ledger.values
        writer.write(json.dumps(said).encode() + b"\n")
        writer.close()

    await asyncio.start_server(answer, port=QUESTION_PORT)
    while True:
        ledger.doTick(0.0)
        await asyncio.sleep(TICK)


async def ask(name: str, **question: Any) -> Any:
    """Ask a node; None if it does not answer."""
    with suppress(OSError, TimeoutError, json.JSONDecodeError):
        async with asyncio.timeout(PATIENCE):
            reader, writer = await asyncio.open_connection(name, QUESTION_PORT)
            try:
                writer.write(json.dumps(question).encode() + b"\n")
                return json.loads(await reader.readline())
            finally:
                writer.close()
    return None


async def three(world: World) -> None:
    """Append a value at each of three nodes; what is agreed on is the same everywhere, and in the same order."""
    for name in NODES:
        world.start(name, run_node, name)
    await asyncio.sleep(BEGINNING)
    agreed = [value for value, name in enumerate(NODES) if await ask(name, append=value)]
    world.assume(agreed)
    await asyncio.sleep(PATIENCE)
    answers = [await ask(name, values=True) for name in NODES]
    world.assume(None not in answers)
    logs = [list(answer) for answer in answers]
    longest = max(logs, key=len)
    world.promise("what is agreed on is in the longest log", set(agreed) <= set(longest))
    world.promise("each log is a beginning of the longest", all(longest[: len(log)] == log for log in logs))
