"""A host as the simulation sees it: a node whose messages are packets, and whose timers are those of its loop.

Its attributes are what the scenario exposes of it; the machinery is in slots, and is no state.  A host that a
scenario crashes is still a node: it gets what is sent to it, and nothing comes of that.
"""

from __future__ import annotations

import atexit
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from clew.aio.hosts.life import Life
from clew.aio.hosts.universe import Order, Universe
from clew.aio.lineage.tracker import Tracker
from clew.aio.patching.escapes import explain_difference
from clew.simulation.node import Context, Node
from clew.simulation.pool import Envelope
from clew.simulation.process import Process, failure_of
from clew.simulation.world import World

#: Makes the universe of a world, when its first node starts.
MakeUniverse = Callable[["weakref.ref[World]"], Universe]

#: Referred to as long as their worlds are: who lives in them must not be ended by a collector (``graves``).
_universes: dict[int, Universe] = {}


@atexit.register
def _bury_all() -> None:
    """End all lives before the interpreter does, which would run what they have left to do."""
    for universe in list(_universes.values()):
        universe.kill_all()


def universe_of(world: World, make: MakeUniverse) -> Universe:
    """Return what the hosts of an execution share; make it if there is none."""
    identity = id(world)
    universe = _universes.get(identity)
    if universe is None:

        def bury(_: weakref.ref[World]) -> None:
            _universes.pop(identity).kill_all()

        universe = _universes[identity] = make(weakref.ref(world, bury))
        world.suspect = explain_difference
        world.on_loss = lambda envelope: _handle_loss(universe, envelope)
        if world.flow is not None:
            universe.tracker = Tracker(by_hosts=universe.settings.lineage == "hosts")
    return universe


def _handle_loss(universe: Universe, envelope: Envelope) -> None:
    """Tell the sender that a packet was lost, so that it sends it again if it is part of a stream."""
    world, life = universe.world(), universe.lives.get(envelope.source)
    if world is None:
        return
    is_up = envelope.source in world.processes
    # A life that a fault has ended has not been told: its node is gone.
    if not is_up or not isinstance(life, Life) or life.is_over:
        return
    # Where a host is down, or behind a partition, nobody is there who could say so.
    is_silent = envelope.target not in world.processes or envelope in getattr(world, "cut", ())
    if universe.settings.lost == "reset" and not is_silent:
        life.break_connection(envelope.target, envelope.payload)
    else:
        life.handle_loss(envelope.target, envelope.payload)


@dataclass
class Machine:
    """What a node is made of, apart from what is exposed of it.

    It is one object, and nothing in it is a state: neither recordings nor lineage look into it.
    """

    name: str
    make: MakeUniverse
    life: Life | None = None
    universe: Universe | None = None
    shown: int = 0
    assumed: int = 0
    has_returned: bool = False


class HostNode(Node):
    """One life of a host, and what is exposed of it."""

    __slots__ = ("_machine",)

    def __init__(self, name: str, make: MakeUniverse) -> None:
        self._machine = Machine(name, make)

    # -- events --------------------------------------------------------------------------------------------------

    def on_start(self, ctx: Context) -> None:
        assert isinstance(ctx, Process)
        world, machine = ctx.world, self._machine
        assert isinstance(world, World)
        universe = machine.universe = universe_of(world, machine.make)
        # The life before this one is over, whatever ended it.
        if (before := universe.lives.get(machine.name)) is not None:
            before.kill()
        life = machine.life = Life(universe, machine.name)
        universe.lives[machine.name] = life
        life.loop.tracker = universe.tracker
        if (program := universe.programs.get(machine.name)) is not None:
            self._let(life, life.boot, program)

    def on_message(self, ctx: Context, sender: str, message: Any) -> None:
        machine = self._machine
        life, universe = machine.life, machine.universe
        assert life is not None and universe is not None
        if life.is_over:
            peer = universe.lives.get(sender)
            if isinstance(peer, Life) and not peer.is_over:
                peer.handle_loss(machine.name, message)
        elif life.is_paused:
            life.put_off(life.receive, sender, message)
        else:
            self._let(life, life.receive, sender, message)

    def on_timer(self, ctx: Context, name: str) -> None:
        life = self._machine.life
        assert life is not None
        order = life.universe.orders.pop((life.name, name), None)
        if order is not None:
            self._obey(ctx, life, order)
            return
        if life.is_over:
            return
        if life.is_paused and name != "resume":
            life.put_off(life.ring, name)
        else:
            self._let(life, life.ring, name)

    def _obey(self, ctx: Context, life: Life, order: Order) -> None:
        match order.action:
            case "start":
                if not life.is_booted and not life.is_over:
                    self._let(life, life.boot, life.universe.programs[life.name])
            case "crash":
                life.kill()
            case "restart":
                life.kill()
                self.on_start(ctx)
            case "pause":
                life.pause(order.seconds)
            case "reset":
                self._let(life, life.reset_connections, order.peer)

    def _let(self, life: Life, action: Callable[..., None], *arguments: Any) -> None:
        """Let a life do something, and tell the world what came of it."""
        universe = life.universe
        world = universe.world()
        assert world is not None
        number = world.events
        action(*arguments)
        if universe.tracker is not None and world.flow is not None:
            world.flow.influences |= universe.tracker.settle(life.name, number)
        if life.exposed:
            for name, value in life.look_at_exposed():
                setattr(self, name, value)
        if life.name == universe.settings.client:
            self._show_promises(universe)
        failure = life.take_failure()
        if failure is not None:
            world.fail(failure_of(failure, life.name, life.program_function))

    # -- what the scenario says ----------------------------------------------------------------------------------

    def _show_promises(self, universe: Universe) -> None:
        """Make what the scenario has assumed and promised a part of the state of its node."""
        machine = self._machine
        if universe.assumed != machine.assumed:
            machine.assumed = self.assumed = universe.assumed
        if len(universe.promises) != machine.shown:
            # Read, and then replaced: what is promised now stands beside what was promised before.
            before = getattr(self, "promises", ())
            new = universe.promises[machine.shown :]
            machine.shown = len(universe.promises)
            self.promises = (*before, *((each.text, each.is_kept, each.what) for each in new))
        machine.has_returned = universe.is_over

    @property
    def program(self) -> Any:
        """Return the user's function that this host runs: where something goes wrong, it is to blame."""
        life = self._machine.life
        return None if life is None else life.program_function

    @property
    def hangs(self) -> bool:
        """Tell whether the scenario has neither returned nor ended the execution."""
        universe = self._machine.universe
        return universe is None or not universe.is_over

    def explain_silence(self) -> str:
        """Return why the scenario says nothing."""
        universe = self._machine.universe
        if universe is None or not universe.is_over:
            return (
                "the scenario did not return: give what it waits for a time-out, or the scenario a later 'until'"
            )
        return "an assumption does not hold" if universe.is_void else "the scenario makes no promise"

    @property
    def has_promised(self) -> bool:
        """Tell whether the scenario has come to its end, and has promised something on the way."""
        machine = self._machine
        universe = machine.universe
        # What it has assumed is read as an attribute: on that, and on nothing else here, rests that it says
        # anything.
        getattr(self, "assumed", 0)
        return machine.has_returned and universe is not None and bool(universe.promises) and not universe.is_void
