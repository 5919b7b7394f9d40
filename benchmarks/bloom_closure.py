"""Transitive closure of a random graph in one step of a Bloom node, against the same fixpoint written by hand.

``python -m benchmarks.bloom_closure`` prints the times and their ratio; the bar is a ratio of 10.
"""

from __future__ import annotations

import gc
import random
import time
from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.effort import say
from clew.bloom.language.declarations import bloom, table
from clew.bloom.runtime.node import Node

EDGES = 2_000
NODES = (1_000, 2_000)
#: How many times slower than by hand a step may be.
BAR = 10.0
_REPETITIONS = 3

Edges = list[tuple[int, int]]


@dataclass(frozen=True)
class Measured:
    """Seconds, the best of some repetitions; ``paths`` is the size of the closure."""

    nodes: int
    paths: int
    by_hand: float
    bloom: float

    @property
    def ratio(self) -> float:
        return self.bloom / self.by_hand


class Closure(Node):
    """Which nodes can be reached from which."""

    link = table("src", "dst")
    path = table("src", "dst")

    @bloom
    def closure(self) -> None:
        self.path <= self.link  # noqa: B015  # a rule
        self.path <= (self.link * self.path).pairs(lambda a, b: (a.src, b.dst), dst="src")  # noqa: B015


def random_edges(nodes: int, edges: int = EDGES, seed: int = 0) -> Edges:
    chance = random.Random(seed)
    found: dict[tuple[int, int], None] = {}
    while len(found) < edges:
        found[chance.randrange(nodes), chance.randrange(nodes)] = None
    return list(found)


def by_hand(edges: Edges) -> set[tuple[int, int]]:
    """The semi-naive fixpoint with dictionaries and sets."""
    sources: dict[int, list[int]] = {}
    for source, target in edges:
        sources.setdefault(target, []).append(source)
    paths = set(edges)
    delta = paths
    while delta:
        new = {(source, end) for start, end in delta for source in sources.get(start, ())}
        delta = new - paths
        paths |= delta
    return paths


def measure(nodes: int, edges: int = EDGES, repetitions: int = _REPETITIONS) -> Measured:
    graph = random_edges(nodes, edges)
    expected = by_hand(graph)
    hand = min(_seconds(lambda: by_hand(graph)) for _ in range(repetitions))
    bloom_times = []
    for _ in range(repetitions):
        node = Closure()
        node.link.insert(*graph)
        bloom_times.append(_seconds(node.tick))
        if len(node.path) != len(expected):
            raise AssertionError("the two closures differ")
    return Measured(nodes, len(expected), hand, min(bloom_times))


def _seconds(run: Callable[[], object]) -> float:
    gc.collect()
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def main() -> int:
    measured = [measure(nodes) for nodes in NODES]
    for m in measured:
        say(
            f"{EDGES} edges, {m.nodes} nodes, {m.paths} paths:"
            f" by hand {m.by_hand:.3f} s, Bloom {m.bloom:.3f} s, {m.ratio:.1f} times"
        )
    return 0 if all(m.ratio <= BAR for m in measured) else 1


if __name__ == "__main__":
    raise SystemExit(main())
