"""Five nodes of kademlia 2.2.3, a distributed hash table from PyPI, as it is installed: UDP and timeouts.

Three nodes join through the first one, and so does the client, the fifth, which puts a value.  Where no contact of
the client answers, ``Server.set`` should say False, which is how it says that nobody has stored the value.  It
raises ``ValueError: max() arg is an empty sequence`` instead: ``set_digest`` in ``network.py`` looks for the
farthest of the nodes that it has found, and there may be none.  It takes one partition; and random losses, too,
which are then minimized:

    clew check examples/asyncio/kademlia_scenarios.py:put
    clew fuzz examples/asyncio/kademlia_scenarios.py:put_often --at-least 300 -o found.json
    clew minimize found.json -o min.json --time-limit 30s

One datagram that is lost does no harm, whichever it is; that is certified by trying all of them:

    clew check examples/asyncio/kademlia_scenarios.py:put_with_one_loss --strategy exhaustive
"""

from __future__ import annotations

import asyncio

import umsgpack
from kademlia.network import Server

import clew.aio

PORT = 8468
NODES = ("n1", "n2", "n3", "n4")
FIRST = "n1"
#: How many values ``put_often`` puts, and what part of the datagrams is lost when it is fuzzed.
VALUES, LOST = 30, 0.1
#: Who joins there before the first value, and who from some value on.
EARLY, LATE, LATE_FROM = NODES[:1], NODES[1:], 1


def name_datagram(data: bytes) -> str | None:
    """Return what a datagram of rpcudp is called: the function that is called, or that it is an answer."""
    if data[:1] == b"\1":
        return "answer"
    return str(umsgpack.unpackb(data[21:])[0])


async def join(first: str | None, tries: int = 1) -> Server:
    """Start a node of the table, and let it know the others by way of the first."""
    server = Server()
    await server.listen(PORT)
    if first is not None:
        # kademlia takes addresses and no names
        found = await asyncio.get_running_loop().getaddrinfo(first, PORT)
        while tries > 0 and not await server.bootstrap([found[0][4][:2]]):
            tries -= 1
    return server


async def run_node(first: str | None) -> None:
    server = await join(first)
    try:
        await asyncio.Event().wait()
    finally:
        server.stop()


def start_nodes(world: clew.aio.World) -> None:
    for name in NODES:
        world.start(name, run_node, None if name == FIRST else FIRST)


@clew.aio.scenario(partitions=1, outages=(20.0,), decoder=name_datagram, expect="counterexample", expect_faults=1)
async def put(world: clew.aio.World) -> None:
    """Whatever gets lost, ``set`` answers."""
    start_nodes(world)
    server = await join(FIRST)
    stored = await server.set("key", "value")
    world.promise("set says whether the value was stored", stored in (True, False))
    server.stop()


@clew.aio.scenario(losses=1, decoder=name_datagram, expect="certified")
async def put_with_one_loss(world: clew.aio.World) -> None:
    """A value is stored, whichever datagram is lost, if who joins asks again."""
    start_nodes(world)
    server = await join(FIRST, tries=2)
    world.promise("the value is stored", await server.set("key", "value"))
    server.stop()


@clew.aio.scenario(loss=LOST, decoder=name_datagram, expect="violation", expect_runs=20)
async def put_often(world: clew.aio.World) -> None:
    """The same, again and again, while datagrams get lost and nodes join through the one that puts."""
    server = await join(None)
    for name in EARLY:
        world.start(name, run_node, "client")
    await asyncio.sleep(1)
    for number in range(VALUES):
        if number == LATE_FROM:
            for name in LATE:
                world.start(name, run_node, "client")
        stored = await server.set(f"key {number}", number)
        world.promise("set says whether the value was stored", stored in (True, False))
    server.stop()


@clew.aio.scenario(decoder=name_datagram)
async def put_and_get(world: clew.aio.World) -> None:
    """A value that somebody has stored is found by who comes later."""
    start_nodes(world)
    writer = await join(FIRST)
    world.assume(await writer.set("key", "value"))
    writer.stop()
    await asyncio.sleep(1)
    reader = await join(FIRST)
    world.promise("what was stored is found", await reader.get("key") == "value")
    reader.stop()
