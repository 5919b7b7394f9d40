"""Random scenarios that do everything to a cluster that a scenario can, made from a seed.

Nodes go by a table of reactions: they send, set and cancel timers, store, draw, log and raise, also when they
start.  From outside come events, code blocks that do several things at once and to whatever is there, and
conditions that may hold at once, later or never.  Everything is determined by the seed, and nothing here looks at
how it is run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import Any

from clew.simulation import (
    Broken,
    CodeBlock,
    Context,
    External,
    Heal,
    Network,
    Node,
    Partition,
    Restart,
    Scenario,
    Send,
    Start,
    Stop,
    WaitCondition,
    WaitQuiescence,
    World,
)
from clew.simulation.loading import LoadedScenario

STATES = 3
LETTERS = 2
TIMERS = ("tick", "tock")


@dataclass
class Note:
    """A message that can be changed; ``hops`` is how many more may follow from it."""

    letter: int
    hops: int
    tags: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Other:
    """A message of another type."""

    letter: int
    hops: int


@dataclass(frozen=True)
class Reaction:
    """``timer``: what is set, or cancelled after a minus sign.  ``stores``: what is kept for the next life."""

    state: int
    sends: tuple[tuple[str, int], ...] = ()
    timer: str = ""
    stores: bool = False
    draws: bool = False
    raises: bool = False


#: By the state and what happens: a letter, the name of a timer, or "start".
Table = Mapping[tuple[int, int | str], Reaction]


class ClockError(Exception):
    """Time went backwards: nothing that a scenario does can lead to that."""


class Reacting(Node):
    """Goes by its table, and looks at its clock."""

    def __init__(self, table: Table, hops: int) -> None:
        self.state = 0
        self.names = {"start"}
        self.seen: list[str] = []
        self._table = partial(table.__getitem__)  # no part of the state
        self._hops = hops

    def on_start(self, ctx: Context) -> None:
        self._look_at_the_clock(ctx)
        self.state = ctx.durable.get("lives", 0) % STATES
        ctx.durable["lives"] = ctx.durable.get("lives", 0) + 1
        self._react(ctx, "start", self._hops)

    def on_message(self, ctx: Context, sender: str, message: Note | Other) -> None:
        self._look_at_the_clock(ctx)
        self.names.add(sender)
        if isinstance(message, Note):
            self.seen = [*self.seen, *message.tags][-3:]
            message.tags.append("changed by its receiver")
        self._react(ctx, message.letter, message.hops)

    def on_timer(self, ctx: Context, name: str) -> None:
        self._look_at_the_clock(ctx)
        self._react(ctx, name, self._hops)

    def _look_at_the_clock(self, ctx: Context) -> None:
        if ctx.now <= ctx.durable.get("now", -1):
            raise ClockError
        ctx.durable["now"] = ctx.now

    def _react(self, ctx: Context, what: int | str, hops: int) -> None:
        reaction = self._table((self.state, what))
        self.state = reaction.state
        for target, letter in reaction.sends if hops else ():
            tags = [ctx.me]
            ctx.send(target, Note(letter, hops - 1, tags) if letter else Other(letter, hops - 1))
            tags.append("changed by its sender")
        if reaction.timer.startswith("-"):
            ctx.cancel_timer(reaction.timer[1:])
        elif reaction.timer:
            ctx.set_timer(reaction.timer)
        if reaction.draws:
            self.seen = [*self.seen, str(ctx.random.randrange(3))][-3:]
            ctx.log(f"{ctx.me} has drawn {self.seen[-1]}")
        if reaction.stores:
            ctx.durable["state"] = [self.state]
        if reaction.raises:
            raise ValueError(f"in state {self.state}")


# -- code blocks -------------------------------------------------------------------------------------------------


def act_on_pool(world: World, what: str) -> None:
    """Do something to whatever is pending, if anything is."""
    pending = world.pool.timers if what == "fire" else world.pool.messages
    if pending:
        envelope = pending[len(pending) // 2]
        if what in ("fire", "deliver"):
            world.deliver(envelope)
        elif what == "change" and isinstance(envelope.payload, Note):
            envelope.payload.tags.append("changed on its way")
        elif what in ("lose", "duplicate"):
            getattr(world, what)(envelope)


def act_on_node(world: World, what: str, name: str, target: str) -> None:
    """Do something to a node, if it is up."""
    process = world.processes.get(name)
    node = world.nodes.get(name)
    if process is None or not isinstance(node, Reacting):
        return
    if what == "poke":
        node.state = (node.state + 1) % STATES
    elif what == "store":
        process.durable["state"] = [9]
    elif what == "send":
        process.send(target, Note(1, 1, ["of a block"]))
    elif what == "arm":
        process.set_timer("tock")
    elif what == "cancel":
        process.cancel_timer("tick")
    elif what == "draw":
        process.random.random()
    elif what == "log":
        process.log("a block was here")


def act_on_links(world: World, what: str, name: str, target: str) -> None:
    if what == "hold":
        world.pool.hold((name, target))
    else:
        world.pool.release((name, target))


def _operation(random: Random, names: list[str], depth: int) -> Callable[[World], None]:
    """Return one of the things that a code block may do; it copes with every state of the world."""
    name, target = random.sample(names, 2)
    kind = random.randrange(8)
    if kind < 3:
        event = _plain_event(random, names)
        return lambda world: world.inject(event)
    if kind == 3 and depth:
        block = _block(random, names, "inner", depth - 1)
        return lambda world: world.inject(block)
    if kind < 5:
        return partial(
            act_on_pool, what=random.choice(("deliver", "deliver", "fire", "lose", "duplicate", "change"))
        )
    if kind < 7:
        what = random.choice(("poke", "store", "send", "arm", "cancel", "draw", "log"))
        return partial(act_on_node, what=what, name=name, target=target)
    return partial(act_on_links, what=random.choice(("hold", "release")), name=name, target=target)


def _block(random: Random, names: list[str], name: str, depth: int = 1) -> CodeBlock:
    operations = [_operation(random, names, depth) for _ in range(random.randint(1, 3))]

    def action(world: World) -> None:
        for operation in operations:
            operation(world)

    return CodeBlock(name, action)


# -- events from outside -----------------------------------------------------------------------------------------


def _plain_event(random: Random, names: list[str]) -> External:
    node, other = random.sample(names, 2)
    if random.random() < 0.5:
        hops = random.randint(0, 2)
        return Send(node, Note(1, hops, ["outside"]) if random.random() < 0.5 else Other(0, hops))
    return random.choice(
        (
            Start(node),
            Stop(node),
            Restart(node),
            Restart(node),
            Partition(node, other, random.random() < 0.5),
            Heal(),
            Heal(node, other),
        )
    )


def _condition(random: Random, names: list[str], name: str) -> WaitCondition:
    node, state = random.choice(names), random.randrange(STATES + 1)  # one state more than there is: never
    if random.random() < 0.3:
        return WaitCondition(name, lambda world: node in world.nodes)
    return WaitCondition(name, lambda world: getattr(world.nodes.get(node), "state", None) == state)


def _outside(random: Random, names: list[str], kind: str) -> list[External]:
    """Return a few events in a row; what has a name has one of its own."""
    found: list[External] = []
    for k in range(random.randint(1, 6)):
        dice = random.random()
        if dice < 0.5:
            found.append(_plain_event(random, names))
        elif dice < 0.7:
            found.append(_block(random, names, f"{kind} block {k}"))
        elif dice < 0.85:
            found.append(_condition(random, names, f"{kind} condition {k}"))
        else:
            found.append(WaitQuiescence())
    return found


# -- what must hold ----------------------------------------------------------------------------------------------


def _never(first: str, one: int, second: str, two: int, nodes: Mapping[str, Any]) -> Broken | None:
    if first in nodes and second in nodes and (nodes[first].state, nodes[second].state) == (one, two):
        return Broken(
            f"{first}{one}{second}{two}", f"both, {first} having seen {nodes[first].seen}", (first, second)
        )
    return None


def _up(name: str, nodes: Mapping[str, Any]) -> str | None:
    return None if name in nodes else f"{name} is down"


def _few(most: int, nodes: Mapping[str, Any]) -> Broken | None:
    known = sorted({name for node in nodes.values() for name in node.names})
    return Broken("few", ", ".join(known)) if len(known) > most else None


def _invariants(random: Random, names: list[str]) -> list[Callable[[Mapping[str, Any]], Broken | str | None]]:
    """Some break at the beginning, some together, some late, some never."""
    chosen: list[Callable[[Mapping[str, Any]], Broken | str | None]] = []
    for _ in range(random.randint(0, 3)):
        first, second = random.sample(names, 2)
        chosen.append(partial(_never, first, random.randrange(STATES), second, random.randrange(STATES)))
    if random.random() < 0.1:
        chosen.append(partial(_up, random.choice(names)))
    if random.random() < 0.3:
        chosen.append(partial(_few, random.randint(2, 3)))
    random.shuffle(chosen)
    return chosen


# -- scenarios ---------------------------------------------------------------------------------------------------


def _table(random: Random, names: list[str], chatty: float, raising: float) -> Table:
    table: dict[tuple[int, int | str], Reaction] = {}
    for state in range(STATES):
        for what in (*range(LETTERS), *TIMERS, "start"):
            table[state, what] = Reaction(
                random.randrange(STATES),
                tuple(
                    (random.choice(names), random.randrange(LETTERS)) for _ in range(2) if random.random() < chatty
                ),
                random.choice(("", *TIMERS, "-tick")),
                random.random() < 0.3,
                random.random() < 0.2,
                random.random() < raising,
            )
    return table


def _makers(random: Random, names: list[str], blocks: list[CodeBlock]) -> list[tuple[float, Any]]:
    def sends(random: Random, world: World) -> External | None:
        return _plain_event(random, names)

    def blocked(random: Random, world: World) -> External | None:
        return random.choice(blocks)

    def waits(random: Random, world: World) -> External | None:
        return WaitQuiescence() if world.pool.messages else None

    return [(3, sends), (1, blocked), (0.5, waits)]


def random_scenario(seed: int) -> Scenario:
    """Return the scenario that belongs to a seed."""
    random = Random(seed)
    names = ["a", "b", "c"][: random.randint(2, 3)]
    raising = random.choice((0.0, 0.0, 0.0, 0.02, 0.1, 0.3))
    hops = random.randint(1, 3)
    chatty = random.choice((0.1, 0.5, 0.7))
    nodes = {name: partial(Reacting, _table(random, names, chatty, raising), hops) for name in names}
    blocks = [_block(random, names, f"drawn block {k}") for k in range(2)]
    endings: list[dict[str, Any]] = [{}, {"after": []}, {"after": _outside(random, names, "late")}]
    left_alone = random.random() < 0.15
    return Scenario(
        nodes=nodes,
        running=[name for name in names if left_alone or random.random() < 0.8],
        before=[] if left_alone else _outside(random, names, "early"),
        events=_makers(random, names, blocks),
        count=0 if left_alone else random.choice((0, 3, 8)),
        invariants=_invariants(random, names),
        network=random.choice(tuple(Network)),
        loss=random.choice((0, 0, 0.2)),
        duplication=random.choice((0, 0, 0.2)),
        timers=random.choice((0.0, 0.1, 0.5)),
        rare={"tock": random.choice((0.0, 0.5, 1.0))},
        steps=random.choice((5, 25, 60)),
        check_every=random.choice((1, 1, 3)),
        fingerprint=random.choice((None, _fingerprint)),
        identity=random.choice((None, None, _identity)),
        code=blocks,
        **random.choice(endings),
    )


def _fingerprint(message: Note | Other) -> str:
    return f"{type(message).__name__} {message.letter}"


def _identity(broken: Broken) -> str:
    return broken.invariant


def loaded_scenario(seed: int) -> LoadedScenario:
    """Return the scenario as loading it would; looking for its modules would take longer than running it."""
    return LoadedScenario(random_scenario(seed), "", "", "0" * 64, {"Note": Note, "Other": Other}, ())
