"""A node that ends its process where no answer has come after a second."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from clew.simulation import Context, Node, Scenario, VirtualTime


@dataclass(frozen=True)
class Ping:
    """From a to b, and back."""


class Impatient(Node):
    """Asks once."""

    def on_start(self, ctx: Context) -> None:
        self.answers = 0
        if ctx.me == "a":
            ctx.send("b", Ping())
            ctx.set_timer("give up", after=1)

    def on_message(self, ctx: Context, sender: str, message: Any) -> None:
        self.answers += 1
        if ctx.me == "b":
            ctx.send("a", Ping())

    def on_timer(self, ctx: Context, name: str) -> None:
        if not self.answers:
            os._exit(0)


def nothing_more(nodes: Any) -> None:
    """Promise nothing but that no process ends."""


scenario = Scenario(
    nodes={"a": Impatient, "b": Impatient},
    running=("a", "b"),
    promises=[nothing_more],
    time=VirtualTime(latency=0.1, until=3),
)
