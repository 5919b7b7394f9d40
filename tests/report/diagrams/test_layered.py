"""Layered drawings: nothing overlaps, edges go down and turn only between their ends."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.report.diagrams.layered import Layered, Place, lay_out

#: Between two neighbours of a layer, as they are drawn; and how wide an edge is where it passes a layer.
GAP, BEND = 14.0, 6.0
#: Between two edges that pass a layer side by side, where room is short.
NARROW = 5.0
CLOSE = 1e-6

Graph = tuple[list[float], list[tuple[int, int]]]


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Without cycles: edges go from smaller to larger numbers, which are then shuffled."""
    widths = draw(st.lists(st.floats(1, 300), max_size=14))
    count = len(widths)
    if count < 2:
        return widths, []
    pairs = st.tuples(st.integers(0, count - 1), st.integers(0, count - 1)).filter(lambda p: p[0] != p[1])
    edges = [(min(p), max(p)) for p in draw(st.lists(pairs, max_size=30, unique_by=lambda p: (min(p), max(p))))]
    order = draw(st.permutations(range(count)))
    return widths, [(order[a], order[b]) for a, b in edges]


def in_layers(drawing: Layered, widths: list[float]) -> dict[int, list[tuple[float, float]]]:
    """The (centre, width) of nodes and of edges that pass, by layer."""
    found: dict[int, list[tuple[float, float]]] = {}
    for place, width in zip(drawing.places, widths, strict=True):
        found.setdefault(place.layer, []).append((place.x, width))
    for route in drawing.routes:
        for bend in route[1:-1]:
            found.setdefault(bend.layer, []).append((bend.x, BEND))
    return found


@given(graphs())
def test_nothing_in_a_layer_overlaps(graph: Graph) -> None:
    widths, edges = graph
    for boxes in in_layers(lay_out(widths, edges), widths).values():
        for (x, width), (next_x, next_width) in pairwise(sorted(boxes)):
            assert next_x - next_width / 2 - (x + width / 2) >= GAP - CLOSE


@given(graphs())
def test_edges_go_down_through_every_layer_between(graph: Graph) -> None:
    widths, edges = graph
    drawing = lay_out(widths, edges)
    assert len(drawing.routes) == len(edges)
    for (upper, lower), route in zip(edges, drawing.routes, strict=True):
        assert (route[0], route[-1]) == (drawing.places[upper], drawing.places[lower])
        assert [place.layer for place in route] == list(range(route[0].layer, route[-1].layer + 1))
        assert len(route) >= 2


@given(graphs())
def test_a_node_is_as_high_as_it_can_be(graph: Graph) -> None:
    """One layer below the lowest of those above it."""
    widths, edges = graph
    places = lay_out(widths, edges).places
    for node, place in enumerate(places):
        above = [places[upper].layer for upper, lower in edges if lower == node]
        assert place.layer == max(above, default=-1) + 1


@given(graphs())
def test_everything_is_within_the_drawing(graph: Graph) -> None:
    widths, edges = graph
    drawing = lay_out(widths, edges)
    assert drawing.layers == max((p.layer for p in drawing.places), default=-1) + 1
    boxes = [box for layer in in_layers(drawing, widths).values() for box in layer]
    if boxes:
        assert min(x - width / 2 for x, width in boxes) == pytest.approx(0, abs=CLOSE)
        assert max(x + width / 2 for x, width in boxes) == pytest.approx(drawing.width, abs=CLOSE)


@given(graphs())
def test_the_same_graph_looks_the_same(graph: Graph) -> None:
    assert lay_out(*graph) == lay_out(*graph)


@pytest.mark.parametrize(
    "edges", [[(0, 0)], [(0, 1), (1, 0)], [(0, 1), (1, 2), (2, 1)], [(2, 0), (0, 1), (1, 2)]], ids=str
)
def test_a_cycle_has_no_layers(edges: list[tuple[int, int]]) -> None:
    with pytest.raises(ValueError, match="without cycles"):
        lay_out([10.0, 10.0, 10.0], edges)


def test_an_empty_graph() -> None:
    assert lay_out([], []) == Layered((), (), 0.0, 0)


