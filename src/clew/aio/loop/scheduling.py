"""Callbacks and timers of a loop, and its tasks: the part that has nothing to do with networks.

As CPython has it: callbacks run in the order in which they were scheduled, in rounds; timers that are due join the
next round.  Between two events nothing runs.  A task is referred to as long as it is not done: asyncio itself does
so only weakly, and a collector that ends tasks does that at times that nobody can repeat.
"""

from __future__ import annotations

import asyncio
import sys
import weakref
from asyncio import events
from collections import deque
from collections.abc import Callable, Coroutine, Iterable
from contextvars import Context
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING, Any

from clew.aio.futures import NumberedFuture, NumberedTask
from clew.aio.lineage.tracker import Tracker
from clew.aio.loop.graves import end_objects, end_silently
from clew.aio.running import current_life
from clew.simulation.user_code import is_mistake_of_ours

#: A timer is due that is this near: times are counted in microseconds.
_RESOLUTION = 1e-6
#: So many rounds are one event at most: a program that polls by ``sleep(0)`` must see time pass.
_MOST_ROUNDS = 100
#: After that, so much time passes.
_PAUSE, _LONGEST_PAUSE = 0.5e-3, 1.0
_FEWEST_SWEPT = 100


class Timer(events.TimerHandle):
    """A timer; of those that are due at the same time, the one that was set first goes off first."""

    __slots__ = ("event", "order")

    if TYPE_CHECKING:  # the base class has them, and nobody says so
        _when: float
        _scheduled: bool

    order: int
    #: The number of the event that has set it.
    event: int

    def __lt__(self, other: Any) -> bool:
        when: float = self._when
        return (when, self.order) < (other._when, other.order)


if TYPE_CHECKING:

    class _Loop:
        """Stands for the base class, whose signatures are far wider than what is called here."""

else:
    _Loop = asyncio.AbstractEventLoop


