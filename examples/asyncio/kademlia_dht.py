"""Five nodes of kademlia 2.2.3, a distributed hash table from PyPI, as it is installed: UDP and timeouts.

Three nodes join through the first one, and so does the client, the fifth, which puts a value:

    clew check examples/asyncio/kademlia_dht.py:put
    clew fuzz examples/asyncio/kademlia_dht.py:put

Where no contact of the client answers, ``Server.set`` should say False, which is how it says that nobody has
stored the value.  It raises ``ValueError: max() arg is an empty sequence`` instead: ``set_digest`` in
``network.py`` looks for the farthest of the nodes that it has found, and there may be none.

In ``put_and_get`` the client leaves and gets the value as a node that knows nothing yet.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from kademlia.network import Server

if TYPE_CHECKING:
    from clew.aio import World

PORT = 8468
NODES = ("n1", "n2", "n3", "n4")
FIRST = "n1"


async def join(first: str | None) -> Server:
    """Start a node of the table, and let it know the others by way of the first."""
    server = Server()
    await server.listen(PORT)
    if first is not None:
        # kademlia takes addresses and no names
        found = await asyncio.get_running_loop().getaddrinfo(first, PORT)
        await server.bootstrap([found[0][4][:2]])
    return server


async def run_node(first: str | None) -> None:
    server = await join(first)
    try:
        await asyncio.Event().wait()
    finally:
        server.stop()


async def put(world: World) -> None:
    """Whatever gets lost, ``set`` answers."""
    await start_nodes(world)
    server = await join(FIRST)
    stored = await server.set("key", "value")
    world.promise("set says whether the value was stored", stored in (True, False))
    server.stop()


async def put_and_get(world: World) -> None:
    """A value that somebody has stored is found by who comes later."""
    await start_nodes(world)
    writer = await join(FIRST)
    world.assume(await writer.set("key", "value"))  # nobody says that he has it: nothing was promised
    writer.stop()
    await asyncio.sleep(1)
    reader = await join(FIRST)
    world.promise("what was stored is found", await reader.get("key") == "value")
    reader.stop()


async def start_nodes(world: World) -> None:
    for name in NODES:
        world.start(name, run_node, None if name == FIRST else FIRST)
        await asyncio.sleep(1)
