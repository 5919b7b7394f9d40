"""Small programs on tasks, timers and threads: what each returns must not depend on whose loop runs it."""

from __future__ import annotations

import asyncio
import contextvars
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

#: So short that real time does not matter, and far enough from 0 that the order is certain.
TICK = 0.01


async def gather_keeps_order() -> Any:
    async def late(value: int, ticks: int) -> int:
        await asyncio.sleep(ticks * TICK)
        return value

    first = await asyncio.gather(late(1, 3), late(2, 1))
    return first, [repr(each) for each in await asyncio.gather(late(1, 0), _fail(), return_exceptions=True)]


async def _fail() -> None:
    raise KeyError("nothing")


async def wait_for_the_first() -> Any:
    slow, fast = asyncio.create_task(asyncio.sleep(1, "slow")), asyncio.create_task(asyncio.sleep(TICK, "fast"))
    done, pending = await asyncio.wait({slow, fast}, return_when=asyncio.FIRST_COMPLETED)
    slow.cancel()
    return {task.result() for task in done}, len(pending), await asyncio.wait({slow}) and slow.cancelled()


async def complete_in_the_order_of_time() -> Any:
    waiting = [asyncio.sleep(ticks * TICK, ticks) for ticks in (3, 1, 2)]
    return [await each for each in asyncio.as_completed(waiting)]


async def time_out() -> Any:
    seen: list[Any] = []
    with suppress(TimeoutError):
        async with asyncio.timeout(TICK) as limit:
            try:
                await asyncio.sleep(10)
            finally:
                seen.append("cleaned")
    seen.append(limit.expired())
    try:
        await asyncio.wait_for(asyncio.sleep(10), TICK)
    except TimeoutError as error:
        seen.append(type(error).__name__)
    async with asyncio.timeout(10) as limit:
        limit.reschedule(None)
    return seen, limit.expired()


async def time_out_within_a_time_out() -> Any:
    seen = []
    try:
        async with asyncio.timeout(TICK):
            try:
                async with asyncio.timeout(10):
                    await asyncio.sleep(5)
            except TimeoutError:
                seen.append("inner")
    except TimeoutError:
        seen.append("outer")
    return seen


async def shield() -> Any:
    done = asyncio.Event()

    async def work() -> str:
        await asyncio.sleep(2 * TICK)
        done.set()
        return "worked"

    task = asyncio.create_task(work())
    outer = asyncio.ensure_future(asyncio.shield(task))
    await asyncio.sleep(0)
    outer.cancel()
    with suppress(asyncio.CancelledError):
        await outer
    await done.wait()
    return outer.cancelled(), await task


async def group_of_tasks() -> Any:
    seen = []

    async def clean_up() -> None:
        try:
            await asyncio.sleep(10)
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise

    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(clean_up())
            group.create_task(_fail())
    except* KeyError as errors:
        seen.append(repr(errors.exceptions))
    return seen


async def cancel_and_go_on() -> Any:
    async def stubborn() -> Any:
        try:
            await asyncio.sleep(10)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            assert task is not None
            return task.cancelling(), task.uncancel()

    task = asyncio.create_task(stubborn())
    await asyncio.sleep(0)
    return task.cancel("why"), await task, task.cancelled()


async def carry_context() -> Any:
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="none")
    seen = []

    async def child() -> None:
        seen.append(variable.get())
        variable.set("child")

    variable.set("parent")
    await asyncio.create_task(child())
    asyncio.get_running_loop().call_soon(lambda: seen.append(variable.get()))
    seen.append(await asyncio.to_thread(variable.get))
    await asyncio.sleep(0)
    return sorted(seen), variable.get()


