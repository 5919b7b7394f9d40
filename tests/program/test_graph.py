"""Strongly connected components, against reachability by brute force."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from clew.program.graph import components

Edges = frozenset[tuple[int, int]]

SIZE = 7
_NODES = st.integers(0, SIZE - 1)
_EDGES = st.frozensets(st.tuples(_NODES, _NODES), max_size=18)


def found(edges: Edges) -> list[tuple[int, ...]]:
    return components(range(SIZE), lambda node: sorted(b for a, b in edges if a == node))


def reachable(edges: Edges) -> set[tuple[int, int]]:
    """Every pair with a path of any length, also none."""
    pairs = {(n, n) for n in range(SIZE)} | set(edges)
    for middle in range(SIZE):
        pairs |= {(a, d) for a, b in pairs if b == middle for c, d in pairs if c == middle}
    return pairs


@given(edges=_EDGES)
def test_two_nodes_share_a_component_iff_each_reaches_the_other(edges: Edges) -> None:
    reach = reachable(edges)
    component_of = {node: k for k, component in enumerate(found(edges)) for node in component}
    assert sorted(component_of) == list(range(SIZE))
    for a in range(SIZE):
        for b in range(SIZE):
            assert (component_of[a] == component_of[b]) == ((a, b) in reach and (b, a) in reach)


@given(edges=_EDGES)
def test_every_node_is_in_one_component(edges: Edges) -> None:
    assert sorted(node for component in found(edges) for node in component) == list(range(SIZE))


@given(edges=_EDGES)
def test_successors_come_first(edges: Edges) -> None:
    component_of = {node: k for k, component in enumerate(found(edges)) for node in component}
    assert all(component_of[b] <= component_of[a] for a, b in edges)


def test_a_small_graph_in_its_order() -> None:
    edges = {"a": "b", "b": "cd", "c": "b", "d": "", "e": "e"}
    assert components("abcde", lambda node: edges[node]) == [("d",), ("b", "c"), ("a",), ("e",)]


def test_nodes_that_only_appear_as_successors_are_found() -> None:
    assert components([0], lambda node: [node + 1] if node < 2 else []) == [(2,), (1,), (0,)]


def test_nothing_has_no_components() -> None:
    assert components([], lambda node: [node]) == []


def test_depth_needs_no_recursion() -> None:
    depth = 50_000
    chain = components([0], lambda node: [node + 1] if node < depth else [])
    assert len(chain) == depth + 1
    (ring,) = components([0], lambda node: [(node + 1) % depth])
    assert len(ring) == depth
