"""The same programs under simloom 0.5.0: one side of the comparison of ``benchmarks.asyncio_programs``.

A script of its own.  It runs in an environment that has simloom and kademlia and no Clew (Python 3.12 or
later), and writes one line of JSON.  Programs and scenarios are those of ``examples/asyncio``, by an adapter of
simloom's world to the one that they know.  Three things are done for simloom that it does not do by itself:

- a server that listens on all addresses is given the name of its host (two hosts cannot have the same port
  otherwise);
- faults are a task beside the scenario which draws them from simloom's tape, as its documentation shows: links
  that are silent for a while.  As many as Clew may use, anywhere in the same seconds;
- ``assume`` ends a run as a good one.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import logging
import random
import sys
import time
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any

import simloom
from simloom._context import current_host
from simloom._net import SimNetwork

#: What a scenario of ours is, and of simloom.
Ours = Callable[[Any], Awaitable[None]]
Theirs = Callable[[simloom.World], Coroutine[Any, Any, None]]

#: So long a link is silent, in virtual seconds: longer than every limit of the programs.
OUTAGE = 1.5
#: As in a test of simloom, but that tasks which are dropped unfinished are no failure: kademlia drops some.
HOW: dict[str, Any] = {"virtual_time": True, "seed_randomness": True, "on_unhandled": "record"}


class NothingPromisedError(Exception):
    """Nothing was promised in this run."""


class World:
    """The world of ``clew.aio`` as far as the examples use it, on that of simloom."""

    def __init__(self, world: simloom.World) -> None:
        self._world = world

    def start(self, name: str, main: Callable[..., Coroutine[Any, Any, Any]], *given: Any) -> None:
        self._world.net.dns.register(name)
        self._world.host(name).spawn(lambda: main(*given))

    def assume(self, held: object) -> None:
        if not held:
            raise NothingPromisedError

    def promise(self, text: str, kept: object) -> None:
        assert kept, text

    def expose(self, name: str, look: Callable[[], Any]) -> None:
        pass


def stand_in_for_clew() -> None:
    """Let the scenarios be imported where there is no Clew: all that they need of it is a decorator."""
    clew, aio = ModuleType("clew"), ModuleType("clew.aio")
    vars(clew)["aio"] = aio
    vars(aio)["scenario"] = lambda **options: lambda function: function
    vars(aio)["World"] = World
    sys.modules |= {"clew": clew, "clew.aio": aio}


def give_hosts_addresses() -> None:
    """Let a server that names no address listen on that of its host."""
    create_server, endpoint = SimNetwork.create_server, SimNetwork.create_datagram_endpoint

    def own_name() -> str:
        host = current_host.get()
        return "client" if host is None else str(host.name)

    async def create(self: Any, factory: Any, host: Any = None, port: Any = None, **how: Any) -> Any:
        name = host if host not in (None, "", "0.0.0.0") else own_name()
        return await create_server(self, factory, name, port, **how)

    async def create_endpoint(self: Any, factory: Any, *, local_addr: Any = None, **how: Any) -> Any:
        if local_addr is not None and local_addr[0] == "0.0.0.0":
            local_addr = (self.dns.register(own_name()), local_addr[1])
        return await endpoint(self, factory, local_addr=local_addr, **how)

    SimNetwork.create_server = create
    SimNetwork.create_datagram_endpoint = create_endpoint


def under_faults(scenario: Ours, nodes: list[str], faults: int, until: float) -> Theirs:
    """Run a scenario beside a task that silences so many links."""

    async def silence(world: simloom.World) -> None:
        begin = simloom.draw("begin", int(until * 20)) / 20
        one = simloom.draw("one", len(nodes))
        other = (one + 1 + simloom.draw("other", len(nodes) - 1)) % len(nodes)
        await asyncio.sleep(begin)
        named = [world.host(nodes[each]) if nodes[each] != "client" else None for each in (one, other)]
        world.net.block(*named)
        world.net.block(*reversed(named))
        await asyncio.sleep(OUTAGE)
        world.net.unblock(*named)
        world.net.unblock(*reversed(named))

    async def run(world: simloom.World) -> None:
        silences = [asyncio.create_task(silence(world)) for _ in range(faults)]
        try:
            await scenario(World(world))
        except NothingPromisedError:
            pass
        finally:
            for task in silences:
                task.cancel()

    return run


def under_loss(scenario: Ours, percent: int) -> Theirs:
    """Run a scenario in which so many of a hundred datagrams get lost."""

    async def run(world: simloom.World) -> None:
        world.net.set_datagram_loss(percent)
        with suppress(NothingPromisedError):
            await scenario(World(world))

    return run


def measure(scenario: Theirs, most: int, seed: int, minimize: bool) -> dict[str, Any]:
    """Look for the first failure from a seed on; say what it took, and what is shown of it."""
    started = time.process_time()
    explored = simloom.explore(scenario, runs=most, start_seed=seed, **HOW)
    seconds = time.process_time() - started
    found: dict[str, Any] = {"executions": explored.runs, "seconds": seconds, "found": explored.failed}
    failure = explored.first_failure
    if failure is None:
        return found
    found |= {"error": f"{type(failure.error).__name__}: {failure.error}"}
    found |= {"draws": len(failure.tape), "events": len(failure.log.events)}
    if minimize:
        started = time.process_time()
        shrunk = simloom.shrink(scenario, failure, max_runs=1500, **HOW)
        found |= {"shrinking_seconds": time.process_time() - started, "shrunk_draws": len(shrunk.tape)}
        found |= {"shown": shrunk.describe()}
    return found


def pace(scenario: Theirs, runs: int) -> dict[str, Any]:
    """Execute without faults: executions, and chunks and datagrams that were sent, per second of the processor."""
    sent = 0

    async def counted(world: simloom.World) -> None:
        nonlocal sent
        await scenario(world)
        sent += world.net.chunks_sent

    started = time.process_time()
    for seed in range(runs):
        simloom.run(counted, seed=seed, **HOW)
    seconds = time.process_time() - started
    return {"executions_per_second": runs / seconds, "sent_per_second": sent / seconds, "sent": sent / runs}


def main() -> None:
    asked = json.loads(sys.argv[1])
    stand_in_for_clew()
    sys.path.insert(0, str(Path(asked["file"]).parent))
    scenario = getattr(importlib.import_module(Path(asked["file"]).stem), asked["scenario"])
    logging.disable()
    random.seed(0)
    give_hosts_addresses()
    match asked["what"]:
        case "pace":
            answer = pace(under_loss(scenario, 0), asked["runs"])
        case "loss":
            lossy = under_loss(scenario, asked["percent"])
            answer = measure(lossy, asked["most"], asked["seed"], asked["minimize"])
        case "faults":
            faulty = under_faults(scenario, asked["nodes"], asked["faults"], asked["until"])
            answer = measure(faulty, asked["most"], asked["seed"], asked["minimize"])
        case other:
            raise ValueError(f"unknown question {other!r}")
    json.dump(answer, sys.stdout)


if __name__ == "__main__":
    main()
