"""A node that only listens."""

from __future__ import annotations

from typing import Any

from clew.simulation import Context, Node


class Quiet(Node):
    """Notes what it gets."""

    def on_start(self, ctx: Context) -> None:
        self.got: list[Any] = []

    def on_message(self, ctx: Context, sender: str, message: Any) -> None:
        self.got.append(message)
