"""A client asks a server, which tells a backup before it answers; small enough to know every event of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from clew.simulation import Context, Node, Scenario, Send, VirtualTime


@dataclass(frozen=True)
class Put:
    value: int


@dataclass(frozen=True)
class Copy:
    value: int


@dataclass(frozen=True)
class Done:
    value: int


class Client(Node):
    def on_start(self, ctx: Context) -> None:
        self.done: list[int] = []

    def on_message(self, ctx: Context, sender: str, message: Any) -> None:
        match message:
            case Put():
                ctx.send("server", message)
            case Done(value):
                self.done.append(value)


class Server(Node):
    """Answers at once (``hasty``), or when the backup has it."""

    def __init__(self, hasty: bool) -> None:
        self._hasty = hasty

    def on_start(self, ctx: Context) -> None:
        self.stored: list[int] = list(ctx.durable.get("stored", ()))

    def on_message(self, ctx: Context, sender: str, message: Any) -> None:
        match message:
            case Put(value):
                self.stored.append(value)
                ctx.send("backup", Copy(value))
                if self._hasty:
                    ctx.send("client", Done(value))
            case Done() if not self._hasty:
                ctx.send("client", message)


class Backup(Node):
    def on_start(self, ctx: Context) -> None:
        self.stored: list[int] = []

    def on_message(self, ctx: Context, sender: str, message: Any) -> None:
        self.stored.append(message.value)
        ctx.send("server", Done(message.value))


def stored_somewhere(nodes: Mapping[str, Any]) -> str | None:
    """Check that what was acknowledged is at the server or at the backup."""
    for value in nodes["client"].done:
        if not any(value in nodes[name].stored for name in ("server", "backup") if name in nodes):
            return f"{value} is nowhere"
    return None


def was_acknowledged(nodes: Mapping[str, Any]) -> bool:
    return "client" in nodes and bool(nodes["client"].done)


def relay(*, hasty: bool = True, **fields: Any) -> Scenario:
    """Make the scenario: one put, and messages that take 10 ms."""
    given: dict[str, Any] = {
        "nodes": {"client": Client, "server": lambda: Server(hasty), "backup": Backup},
        "running": ("client", "server", "backup"),
        "before": [Send("client", Put(7))],
        "promises": [stored_somewhere],
        "assume": was_acknowledged,
        "time": VirtualTime(latency=0.01, until=1),
    }
    return Scenario(**{**given, **fields})
