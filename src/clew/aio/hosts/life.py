"""One life of a host: its loop, its network stack, and the program that runs on them.

An event of the simulation enters here: a packet arrives or a timer goes off, what it makes ready runs until
nothing is left to run, and what was written meanwhile is sent.
"""

from __future__ import annotations

import asyncio
import copy
import threading
from collections.abc import Callable
from random import Random
from typing import Any

from clew.aio.hosts.universe import Program, Universe
from clew.aio.loop.loop import SimulatedLoop
from clew.aio.network.kernel import Kernel
from clew.aio.packets import Datagram, Segment
from clew.aio.patching.installing import has_finalizers, note_imports
from clew.aio.running import running
from clew.aio.settings import UPTIME
from clew.errors import ClewError
from clew.simulation.user_code import is_mistake_of_ours
from clew.simulation.world import World

#: The timer of what the loop itself has scheduled.
LOOP_TIMER = "timer"


class Life:
    """A host from its start to its stop."""

    #: Of the machinery, nothing is a part of what programs do.
    is_machinery = True

    def __init__(self, universe: Universe, name: str) -> None:
        self.name = name
        self.universe = universe
        self.home: object = universe
        self.is_over = False
        self.is_booted = False
        self.is_paused = False
        #: What the scenario wants to be shown of this host, by name.
        self.exposed: dict[str, Callable[[], Any]] = {}
        self.program_function: Any = None
        self._put_off: list[tuple[Callable[..., None], tuple[Any, ...]]] = []
        self._random: Random | None = None
        self._armed: float | None = None
        self._actions: dict[str, Callable[[], None]] = {}
        self._made_actions = 0
        self.disk = universe.disk_of(name)
        self.disks = universe.disks
        self.kernel = Kernel(name, universe.internet, self)
        self.loop = SimulatedLoop(self.kernel, self.read_clock, self.remark, self._offload)
        self.main: asyncio.Task[Any] | None = None
        #: What the program wants to be called when its process ends by itself, in this order.
        self.at_exit: list[Callable[[], Any]] = []
        self._failure: BaseException | None = None
        self.count = universe.count

    # -- what code asks of the host that runs --------------------------------------------------------------------

    @property
    def _world(self) -> World:
        world = self.universe.world()
        assert world is not None, "an execution that goes on has a world"
        return world

    def read_clock(self) -> float:
        world = self.universe.world()
        if world is None:
            return UPTIME
        assert world.clock is not None
        return world.clock.read(self.name, world.ticks) + UPTIME

    def get_random(self) -> Random:
        if self._random is None:
            self._random = self._world.processes[self.name].random
            vars(self._random)["_clew_home"] = self.home
        return self._random

    def refuse(self, error: BaseException) -> None:
        if self.universe.refusal is None:
            self.universe.refusal = error

    def remark(self, text: str) -> None:
        self._world.remark(text)

    def touch_disk(self, name: str) -> None:
        if self.loop.tracker is not None:
            self.loop.tracker.touch_disk(name)

    def note_operation(self) -> None:
        if self.loop.tracker is not None:
            self.loop.tracker.note_operation(self.loop.event)

    def read_history(self) -> None:
        if self.loop.tracker is not None:
            self.loop.tracker.read_history()

    # -- what the kernel and the loop ask ------------------------------------------------------------------------

    def transmit(self, target: str, packet: Any) -> None:
        if not self.is_over:
            if (self.name, target) in self.universe.cuts:
                self.handle_loss(target, packet)
            else:
                self._send(target, packet)

    def _send(self, target: str, packet: Any) -> None:
        # A datagram is sent while the host runs: what the simulation draws for it must not be drawn from the host.
        life, running.life = running.life, None
        try:
            self._world.send(self.name, target, packet, 0)
        finally:
            running.life = life

    def handle_loss(self, target: str, packet: Any) -> None:
        self.kernel.handle_loss(target, packet)

    def break_connection(self, target: str, packet: Any) -> None:
        """Let the program notice at once that a packet was lost, as an event of its own."""
        self.schedule(0.0, lambda: self.kernel.break_connection(target, packet))

    def reset_connections(self, peer: str | None) -> None:
        if not self.is_over:
            self._enter(self.kernel.reset_connections, peer)

    def schedule(self, delay: float, action: Callable[[], None]) -> None:
        """Let something happen as an event of its own, after so many seconds."""
        self._plan("network", delay, action)

    def _offload(self, action: Callable[[], None]) -> None:
        self._plan("thread", 0.0, action)

    def _plan(self, kind: str, delay: float, action: Callable[[], None]) -> None:
        self._made_actions += 1
        name = f"{kind} {self._made_actions}"
        self._actions[name] = action
        self._world.arm(self.name, name, 0, delay)

    # -- events --------------------------------------------------------------------------------------------------

    def boot(self, program: Program) -> None:
        """Begin to run a program."""
        function, arguments, blamed = program
        self.is_booted, self.program_function = True, blamed

        def begin() -> None:
            self.main = self.loop.create_task(function(*arguments))
            self.main.add_done_callback(self._end_main)

        self._enter(begin)

    def receive(self, sender: str, packet: Any) -> None:
        if isinstance(packet, Segment):
            self._enter(self.kernel.receive_segment, sender, packet)
        elif isinstance(packet, Datagram):
            self._enter(self.kernel.receive_datagram, packet)

    def ring(self, timer: str) -> None:
        if timer == LOOP_TIMER:
            self._armed = None
            self._enter(self.loop.release_due)
            return
        action = self._actions.pop(timer)
        if timer.startswith("thread"):
            self._enter_thread(action)
        elif timer == "resume":
            action()
        else:
            self._enter(action)

    def _enter(self, action: Callable[..., None], *arguments: Any) -> None:
        """Do something in the loop of this host, and everything that becomes ready by it."""
        loop = self.loop
        loop.event = self._world.events
        tracker = loop.tracker
        self.universe.collector.note_event()
        # From here on, what fails must not leave this process taken for the host: it would be fenced for ever.
        running.life, running.thread = self, threading.get_ident()
        try:
            hooks = loop.enter()
            try:
                if tracker is not None:
                    tracker.begin(self.name)
                action(*arguments)
                is_done = loop.drain()
            finally:
                if tracker is not None:
                    tracker.pause()
                loop.leave(hooks)
        finally:
            running.life = None
        self._conclude(is_done)

    def _enter_thread(self, action: Callable[[], None]) -> None:
        """Run a function as a thread would: with no loop running in it."""
        running.life, running.thread = self, threading.get_ident()
        try:
            action()
        finally:
            running.life = None
        self._enter(_do_nothing)

    def _conclude(self, is_done: bool) -> None:
        if self.universe.refusal is not None:
            raise self.universe.refusal
        if self.universe.is_over:
            self.universe.kill_all()
        if self.is_over:
            return
        self.kernel.flush()
        self._arm(is_done)
        note_imports()

    def take_failure(self) -> BaseException | None:
        """Return what the program has raised, once."""
        failure, self._failure = self._failure, None
        return failure

    def look_at_exposed(self) -> list[tuple[str, Any]]:
        return [(name, copy.deepcopy(look())) for name, look in self.exposed.items()]

    def pause(self, seconds: float) -> None:
        """Let nothing happen here for some time; what comes meanwhile is handled then."""
        self.is_paused = True
        self._actions["resume"] = self._resume
        self._world.arm(self.name, "resume", 0, seconds)

    def put_off(self, action: Callable[..., None], *arguments: Any) -> None:
        self._put_off.append((action, arguments))

    def _resume(self) -> None:
        self.is_paused = False
        waiting, self._put_off = self._put_off, []
        for action, arguments in waiting:
            action(*arguments)

    def _arm(self, is_done: bool) -> None:
        """Set the one timer of the simulation to what is due first in this loop."""
        due = self.loop.next_due if is_done else self.read_clock() + self.loop.draw_pause()
        if due != self._armed:
            self._armed = due
            world = self._world
            if due is None:
                world.pool.cancel(self.name, LOOP_TIMER)
                return
            world.arm(self.name, LOOP_TIMER, 0, max(0.0, due - self.read_clock()))
            timer = world.pool.timer(self.name, LOOP_TIMER)
            if timer is not None and is_done:
                # Not this event, which only had to set it anew: what goes off then was asked for earlier.
                timer.cause = self.loop.setter

    # -- the end -------------------------------------------------------------------------------------------------

    def _end_main(self, main: asyncio.Task[Any]) -> None:
        """Handle that the program has returned: as ``asyncio.run`` does, then as the end of a process."""
        failure = None if main.cancelled() else main.exception()
        if failure is not None and (isinstance(failure, ClewError) or is_mistake_of_ours(failure)):
            self.refuse(failure)
        elif failure is not None:
            self._failure = failure
        elif self.name == self.universe.settings.client:
            self._call_at_exit()
            # Whatever the client has begun beside it ends here, too.
            self.universe.end()
        else:
            self.loop.create_task(self._shut_down()).add_done_callback(self._end_shut_down)

    async def _shut_down(self) -> None:
        own = asyncio.current_task()
        others = [task for task in self.loop.list_tasks() if task is not own]
        for task in others:
            task.cancel()
        if others:
            await asyncio.gather(*others, return_exceptions=True)
        await self.loop.shutdown_asyncgens()
        self._call_at_exit()
        self.kernel.close_all()

    def _call_at_exit(self) -> None:
        while self.at_exit:
            function = self.at_exit.pop()
            try:
                function()
            except Exception as error:  # as at the end of a process: the others are called all the same
                self.remark(f"at {self.name}, {function!r}, called at exit, has raised {error!r}")

    def _end_shut_down(self, task: asyncio.Task[Any]) -> None:
        """Tell of what has failed there: nobody waits for it."""
        failure = None if task.cancelled() else task.exception()
        if failure is not None and is_mistake_of_ours(failure):
            self.refuse(failure)

    def remark_unseen(self) -> None:
        """Remark on tasks that have raised, and nobody has asked them: asyncio does so when they are collected."""
        if not self.is_over:
            for task in self.loop.list_unseen():
                error = task.exception()
                self.remark(f"at {self.name}, {task.get_name()} has raised {error!r}, and nobody has asked it")

    @property
    def _has_crashed(self) -> bool:
        world = self.universe.world()
        return not self.universe.is_over or (world is not None and self.name not in world.processes)

    def kill(self) -> None:
        """End it without running a line of it."""
        self.is_over = True
        self.loop.is_dead = True
        self._actions.clear()
        others = [life.loop for life in self.universe.lives.values() if life is not self]
        # At the end of an execution too, if somebody would notice: to look for finalizers costs a
        # fifth of it, and without that libraries complain of sessions that no dead host can close any more.
        looks = self._has_crashed or has_finalizers()
        self.loop.bury(others, self.universe.list_shared() if looks else None)
        self.disk.crash()


def _do_nothing() -> None:
    """Let what is ready run, and nothing else."""
