"""A shop and its warehouse: the contents of a message, tuples of frozen dataclasses, decide how long a run is.

The shop asks the warehouse to reserve each line of an order, and ships when all are reserved.  Bug: the answer for
an item is taken for all lines of that item, so that an order with the same item twice is shipped early.

Smallest: an order with two lines, of one item; one reservation and its answer.  Every other item of the order
costs two deliveries more, for the order is shipped when it is complete.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

from clew.simulation import Broken, Context, Node, Scenario, Send, World


@dataclass(frozen=True)
class Line:
    item: str
    options: tuple[str, ...]


@dataclass(frozen=True)
class Order:
    """From outside."""

    number: int
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class Reserve:
    order: int
    item: str


@dataclass(frozen=True)
class Reserved:
    order: int
    item: str


class Shop(Node):
    def __init__(self) -> None:
        self.missing: dict[int, list[str]] = {}
        self.shipped: dict[int, int] = {}
        self.lines: dict[int, int] = {}

    def on_message(self, ctx: Context, sender: str, message: Any) -> None:
        if isinstance(message, Order):
            self.missing[message.number] = [line.item for line in message.lines]
            self.lines[message.number] = len(message.lines)
            for line in message.lines:
                ctx.send("warehouse", Reserve(message.number, line.item))
        else:
            missing = self.missing.get(message.order, [])
            # Bug: this is the answer for one of these lines, not for all.
            missing[:] = [item for item in missing if item != message.item]
            if not missing and message.order not in self.shipped:
                self.shipped[message.order] = self.lines[message.order]


class Warehouse(Node):
    def __init__(self) -> None:
        self.reserved: dict[int, int] = {}

    def on_message(self, ctx: Context, sender: str, message: Any) -> None:
        self.reserved[message.order] = self.reserved.get(message.order, 0) + 1
        ctx.send("shop", Reserved(message.order, message.item))


def reserved_first(nodes: Mapping[str, Any]) -> Broken | None:
    """Whatever is shipped was reserved."""
    shop, warehouse = nodes["shop"], nodes["warehouse"]
    for order, lines in shop.shipped.items():
        if warehouse.reserved.get(order, 0) < lines:
            return Broken("reserved first", f"order {order} is shipped too early", ("shop",))
    return None


def order(random: Random, world: World) -> Send:
    lines = [Line(random.choice("pqrstuvw"), ("red", "large")) for _ in range(random.randint(4, 8))]
    return Send("shop", Order(world.events, tuple(lines)))


early = Scenario(
    nodes={"shop": Shop, "warehouse": Warehouse},
    running=("shop", "warehouse"),
    events=[(1, order)],
    count=30,
    steps=1000,
    invariants=[reserved_first],
)
