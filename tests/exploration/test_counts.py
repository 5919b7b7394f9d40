"""Small programs whose classes of schedules can be counted by hand; the reference counts them, too."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import factorial
from typing import Any, NamedTuple

import pytest

from clew.exploration import ExplorationAnswer, explore
from clew.simulation import (
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
)
from exploration.attempt import Limits
from exploration.brute import brute
from exploration.quiet import Quiet

Nodes = Mapping[str, Callable[[], Node]]


def sender(*targets: str) -> Callable[[], Node]:
    """Sends a message to each of these when it starts."""

    class Sender(Quiet):
        def on_start(self, ctx: Context) -> None:
            super().on_start(ctx)
            for number, target in enumerate(targets):
                ctx.send(target, number)

    return Sender


class Relay(Quiet):
    """Passes on to b what comes from outside."""

    def on_message(self, ctx: Context, sender: str, message: Any) -> None:
        ctx.send("b", message)


class RelayAndSender(Relay):
    """Has sent something to b before."""

    def on_start(self, ctx: Context) -> None:
        super().on_start(ctx)
        ctx.send("b", 0)


class Chain(Quiet):
    """Passes on what it gets, from a to b and from b to c."""

    def on_message(self, ctx: Context, sender: str, message: Any) -> None:
        super().on_message(ctx, sender, message)
        if ctx.me != "c":
            ctx.send({"a": "b", "b": "c"}[ctx.me], message)


class PingPong(Quiet):
    def on_message(self, ctx: Context, sender: str, message: int) -> None:
        if message:
            ctx.send({"a": "b", "b": "a"}[ctx.me], message - 1)


class Ticking(Quiet):
    """A timer that is set again and again."""

    def on_start(self, ctx: Context) -> None:
        super().on_start(ctx)
        ctx.set_timer()

    def on_timer(self, ctx: Context, name: str) -> None:
        ctx.set_timer()


class Patient(Quiet):
    """A timer that a message cancels."""

    def on_start(self, ctx: Context) -> None:
        super().on_start(ctx)
        ctx.set_timer()

    def on_message(self, ctx: Context, sender: str, message: Any) -> None:
        ctx.cancel_timer()


class Fragile(Quiet):
    def on_message(self, ctx: Context, sender: str, message: Any) -> None:
        raise ValueError(message)


def cluster(nodes: Nodes, *before: External, reordering: bool = False) -> Scenario:
    """All nodes are up from the beginning, started in this order; the limits say what is lost or duplicated."""
    network = Network.REORDERING if reordering else Network.FIFO
    return Scenario(
        nodes=nodes, running=[*nodes], before=before, network=network, loss=0.1, duplication=0.1, steps=100
    )


def many_to_one(senders: int) -> Scenario:
    return cluster({"r": Quiet, **{f"s{i}": sender("r") for i in range(senders)}})


class Case(NamedTuple):
    name: str
    scenario: Scenario
    classes: int
    limits: Limits = Limits()
    reason: str | None = None


ONE: Nodes = {"b": Quiet, "a": sender("b")}
TWO: Nodes = {"b": Quiet, "a": sender("b", "b")}
UNRELATED: Nodes = {"b": Quiet, "d": Quiet, "a": sender("b"), "c": sender("d")}
CHAIN: Nodes = {"a": Chain, "b": Chain, "c": Chain}
RELAY: Nodes = {"b": Quiet, "a": Relay}
AGAIN: Nodes = {"b": Quiet, "a": RelayAndSender}
GAME: Nodes = {"a": PingPong, "b": PingPong}
LINES: Nodes = {"r": Quiet, "a": sender("r", "r"), "b": sender("r", "r")}
MEETING: Nodes = {"r": Quiet, "a": sender("r"), "b": sender("r")}
CODE = CodeBlock("nothing", lambda world: None)
ARRIVED = WaitCondition("b has it", lambda world: bool(getattr(world.nodes["b"], "got", [])))
NEVER = WaitCondition("never", lambda world: False)

CASES = [
    *(Case(f"{n} senders to one receiver", many_to_one(n), factorial(n)) for n in range(1, 6)),
    Case("two messages in line", cluster(TWO), 1),
    Case("two messages in any order", cluster(TWO, reordering=True), 2),
    # As many as there are ways to merge two lines of two.
    Case("two lines", cluster(LINES), 6),
    Case("unrelated pairs", cluster(UNRELATED), 1),
    Case("ping-pong", cluster(GAME, Send("a", 6)), 1),
    Case("from outside in no order", cluster({"a": Quiet}, Send("a", 0), Send("a", 0)), 2),
    Case("unrelated timers", cluster({"a": Ticking, "b": Ticking}), 1),
    Case(
        "no timers",
        cluster({"a": Ticking}),
        1,
        Limits(timers=0),
        reason="no handler runs: no message arrives, no timer goes off, no node starts",
    ),
    # The message comes before, between or after the timers.
    Case("timers and a message", cluster({"a": Ticking}, Send("a", 1)), 3),
    Case("more timers and a message", cluster({"a": Ticking}, Send("a", 1)), 5, Limits(timers=4)),
    Case("a timer that is cancelled", cluster({"a": Patient}, Send("a", 1)), 2),
    Case("restart while a message is on its way", cluster(ONE, Restart("b")), 2),
    # Sent after the restart; sent before it and delivered; sent before it and lost.
    Case("restart racing with a send", cluster(RELAY, Send("a", 1), Restart("b")), 3),
    # Nothing, one of the two, or both in one of two orders is delivered before the end.
    Case("stop while messages are on their way", cluster(MEETING, Stop("r")), 5),
    # Also sent while it is down.
    Case("stop and start", cluster(RELAY, Send("a", 1), Stop("b"), Start("b")), 4),
    Case("sent before the start", Scenario(nodes=ONE, before=[Start("a"), Start("b")]), 1),
    Case("sent after the start", Scenario(nodes=ONE, before=[Start("b"), Start("a")]), 1),
    Case("partition", cluster(ONE, Partition("a", "b")), 2),
    Case("partition of the way back", cluster(ONE, Partition("b", "a", one_way=True)), 1),
    Case("partition of others", cluster(UNRELATED, Partition("a", "d")), 1),
    Case("partition and heal", cluster(ONE, Partition("a", "b"), Heal()), 2),
    Case("partition and heal, in line", cluster(TWO, Partition("a", "b"), Heal("b", "a")), 3),
    # Both before, one before and one after, or both after: each in two orders.
    Case("partition and heal, any order", cluster(TWO, Partition("a", "b"), Heal(), reordering=True), 6),
    # From a to b before the partition, and then to c before the other or not at all; or to b after the heal.
    Case(
        "a heal after another partition",
        cluster(CHAIN, Send("a", 1), Partition("a", "b"), Partition("b", "c"), Heal("a", "b")),
        3,
    ),
    # From a to b before the partition, and then to c before it stops or not at all; or to b after the heal.
    Case("a heal after a stop", cluster(CHAIN, Send("a", 1), Partition("a", "b"), Stop("c"), Heal("a", "b")), 3),
    # Before the first partition, between the first heal and the second partition, or after the second heal.
    Case(
        "two partitions, both healed",
        cluster(RELAY, Send("a", 1), Partition("a", "b"), Heal(), Partition("b", "a"), Heal("a", "b")),
        3,
    ),
    Case("partition twice", cluster(RELAY, Send("a", 1), Partition("a", "b"), Partition("a", "b"), Heal()), 2),
    Case("heal without a partition", cluster(RELAY, Send("a", 1), Heal("a", "b"), Heal()), 1),
    Case("no waiting", cluster(ONE, Send("b", 9)), 2),
    Case("waiting until no message is left", cluster(ONE, WaitQuiescence(), Send("b", 9)), 1),
    Case("waiting twice", cluster(ONE, WaitQuiescence(), WaitQuiescence(), Send("b", 9)), 1),
    # None, one or both timers before the wait is over; then the message among those that are left: 3 + 2 + 1.
    Case("waiting with timers", cluster({"a": Ticking}, WaitQuiescence(), Send("a", 1)), 6),
    # Code happens at each of the four global states.
    Case("code", cluster(UNRELATED, CODE), 4),
    Case("a condition that holds in two of them", cluster(UNRELATED, ARRIVED, CODE), 2),
    Case(
        "a condition that never holds",
        cluster(UNRELATED, NEVER, Send("b", 1)),
        1,
        reason="'wait for never' never ends, so what follows never happens: send int to b",
    ),
    Case("a loss", cluster(ONE), 2, Limits(losses=1)),
    Case("a loss in line", cluster(TWO), 3, Limits(losses=1)),
    Case("losses in line", cluster(TWO), 4, Limits(losses=2)),
    # Both delivered in two orders; one of the two lost, before or after the other is delivered.
    Case("a loss, any order", cluster(TWO, reordering=True), 6, Limits(losses=1)),
    # Neither message is lost, or one of the two; none of them, the first or both are out of the way before the
    # partition.  If that from outside is lost, there is one message: 3 * 3 + 2 * 2.
    Case(
        "a loss before or after a partition",
        cluster(AGAIN, Send("a", 1), Partition("a", "b"), Heal()),
        13,
        Limits(losses=1),
    ),
    # With the first lost, the second is delivered before or after the partition; otherwise it may be lost, too.
    # If that from outside is lost, there is no second: 2 + 4 + 2.
    Case(
        "a loss long before a partition",
        cluster(AGAIN, WaitQuiescence(), Send("a", 1), Partition("a", "b"), Heal()),
        8,
        Limits(losses=1),
    ),
    Case("a duplicate", cluster(ONE), 2, Limits(duplicates=1)),
    # No copy; the copy after the original, or before it.
    Case("a duplicate, any order", cluster(ONE, reordering=True), 3, Limits(duplicates=1)),
    # No copy, one, or two: of the original twice, or of the original and later of the copy.
    Case("duplicates", cluster(ONE), 4, Limits(duplicates=2)),
    Case("an exception ends nothing elsewhere", cluster({**ONE, "b": Fragile, "d": Quiet}, Send("d", 1)), 1),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_class_once(case: Case) -> None:
    limits = case.limits
    explored = explore(
        case.scenario,
        timers=limits.timers,
        losses=limits.losses,
        duplicates=limits.duplicates,
        stop_at_first=False,
    )
    assert explored.schedules == case.classes
    assert (explored.blocked, explored.reason) == (0, case.reason)
    assert len(brute(case.scenario, limits).classes) == case.classes


def test_the_count_is_that_of_a_reduction() -> None:
    """Three unrelated games of ping-pong: one class, of very many schedules."""

    class Player(Quiet):
        def on_message(self, ctx: Context, sender: str, message: int) -> None:
            if message:
                ctx.send(sender or {"a": "b", "c": "d", "e": "f"}[ctx.me], message - 1)

    scenario = cluster(dict.fromkeys("abcdef", Player), Send("a", 9), Send("c", 9), Send("e", 9))
    explored = explore(scenario)
    assert (explored.schedules, explored.events, explored.answer) == (1, 33, ExplorationAnswer.ALL_EXPLORED)
