"""A bank account with a journal: what came from outside has to be exchanged, not only left out.

The account keeps a journal of what was paid in, and reads it when it recovers from a crash.  Bug: it writes what
it reads, so that every recovery doubles the balance.  No account may hold more than 100.

Smallest: 60 is paid in, then a restart.  Which deposits and crashes delta debugging keeps is chance: 10 and four
recoveries, each of them a stop and a start, are an execution from which nothing can be left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

from clew.simulation import Broken, Context, Node, Restart, Scenario, Send, Start, Stop, World

LIMIT = 100


@dataclass(frozen=True)
class Deposit:
    """From outside."""

    amount: int


@dataclass(frozen=True)
class Withdraw:
    """From outside: everything that is there."""


class Account(Node):
    def __init__(self) -> None:
        self.balance = 0

    def on_start(self, ctx: Context) -> None:
        journal = ctx.durable.get("journal", ())
        for amount in journal:
            self._write(ctx, amount)  # bug: it is in the journal already
        self.balance = sum(ctx.durable.get("journal", ()))

    def on_message(self, ctx: Context, sender: str, message: Any) -> None:
        if isinstance(message, Withdraw):
            self.balance = 0
            ctx.durable["journal"] = ()
        elif self.balance + message.amount <= LIMIT:
            self.balance += message.amount
            self._write(ctx, message.amount)

    def _write(self, ctx: Context, amount: int) -> None:
        ctx.durable["journal"] = (*ctx.durable.get("journal", ()), amount)


def limited(nodes: Mapping[str, Any]) -> Broken | None:
    for name, account in nodes.items():
        if account.balance > LIMIT:
            return Broken("limit", f"{name} holds {account.balance}", (name,))
    return None


def deposit(random: Random, world: World) -> Send:
    return Send("account", Deposit(random.choice((5, 10, 10, 20, 60))))


def withdraw(random: Random, world: World) -> Send:
    return Send("account", Withdraw())


def crash(random: Random, world: World) -> Restart | Stop | Start:
    """The account is down for a while, or for no time at all."""
    if "account" not in world.processes:
        return Start("account")
    return random.choice((Restart("account"), Stop("account"), Stop("account")))


doubling = Scenario(
    nodes={"account": Account},
    running=("account",),
    # So that what the smallest execution needs is in every recording.
    before=[Restart("account"), Send("account", Deposit(60)), Send("account", Withdraw())],
    events=[(4, deposit), (8, withdraw), (1, crash)],
    count=300,
    steps=1000,
    invariants=[limited],
)
