"""A crash runs no line of the life that is over, and nothing is left of a thousand of them."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import gc
import tracemalloc
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

import clew.aio
from clew import check_scenario
from clew.aio.scenarios.adapting import make_scenario
from clew.search.verdict import Answer
from clew.simulation.fuzzing.random_run import random_run

# What is cut off in the midst of it, nobody closes.
pytestmark = pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")

#: What was executed that must not be.
ran: list[str] = []


class Finalized:
    """Says when it is finalized; in a cycle, and not."""

    def __init__(self, name: str, *, in_cycle: bool) -> None:
        self.name = name
        self.me = self if in_cycle else None

    def __del__(self) -> None:
        ran.append(f"__del__ of {self.name}")


class Entered:
    async def __aenter__(self) -> Entered:
        return self

    async def __aexit__(self, *error: object) -> None:
        ran.append("__aexit__")


class Holder:
    """Has a generator, where nobody looks for one."""

    def __init__(self) -> None:
        self.numbers = count()
        next(self.numbers)


def count() -> Iterator[int]:
    try:
        yield 1
        yield 2
    finally:
        ran.append("finally of a generator")


async def count_slowly() -> AsyncIterator[int]:
    try:
        yield 1
        yield 2
    finally:
        ran.append("finally of an async generator")


@contextlib.contextmanager
def managed() -> Iterator[None]:
    try:
        yield
    finally:
        ran.append("finally of a context manager")


async def wait() -> None:
    try:
        await asyncio.sleep(1000)
    except BaseException:
        ran.append("except")
        raise
    finally:
        ran.append("finally")


async def shield() -> None:
    try:
        await asyncio.shield(asyncio.create_task(wait()))
    finally:
        ran.append("finally around shield")


async def be_in_the_midst(begun: list[str]) -> None:
    """Wait inside of everything that has an end of its own."""
    finalized = Finalized("a local", in_cycle=False), Finalized("a cycle", in_cycle=True)
    generator, holder = count(), Holder()
    next(generator)
    atexit.register(ran.append, "atexit")
    loop = asyncio.get_running_loop()
    with managed():
        async with Entered(), asyncio.timeout(500), asyncio.TaskGroup() as group:
            group.create_task(shield())
            group.create_task(asyncio.wait_for(wait(), 300))
            async for _ in count_slowly():
                async with contextlib.AsyncExitStack() as stack:
                    await stack.enter_async_context(Entered())
                    stack.callback(ran.append, "callback of a stack")
                    loop.run_in_executor(None, begun.append, "a thread")
                    loop.call_later(0.2, ran.append, "call_later")
                    await asyncio.sleep(0.1)
                    begun.append("all")
                    await asyncio.Event().wait()
    ran.append(f"the end {finalized} {holder}")


def count_tasks() -> int:
    return sum(isinstance(each, asyncio.Task) and not each.done() for each in gc.get_objects())


def execute(scenario: Any, **settings: Any) -> None:
    run = random_run(make_scenario(scenario, clew.aio.Settings(**settings)), 0)
    assert run.broken is None
    del run
    gc.collect()


def test_a_crash_runs_no_line_of_the_life_that_is_over() -> None:
    ran.clear()
    begun: list[str] = []

    async def scenario(world: clew.aio.World) -> None:
        world.start("victim", be_in_the_midst, begun)
        await asyncio.sleep(0.1)
        world.crash("victim")
        await asyncio.sleep(5)
        gc.collect()
        world.promise("the world goes on", True)

    execute(scenario, hosts=("victim",))
    gc.collect()
    assert begun == ["a thread", "all"]
    assert ran == []


def test_a_restart_begins_anew_and_runs_no_line_of_the_life_before() -> None:
    ran.clear()
    begun: list[str] = []

    async def scenario(world: clew.aio.World) -> None:
        world.start("victim", be_in_the_midst, begun)
        await asyncio.sleep(0.1)
        world.restart("victim")
        await asyncio.sleep(0.1)
        world.crash("victim")
        await asyncio.sleep(5)
        world.promise("the world goes on", True)

    execute(scenario, hosts=("victim",))
    gc.collect()
    assert begun == ["a thread", "all"] * 2
    assert ran == []


def test_what_another_host_has_as_well_goes_on_after_a_crash() -> None:
    ran.clear()
    numbers = []

    async def use(generator: Iterator[int], shared: Finalized) -> None:
        await asyncio.Event().wait()

    async def scenario(world: clew.aio.World) -> None:
        generator, shared = count(), Finalized("what is shared", in_cycle=False)
        numbers.append(next(generator))
        world.start("victim", use, generator, shared)
        await asyncio.sleep(0.1)
        world.crash("victim")
        await asyncio.sleep(0.1)
        numbers.append(next(generator))
        world.promise("the world goes on", shared.name)

    execute(scenario, hosts=("victim",))
    assert numbers == [1, 2]


def test_a_program_that_ends_by_itself_is_called_at_exit_and_one_that_crashes_is_not() -> None:
    called: list[str] = []

    async def begin(name: str, seconds: float) -> None:
        atexit.register(called.append, name)
        await asyncio.sleep(seconds)

    async def scenario(world: clew.aio.World) -> None:
        atexit.register(called.append, "client")
        world.start("ends", begin, "ends", 0.1)
        world.start("crashes", begin, "crashes", 1)
        await asyncio.sleep(0.5)
        world.crash("crashes")
        await asyncio.sleep(2)
        world.promise("the world goes on", True)

    execute(scenario, hosts=("ends", "crashes"))
    assert called == ["ends", "client"]


def test_a_crash_by_a_fault_is_as_silent() -> None:
    """What is executed is the same whether a host crashes after this event or that: nothing of what ends it."""
    left: list[list[str]] = []

    async def serve() -> None:
        async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            try:
                writer.write(await reader.readline())
                await wait()
            finally:
                ran.append("finally of a connection")

        async with Entered(), await asyncio.start_server(connected, port=7000) as server:
            await server.serve_forever()

    async def scenario(world: clew.aio.World) -> None:
        ran.clear()
        world.start("victim", serve)
        await asyncio.sleep(0.1)
        with contextlib.suppress(OSError, TimeoutError):
            async with asyncio.timeout(1):
                reader, writer = await asyncio.open_connection("victim", 7000)
                writer.write(b"hello\n")
                await reader.readline()
                writer.transport.abort()
        await asyncio.sleep(1)
        left.append(list(ran))
        world.promise("nothing of the victim has ended", not ran)

    made = make_scenario(scenario)
    verdict = check_scenario(made, crashes=1, losses=0, strategy="exhaustive", in_process=True)
    assert verdict.answer is Answer.CERTIFIED
    assert len(left) > 4


def test_a_thousand_restarts_leave_no_task_and_hardly_any_memory() -> None:
    grown: list[float] = []

    async def beat() -> None:
        try:
            while True:
                await asyncio.sleep(0.1)
        finally:
            ran.append("finally of a beat")

    async def serve() -> None:
        beats = [asyncio.create_task(beat()) for _ in range(3)]
        content = bytearray(20_000)
        async with await asyncio.start_server(lambda reader, writer: None, port=7000) as server:
            await server.serve_forever()
        assert not (beats, content)

    async def scenario(world: clew.aio.World) -> None:
        world.start("a", serve)
        before = tasks_before = 0
        for number in range(1001):
            await asyncio.sleep(0.15)
            world.restart("a")
            if number == 0:
                gc.collect()
                tasks_before = count_tasks()
                tracemalloc.start()
                before = tracemalloc.get_traced_memory()[0]
        gc.collect()
        grown.append((tracemalloc.get_traced_memory()[0] - before) / 1e6)
        tracemalloc.stop()
        grown.append(count_tasks() - tasks_before)
        world.promise("it is over", True)

    ran.clear()
    execute(scenario, hosts=("a",), steps=1_000_000)
    megabytes, tasks = grown
    assert megabytes < 10
    assert tasks == 0
    assert ran == []
