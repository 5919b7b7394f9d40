"""Small simulated runs for the tests of what is shown of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
    World,
)
from clew.simulation.execution.steps import Act, Do, Step
from clew.simulation.execution.trace import Execution, execute
from clew.simulation.fuzzing.random_run import random_run


@dataclass(frozen=True)
class Go:
    """From outside: ping everybody."""


@dataclass(frozen=True)
class Ping:
    hops: int


@dataclass(frozen=True)
class Pong:
    text: str


@dataclass(frozen=True)
class Note:
    """To oneself."""


class Player(Node):
    """Answers pings, counts pongs; ``lives`` is durable."""

    peers: tuple[str, ...] = ("a", "b", "c")

    def on_start(self, ctx: Context) -> None:
        self.lives = ctx.durable["lives"] = ctx.durable.get("lives", 0) + 1
        self.pings: list[int] = []
        self.pongs: dict[str, str] = {}

    def on_message(self, ctx: Context, sender: str, message: Any) -> None:
        if isinstance(message, Go):
            ctx.set_timer("again")
            ctx.send(ctx.me, Note())
            self._ping(ctx, 1)
        elif isinstance(message, Ping):
            self.pings.append(message.hops)
            ctx.log(f"pinged by {sender}")
            ctx.send(sender, Pong("x" * message.hops))
        elif isinstance(message, Pong):
            assert message.text != "xxx", "three times x"
            self.pongs[sender] = message.text

    def on_timer(self, ctx: Context, name: str) -> None:
        self._ping(ctx, 2)

    def _ping(self, ctx: Context, hops: int) -> None:
        for peer in self.peers:
            if peer != ctx.me:
                ctx.send(peer, Ping(hops))


def two_pongs(nodes: Mapping[str, Any]) -> Broken | None:
    for name, node in nodes.items():
        if len(node.pongs) > 1:
            return Broken("one pong", f"{name} has pongs from {' and '.join(node.pongs)}", (name,))
    return None


def scenario(**how: Any) -> Scenario:
    return Scenario(**{"nodes": dict.fromkeys("abc", Player), "network": Network.REORDERING, **how})


def act(source: str, nth: int, target: str, kind: str, do: Do = Do.DELIVER) -> Act:
    return Act(do, source, nth, target, False, kind, kind)


def timer(node: str, nth: int, name: str) -> Act:
    return Act(Do.DELIVER, node, nth, node, True, name, name)


def nothing(world: World) -> None:
    """What the code block of the run does."""


#: One of everything, ending in a violation at a.
EVERYTHING: Sequence[Step] = (
    Start("a"),
    Start("b"),
    Send("a", Go()),
    act("", 1, "a", "Go"),  # sends: 1 the timer, 2 Note, 3 Ping to b, 4 Ping to c, which is down
    act("a", 2, "a", "Note"),
    Partition("a", "c"),
    Start("c"),
    act("a", 3, "b", "Ping"),
    timer("a", 1, "again"),  # sends: 5 Ping to b, 6 Ping to c
    act("a", 5, "b", "Ping", Do.DUPLICATE),  # sends: 7, the copy
    act("a", 5, "b", "Ping", Do.LOSE),
    Heal(),
    act("a", 6, "c", "Ping"),
    Partition("b", "a", one_way=True),
    Heal("b", "a"),
    CodeBlock("nothing", nothing),
    Restart("c"),
    act("b", 1, "a", "Pong"),
    act("a", 7, "b", "Ping"),
    Stop("b"),
    act("c", 1, "a", "Pong"),
)


def everything() -> Execution:
    return execute(scenario(invariants=(two_pongs,)), 0, EVERYTHING)


def crash() -> Execution:
    """A handler raises; all are up from the beginning, without an event."""
    made = scenario(running="abc", nodes=dict.fromkeys("abc", Echo))
    return execute(made, 0, [Send("a", Ping(3)), act("", 1, "a", "Ping"), act("a", 1, "a", "Pong")])


class Echo(Player):
    def on_message(self, ctx: Context, sender: str, message: Any) -> None:
        super().on_message(ctx, sender or ctx.me, message)


class Eager(Player):
    """Pings when it starts."""

    def on_start(self, ctx: Context) -> None:
        super().on_start(ctx)
        self._ping(ctx, 1)


def eager() -> Execution:
    """What is sent before the first event arrives: b pings a as it comes up."""
    made = scenario(running="abc", nodes=dict.fromkeys("abc", Eager))
    return execute(made, 0, [act("b", 1, "a", "Ping"), act("a", 3, "b", "Pong")])


HOSTILE = (
    "<script>window.hit = 1</script>",
    "\"><img src=x onerror='window.hit = 1'>",
    "x\x1b[31m\n写真" + "n" * 200,
)


@dataclass(frozen=True)
class Markup:
    text: str


class Echoing(Node):
    """Names, states, messages, remarks and timers that look like markup or drive a terminal."""

    def on_start(self, ctx: Context) -> None:
        self.__dict__[HOSTILE[0]] = "</script>\x1b[2J"
        ctx.set_timer(HOSTILE[1])

    def on_message(self, ctx: Context, sender: str, message: Any) -> None:
        self.__dict__[HOSTILE[0]] = HOSTILE[1]
        ctx.log(HOSTILE[2])
        ctx.send(HOSTILE[1], Markup(HOSTILE[0] + "\udc80"))


def hostile_invariant(nodes: Mapping[str, Any]) -> Broken | None:
    if any(vars(node).get(HOSTILE[0]) == HOSTILE[1] for node in list(nodes.values())[1:]):
        return Broken(HOSTILE[0], HOSTILE[1] + "\x1b[31m", (HOSTILE[2],))
    return None


def hostile() -> Execution:
    made = Scenario(nodes=dict.fromkeys(HOSTILE, Echoing), invariants=(hostile_invariant,))
    steps: list[Step] = [Start(name) for name in HOSTILE]
    steps += [CodeBlock(HOSTILE[0], nothing), Send(HOSTILE[0], Markup("&amp;")), act("", 1, HOSTILE[0], "Markup")]
    return execute(made, 0, [*steps, timer(HOSTILE[1], 1, HOSTILE[1]), act(HOSTILE[0], 2, HOSTILE[1], "Markup")])


def _drawn(random: Random, world: World) -> External:
    one, other = random.sample("abc", 2)
    events: Sequence[External] = (
        Send(one, Go()), Send(one, Go()), Restart(one), Stop(one), Start(one), Start(one),
        Partition(one, other), Partition(one, other, one_way=True), Heal(), Heal(one, other),
    )  # fmt: skip
    return random.choice(events)


def drawn(seed: int, steps: int = 80) -> Execution:
    """A random run with a lot going on."""
    made = scenario(
        before=[Start(n) for n in "abc"],
        events=[(1, _drawn)],
        count=steps // 3,
        steps=steps,
        loss=0.1,
        duplication=0.1,
        network=Network.FIFO if seed % 2 else Network.REORDERING,
    )
    return execute(made, seed, random_run(made, seed, recording=True).steps)


def turned() -> Execution:
    """Return a run in which a code block restarts, stops and starts nodes; d is never up, and not shown."""

    def turn(world: World) -> None:
        world.inject(Restart("a"))
        world.inject(Stop("b"))
        world.inject(Start("c"))
        world.inject(Start("c"))  # which is up already
        world.inject(Stop("d"))  # which is not up

    cluster = scenario(nodes=dict.fromkeys("abcd", Player), running=("a", "b"))
    return execute(cluster, 0, [CodeBlock("turn", turn), Send("a", Note()), act("", 1, "a", "Note")])
