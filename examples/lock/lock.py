"""A lock service: a server that hands out one lock, and clients that want it.

A client asks (``Acquire``), gets the lock (``Grant``), works for a while and gives it back (``Release``).  A
client that has waited too long gives up: it says ``Release`` as well, so that the server forgets it.

The hasty server takes every ``Release`` for one of the holder.  So a client that gives up while another one
holds the lock makes it free, and the next in the queue gets it: two hold it at once.  The careful server looks
who it is from.

    clew fuzz examples/lock/lock.py:hasty -o rec.json
    clew minimize rec.json
    clew explore examples/lock/lock.py:three_careful
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any

from clew.simulation import Broken, Context, External, Node, Scenario, Send, World


@dataclass(frozen=True)
class Want:
    """From outside: a client is to get the lock."""


@dataclass(frozen=True)
class Acquire:
    """``request`` tells the requests of one client apart."""

    request: int


@dataclass(frozen=True)
class Grant:
    request: int


@dataclass(frozen=True)
class Release:
    request: int


class Server(Node):
    """Has the lock, and a queue of those who wait for it; ``careful``: without the bug."""

    def __init__(self, careful: bool) -> None:
        self.careful = careful
        self.holder = ""
        self.queue: list[tuple[str, int]] = []

    def on_message(self, ctx: Context, sender: str, message: Any) -> None:
        match message:
            case Acquire(request):
                self.queue.append((sender, request))
            case Release() if self.careful and sender != self.holder:
                self.queue = [waiting for waiting in self.queue if waiting[0] != sender]
            case Release():
                self.holder = ""
        if not self.holder and self.queue:
            self.holder, request = self.queue.pop(0)
            ctx.send(self.holder, Grant(request))


class Client(Node):
    """``request`` is the one that it waits for or works on, 0 if there is none."""

    def __init__(self) -> None:
        self.requests = 0
        self.request = 0
        self.holds = False

    def on_message(self, ctx: Context, sender: str, message: Any) -> None:
        match message:
            case Want() if not self.request:
                self.requests += 1
                self.request = self.requests
                ctx.send("server", Acquire(self.request))
                ctx.set_timer("give up")
            case Grant(request) if request == self.request:
                self.holds = True
                ctx.cancel_timer("give up")
                ctx.set_timer("work")

    def on_timer(self, ctx: Context, name: str) -> None:
        ctx.log("is done" if self.holds else "gives up")
        ctx.send("server", Release(self.request))
        self.request = 0
        self.holds = False


def mutual_exclusion(nodes: Mapping[str, Any]) -> Broken | None:
    """At most one client holds the lock."""
    holders = tuple(name for name, node in nodes.items() if isinstance(node, Client) and node.holds)
    if len(holders) < 2:
        return None
    return Broken("mutual exclusion", f"{' and '.join(holders)} hold the lock", holders)


CLIENTS = ("ann", "bob", "cat", "dan")


def want(random: Random, world: World) -> External:
    return Send(random.choice(CLIENTS), Want())


def cluster(careful: bool, clients: tuple[str, ...], **how: Any) -> Scenario:
    """The server and these clients, all of them up from the beginning."""
    nodes: dict[str, Any] = {"server": partial(Server, careful), **dict.fromkeys(clients, Client)}
    return Scenario(
        nodes=nodes,
        running=tuple(nodes),
        invariants=[mutual_exclusion],
        identity=lambda broken: broken.invariant,
        **how,
    )


LONG: dict[str, Any] = {"events": [(1, want)], "count": 300, "steps": 2000, "rare": {"give up": 0.01}}

# What ``clew test`` is to find in a hundred random executions, or as many as are said.
hasty = cluster(False, CLIENTS, **LONG, expect="violation")
careful = cluster(True, CLIENTS, **LONG, expect="no violation", expect_runs=20)

# Small enough for every schedule to be tried.
SHORT: dict[str, Any] = {"before": [Send(name, Want()) for name in CLIENTS[:3]]}

three_hasty = cluster(False, CLIENTS[:3], **SHORT, expect="violation")
three_careful = cluster(True, CLIENTS[:3], **SHORT, expect="no violation")
