"""Small node programs by table: what a node does depends on a small state and the message, and on nothing else."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

from clew.simulation.events import Heal, Partition, Restart, Send, Start, Stop, WaitQuiescence
from clew.simulation.node import Context, Node
from clew.simulation.scenario import Broken, Network, Scenario
from clew.simulation.world import CodeBlock, External, WaitCondition, World

STATES = 3
LETTERS = 2


@dataclass(frozen=True)
class Note:
    """A message; ``hops`` is how many more messages may follow from it."""

    letter: int
    hops: int


@dataclass(frozen=True)
class Reaction:
    """``sends``: targets and letters.  ``timer``: set it (1) or cancel it (-1)."""

    state: int
    sends: tuple[tuple[str, int], ...] = ()
    timer: int = 0
    raises: bool = False


#: What a node does, by its state and what happens to it: a letter, "timer" or "start".
Table = Mapping[tuple[int, int | str], Reaction]


class TableNode(Node):
    """``log`` is everything that ever happened to it, so that equal states have equal histories."""

    __slots__ = ("table",)  # what never changes is not compared again and again

    def __init__(self, table: Table, hops: int) -> None:
        self.state = 0
        self.log: tuple[Any, ...] = ()
        self.table = table
        self.hops = hops

    def __deepcopy__(self, memo: dict[int, Any]) -> TableNode:
        twin = TableNode(self.table, self.hops)
        twin.state, twin.log = self.state, self.log
        return twin

    def on_start(self, ctx: Context) -> None:
        self.state = ctx.durable.get("lives", 0) % STATES
        ctx.durable["lives"] = ctx.durable.get("lives", 0) + 1
        self.log = ctx.durable.get("log", ())
        self._react(ctx, "start", self.hops)

    def on_message(self, ctx: Context, sender: str, message: Note) -> None:
        self._react(ctx, message.letter, message.hops, sender)

    def on_timer(self, ctx: Context, name: str) -> None:
        self._react(ctx, "timer", self.hops)

    def _react(self, ctx: Context, what: int | str, hops: int, sender: str | None = None) -> None:
        self.log = ctx.durable["log"] = (*self.log, (what, hops, sender, ctx.now))
        reaction = self.table[self.state, what]
        self.state = reaction.state
        if hops:
            for target, letter in reaction.sends:
                ctx.send(target, Note(letter, hops - 1))
        if reaction.timer > 0:
            ctx.set_timer()
        elif reaction.timer < 0:
            ctx.cancel_timer()
        if reaction.raises:
            raise ValueError(f"in state {self.state}")


def view(nodes: Mapping[str, Any]) -> Hashable:
    """Return what an invariant sees of the nodes."""
    return tuple((name, node.state, node.log) for name, node in nodes.items())


def random_scenario(random: Random) -> Scenario:
    """Draw a program with externals of all kinds in any order."""
    names = ["a", "b", "c"][: random.randint(2, 3)]
    hops = random.randint(1, 2)
    chatty, timed, raising = random.choice((0.3, 0.6)), random.choice((0.0, 0.2, 0.5)), random.choice((0.0, 0.05))
    tables = {name: _table(random, names, chatty, timed, raising) for name in names}
    running = [name for name in names if random.random() < 0.7]
    fifo = random.random() < 0.5
    return Scenario(
        nodes={name: maker(tables[name], hops) for name in names},
        running=running,
        before=[_external(random, names, hops) for _ in range(random.randint(1, 4))],
        invariants=random_invariants(random, names),
        network=Network.FIFO if fifo else Network.REORDERING,
        loss=random.choice((0, 0.5)),
        duplication=random.choice((0, 0, 0.5)),
        steps=200,
    )


def maker(table: Table, hops: int) -> Callable[[], Node]:
    return lambda: TableNode(table, hops)


def _table(random: Random, names: list[str], chatty: float, timed: float, raising: float) -> Table:
    table: dict[tuple[int, int | str], Reaction] = {}
    for state in range(STATES):
        for what in (*range(LETTERS), "timer", "start"):
            sends = tuple(
                (random.choice(names), random.randrange(LETTERS)) for _ in range(2) if random.random() < chatty
            )
            timer = random.choice((1, 1, -1)) if random.random() < timed else 0
            table[state, what] = Reaction(random.randrange(STATES), sends, timer, random.random() < raising)
    return table


def _external(random: Random, names: list[str], hops: int) -> External:
    node, other = random.sample(names, 2)
    kind = random.randrange(16)
    if kind < 6:
        return Send(node, Note(random.randrange(LETTERS), hops))
    if kind < 12:
        one_way = random.random() < 0.5
        choices: list[External] = [
            Start(node),
            Stop(node),
            Restart(node),
            Partition(node, other, one_way),
            Heal(),
            Heal(node, other),
        ]
        return choices[kind - 6]
    if kind == 12:
        return CodeBlock("poke", poke(node))
    if kind == 13:
        return WaitCondition("moved", moved(node, random.randrange(STATES)))
    return WaitQuiescence()


def poke(node: str) -> Callable[[World], None]:
    def change(world: World) -> None:
        if node in world.nodes:
            process = world.nodes[node]
            assert isinstance(process, TableNode)
            process.state = (process.state + 1) % STATES

    return change


def moved(node: str, state: int) -> Callable[[World], bool]:
    return lambda world: getattr(world.nodes.get(node), "state", state) == state


def random_invariants(random: Random, names: list[str]) -> list[Callable[[Mapping[str, Any]], Broken | None]]:
    def never(first: str, one: int, second: str, two: int) -> Callable[[Mapping[str, Any]], Broken | None]:
        def invariant(nodes: Mapping[str, Any]) -> Broken | None:
            if first in nodes and second in nodes and (nodes[first].state, nodes[second].state) == (one, two):
                return Broken(f"{first}{one}{second}{two}", "both", (first, second))
            return None

        return invariant

    chosen = []
    for _ in range(random.randrange(4)):
        first, second = random.sample(names, 2)
        chosen.append(never(first, random.randrange(STATES), second, random.randrange(STATES)))
    return chosen
