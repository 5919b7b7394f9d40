"""Bloom nodes stepped in rounds on the simulation's world, which delivers in a random order, from a seed.

For tests that hold the nodes in their hands: they insert rows, let timers go off, and look at what nodes have.
The same seed is the same run.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from clew.bloom.runtime.machine import RejectedRow, StepResult
from clew.bloom.simulated.messages import message_type
from clew.errors import UsageError
from clew.simulation import CodeBlock, Context, Node, Send, Start, World
from clew.simulation.pool import Envelope

Row = tuple[Any, ...]


class _Member(Node):
    """Hands over what arrives; it is there in the next step of the program."""

    def __init__(self, program: Any) -> None:
        self._program = program

    def on_message(self, ctx: Context, sender: str, message: Any) -> None:
        self._program.machine.deliver(message.collection, message.row)


class _Makers(Mapping[str, Callable[[], Node]]):
    """What makes the members of a network, as they are: tests let nodes go and come."""

    def __init__(self, nodes: Mapping[str, Any]) -> None:
        self._nodes = nodes

    def __getitem__(self, name: str) -> Callable[[], Node]:
        program = self._nodes[name]
        return lambda: _Member(program)

    def __iter__(self) -> Iterator[str]:
        return iter(self._nodes)

    def __len__(self) -> int:
        return len(self._nodes)


class RandomNetwork:
    """``nodes`` by address.  In a round, each node gets some of what is under way to it, and steps.

    ``loss`` and ``duplication`` are chances for each message that is about to arrive; a copy arrives by itself,
    maybe in another round.  ``refused`` is what nodes rejected, ``unreachable`` what was sent to nobody.
    """

    def __init__(
        self, nodes: Mapping[str, Any], seed: int = 0, *, loss: float = 0.0, duplication: float = 0.0
    ) -> None:
        self.nodes: dict[str, Any] = dict(nodes)  # of classes with collections of their own
        self.world = World(_Makers(self.nodes), fifo=False, seed=seed)
        self.refused: list[tuple[str, RejectedRow]] = []
        self.printed: list[tuple[str, Row]] = []
        self.unreachable: list[tuple[str, Row]] = []
        self.chance = random.Random(seed)
        self._loss = loss
        self._duplication = duplication
        self._fired = 0

    def run(self, rounds: int) -> None:
        for _ in range(rounds):
            self.play_round()

    def settle(self, limit: int = 1000) -> int:
        """Run until nothing is under way and no node has anything to do; return how many rounds that took."""
        for rounds in range(limit):
            if not self.world.pool.messages and not any(node.machine.pending for node in self.nodes.values()):
                return rounds
            self.play_round()
        raise UsageError(f"the nodes are not settled after {limit} rounds")

    def fire(self, address: str, timer: str) -> None:
        """Let a timer of a node go off."""
        self._fired += 1
        self.nodes[address].machine.deliver(timer, (self._fired, self._fired))

    def send(self, address: str, channel: str, row: Row) -> None:
        """Put a row on its way, from outside."""
        self._start(address)
        self.world.inject(Send(address, message_type(channel)(row)))

    def play_round(self) -> None:
        addresses = list(self.nodes)
        # A message may arrive in the round in which it was sent, if its receiver has its turn later.
        self.chance.shuffle(addresses)
        for address in addresses:
            self.deliver_some(address)
            self.take(address, self.nodes[address].tick())

    def deliver_some(self, address: str) -> None:
        """Deliver about half of what is under way to a node, in a random order."""
        arriving = [envelope for envelope in self.world.pool.messages if envelope.target == address]
        self.chance.shuffle(arriving)
        for envelope in arriving:
            # Half of it: so some messages are overtaken by later ones.
            if self.chance.random() < 0.5:
                self._meet_fate(envelope)

    def _meet_fate(self, envelope: Envelope) -> None:
        if self.chance.random() < self._duplication:
            self.world.duplicate(envelope)
        if self.chance.random() < self._loss:
            self.world.lose(envelope)
        else:
            self.world.deliver(envelope)

    def take(self, address: str, stepped: StepResult) -> None:
        """Put on its way what a step sent."""
        self.refused.extend((address, refused) for refused in stepped.refused)
        self.printed.extend((address, row) for row in stepped.printed)
        self.world.inject(CodeBlock(f"{address} sends", lambda world: self._send_all(address, stepped)))

    def _send_all(self, address: str, stepped: StepResult) -> None:
        for channel, row in stepped.sent:
            to = self.nodes[address].program.destination(channel, row)
            if to not in self.nodes:
                self.unreachable.append((channel, row))
                continue
            self._start(to)
            self.world.send(address, to, message_type(channel)(row), 0)

    def _start(self, address: str) -> None:
        if address not in self.world.processes:
            self.world.inject(Start(address))
