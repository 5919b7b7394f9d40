"""What all hosts of one execution share: the network, who runs what, and what was promised.

A universe belongs to a world of the simulation, and is made with its first node.  Lives that are over are kept
until they can be taken apart without running a line of them (``graves``).
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from random import Random
from typing import Any, ClassVar, NamedTuple, Protocol

from clew.aio.disks.disk import Disk
from clew.aio.hosts.garbage import Collector
from clew.aio.lineage.tracker import Tracker
from clew.aio.network.internet import Internet
from clew.aio.running import current_life
from clew.aio.settings import Settings
from clew.histories.pairing import Event
from clew.histories.recorder import Recorder
from clew.simulation.world import World


class NotedRecorder(Recorder):
    """A recorder by which later events may rest on the operations that they look at."""

    def _note(self, event: Event) -> None:
        super()._note(event)
        if (life := current_life()) is not None:
            life.note_operation()


class Program(NamedTuple):
    """What a host runs: a coroutine function with its arguments, and the function of the user that is to blame."""

    function: Callable[..., Coroutine[Any, Any, Any]]
    arguments: tuple[Any, ...]
    blamed: Callable[..., Any]


class BuriedLife(Protocol):
    """A life that can be ended without a word."""

    loop: Any

    def kill(self) -> None: ...

    def remark_unseen(self) -> None:
        """Remark on what has failed and nobody has looked at."""


@dataclass(frozen=True)
class Order:
    """What a scenario does to a host: ``start``, ``crash``, ``restart``, ``pause``, or ``reset`` of connections.

    It is a timer of the host, and so an event of its own; of timers none is lost.
    """

    action: str
    detail: str = ""
    seconds: float = 0.0
    peer: str | None = None

    @property
    def timer(self) -> str:
        return f"{self.action} {self.detail}".rstrip()


@dataclass(frozen=True)
class Promised:
    """Something that must hold, and whether it did: ``number`` counts them."""

    number: int
    text: str
    is_kept: bool
    what: str


@dataclass
class Universe:
    #: Nothing of a single host is in it.
    is_machinery: ClassVar[bool] = True
    """``promises`` are in the order in which they were made; ``is_void``: an assumption did not hold."""

    world: weakref.ref[World]
    settings: Settings
    internet: Internet
    programs: dict[str, Program] = field(default_factory=dict)
    promises: list[Promised] = field(default_factory=list)
    lives: dict[str, BuriedLife] = field(default_factory=dict)
    is_void: bool = False
    assumed: int = 0
    is_over: bool = False
    #: By host and timer, what the scenario has ordered and has not happened yet.
    orders: dict[tuple[str, str], Order] = field(default_factory=dict)
    #: The pairs of hosts between which the scenario lets nothing through.
    cuts: set[tuple[str, str]] = field(default_factory=set)
    #: By host, its disk, which all of its lives have.
    disks: dict[str, Disk] = field(default_factory=dict)
    #: What clients have done, in one order for all hosts.
    history: Recorder = field(default_factory=lambda: NotedRecorder())
    #: A mistake of the user that ends the execution, whatever the code does with the exception.
    refusal: BaseException | None = None
    counter: int = 0
    #: Stands for Python's collector of garbage.
    collector: Collector = field(default_factory=Collector)
    #: Follows what events rest on, in runs that are traced.
    tracker: Tracker | None = None
    #: Lets the simulation know of a host that it has not heard of.
    add_host: Callable[[str], None] = lambda name: None

    def count(self) -> int:
        """Return a number that nothing else in this execution has."""
        self.counter += 1
        return self.counter

    def disk_of(self, name: str) -> Disk:
        """Return the disk of a host; its content shows nowhere as long as nothing is written."""
        if name not in self.disks:
            world = self.world()
            assert world is not None, "an execution that goes on has a world"
            seed = f"{world.seed}/disk/{name}"
            crashes = itertools.count(1)
            tears = self.settings.disk == "torn"
            self.disks[name] = Disk(name, (lambda: Random(f"{seed}/{next(crashes)}")) if tears else None)
        return self.disks[name]

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of all hosts, the scenario's own among them."""
        return self.internet.names

    def end(self) -> None:
        """Let the execution be over: nothing is under way any more, and nobody lives."""
        if self.is_over:
            return
        self.is_over = True
        self.collector.end()
        for life in self.lives.values():
            life.remark_unseen()
            life.loop.is_dead = True
        world = self.world()
        if world is not None:
            for name in world.known_names:
                world.pool.drop_for(name)

    def give_order(self, name: str, order: Order) -> None:
        """Let something be done to a host, as its next event."""
        world = self.world()
        assert world is not None, "an execution that goes on has a world"
        # One that a fault keeps down is not there; it begins its program when it is up again.
        if name in world.processes:
            self.orders[name, order.timer] = order
            world.arm(name, order.timer, 0, 0.0)

    def list_shared(self) -> list[Any]:
        """Return what hosts are started with, which several of them may have."""
        cells = [getattr(program.function, "__closure__", None) or () for program in self.programs.values()]
        return [*cells, *(program.arguments for program in self.programs.values())]

    def kill_all(self) -> None:
        """End everything that still lives, without running a line of it."""
        self.is_over = True
        self.collector.end()
        lives = list(self.lives.values())
        for life in lives:
            life.loop.is_dead = True
        for life in lives:
            life.kill()
        self.lives.clear()
        for disk in self.disks.values():
            disk.remove()