async def call_in_order() -> Any:
    loop = asyncio.get_running_loop()
    seen: list[str] = []
    start = loop.time()
    for number in range(3):
        loop.call_at(start + TICK + number / 1000, seen.append, f"timer {number}")
    loop.call_soon(seen.append, "soon")
    loop.call_later(0, seen.append, "later")
    cancelled = loop.call_later(TICK / 2, seen.append, "never")
    cancelled.cancel()
    loop.call_soon_threadsafe(seen.append, "threadsafe")
    await asyncio.sleep(2 * TICK)
    return seen, cancelled.cancelled()


async def take_turns() -> Any:
    seen = []

    async def step(name: str) -> None:
        for number in range(3):
            seen.append(f"{name}{number}")
            await asyncio.sleep(0)

    await asyncio.gather(step("a"), step("b"))
    return seen


async def synchronize() -> Any:
    seen: list[Any] = []
    queue: asyncio.Queue[int] = asyncio.Queue(1)
    lock, condition, barrier = asyncio.Lock(), asyncio.Condition(), asyncio.Barrier(2)
    semaphore = asyncio.Semaphore(2)

    async def produce() -> None:
        for number in range(3):
            await queue.put(number)
            seen.append(f"put {number}")
        async with condition:
            condition.notify_all()
        await barrier.wait()

    async def consume() -> None:
        for _ in range(3):
            async with lock, semaphore:
                seen.append(await queue.get())
        await barrier.wait()

    async with asyncio.TaskGroup() as group, condition:
        group.create_task(produce())
        group.create_task(consume())
        await condition.wait()
    return seen, queue.empty(), semaphore.locked()


async def close_generators() -> Any:
    seen = []

    async def numbers() -> AsyncIterator[int]:
        try:
            for number in range(10):
                yield number
                await asyncio.sleep(0)
        finally:
            seen.append("closed")

    generator = numbers()
    async for number in generator:
        if number == 2:
            break
    await generator.aclose()  # type: ignore[attr-defined]
    return seen


async def call_in_threads() -> Any:
    loop = asyncio.get_running_loop()

    def fail() -> None:
        raise LookupError("in a thread")

    answers = await asyncio.gather(
        loop.run_in_executor(None, sum, (1, 2)),
        asyncio.to_thread(sorted, [3, 1], reverse=True),
        asyncio.to_thread(fail),
        return_exceptions=True,
    )
    return [repr(answer) for answer in answers]


async def handle_errors_of_callbacks() -> Any:
    loop = asyncio.get_running_loop()
    seen: list[str] = []
    loop.set_exception_handler(lambda _, context: seen.append(repr(context["exception"])))
    loop.call_soon(lambda: 1 / 0)
    await asyncio.sleep(TICK)
    loop.set_exception_handler(None)
    return seen


async def let_time_pass() -> Any:
    loop = asyncio.get_running_loop()
    clocks = (loop.time, time.monotonic, time.time, time.perf_counter)
    before = [clock() for clock in clocks]
    await asyncio.sleep(2 * TICK)
    return [2 * TICK - 1e-3 < clock() - then < 1.0 for clock, then in zip(clocks, before, strict=True)]


async def make_tasks_by_a_factory() -> Any:
    loop, made = asyncio.get_running_loop(), []

    def factory(loop: Any, coroutine: Any, **options: Any) -> asyncio.Task[Any]:
        made.append(coroutine.__name__)
        return asyncio.Task(coroutine, loop=loop, **options)

    loop.set_task_factory(factory)
    answer = await asyncio.create_task(asyncio.sleep(0, "done"), name="mine")
    is_ours = loop.get_task_factory() is factory
    loop.set_task_factory(None)
    return made, answer, is_ours


PROGRAMS = (
    *(gather_keeps_order, wait_for_the_first, complete_in_the_order_of_time, time_out, time_out_within_a_time_out),
    *(shield, group_of_tasks, cancel_and_go_on, carry_context, call_in_order, take_turns, synchronize),
    *(close_generators, call_in_threads, handle_errors_of_callbacks, let_time_pass, make_tasks_by_a_factory),
)
