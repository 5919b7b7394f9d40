"""Runs of the ad network of ``examples/blazes/ad_network.py``, with messages in a random order, from a seed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from clew.bloom.ir.schema import Kind
from clew.bloom.runtime.machine import StepResult
from clew.files.python_module import import_file
from command import ROOT
from random_network import RandomNetwork

ads = import_file(ROOT / "examples" / "blazes" / "ad_network.py")

Answers = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Run:
    """The answers (ad, campaign) that each report server gave, and what each cache has in the end."""

    answers: Mapping[str, Answers]
    caches: Mapping[str, Answers]

    @property
    def agreed(self) -> bool:
        return len({*self.answers.values()}) == len({*self.caches.values()}) == 1


class AdCluster(RandomNetwork):
    """Writes down what report servers answer.  Steps in which nothing can happen are left out."""

    def __init__(self, nodes: Mapping[str, Any], seed: int, **chances: float) -> None:
        super().__init__(nodes, seed, **chances)
        self.answered: dict[str, set[tuple[str, str]]] = {address: set() for address in ads.REPORTERS}

    def play_round(self) -> None:
        addresses = list(self.nodes)
        self.chance.shuffle(addresses)
        for address in addresses:
            self.deliver_some(address)
            if self.nodes[address].machine.pending:
                self.take(address, self.nodes[address].tick())

    def take(self, address: str, stepped: StepResult) -> None:
        for channel, row in stepped.sent:
            if channel == "results":
                _, ad, campaign = row
                self.answered[address].add((ad, campaign))
        super().take(address, stepped)


class Network:
    """The nodes of one kind, for any number of runs."""

    def __init__(self, kind: Any) -> None:
        self._kind = kind
        self._nodes: dict[str, Any] = ads.network(kind)

    def run(self, seed: int) -> Run:
        """A run from the start: the nodes are as new before and after it."""
        cluster = AdCluster(self._nodes, seed)
        ads.begin(self._nodes, self._kind)
        cluster.settle()
        assert (cluster.refused, cluster.unreachable) == ([], [])
        stored = {address: self._nodes[address].cache.store for address in ads.CACHES}
        run = Run(
            {address: tuple(sorted(found)) for address, found in cluster.answered.items()},
            {address: tuple(sorted(map(tuple, rows))) for address, rows in stored.items()},
        )
        self._clear()
        return run

    def _clear(self) -> None:
        """To make nodes takes longer than a run.  All that a node knows is in its tables."""
        for node in self._nodes.values():
            tables = [c.name for c in node.program.collections if c.kind is Kind.TABLE]
            for name in tables:
                node.machine.delete(name, list(node.machine.rows(name)))
            node.until_quiet()
            assert not any(len(node.machine.rows(name)) for name in tables)
