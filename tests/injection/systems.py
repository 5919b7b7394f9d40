"""Small systems that are drawn: nodes whose handlers look up in a table what to do.

``naive`` executes the same tables without anything of Clew, so that both can be compared.  Times are in
microseconds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

from clew.simulation import (
    CodeBlock,
    Context,
    Elapse,
    Faults,
    Network,
    Node,
    Restart,
    Scenario,
    Send,
    Start,
    Stop,
    VirtualTime,
    WaitCondition,
)

ALL_NAMES = ("a", "b", "c", "d")
KINDS = ("X", "Y")
TIMERS = ("t", "u")
#: So many messages and timers may cause one another: executions end.
MOST_HOPS = 2
END = 200_000

#: A number of microseconds, or the least and the most.
Latency = int | tuple[int, int]


@dataclass(frozen=True)
class Reaction:
    """What a node does: its next state, what it sends to whom, which timers it sets (when) or cancels (None)."""

    state: int
    sends: tuple[tuple[str, str], ...] = ()
    timers: tuple[tuple[str, int | None], ...] = ()
    stores: bool = False
    raises: bool = False


@dataclass(frozen=True)
class System:
    """``reactions``: by node, state and event (a kind of message, a timer, ``start``, ``poke``) what it does.

    ``given``: what comes from outside, in words; ``drawn``: so many messages of a maker after that.  The promise
    is broken if at the end nodes that are up are in one of the ``bad`` states; with ``some``, if all of them are.
    ``never``: two nodes and states that must not be at once.  ``assumed``: the promise is made only if this node
    is up and not in this state.  ``most``: how many faults of each kind there may be.
    """

    number: int
    names: tuple[str, ...]
    running: tuple[str, ...]
    reactions: Mapping[tuple[str, int, str], Reaction]
    latency: Latency
    links: Mapping[tuple[str, str], Latency]
    fifo: bool
    drift: float
    clocks: Mapping[str, float]
    given: tuple[tuple[Any, ...], ...]
    drawn: int
    bad: frozenset[tuple[str, int]]
    some: bool
    never: tuple[tuple[str, int], tuple[str, int]] | None
    assumed: tuple[str, int] | None
    most: Mapping[str, int]
    total: int
    within: int
    outages: tuple[int, ...]
    hidden: str

    def breaks_promise(self, states: Mapping[str, int]) -> bool:
        """Tell whether the promise is broken where these nodes are up, in these states."""
        good = [(name, state) not in self.bad for name, state in states.items()]
        return not any(good) if self.some else not all(good)

    def breaks_never(self, states: Mapping[str, int]) -> bool:
        return self.never is not None and all(states.get(name) == state for name, state in self.never)

    def is_promised(self, states: Mapping[str, int]) -> bool:
        return self.assumed is None or states.get(self.assumed[0], self.assumed[1]) != self.assumed[1]


# -- drawing -----------------------------------------------------------------------------------------------------


def draw_system(number: int) -> System:
    """Draw the system with this number."""
    random = Random(f"system/{number}")
    names = ALL_NAMES[: random.choice((2, 2, 3, 3, 4))]
    fixed = (0, 5_000, 10_000, 10_000, 20_000, (5_000, 15_000), (0, 30_000))
    ends = [(one, other) for one in ("", *names) for other in names]
    kinds = random.sample(list(_KINDS_OF_FAULTS), random.choice((1, 2, 2, 3)))
    return System(
        number,
        names,
        names if random.random() < 0.8 else names[:-1],
        dict(_draw_reactions(random, names)),
        random.choice(fixed),
        {link: random.choice(fixed) for link in ends if random.random() < 0.4},
        random.random() < 0.5,
        random.choice((0.0, 0.0, 0.1)),
        {names[0]: 1.5} if random.random() < 0.1 else {},
        tuple(_draw_given(random, names)),
        random.choice((0, 0, 0, 1, 2)),
        frozenset((name, state) for name in names for state in range(3) if random.random() < 0.15),
        random.random() < 0.5,
        (_draw_pair(random, names[0]), _draw_pair(random, names[-1])) if random.random() < 0.2 else None,
        _draw_pair(random, random.choice(names)) if random.random() < 0.2 else None,
        {kind: random.choice((1, 1, 2)) for kind in kinds},
        random.choice((1, 2, 2, 2, 2, 3)) if len(names) < 4 else 2,
        random.choice((0, 10_000, 20_000, 30_000)),
        random.choice(((15_000,), (30_000,), (10_000, 45_000))),
        random.choice(HIDDEN),
    )


_KINDS_OF_FAULTS = ("losses", "duplicates", "crashes", "restarts", "partitions")


def _draw_pair(random: Random, name: str) -> tuple[str, int]:
    return name, random.randrange(3)


def _draw_reactions(random: Random, names: tuple[str, ...]) -> Any:
    for name in names:
        for state in range(3):
            for event in (*KINDS, *TIMERS, "start", "poke"):
                sends = tuple(
                    (random.choice(names), random.choice(KINDS)) for _ in range(random.choice((0, 1, 1, 2)))
                )
                timers = tuple(
                    (random.choice(TIMERS), random.choice((None, 0, 8_000, 15_000, 40_000)))
                    for _ in range(random.choice((0, 0, 0, 1, 2)))
                )
                # A message that finds nothing to do is common, and what may be left out.
                idle = random.random() < 0.25
                raises = event not in ("start", "poke") and random.random() < 0.01
                if idle:
                    yield (name, state, event), Reaction(state)
                else:
                    yield (
                        (name, state, event),
                        Reaction(random.randrange(3), sends, timers, random.random() < 0.2, raises),
                    )


def _draw_given(random: Random, names: tuple[str, ...]) -> Any:
    for _ in range(random.choice((1, 2, 2, 3))):
        node = random.choice(names)
        yield ("send", node, random.choice(KINDS))
        if random.random() < 0.6:
            yield ("elapse", random.choice((5_000, 10_000, 25_000)))
        if random.random() < 0.35:
            what = random.choice(("stop", "start", "restart", "poke", "poke", "bounce", "until"))
            yield (what, random.choice(names), *((random.randrange(3),) if what == "until" else ()))


# -- nodes -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class X:
    """A message; ``hops``: how many caused it."""

    hops: int


@dataclass(frozen=True)
class Y:
    hops: int


TYPES = {"X": X, "Y": Y}


class TableNode(Node):
    """A node that does what the table says."""

    state: Any

    def __init__(self, system: System) -> None:
        self._system = system

    def on_start(self, ctx: Context) -> None:
        self.hops = 0
        self.begin(ctx.durable.get("state", 0))
        self._react(ctx, "start", 0)

    def begin(self, state: int) -> None:
        self.state = state

    def on_message(self, ctx: Context, sender: str, message: Any) -> None:
        self._react(ctx, type(message).__name__, message.hops)

    def on_timer(self, ctx: Context, name: str) -> None:
        self._react(ctx, name, self.hops)

    def poke(self, ctx: Context) -> None:
        self._react(ctx, "poke", 0)

    def _react(self, ctx: Context, event: str, hops: int) -> None:
        reaction = self._system.reactions[ctx.me, self.state, event]
        if reaction.state != self.state:
            self.state = reaction.state
        if reaction.raises:
            raise RuntimeError(event)
        if reaction.stores:
            ctx.durable["state"] = self.state
        if hops < MOST_HOPS:
            for target, kind in reaction.sends:
                ctx.send(target, TYPES[kind](hops + 1))
            for name, after in reaction.timers:
                if after is None:
                    ctx.cancel_timer(name)
                else:
                    if self.hops != hops + 1:
                        self.hops = hops + 1
                    ctx.set_timer(name, after=after / 1_000_000)


class PlainNode(TableNode):
    """Its state is an attribute, which its class has, too."""

    state = 0


class SlottedNode(TableNode):
    __slots__ = ("state",)


class OrderedNode(TableNode):
    """Its state is the first key of a dictionary, all of whose keys and values stay what they are."""

    def begin(self, state: int) -> None:
        self._keys = dict.fromkeys((0, 1, 2))
        self.state = state

    @property
    def state(self) -> int:
        known: int = next(iter(self._keys))
        return known

    @state.setter
    def state(self, state: int) -> None:
        for key in range(3):
            if key != state:
                self._keys.pop(key)
                self._keys[key] = None


class ClosureNode(TableNode):
    """Its state is in a function."""

    def begin(self, state: int) -> None:
        def change(new: int | None = None) -> int:
            nonlocal state
            state = state if new is None else new
            return state

        self._change = change

    @property
    def state(self) -> int:
        known: int = self._change()
        return known

    @state.setter
    def state(self, state: int) -> None:
        self._change(state)


class SuspendedNode(TableNode):
    """Its state is in a generator, through which nobody sees."""

    def begin(self, state: int) -> None:
        def remember() -> Any:
            known = state
            while True:
                new = yield known
                known = known if new is None else new

        self._memory = remember()
        next(self._memory)

    @property
    def state(self) -> int:
        known: int = next(self._memory)
        return known

    @state.setter
    def state(self, state: int) -> None:
        self._memory.send(state)


NODES: dict[str, type[TableNode]] = {
    "plain": PlainNode,
    "slotted": SlottedNode,
    "ordered": OrderedNode,
    "closure": ClosureNode,
    "suspended": SuspendedNode,
}
HIDDEN = ("plain", "plain", "plain", *NODES)


# -- the scenario ------------------------------------------------------------------------------------------------


def scenario_of(system: System) -> Scenario:
    """Make the scenario of a system."""
    kind = NODES[system.hidden]
    makers: dict[str, Callable[[], Node]] = {name: lambda: kind(system) for name in system.names}
    chosen: dict[str, Any] = dict(system.most)
    return Scenario(
        nodes=makers,
        running=system.running,
        before=[_event_of(place, given) for place, given in enumerate(system.given)],
        events=[(1, lambda random, world: _make_event(system, random))] if system.drawn else (),
        count=system.drawn,
        promises=[lambda nodes: _judge(system.breaks_promise, nodes)],
        invariants=[lambda nodes: _judge(system.breaks_never, nodes)],
        assume=(lambda nodes: system.is_promised(_states(nodes))) if system.assumed else None,
        network=Network.FIFO if system.fifo else Network.REORDERING,
        time=VirtualTime(
            latency=_seconds(system.latency),
            links={link: _seconds(latency) for link, latency in system.links.items()},
            drift=system.drift,
            clocks=system.clocks,
            until=END / 1_000_000,
        ),
        faults=Faults(
            total=system.total,
            until=system.within / 1_000_000,
            outages=tuple(length / 1_000_000 for length in system.outages),
            **chosen,
        ),
    )


def _states(nodes: Mapping[str, Any]) -> dict[str, int]:
    return {name: node.state for name, node in nodes.items()}


def _judge(breaks: Callable[[Mapping[str, int]], bool], nodes: Mapping[str, Any]) -> str | None:
    states = _states(nodes)
    return f"states {states}" if breaks(states) else None


def _seconds(latency: Latency) -> float | tuple[float, float]:
    if isinstance(latency, tuple):
        return latency[0] / 1_000_000, latency[1] / 1_000_000
    return latency / 1_000_000


def _make_event(system: System, random: Random) -> Send | None:
    node, kind = random.choice(system.names), random.choice((*KINDS, ""))
    return Send(node, TYPES[kind](0)) if kind else None


def _event_of(place: int, given: tuple[Any, ...]) -> Any:
    match given:
        case ("send", node, kind):
            return Send(node, TYPES[kind](0))
        case ("elapse", time):
            return Elapse(time / 1_000_000)
        case ("until", node, state):
            return WaitCondition(f"w{place}", lambda world: _states(world.nodes).get(node) == state)
        case ("poke", node):
            return CodeBlock(f"poke{place}", lambda world: _poke(world, node))
        case ("bounce", node):
            return CodeBlock(f"bounce{place}", lambda world: _bounce(world, node))
        case (what, node):
            return {"stop": Stop, "start": Start, "restart": Restart}[what](node)
    raise AssertionError(given)


def _poke(world: Any, node: str) -> None:
    if node in world.processes:
        process = world.processes[node]
        process.node.poke(process)


def _bounce(world: Any, node: str) -> None:
    if node in world.processes:
        world.inject(Restart(node))
