"""Small systems that are drawn: nodes whose handlers look up in a table what to do.

``naive`` executes the same tables without anything of Clew, so that both can be compared.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

from clew.simulation import Context, Elapse, Faults, Network, Node, Scenario, Send, VirtualTime

NAMES = ("a", "b", "c")
KINDS = ("x", "y")
#: So many messages may cause one another: executions end.
MOST_HOPS = 3


@dataclass(frozen=True)
class Reaction:
    """What a node does: its next state, what it sends to whom, and in how many milliseconds a timer goes off."""

    state: int
    sends: tuple[tuple[str, str], ...]
    timer: int | None
    stores: bool


@dataclass(frozen=True)
class Table:
    """By node, state and kind of message (``timer`` for the timer), what it does.

    ``latency`` in milliseconds by link; ``given``: at which millisecond which node gets which message from
    outside. ``bad``: the promise is broken if at the end of an execution the nodes that are up are in one of these
    states. ``some``: it is kept if there is one that is not; otherwise only if none is.
    """

    reactions: Mapping[tuple[str, int, str], Reaction]
    latency: Mapping[tuple[str, str], int]
    given: tuple[tuple[int, str, str], ...]
    bad: frozenset[tuple[str, int]]
    some: bool

    def is_broken(self, states: Mapping[str, int]) -> bool:
        """Tell whether the promise is broken where these nodes are up, in these states."""
        good = [(name, state) not in self.bad for name, state in states.items()]
        return not any(good) if self.some else not all(good)


def draw_table(seed: int) -> Table:
    random = Random(f"table/{seed}")
    reactions = {}
    for name in NAMES:
        for state in range(3):
            for kind in (*KINDS, "timer"):
                sends = tuple(
                    (random.choice(NAMES), random.choice(KINDS)) for _ in range(random.choice((0, 1, 1, 2)))
                )
                timer = random.choice((None, None, 15, 40))
                reactions[name, state, kind] = Reaction(random.randrange(3), sends, timer, random.random() < 0.2)
    latency = {(a, b): random.choice((5, 10, 20)) for a in ("", *NAMES) for b in NAMES if a != b}
    given = tuple(
        sorted((random.choice((0, 10, 30)), random.choice(NAMES), random.choice(KINDS)) for _ in range(2))
    )
    bad = frozenset((name, state) for name in NAMES for state in range(3) if random.random() < 0.3)
    return Table(reactions, latency, given, bad, random.random() < 0.5)


@dataclass(frozen=True)
class Note:
    """A message; ``hops``: how many caused it."""

    kind: str
    hops: int


@dataclass(frozen=True)
class X(Note):
    """Messages of two types, so that names tell them apart."""


@dataclass(frozen=True)
class Y(Note):
    pass


TYPES = {"x": X, "y": Y}


class TableNode(Node):
    """A node that does what the table says."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def on_start(self, ctx: Context) -> None:
        self.state = ctx.durable.get("state", 0)
        self.hops = 0

    def on_message(self, ctx: Context, sender: str, message: Any) -> None:
        self._react(ctx, message.kind, message.hops)

    def on_timer(self, ctx: Context, name: str) -> None:
        self._react(ctx, "timer", self.hops)

    def _react(self, ctx: Context, kind: str, hops: int) -> None:
        reaction = self._table.reactions[ctx.me, self.state, kind]
        self.state = reaction.state
        if reaction.stores:
            ctx.durable["state"] = self.state
        if hops < MOST_HOPS:
            for target, sort in reaction.sends:
                ctx.send(target, TYPES[sort](sort, hops + 1))
            if reaction.timer is not None:
                self.hops = hops + 1
                ctx.set_timer("timer", after=reaction.timer / 1000)


def scenario_of(table: Table, *, network: Network = Network.REORDERING, faults: Faults | None = None) -> Scenario:
    """Make the scenario of a table."""

    def good_states(nodes: Mapping[str, Any]) -> str | None:
        states = {name: node.state for name, node in nodes.items()}
        return f"states {states}" if table.is_broken(states) else None

    before: list[Any] = []
    time = 0
    for at, node, kind in table.given:
        if at > time:
            before.append(Elapse((at - time) / 1000))
            time = at
        before.append(Send(node, TYPES[kind](kind, 0)))
    links = {link: milliseconds / 1000 for link, milliseconds in table.latency.items()}
    return Scenario(
        nodes={name: lambda: TableNode(table) for name in NAMES},
        running=NAMES,
        before=before,
        promises=[good_states],
        network=network,
        time=VirtualTime(links=links, until=0.3),
        faults=faults,
    )