def test_a_node_alone() -> None:
    assert lay_out([40.0], []) == Layered((Place(0, 20.0),), (), 40.0, 1)


def test_a_chain_is_straight() -> None:
    drawing = lay_out([40.0, 100.0, 60.0], [(0, 1), (1, 2)])
    assert [place.layer for place in drawing.places] == [0, 1, 2]
    assert {place.x for place in drawing.places} == {50.0}
    assert drawing.width == 100.0


def test_a_parent_is_above_the_middle_of_its_children() -> None:
    drawing = lay_out([40.0, 40.0, 40.0], [(0, 1), (0, 2)])
    parent, left, right = drawing.places
    assert parent.x == pytest.approx((left.x + right.x) / 2)
    assert right.x - left.x == pytest.approx(40 + GAP)


def test_two_pairs_do_not_cross() -> None:
    """Whatever the order in which they are given."""
    drawing = lay_out([20.0] * 4, [(0, 3), (1, 2)])
    a, b, below_b, below_a = drawing.places
    assert (a.x < b.x) == (below_a.x < below_b.x)


def test_an_edge_that_skips_a_layer_passes_beside_what_is_there() -> None:
    drawing = lay_out([20.0, 200.0, 20.0], [(0, 1), (1, 2), (0, 2)])
    bend = drawing.routes[2][1]
    assert bend.layer == 1
    assert abs(bend.x - drawing.places[1].x) >= 100 + GAP + BEND / 2 - CLOSE


# -- within a width ---------------------------------------------------------------------------------------------

LIMITS = st.floats(1, 1200)


@given(graphs(), LIMITS)
def test_nothing_overlaps_where_room_is_short(graph: Graph, limit: float) -> None:
    """Edges that pass side by side may come closer; nothing else does."""
    widths, edges = graph
    for boxes in in_layers(lay_out(widths, edges, limit), widths).values():
        for (x, width), (next_x, next_width) in pairwise(sorted(boxes)):
            gap = NARROW if width == next_width == BEND else GAP
            assert next_x - next_width / 2 - (x + width / 2) >= gap - CLOSE


@given(graphs(), LIMITS)
def test_a_drawing_stays_within_its_width_if_it_can(graph: Graph, limit: float) -> None:
    """It cannot in a layer with one node only, beside the edges that have to pass it."""
    widths, edges = graph
    drawing = lay_out(widths, edges, limit)
    needed = [limit]
    for boxes in in_layers(drawing, widths).values():
        nodes = [width for _, width in boxes if width != BEND]
        if len(nodes) <= 1:
            needed.append(sum(width for _, width in boxes) + GAP * (len(boxes) - 1))
    assert drawing.width <= max(needed) + CLOSE


@given(graphs(), LIMITS)
def test_edges_go_down_through_every_layer_and_no_layer_is_empty(graph: Graph, limit: float) -> None:
    widths, edges = graph
    drawing = lay_out(widths, edges, limit)
    for (upper, lower), route in zip(edges, drawing.routes, strict=True):
        assert (route[0], route[-1]) == (drawing.places[upper], drawing.places[lower])
        assert [place.layer for place in route] == list(range(route[0].layer, route[-1].layer + 1))
        assert len(route) >= 2
    assert {place.layer for place in drawing.places} == set(range(drawing.layers))
    assert lay_out(widths, edges, limit) == drawing


@given(graphs())
def test_with_enough_room_the_layers_are_those_without_a_limit(graph: Graph) -> None:
    free, wide = lay_out(*graph), lay_out(*graph, within=1e6)
    assert [place.layer for place in wide.places] == [place.layer for place in free.places]


def test_a_layer_without_room_leaves_nodes_to_the_next_one() -> None:
    """Four below one: two fit beside each other; those with something below them come first."""
    edges = [(0, 1), (0, 2), (0, 3), (0, 4), (3, 5), (4, 6)]
    drawing = lay_out([40.0] * 7, edges, within=40 * 2 + BEND * 2 + GAP * 3)
    assert [place.layer for place in drawing.places] == [0, 2, 2, 1, 1, 3, 3]
    assert drawing.width <= 40 * 2 + BEND * 2 + GAP * 3
