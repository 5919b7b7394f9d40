"""A host as the simulation sees it: a node whose messages are packets, and whose timers are those of its loop.

Its attributes are what the scenario exposes of it; the machinery is in slots, and is no state.  A host that a
scenario crashes is still a node: it gets what is sent to it, and nothing comes of that.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

from clew.aio.hosts.life import Life
from clew.aio.hosts.universe import Universe
from clew.aio.packets import Order
from clew.simulation.node import Context, Node
from clew.simulation.pool import Envelope
from clew.simulation.process import Process, failure_of
from clew.simulation.world import World

#: Makes the universe of a world, when its first node starts.
MakeUniverse = Callable[["weakref.ref[World]"], Universe]

#: Referred to as long as their worlds are: who lives in them must not be ended by a collector (``graves``).
_universes: dict[int, Universe] = {}


def universe_of(world: World, make: MakeUniverse) -> Universe:
    """Return what the hosts of an execution share; make it if there is none."""
    identity = id(world)
    universe = _universes.get(identity)
    if universe is None:

        def bury(_: weakref.ref[World]) -> None:
            _universes.pop(identity).kill_all()

        universe = _universes[identity] = make(weakref.ref(world, bury))
        world.on_loss = lambda envelope: _handle_loss(universe, envelope)
    return universe


def _handle_loss(universe: Universe, envelope: Envelope) -> None:
    """Tell the sender that a packet was lost, so that it sends it again if it is part of a stream."""
    life = universe.lives.get(envelope.source)
    if isinstance(life, Life) and not life.is_over:
        life.handle_loss(envelope.target, envelope.payload)


class HostNode(Node):
    """One life of a host, and what is exposed of it."""

    __slots__ = ("_life", "_make", "_name", "_shown", "_universe")

    def __init__(self, name: str, make: MakeUniverse) -> None:
        self._name = name
        self._make = make
        self._life: Life | None = None
        self._universe: Universe | None = None
        self._shown = 0

    # -- events --------------------------------------------------------------------------------------------------

    def on_start(self, ctx: Context) -> None:
        assert isinstance(ctx, Process)
        world = ctx.world
        assert isinstance(world, World)
        universe = self._universe = universe_of(world, self._make)
        # The life before this one is over, whatever ended it.
        if (before := universe.lives.get(self._name)) is not None:
            before.kill()
        life = self._life = Life(universe, self._name, lambda: ctx.random)
        universe.lives[self._name] = life
        if (program := universe.programs.get(self._name)) is not None:
            self._let(life, lambda: life.boot(program))

    def on_message(self, ctx: Context, sender: str, message: Any) -> None:
        life, universe = self._life, self._universe
        assert life is not None and universe is not None
        if isinstance(message, Order):
            self._obey(ctx, message)
        elif life.is_over:
            peer = universe.lives.get(sender)
            if isinstance(peer, Life) and not peer.is_over:
                peer.handle_loss(self._name, message)
        elif life.is_paused:
            life.put_off(lambda: life.receive(sender, message))
        else:
            self._let(life, lambda: life.receive(sender, message))

    def on_timer(self, ctx: Context, name: str) -> None:
        life = self._life
        assert life is not None
        if life.is_over:
            return
        if life.is_paused and name != "resume":
            life.put_off(lambda: life.ring(name))
        else:
            self._let(life, lambda: life.ring(name))

    def _obey(self, ctx: Context, order: Order) -> None:
        life = self._life
        assert life is not None
        match order.action:
            case "start":
                assert self._universe is not None
                if not life.is_booted and not life.is_over:
                    self._let(life, lambda: life.boot(self._universe.programs[self._name]))  # type: ignore[union-attr]
            case "crash":
                life.kill()
            case "restart":
                life.kill()
                self.on_start(ctx)
            case "pause":
                life.pause(order.seconds)

    def _let(self, life: Life, action: Callable[[], None]) -> None:
        """Let a life do something, and tell the world what of it failed."""
        action()
        if life.exposed:
            for name, value in life.look_at_exposed():
                setattr(self, name, value)
        universe = life.universe
        if self._name == universe.settings.client:
            self._show_promises(universe)
        failure = life.take_failure()
        if failure is not None:
            world = universe.world()
            assert world is not None
            world.fail(failure_of(failure, self._name, life.program_function))

    def _show_promises(self, universe: Universe) -> None:
        """Make what the scenario has promised a part of the state of its node."""
        if len(universe.promises) != self._shown:
            self._shown = len(universe.promises)
            # Read, and then replaced: what is promised now stands beside what was promised before.
            before = getattr(self, "promises", ())
            new = universe.promises[len(before) :]
            self.promises = (*before, *((each.text, each.is_kept, each.what) for each in new))
        if universe.is_over:
            self.has_returned = not universe.is_void
