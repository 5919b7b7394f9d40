"""The closure that the benchmark measures is the one that is written by hand."""

from __future__ import annotations

import pytest
from benchmarks.bloom_closure import Closure, by_hand, random_edges


@pytest.mark.parametrize(("nodes", "edges"), [(10, 15), (40, 60), (40, 200)])
def test_both_closures_are_the_same(nodes: int, edges: int) -> None:
    graph = random_edges(nodes, edges, seed=nodes)
    node = Closure()
    node.link.insert(*graph)
    node.tick()
    assert list(node.path) == sorted(by_hand(graph))


def test_edges_that_come_later_extend_it() -> None:
    graph = random_edges(30, 60)
    node = Closure()
    for start in range(0, 60, 7):
        node.link.insert(*graph[start : start + 7])
        node.tick()
        assert list(node.path) == sorted(by_hand(graph[: start + 7]))
