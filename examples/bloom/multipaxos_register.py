"""A register that three replicas keep by ``clew.multipaxos``, and clients whose histories must be linearizable.

Each write and each read is a request of the log.  Ann and bob ask one of the replicas, and another one if no answer
comes; the number of a request stays the same, so that a write that is asked for twice is done once.  Replicas
restart at any time with what is on their disks, messages are lost and repeated, and links are cut.

- ``durable``: the replicas of the library.  No execution breaks anything:
  ``clew fuzz examples/bloom/multipaxos_register.py:durable --runs 200``
- ``volatile``: the same rules, with promises, votes and the log in memory.  What was acknowledged is lost when
  replicas restart: ``clew fuzz examples/bloom/multipaxos_register.py:volatile -o rec.json``
- ``local_reads``: the library once more, but reads are answered from the register of the replica that is asked.
  They are stale now and then.

Limits are small (a decree is dropped when two have come after it), so that replicas that were away get states of
others, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any

from clew.bloom import bloom, scratch, table
from clew.bloom.simulated import bloom_node, message_type, row_messages
from clew.histories import Recorder, Register, history_of, linearizable
from clew.multipaxos import Replica
from clew.simulation import Context, External, Heal, Node, Partition, Restart, Scenario, Send, World

REPLICAS = ("a", "b", "c")
READ = ("read",)


class RegisterReplica(Replica):
    """Writes answer nothing, reads the value of the register, each at its place in the log."""

    patience = 3
    keep = 2
    window = 3
    helping = 2

    register = table("name", val=["value"], durable=True)
    current = scratch("value")

    @bloom
    def apply(self) -> None:
        self.current <= self.register.project("value")
        self.temp.written <= self.entry.filter(lambda e: e.operation[0] == "write")
        self.register <- (self.register * self.temp.written).lefts()
        self.register <+ self.temp.written(lambda e: ("x", e.operation[1]))
        self.answer <= self.temp.written(lambda e: (e.client, e.number, None))
        self.temp.reads <= self.entry.notin(self.temp.written)
        self.answer <= (self.temp.reads * self.current).pairs(lambda e, c: (e.client, e.number, c.value))

    @bloom
    def keep_state(self) -> None:
        self.state <= (self.register * self.photograph).lefts()(lambda r: ((r.name, r.value),))
        self.register <- (self.register * self.installing).lefts()
        self.register <+ self.install(lambda i: i.part)


class VolatileReplica(RegisterReplica):
    """Has nothing on disk."""

    promised = table("view")
    voted = table("instance", "view", val=["decree"])
    chosen = table("instance", val=["decree"])
    reached = table("instance", "place")
    done = table("client", "number", val=["answer"])
    register = table("name", val=["value"])


class LocalReader(RegisterReplica):
    """Answers reads with what is there when they come."""

    @bloom
    def serve(self) -> None:
        self.temp.reads <= self.request.filter(lambda r: r.operation == READ)
        self.temp.others <= self.request.notin(self.temp.reads)
        self.submit <= self.temp.others(lambda r: (r.client, r.number, r.operation))
        self.asker <= self.temp.others(lambda r: (r.client, r.number, r.sender))
        self.reply <~ (self.asker * self.response).pairs(
            lambda a, r: (a.sender, a.client, a.number, r.answer, ""), client="client", number="number"
        )
        self.reply <~ (self.temp.reads * self.current).pairs(
            lambda r, c: (r.sender, r.client, r.number, c.value, "")
        )


@dataclass(frozen=True)
class Do:
    """From outside: a client is to read, or to write a value."""

    client: str
    value: int | None

    @property
    def label(self) -> str:
        return f"{self.client} reads" if self.value is None else f"{self.client} writes {self.value}"


class Clients(Node):
    """All in one node: what one of them does after another is answered is then really after it."""

    def __init__(self) -> None:
        self.history = Recorder()
        self.numbers: dict[str, int] = {}
        self.open: dict[str, tuple[int, tuple[Any, ...], int]] = {}

    def on_start(self, ctx: Context) -> None:
        ctx.set_timer("again")

    def on_message(self, ctx: Context, sender: str, message: Any) -> None:
        if isinstance(message, Do):
            if message.client in self.open:
                return
            number = self.numbers[message.client] = self.numbers.get(message.client, 0) + 1
            operation = READ if message.value is None else ("write", message.value)
            self.history.invoke(message.client, operation[0], message.value)
            self.open[message.client] = (number, operation, number)
            self._ask(ctx, message.client)
        elif message.collection == "reply":
            _, client, number, answer, _ = message.row
            if client in self.open and self.open[client][0] == number:
                del self.open[client]
                self.history.ok(client, answer)

    def on_timer(self, ctx: Context, name: str) -> None:
        ctx.set_timer("again")
        for client in sorted(self.open):
            number, operation, tried = self.open[client]
            self.open[client] = (number, operation, tried + 1)
            self._ask(ctx, client)

    def _ask(self, ctx: Context, client: str) -> None:
        number, operation, tried = self.open[client]
        replica = REPLICAS[tried % len(REPLICAS)]
        ctx.send(replica, message_type("request")((replica, ctx.me, client, number, operation)))


def answers_like_one_register(nodes: Mapping[str, Any]) -> str | None:
    """Check that what the clients saw is linearizable."""
    return linearizable(history_of(nodes), Register())


def replicas_agree(nodes: Mapping[str, Any]) -> str | None:
    """Check that no two replicas have different decrees for an instance."""
    known: dict[int, tuple[str, Any]] = {}
    for name in REPLICAS:
        for instance, decree in nodes[name].chosen if name in nodes else ():
            other, first = known.setdefault(instance, (name, decree))
            if first != decree:
                return f"instance {instance} is {first} at {other} and {decree} at {name}"
    return None


def do(random: Random, world: World) -> External:
    """Let a client do something: each write has a value of its own, the number of the event."""
    client = random.choice(("ann", "bob"))
    return Send("clients", Do(client, world.events if random.random() < 0.5 else None))


def restart(random: Random, world: World) -> External:
    return Restart(random.choice(REPLICAS))


def cut(random: Random, world: World) -> External:
    one, other = random.sample(REPLICAS, 2)
    return Partition(one, other)


def heal(random: Random, world: World) -> External:
    return Heal()


def scenario(kind: type[RegisterReplica], expect: str, runs: int) -> Scenario:
    given = {"member": [(name,) for name in REPLICAS]}
    nodes: dict[str, Callable[[], Node]] = {name: bloom_node(kind, given=given) for name in REPLICAS}
    nodes["clients"] = partial(Clients)
    return Scenario(
        nodes=nodes,
        running=tuple(nodes),
        events=[(6, do), (3, restart), (1, cut), (2, heal)],
        count=60,
        invariants=[answers_like_one_register, replicas_agree],
        messages=row_messages(kind, "a"),
        timers=0.2,
        rare={"beat_timer": 0.3, "retry": 0.3, "sweep": 0.1, "again": 0.3},
        loss=0.02,
        duplication=0.02,
        steps=1500,
        check_every=10,
        expect=expect,
        expect_runs=runs,
    )


durable = scenario(RegisterReplica, "no violation", 5)
volatile = scenario(VolatileReplica, "violation", 20)
local_reads = scenario(LocalReader, "violation", 20)
