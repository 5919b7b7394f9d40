"""What the author of a node sees: a class with handlers, and a context to act through.

    class Counter(Node):
        def on_start(self, ctx):
            self.count = 0

        def on_message(self, ctx, sender, message):
            self.count += 1
            ctx.send(sender, Ack(self.count))

A node keeps its state in attributes.  A restart makes a new object: only ``ctx.durable`` survives.  Handlers take
everything that is not determined by state and message from the context: the time, random numbers, other nodes.
Nothing here knows how events are scheduled; another driver can offer the same context.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from random import Random
from typing import Any, Protocol


class Context(Protocol):
    """How a handler acts on the world outside its node."""

    @property
    def me(self) -> str:
        """Return the name of this node."""

    @property
    def now(self) -> float:
        """Return the time.

        In any order it is logical, a whole number by Lamport's clock: greater at every event than at all events of
        this node before it, also in earlier lives, and than at those that sent what is delivered; what comes from
        outside comes at time 0.  With virtual time it is what the clock of this node says, in seconds.
        """

    @property
    def random(self) -> Random:
        """Return random numbers that are seeded and this node's own: what other nodes draw makes no difference."""

    @property
    def durable(self) -> MutableMapping[Any, Any]:
        """Return what survives a restart.  Values are copied when they are stored and when they are read."""

    def send(self, target: str, message: Any) -> None:
        """Send a message, also to oneself; it is isolated: changing it afterwards changes nothing there."""

    def set_timer(self, name: str = "timer", after: float | None = None) -> None:
        """Ask for ``on_timer`` when ``after`` seconds have passed by the clock of this node, never earlier.

        Only virtual time counts seconds: in any order it can come at any time from now on.  Set again, it is still
        one timer; with virtual time it begins anew.
        """

    def cancel_timer(self, name: str = "timer") -> None:
        """Withdraw a timer; one that is not set is no mistake."""

    def log(self, text: str) -> None:
        """Make a remark that recordings and reports show with this event."""


class Node:
    """A process.  Override what it needs."""

    def on_start(self, ctx: Context) -> None:
        """Handle the start of the process, also when it starts again."""

    def on_message(self, ctx: Context, sender: str, message: Any) -> None:
        """Handle a message that is delivered; ``sender`` is "" for one from outside."""

    def on_timer(self, ctx: Context, name: str) -> None:
        """Handle a timer that was set and goes off."""
