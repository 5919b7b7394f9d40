"""The chat of ``websocket_chat.py`` in Clew's world: somebody who listens, and compares it with what is to be
said.

    clew check examples/asyncio/websocket_chat_scenarios.py:hopeful
    clew check examples/asyncio/websocket_chat_scenarios.py:insistent
    clew check examples/asyncio/websocket_chat_scenarios.py:numbered --strategy exhaustive

What gets lost on its way shows at once here, as a reset of its connection.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress

from websocket_chat import WORDS, Member, run_member, run_room

import clew.aio

#: Seconds until all that was said has been heard, whatever was lost on the way.
PATIENCE = 15.0


@clew.aio.scenario(losses=1, lost="reset", expect="counterexample", expect_faults=1)
async def hopeful(world: clew.aio.World) -> None:
    """What was on its way when the connection broke is lost."""
    await listen(world, again=False, numbers=False)


@clew.aio.scenario(losses=1, lost="reset", expect="counterexample", expect_faults=1)
async def insistent(world: clew.aio.World) -> None:
    """What was heard but not confirmed when the connection broke is repeated."""
    await listen(world, again=True, numbers=False)


@clew.aio.scenario(losses=1, lost="reset", expect="certified")
async def numbered(world: clew.aio.World) -> None:
    """The fix."""
    await listen(world, again=True, numbers=True)


async def listen(world: clew.aio.World, again: bool, numbers: bool) -> None:
    """Listen for long enough, and compare what was heard with what the members were to say."""
    world.start("room", run_room)
    for name in WORDS:
        world.start(name, run_member, name, again, numbers)
    listener = Member("listener", again=False, numbers=False)
    with suppress(TimeoutError):
        async with asyncio.timeout(PATIENCE):
            await listener.take_part()
    for name, words in WORDS.items():
        heard = [word for member, word in listener.heard if member == name]
        world.promise(f"all that {name} says is heard", set(heard) >= set(words))
        world.promise(f"nothing that {name} says is repeated", len(heard) == len(set(heard)))
