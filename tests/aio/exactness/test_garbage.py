"""When Python collects garbage makes no difference to what happens, though collecting may do something."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import clew.aio
from clew.aio.hosts.garbage import EVENTS
from clew.aio.scenarios.adapting import make_scenario
from clew.simulation.fuzzing.random_run import random_run

pytestmark = pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")


class Holder:
    """A connection in a cycle, which nobody closes."""

    def __init__(self) -> None:
        self.me = self
        self.connection: Any = None


async def serve() -> None:
    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while line := await reader.readline():
            writer.write(line)
        writer.close()

    async with await asyncio.start_server(connected, port=7000) as server:
        await server.serve_forever()


async def forget_connections(world: clew.aio.World) -> None:
    world.start("a", serve)
    await asyncio.sleep(0.1)
    for _ in range(150):
        holder = Holder()
        reader, writer = holder.connection = await asyncio.open_connection("a", 7000)
        writer.write(b"hello\n")
        await reader.readline()
        del reader, writer, holder
    world.promise("it comes to its end", True)


@contextmanager
def collecting(threshold: int) -> Iterator[None]:
    before = gc.get_threshold()
    gc.set_threshold(threshold)
    try:
        yield
    finally:
        gc.set_threshold(*before)


def what_happens() -> list[Any]:
    run = random_run(make_scenario(forget_connections), 0, recording=True)
    history = run.world.history
    assert history is not None
    return [(repr(each.what), each.fate, each.node, each.time) for each in history]


def test_what_happens_does_not_depend_on_the_collector() -> None:
    recorded = []
    for threshold in (0, 1, 50, 700):
        with collecting(threshold):
            recorded.append(what_happens())
    assert all(each == recorded[0] for each in recorded)
    # Connections were collected, and closed by that, while it went on.
    assert len(recorded[0]) > EVENTS
    assert any("finish" in what for what, *_ in recorded[0]) or any("Finish" in what for what, *_ in recorded[0])


def test_the_collector_runs_by_itself_again_afterwards_if_it_did_before() -> None:
    assert gc.isenabled()
    what_happens()
    assert gc.isenabled()
    gc.disable()
    try:
        what_happens()
        assert not gc.isenabled()
    finally:
        gc.enable()
