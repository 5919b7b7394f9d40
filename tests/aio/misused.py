"""Mistakes that users of ``clew.aio`` make, one a function."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path
from typing import Any

import clew.aio
from clew.aio import World


async def sleeps_for_real(world: World) -> None:
    time.sleep(1)


async def starts_a_thread(world: World) -> None:
    threading.Thread(target=print).start()


async def runs_a_loop(world: World) -> None:
    coroutine = asyncio.sleep(0)
    try:
        asyncio.run(coroutine)
    finally:
        coroutine.close()


async def runs_a_loop_by_a_runner(world: World) -> None:
    coroutine = asyncio.sleep(0)
    try:
        asyncio.Runner().run(coroutine)
    finally:
        coroutine.close()


async def runs_its_loop(world: World) -> None:
    asyncio.get_running_loop().run_forever()


async def starts_a_process(world: World) -> None:
    await asyncio.create_subprocess_exec(sys.executable, "-V")


async def starts_a_process_and_waits(world: World) -> None:
    subprocess.run([sys.executable, "-V"], check=True)


async def starts_a_shell(world: World) -> None:
    os.system("true")


async def blocks_on_a_socket(world: World) -> None:
    socket.create_connection(("10.0.0.1", 80))


async def asks_for_another_family(world: World) -> None:
    socket.socket(socket.AF_UNIX)


async def uses_a_unix_socket(world: World) -> None:
    await asyncio.open_unix_connection("/tmp/socket")


async def fetches_a_page(world: World) -> None:
    with urllib.request.urlopen("http://127.0.0.1:9/"):
        pass


async def swallows_the_refusal(world: World) -> None:
    try:
        time.sleep(1)
    except BaseException:
        world.promise("nobody will know", True)


async def writes_elsewhere(world: World) -> None:
    Path("/somewhere-else").write_text("no")


async def watches_a_pipe(world: World) -> None:
    asyncio.get_running_loop().add_reader(0, print)


async def computes_for_ever(world: World) -> None:
    while True:
        pass


async def starts_no_coroutine_function(world: World) -> None:
    world.start("a", print)  # type: ignore[arg-type]


async def starts_a_host_twice(world: World) -> None:
    world.start("a", asyncio.sleep, 1)
    world.start("a", asyncio.sleep, 1)


async def crashes_nobody(world: World) -> None:
    world.crash("nobody")


async def does_not_await(world: World) -> None:
    world.promise("it is true", asyncio.sleep(0))


async def exposes_no_name(world: World) -> None:
    world.expose("not a name", int)


async def never_ends(world: World) -> None:
    await asyncio.Event().wait()


async def promises_nothing(world: World) -> None:
    await asyncio.sleep(1)


async def assumes_what_never_holds(world: World) -> None:
    world.assume(False)
    world.promise("unreachable", True)


async def takes_too_much(world: World, other: Any) -> None:
    """Not only the world."""


async def takes_nothing() -> None:
    """Not even the world."""


@clew.aio.scenario(until=10)
async def polls_for_ever(world: World) -> None:
    while True:
        await asyncio.sleep(0)
