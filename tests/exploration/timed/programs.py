"""Small node programs by table in virtual time: what a node does depends on its state, its clock and a message."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import Any

from clew.simulation.events import Elapse, Heal, Partition, Restart, Send, Start, Stop, WaitQuiescence
from clew.simulation.node import Context, Node
from clew.simulation.scenario import Broken, Kept, Network, Scenario
from clew.simulation.timing import Latency, VirtualTime
from clew.simulation.world import CodeBlock, External, Wait, WaitCondition, World
from exploration.programs import LETTERS, STATES, Note, Reaction, Table, moved, random_invariants

#: Seconds of which a timer is drawn, and a wait: so few that often several things are due at one time.
_DURATIONS = (0.0, 0.1, 0.2, 0.25)


class TimedNode(Node):
    """Remembers little, so that executions come together again; ``wise``: its clock is a part of what it sees."""

    table: Table
    durations: Mapping[tuple[int, int | str], float]
    hops: int
    wise: bool

    def __init__(self) -> None:
        self.state = 0
        self.left = self.hops  # of what its timers may still send

    def on_start(self, ctx: Context) -> None:
        self.state = ctx.durable.get("lives", 0) % STATES
        ctx.durable["lives"] = ctx.durable.get("lives", 0) + 1
        self._react(ctx, "start", self.left)

    def on_message(self, ctx: Context, sender: str, message: Note) -> None:
        self._react(ctx, message.letter, message.hops)

    def on_timer(self, ctx: Context, name: str) -> None:
        if self.left:
            self.left -= 1
            self._react(ctx, "timer", self.left)

    def _react(self, ctx: Context, what: int | str, hops: int) -> None:
        key = (self.state, what)
        reaction = self.table[key]
        self.state = (reaction.state + (int(ctx.now * 20) if self.wise else 0)) % STATES
        if hops:
            for target, letter in reaction.sends:
                ctx.send(target, Note(letter, hops - 1))
        if reaction.timer > 0:
            ctx.set_timer(f"timer {self.state % 2}", after=self.durations[key])
        elif reaction.timer < 0:
            ctx.cancel_timer("timer 0")
        if reaction.raises:
            raise ValueError(f"in state {self.state}")


def random_timed_scenario(random: Random) -> Scenario:
    """Draw a program with externals of all kinds, latencies with none and with a choice, and clocks that drift."""
    names = ["a", "b", "c"][: random.choice((2, 2, 3))]
    hops = random.randint(1, 2)
    chatty, timed, raising = random.choice((0.2, 0.5)), random.choice((0.0, 0.3, 0.6)), random.choice((0, 0, 0.05))
    wise = random.random() < 0.4
    waits: tuple[External, ...] = random.choice(((), (WaitQuiescence(),)))
    events = [_external(random, names, hops) for _ in range(random.randint(1, 4))]
    if isinstance(events[-1], Wait):
        events.append(Heal())  # random runs end when what they wait for last is over
    return Scenario(
        nodes={name: _make(random, names, chatty, timed, raising, hops, wise) for name in names},
        running=[name for name in names if random.random() < 0.8],
        before=events,
        after=waits,
        invariants=random_invariants(random, names),
        promises=[_promise(random, names)] if random.random() < 0.4 else [],
        network=random.choice((Network.FIFO, Network.REORDERING)),
        loss=random.choice((0, 0.5)),
        duplication=random.choice((0, 0, 0.5)),
        steps=200,
        time=_draw_time(random, names),
    )


def _make(
    random: Random, names: list[str], chatty: float, timed: float, raising: float, hops: int, wise: bool
) -> Callable[[], Node]:
    reactions: dict[tuple[int, int | str], Reaction] = {}
    seconds: dict[tuple[int, int | str], float] = {}
    for state in range(STATES):
        for what in (*range(LETTERS), "timer", "start"):
            sends = tuple(
                (random.choice(names), random.randrange(LETTERS)) for _ in range(2) if random.random() < chatty
            )
            timer = random.choice((1, 1, 1, -1)) if random.random() < timed else 0
            reactions[state, what] = Reaction(
                random.randrange(STATES), sends, timer, what != "start" and random.random() < raising
            )
            seconds[state, what] = random.choice(_DURATIONS)
    return type("Drawn", (TimedNode,), {"table": reactions, "durations": seconds, "hops": hops, "wise": wise})


def _draw_time(random: Random, names: list[str]) -> VirtualTime:
    latencies: tuple[Latency, ...] = (0.0, 0.1, (0.0, 0.1), (0.1, 0.2), (0.05, 0.1))
    links: dict[tuple[str, str], Latency] = {}
    if random.random() < 0.5:
        links[random.choice(["", *names]), random.choice(names)] = random.choice(latencies)
    drift = random.choice((0.0, 0.0, 0.5))
    clocks = {names[0]: 1.0} if random.random() < 0.3 else {}
    return VirtualTime(
        latency=random.choice(latencies), links=links, drift=drift, clocks=clocks, until=random.choice((0.5, 1.0))
    )


def _external(random: Random, names: list[str], hops: int) -> External:
    node, other = random.sample(names, 2)
    choices: list[Callable[[], External]] = [
        lambda: Send(node, Note(random.randrange(LETTERS), hops)),
        lambda: Elapse(random.choice(_DURATIONS)),
        lambda: random.choice((Start(node), Stop(node), Restart(node))),
        lambda: Partition(node, other, random.random() < 0.5),
        lambda: random.choice((Heal(), Heal(node, other))),
        lambda: CodeBlock("poke", _poke(node)),
        lambda: WaitCondition("moved", moved(node, random.randrange(STATES))),
        WaitQuiescence,
    ]
    (choice,) = random.choices(choices, [6, 4, 2, 1, 1, 1, 1, 1])
    return choice()


def _poke(node: str) -> Callable[[World], None]:
    def change(world: World) -> None:
        if node in world.nodes:
            process = world.nodes[node]
            assert isinstance(process, TimedNode)
            process.state = (process.state + 1) % STATES

    return change


def _promise(random: Random, names: list[str]) -> Callable[[Mapping[str, Any]], Broken | Kept | None]:
    name, state = random.choice(names), random.randrange(STATES)

    def promise(nodes: Mapping[str, Any]) -> Broken | Kept | None:
        if name in nodes and nodes[name].state == state:
            return Broken(f"{name} is not {state} at the end", "it is", (name,))
        return Kept()

    return promise
