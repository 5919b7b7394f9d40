"""Scenarios that a check must not take at their word: a ping from one node to another, and what can be wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from random import Random
from typing import Any

from clew.simulation import Context, Faults, Node, Scenario, Send, VirtualTime


@dataclass(frozen=True)
class Ping:
    number: int


class Plain(Node):
    """``a`` passes on what it gets, ``b`` keeps it."""

    def on_start(self, ctx: Context) -> None:
        self.got: list[Any] = []

    def on_message(self, ctx: Context, sender: str, message: Any) -> None:
        self.keep(message.number, ctx)
        if ctx.me == "a":
            ctx.send("b", Ping(2))

    def keep(self, number: int, ctx: Context) -> None:
        self.got.append(number)


class Slotted(Plain):
    __slots__ = ("last",)

    def on_start(self, ctx: Context) -> None:
        self.last = 0

    def keep(self, number: int, ctx: Context) -> None:
        self.last = number


class Reordering(Plain):
    """What changes is the order of keys alone."""

    def on_start(self, ctx: Context) -> None:
        self.order = {0: None, 2: None}

    def keep(self, number: int, ctx: Context) -> None:
        self.order[0] = self.order.pop(0)

    @property
    def last(self) -> int:
        return next(iter(self.order))


class Drawing(Plain):
    """Draws from a source of its own, and keeps nothing else."""

    def on_start(self, ctx: Context) -> None:
        self.source = Random(1)

    def keep(self, number: int, ctx: Context) -> None:
        self.source.random()

    @property
    def last(self) -> int:
        return 2 if self.source.getstate() != Random(1).getstate() else 0


class Closed(Plain):
    """Keeps it in a function."""

    def on_start(self, ctx: Context) -> None:
        kept: list[int] = []
        self.function: Callable[[int], list[int]] = lambda number: kept.append(number) or kept  # type: ignore[func-returns-value]

    def keep(self, number: int, ctx: Context) -> None:
        self.function(number)

    @property
    def last(self) -> int:
        return self.function(0)[0]


class Counting(Plain):
    """Counts with an iterator, through which nobody sees."""

    def on_start(self, ctx: Context) -> None:
        self.numbers = count()

    def keep(self, number: int, ctx: Context) -> None:
        next(self.numbers)

    @property
    def last(self) -> int:
        return 2 * (repr(self.numbers) == "count(1)")


@dataclass
class Recorded(Node):
    """A dataclass whose fields have defaults, which its class has, too."""

    last: int = 0
    got: list[int] = field(default_factory=list)

    def on_message(self, ctx: Context, sender: str, message: Any) -> None:
        self.last = message.number
        if ctx.me == "a":
            ctx.send("b", Ping(2))


class Keeping(Plain):
    """Keeps its context."""

    def on_start(self, ctx: Context) -> None:
        self.context = ctx
        self.last = 0

    def keep(self, number: int, ctx: Context) -> None:
        self.last = number


HIDING: tuple[type[Any], ...] = (Slotted, Reordering, Drawing, Closed, Counting, Recorded, Keeping)


class Sharing(Plain):
    """Keeps it in its class."""

    seen: list[int] = []  # noqa: RUF012

    def keep(self, number: int, ctx: Context) -> None:
        type(self).seen.append(number)


class Erratic(Plain):
    def keep(self, number: int, ctx: Context) -> None:
        self.got.append(next(_ever_more))


_ever_more = count()


def b_got_it(nodes: Any) -> str | None:
    return None if "b" not in nodes or nodes["b"].last == 2 else "b got nothing"


def ping(kind: Callable[[], Node] = Plain, **fields: Any) -> Scenario:
    given: dict[str, Any] = {
        "nodes": {"a": kind, "b": kind},
        "running": ("a", "b"),
        "before": [Send("a", Ping(1))],
        "promises": [lambda nodes: None],
        "time": VirtualTime(latency=0.01, until=1),
        "faults": Faults(losses=1),
    }
    return Scenario(**{**given, **fields})