class Scheduler(_Loop):
    """The part of a loop that runs callbacks; ``read_clock`` is the time, ``tell`` is told of errors."""

    #: Nothing of a program is in it that cannot be reached from its tasks.
    is_machinery = True

    def __init__(self, read_clock: Callable[[], float], tell: Callable[[str], None]) -> None:
        self._ready: deque[events.Handle] = deque()
        self._timers: list[Timer] = []
        self._order = 0
        self._cancelled = 0
        self._read_clock = read_clock
        self._tell = tell
        self._tasks: set[asyncio.Task[Any]] = set()
        self._sweep_at = _FEWEST_SWEPT
        self._made = 0
        self._task_factory: Any = None
        self._exception_handler: Any = None
        self._asyncgens: dict[int, weakref.ref[Any]] = {}
        self._debug = False
        self._pause = _PAUSE
        #: Whether anybody watches a socket.
        self._watched = False
        #: The number of the event that goes on, and who follows what events rest on, if anybody does.
        self.event = -1
        self.tracker: Tracker | None = None
        #: Whether the life that it belongs to is over: then nothing that is called has any effect.
        self.is_dead = False
        self.is_closed_by_program = False
        self.slow_callback_duration = 0.1

    # -- running -------------------------------------------------------------------------------------------------

    def drain(self) -> bool:
        """Run what is ready until nothing is; False if it would go on for ever."""
        ready = self._ready
        rounds = 0
        while (self._poll() if self._watched else ready) and not self.is_dead:
            rounds += 1
            if rounds > _MOST_ROUNDS:
                return False
            # Not those that are added meanwhile: they come in the next round.
            for _ in range(len(ready)):
                handle = ready.popleft()
                if not handle._cancelled:
                    if self.tracker is not None:
                        self.tracker.note(handle)
                    handle._run()
                    if self.is_dead:
                        return True
        self._pause = _PAUSE
        return True

    def _poll(self) -> bool:
        """Let those who watch sockets join what is ready, as a selector would; tell whether anything is."""
        return bool(self._ready)

    def release_due(self) -> None:
        """Let the timers that are due join what is ready."""
        end = self._read_clock() + _RESOLUTION
        timers = self._timers
        while timers and (timers[0]._cancelled or timers[0]._when <= end):
            timer = heappop(timers)
            timer._scheduled = False
            if timer._cancelled:
                self._cancelled -= 1
            else:
                self._ready.append(timer)

    @property
    def next_due(self) -> float | None:
        """Return when the next timer is due, or None."""
        timers = self._timers
        while timers and timers[0]._cancelled:
            heappop(timers)._scheduled = False
            self._cancelled -= 1
        return timers[0]._when if timers else None

    @property
    def setter(self) -> int:
        """Return the number of the event that has set the timer that is due next; there must be one."""
        return self._timers[0].event

    def draw_pause(self) -> float:
        """Return after how much time a program that only polls goes on: the longer it does, the longer."""
        self._pause = min(2 * self._pause, _LONGEST_PAUSE)
        return self._pause

    # -- what programs call --------------------------------------------------------------------------------------

    def time(self) -> float:
        return self._read_clock()

    def call_soon(self, callback: Any, *args: Any, context: Context | None = None) -> events.Handle:
        loop: Any = self
        handle = events.Handle(callback, args, loop, context)
        self._ready.append(handle)
        return handle

    def call_soon_threadsafe(self, callback: Any, *args: Any, context: Context | None = None) -> events.Handle:
        return self.call_soon(callback, *args, context=context)

    def call_later(
        self, delay: float, callback: Any, *args: Any, context: Context | None = None
    ) -> events.TimerHandle:
        if delay is None:
            raise TypeError("delay must not be None")
        return self.call_at(self._read_clock() + delay, callback, *args, context=context)

    def call_at(
        self, when: float, callback: Any, *args: Any, context: Context | None = None
    ) -> events.TimerHandle:
        if when is None:
            raise TypeError("when cannot be None")
        loop: Any = self
        timer = Timer(when, callback, args, loop, context)
        self._order += 1
        timer.order = self._order
        timer.event = self.event
        heappush(self._timers, timer)
        timer._scheduled = True
        return timer

    def _timer_handle_cancelled(self, handle: Timer) -> None:
        if handle._scheduled:
            self._cancelled += 1
            # Most time-outs are cancelled: without this, all of them would stay until they are due.
            if self._cancelled > 50 and 2 * self._cancelled > len(self._timers):
                self._timers = [timer for timer in self._timers if not timer._cancelled]
                heapify(self._timers)
                self._cancelled = 0

    def create_future(self) -> asyncio.Future[Any]:
        loop: Any = self
        return NumberedFuture(loop=loop)

    def create_task(
        self,
        coro: Coroutine[Any, Any, Any],
        *,
        name: str | None = None,
        context: Context | None = None,
        **options: Any,
    ) -> asyncio.Task[Any]:
        self._made += 1
        # The names that asyncio gives count the tasks of the process, and so differ from run to run.
        name = f"Task-{self._made}" if name is None else str(name)
        task: asyncio.Task[Any]
        if self._task_factory is None:
            loop: Any = self
            task = NumberedTask(coro, loop=loop, name=name, context=context, **options)
        else:
            given = {} if context is None else {"context": context}
            task = self._task_factory(self, coro, **given)
            task.set_name(name)
        self._tasks.add(task)
        if len(self._tasks) > self._sweep_at:
            self._tasks = {task for task in self._tasks if not task.done() or _is_unseen(task)}
            self._sweep_at = max(_FEWEST_SWEPT, 2 * len(self._tasks))
        return task

    def list_tasks(self) -> list[asyncio.Task[Any]]:
        """Return the tasks that are not done, in the order in which they were made."""
        return sorted((task for task in self._tasks if not task.done()), key=hash)

    def list_unseen(self) -> list[asyncio.Task[Any]]:
        """Return the tasks that have raised, and that nobody has asked what."""
        return sorted((task for task in self._tasks if task.done() and _is_unseen(task)), key=hash)

    def bury(self, others: Iterable[Scheduler], shared: Iterable[Any] | None = None) -> None:
        """Take everything apart that this loop would still run, without running it; ``others`` go on.

        ``shared``: what other hosts may have, too; objects are looked through where it is given.
        """
        going = [task for loop in others if not loop.is_dead for task in loop.list_tasks()]
        if shared is not None:
            end_objects(self._tasks, going, shared)
        end_silently(self._tasks, [reference() for reference in self._asyncgens.values()], going)
        self._tasks.clear()
        self._ready.clear()
        self._timers.clear()

    def set_task_factory(self, factory: Any) -> None:
        if factory is not None and not callable(factory):
            raise TypeError("task factory must be a callable or None")
        self._task_factory = factory

    def get_task_factory(self) -> Any:
        return self._task_factory

    def get_debug(self) -> bool:
        return self._debug

    def set_debug(self, enabled: bool) -> None:
        # Kept, not heeded: what debugging adds depends on the real clock.
        self._debug = bool(enabled)

    # -- running and stopping, which is not for programs
    # -----------------------------------------------------------

    def is_running(self) -> bool:
        loop: Any = self
        return not self.is_dead and events._get_running_loop() is loop

    def is_closed(self) -> bool:
        return self.is_dead or self.is_closed_by_program

    # -- errors --------------------------------------------------------------------------------------------------

    def set_exception_handler(self, handler: Any) -> None:
        if handler is not None and not callable(handler):
            raise TypeError(f"A callable object or None is expected, got {handler!r}")
        self._exception_handler = handler

    def get_exception_handler(self) -> Any:
        return self._exception_handler

    def default_exception_handler(self, context: dict[str, Any]) -> None:
        error = context.get("exception")
        told = "" if error is None else f": {type(error).__name__}: {error}"
        self._tell(f"{context.get('message') or 'Unhandled exception in event loop'}{told}")

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        # What the collector says of tasks and futures of the past comes at any time, and is no event.
        if "never retrieved" in str(context.get("message")):
            return
        error = context.get("exception")
        if error is not None and is_mistake_of_ours(error) and (life := current_life()) is not None:
            # As asyncio has it, it would be logged, and whoever waits for what did not happen would be blamed.
            life.refuse(error)
            return
        if self.is_dead or not self.is_running():
            return
        if self._exception_handler is None:
            self.default_exception_handler(context)
            return
        try:
            self._exception_handler(self, context)
        except (SystemExit, KeyboardInterrupt):
            raise
        except BaseException as failure:
            self.default_exception_handler(
                {"message": "Unhandled error in exception handler", "exception": failure, "context": context}
            )

    # -- async generators ----------------------------------------------------------------------------------------

    def enter(self) -> Any:
        """Make it the loop that runs; return what ``leave`` needs."""
        hooks = sys.get_asyncgen_hooks()
        loop: Any = self
        events._set_running_loop(loop)
        sys.set_asyncgen_hooks(firstiter=self._note_generator, finalizer=self._end_generator)
        return hooks

    def leave(self, hooks: Any) -> None:
        events._set_running_loop(None)
        sys.set_asyncgen_hooks(*hooks)

    def _note_generator(self, generator: Any) -> None:
        # In the order in which they were begun: asyncio's set of them has none that can be repeated.
        identity = id(generator)
        self._asyncgens[identity] = weakref.ref(generator, lambda _: self._asyncgens.pop(identity, None))

    def _end_generator(self, generator: Any) -> None:
        """Close a generator that nobody refers to any more; of a life that is over, none is."""
        self._asyncgens.pop(id(generator), None)
        if not self.is_closed():
            self.call_soon(self.create_task, generator.aclose())

    async def shutdown_asyncgens(self) -> None:
        generators, self._asyncgens = list(self._asyncgens.values()), {}
        for reference in generators:
            generator = reference()
            if generator is None:
                continue
            try:
                await generator.aclose()
            except Exception as error:
                message = f"an error occurred during closing of asynchronous generator {generator!r}"
                self.call_exception_handler({"message": message, "exception": error, "asyncgen": generator})

    async def shutdown_default_executor(self, timeout: float | None = None) -> None:
        """Return: functions in executors are events, and no thread is left."""


def _is_unseen(task: asyncio.Task[Any]) -> bool:
    """Tell whether a task has raised, and nobody has asked it what."""
    return bool(task._log_traceback)
