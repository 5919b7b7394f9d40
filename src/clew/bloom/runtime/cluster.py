"""Nodes in one process and a network between them that delivers in a random order, from a seed.

For tests of programs: the same seed is the same run.  ``clew.analysis.calm.trying.orders`` compares many runs.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

from clew.bloom.ir.program import BloomProgram
from clew.bloom.runtime.machine import RejectedRow, StepResult
from clew.bloom.runtime.node import Node
from clew.bloom.values import Row
from clew.errors import UsageError


class Cluster:
    """``nodes`` by address.  In a round, each node gets some of what is under way to it, and steps.

    ``loss`` and ``duplication`` are chances for each message; one that is duplicated arrives twice, maybe in
    different rounds.  ``refused`` is what nodes rejected, ``unreachable`` what was sent to unknown addresses.
    """

    def __init__(
        self, nodes: Mapping[str, Node], seed: int = 0, *, loss: float = 0.0, duplication: float = 0.0
    ) -> None:
        self.nodes: dict[str, Any] = dict(nodes)  # of classes with collections of their own
        self.under_way: list[tuple[str, str, Row]] = []
        self.refused: list[tuple[str, RejectedRow]] = []
        self.printed: list[tuple[str, Row]] = []
        self.unreachable: list[tuple[str, Row]] = []
        self._chance = random.Random(seed)
        self._loss = loss
        self._duplication = duplication
        self._fired = 0

    def run(self, steps: int) -> None:
        """Run so many rounds."""
        for _ in range(steps):
            self._round()

    def settle(self, limit: int = 1000) -> int:
        """Run until nothing is under way and no node has anything to do; return how many rounds that took."""
        for rounds in range(limit):
            if not self.under_way and not any(node.machine.pending for node in self.nodes.values()):
                return rounds
            self._round()
        raise UsageError(
            f"the nodes are not settled after {limit} rounds",
            remedy="nodes that send or count for ever do not settle: use run(...), or a higher limit",
        )

    def fire(self, address: str, timer: str) -> None:
        """Let a timer of a node go off."""
        self._fired += 1
        # A number in place of the time of day: the same run must have the same rows.
        self.nodes[address].machine.deliver(timer, (self._fired, self._fired))

    def _round(self) -> None:
        addresses = list(self.nodes)
        # A message may arrive in the round in which it was sent, if its receiver has its turn later: so the
        # order is drawn, too.
        self._chance.shuffle(addresses)
        for address in addresses:
            self._deliver_some(address)
            self._take(address, self.nodes[address].tick())

    def _deliver_some(self, address: str) -> None:
        """Deliver about half of what is under way to a node, in a random order."""
        self._chance.shuffle(self.under_way)
        kept = []
        for message in self.under_way:
            to, channel, row = message
            # Half of it: so some messages are overtaken by later ones, which a network that delivers all at once
            # would never show.
            if to == address and self._chance.random() < 0.5:
                self.nodes[address].machine.deliver(channel, row)
            else:
                kept.append(message)
        self.under_way = kept

    def _take(self, address: str, stepped: StepResult) -> None:
        self.refused.extend((address, refused) for refused in stepped.refused)
        self.printed.extend((address, row) for row in stepped.printed)
        for channel, row in stepped.sent:
            to = destination(self.nodes[address].program, channel, row)
            if to not in self.nodes:
                self.unreachable.append((channel, row))
                continue
            # A copy is lost or kept by itself, as a datagram is.
            copies = 2 if self._chance.random() < self._duplication else 1
            arriving = [(to, channel, row) for _ in range(copies) if self._chance.random() >= self._loss]
            self.under_way.extend(arriving)


def destination(program: BloomProgram, channel: str, row: Row) -> Any:
    """Return the address that a row of a channel goes to."""
    schema = program.by_name[channel].schema
    assert schema.location is not None
    return row[schema.index(schema.location)]
