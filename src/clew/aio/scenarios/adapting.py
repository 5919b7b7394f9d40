"""A coroutine function becomes a scenario of the simulation: its hosts are nodes, and so is it itself.

Which hosts there are shows when it runs.  So it is executed once, without faults, when it is made; a host that
starts only under faults is added when it does.
"""

from __future__ import annotations

import inspect
import weakref
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, cast

from clew.aio.hosts.node import HostNode
from clew.aio.hosts.universe import Program, Universe
from clew.aio.network.decoding import describe_packet
from clew.aio.network.internet import Internet
from clew.aio.packets import PACKETS
from clew.aio.patching.installing import install_patches
from clew.aio.scenarios.world import Unassumed, World
from clew.aio.settings import SETTINGS, Settings
from clew.budgets.whereabouts import current_whereabouts, isolates, preparing
from clew.errors import Position, UsageError
from clew.simulation.execution.isolation import call_in_child
from clew.simulation.execution.watchdog import step_limit
from clew.simulation.fuzzing.random_run import RandomRun
from clew.simulation.node import Node
from clew.simulation.scenario import Broken, LateNodes, Network, Scenario
from clew.simulation.timing import VirtualTime
from clew.simulation.world import World as Cluster
from clew.workers.processes import WorkerDiedError, can_fork

#: A scenario that a user writes.
Function = Callable[[World], Coroutine[Any, Any, Any]]


class _Hosts(LateNodes):
    """The hosts that are known so far."""

    def __init__(self, function: Function, make: Callable[[weakref.ref[Cluster]], Universe]) -> None:
        super().__init__()
        self._function, self._make = function, make

    def expect(self, name: str) -> None:
        if name not in self:
            self[name] = self.make_host(name)

    def make_host(self, name: str) -> HostMaker:
        maker = HostMaker(cast(Any, self._function))
        maker.name, maker.make = name, self._make
        return maker


#: So many events are executed at most to find out which hosts there are.
_MOST_DISCOVERY = 20_000


class HostMaker(partial[Node]):
    """Makes the node of a host; ``func`` is the scenario, by which others find the user's module."""

    name: str
    make: Callable[[weakref.ref[Cluster]], Universe]

    def __call__(self, /, *args: Any, **keywords: Any) -> Node:
        return HostNode(self.name, self.make)


def make_scenario(function: Function, settings: Settings | None = None) -> Scenario:
    """Make a scenario of a coroutine function; its settings are those given, or those that it carries."""
    _refuse_other_functions(function)
    install_patches()
    chosen = settings or getattr(function, SETTINGS, None) or Settings()
    known = [chosen.client, *chosen.hosts]
    if not chosen.hosts:
        known = _discover(function, chosen)
    return _assemble(function, chosen, known)


def _refuse_other_functions(function: Any) -> None:
    parameters = inspect.signature(function).parameters.values()
    needed = [p for p in parameters if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    if len(needed) != 1:
        code = inspect.unwrap(function).__code__
        raise UsageError(
            f"{function.__qualname__} takes {len(needed)} arguments, and a scenario takes one: the world",
            position=Position(code.co_filename, code.co_firstlineno, 1),
            remedy="write it as 'async def scenario(world)'",
        )


def _assemble(function: Function, settings: Settings, names: list[str]) -> Scenario:
    def make(world: weakref.ref[Cluster]) -> Universe:
        internet = Internet(names, partial(describe_packet, settings), settings.segment, settings.unit)
        universe = Universe(world, settings, internet)
        universe.add_host = partial(_add_late, universe, nodes.make_host)
        universe.programs[settings.client] = Program(_run_scenario, (function, universe), function)
        return universe

    nodes = _Hosts(function, make)
    for name in names:
        nodes.expect(name)
    return Scenario(
        nodes=nodes,
        running=tuple(names),
        network=Network.REORDERING,
        time=VirtualTime(
            latency=settings.latency,
            links=settings.links,
            drift=settings.drift,
            until=settings.until,
        ),
        invariants=[PromisesAreKept(settings.client, "what the scenario promises"), *settings.invariants],
        assume=SomethingWasPromised(settings.client, "the scenario promises something"),
        loss=settings.loss,
        duplication=settings.duplication,
        steps=settings.steps,
        step_seconds=settings.step_seconds,
        messages=PACKETS,
        faults=settings.faults,
        steadfast=(settings.client,),
        lineage=settings.lineage,
        expect=settings.expect,
        expect_faults=settings.expect_faults,
        expect_runs=settings.expect_runs,
        expect_seed=settings.expect_seed,
    )


async def _run_scenario(function: Function, universe: Universe) -> None:
    with suppress(Unassumed):
        await function(World(universe))


def _add_late(universe: Universe, make_host: Callable[[str], HostMaker], name: str) -> None:
    """Let a host come into being that was not there when the scenario was made; in this execution alone."""
    world = universe.world()
    assert world is not None
    universe.internet.add_host(name)
    if name not in world.count_lives():
        world.start_late(name, make_host(name))


def _discover(function: Function, settings: Settings) -> list[str]:
    """Return the names of the hosts that start where nothing goes wrong, in this order.

    If the program ends its process there, nobody knows them, and all but the client start late: in a run, which is
    where an end is a finding.
    """
    # Whoever is not watched asks a child first: otherwise the program would end a run of pytest, and nobody sees.
    if current_whereabouts() is None and isolates() and can_fork():
        try:
            call_in_child(lambda tell: bool(_execute_peacefully(function, settings)))
        except WorkerDiedError:
            return [settings.client]
    with preparing() as allowed:
        return _execute_peacefully(function, settings) if allowed else [settings.client]


def _execute_peacefully(function: Function, settings: Settings) -> list[str]:
    peaceful = replace(
        settings, loss=0.0, duplication=0.0, faults=None, steps=min(settings.steps, _MOST_DISCOVERY)
    )
    scenario = _assemble(function, peaceful, [settings.client])
    found = [settings.client]
    # What is wrong with it shows when it is executed, with the place and the remedy.
    with suppress(UsageError), step_limit(settings.step_seconds):
        run = RandomRun(scenario, 0)
        try:
            run.finish()
        finally:
            found = list(run.world.known_names)
    return found


class _Asked:
    """A question about what the client has promised; it has a name, by which people are told of it."""

    def __init__(self, client: str, name: str) -> None:
        self._client = client
        self.__name__ = name

    def _find(self, nodes: Mapping[str, Any]) -> Any:
        """Return the node of the scenario; of other nodes alone nothing can be said."""
        if self._client not in nodes:
            raise UsageError("the scenario itself is not there", remedy="ask about all nodes")
        return nodes[self._client]


class PromisesAreKept(_Asked):
    """The invariant of every scenario that is a coroutine function."""

    def __call__(self, nodes: Mapping[str, Any]) -> Broken | None:
        node = self._find(nodes)
        for text, is_kept, what in getattr(node, "promises", ()):
            if not is_kept:
                return Broken(text, what or "it does not hold", (self._client,))
        return None


class SomethingWasPromised(_Asked):
    """The assumption of every scenario that is a coroutine function: it returned, and has promised something."""

    def __call__(self, nodes: Mapping[str, Any]) -> bool:
        node = self._find(nodes)
        return bool(node.has_promised)

    def explain(self, nodes: Mapping[str, Any]) -> str:
        """Return why an execution says nothing."""
        return str(self._find(nodes).explain_silence())

    def explain_hang(self, nodes: Mapping[str, Any]) -> str | None:
        """Return what to do about a scenario that waits for ever; None if it does not."""
        node = self._find(nodes)
        return str(node.explain_silence()) if node.hangs else None
