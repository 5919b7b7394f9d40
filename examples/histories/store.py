"""A register on two replicas, and clients whose histories are checked for linearizability.

The primary takes writes, answers them, and passes them on to the backup, which applies them when it has time.
Clients read where they are: ann at the primary, bob at the backup.  Each reads what a replica has at that moment,
so bob may read a value that has been overwritten, after ann knows that it was: a stale read.  -> ``stale``

In ``current`` both read at the primary.

All clients are in one node, as those of a test are: what one of them does after another is answered is then really
after it.  The node records what they see, and the invariant asks whether one register could have answered so.

    clew fuzz examples/histories/store.py:stale -o rec.json
    clew minimize rec.json
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any

from clew.histories import Recorder, Register, history_of, linearizable
from clew.simulation import Context, External, Node, Scenario, Send, World


@dataclass(frozen=True)
class Do:
    """From outside: a client is to read, or to write a value."""

    client: str
    value: int | None

    @property
    def label(self) -> str:
        return f"{self.client} reads" if self.value is None else f"{self.client} writes {self.value}"


@dataclass(frozen=True)
class Request:
    client: str
    value: int | None

    @property
    def label(self) -> str:
        return "read" if self.value is None else f"write {self.value}"


@dataclass(frozen=True)
class Answer:
    client: str
    value: int | None

    @property
    def label(self) -> str:
        return f"{self.client} gets {self.value}"


@dataclass(frozen=True)
class Replicate:
    value: int | None

    @property
    def label(self) -> str:
        return f"replicate {self.value}"


class Replica(Node):
    """Has the value; ``backup`` is told of each write, after the client, and applies it later."""

    def __init__(self, backup: str = "") -> None:
        self.backup = backup
        self.value: int | None = None
        self.told: int | None = None

    def on_message(self, ctx: Context, sender: str, message: Any) -> None:
        match message:
            case Request(client, None):
                ctx.send(sender, Answer(client, self.value))
            case Request(client, value):
                self.value = value
                ctx.send(sender, Answer(client, value))
                ctx.send(self.backup, Replicate(value))
            case Replicate(value):
                self.told = value
                ctx.set_timer("apply")

    def on_timer(self, ctx: Context, name: str) -> None:
        self.value = self.told


class Clients(Node):
    """``reads_at``: where each client reads.  Everybody writes at the primary."""

    def __init__(self, reads_at: Mapping[str, str]) -> None:
        self.reads_at = dict(reads_at)
        self.history = Recorder()

    def on_message(self, ctx: Context, sender: str, message: Any) -> None:
        match message:
            case Do(client, value) if client not in self.history.under_way:
                self.history.invoke(client, "read" if value is None else "write", value)
                target = self.reads_at[client] if value is None else "primary"
                ctx.send(target, Request(client, value))
            case Answer(client, value):
                self.history.ok(client, value)


def answers_like_one_register(nodes: Mapping[str, Any]) -> str | None:
    """Check that what the clients saw is linearizable."""
    return linearizable(history_of(nodes), Register())


def do(random: Random, world: World) -> External:
    """Let a client do something: each write has a value of its own, the number of the event."""
    client = random.choice(("ann", "bob"))
    return Send("clients", Do(client, world.events if random.random() < 0.5 else None))


def _scenario(bob_reads_at: str, expect: str) -> Scenario:
    nodes: dict[str, Callable[[], Node]] = {
        "clients": partial(Clients, {"ann": "primary", "bob": bob_reads_at}),
        "primary": partial(Replica, "backup"),
        "backup": Replica,
    }
    return Scenario(
        nodes=nodes,
        running=tuple(nodes),
        events=[(1, do)],
        count=30,
        invariants=[answers_like_one_register],
        expect=expect,
        expect_runs=30,
    )


stale = _scenario("backup", "violation")
current = _scenario("primary", "no violation")
