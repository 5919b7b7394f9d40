"""Boxes, words and edges of a lineage graph have room."""

from __future__ import annotations

import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings

from clew.explain.lineage_graph import LineageGraph
from clew.report.lineage.svg import MOST_WIDTH
from report.lineage.drawings import (
    LATE,
    NAMES,
    any_graphs,
    boxes_in,
    drawn,
    drawn_graph,
    firings_in,
    goals_in,
    joints_in,
    of_class,
    parsed,
    words_of,
)


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_boxes_of_one_layer_do_not_overlap(name: str, whole: bool) -> None:
    assert_apart(parsed(drawn(name, whole=whole)))


@given(any_graphs())
@settings(max_examples=settings().max_examples // 2)
def test_boxes_of_one_layer_never_overlap(graph: LineageGraph) -> None:
    assert_apart(parsed(drawn_graph(graph)))


def assert_apart(root: ElementTree.Element) -> None:
    """Neither within a layer nor between layers, and all within the picture; also inside of boxes."""
    outer = [*boxes_in(root).values(), *joints_in(root).values()]
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    layers = assert_layers_apart(outer, width, height)
    assert sorted(layers) == list(range(len(root.attrib["data-heights"].split())))
    assert all(int(e.attrib["data-layer"]) in layers for e in outer)
    for bundle in of_class(root, "bundle"):
        (inside,) = of_class(bundle, "inside")
        shift, down = moved(inside)
        wide, high = map(float, bundle.attrib["data-opened"].split())
        assert -wide / 2 <= shift and down >= 24
        assert_layers_apart([e for e in inside if e.tag.endswith("g")], wide / 2 - shift, high - down)


def moved(element: ElementTree.Element) -> tuple[float, float]:
    found = re.fullmatch(r"translate\((\S+),(\S+)\)", element.attrib["transform"])
    assert found is not None
    return float(found[1]), float(found[2])


def assert_layers_apart(boxes: list[ElementTree.Element], width: float, height: float) -> list[int]:
    """Boxes with the same top are a layer; returns the layers."""
    layers: dict[float, list[tuple[float, float, float]]] = {}
    for box in boxes:
        rect = box.find("rect")
        assert rect is not None
        x, top = moved(box)
        left = x + float(rect.attrib["x"])
        right, bottom = left + float(rect.attrib["width"]), top + float(rect.attrib["height"])
        assert left >= -2 and right <= width and bottom <= height
        layers.setdefault(top, []).append((left, right, bottom))
    for row in layers.values():
        assert all(after[0] - before[1] >= 12 for before, after in pairwise(sorted(row)))
    tops = sorted(layers)
    assert all(max(bottom for *_, bottom in layers[upper]) < lower for upper, lower in pairwise(tops))
    return list(range(len(tops)))


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize(
    ("name", "delays"), [*((name, None) for name in NAMES), *((name, 1) for name in LATE)], ids=str
)
def test_a_closed_drawing_and_each_open_box_fit_a_window_of_1280_pixels(
    name: str, delays: int | None, whole: bool
) -> None:
    """Less what the page needs: 48 for its margins, 14 for the frame, 15 for a scroll bar, twice."""
    root = parsed(drawn(name, whole=whole, delays=delays))
    fits = 1280 - 48 - 14 - 2 * 15
    assert float(root.attrib["width"]) <= fits
    for bundle in of_class(root, "bundle"):
        assert float(bundle.attrib["data-opened"].split()[0]) <= fits - 24


@given(any_graphs())
@settings(max_examples=settings().max_examples // 2)
def test_no_drawing_is_wider_than_it_has_to_be(graph: LineageGraph) -> None:
    """Unless the edges that pass a layer need more room: eight goals have not so many."""
    assert float(parsed(drawn_graph(graph)).attrib["width"]) <= MOST_WIDTH + 24


@given(any_graphs())
@settings(max_examples=settings().max_examples // 2)
def test_words_fit_into_their_boxes(graph: LineageGraph) -> None:
    root = parsed(drawn_graph(graph))
    for boxes, size in ((goals_in(root), 12), (firings_in(root), 10.5)):
        for box in boxes.values():
            rect = box.find("rect")
            assert rect is not None
            assert float(rect.attrib["width"]) >= len(words_of(box)) * size * 0.55 + 6


def test_edges_go_from_the_bottom_of_a_box_to_the_top_of_the_next() -> None:
    root = parsed(drawn("retry-deliv"))
    boxes, joints = boxes_in(root), joints_in(root)
    for edge in of_class(root, "edge"):
        upper = (
            boxes[int(edge.attrib["data-box"])]
            if "data-box" in edge.attrib
            else joints[int(edge.attrib["data-joint"])]
        )
        lower = (joints if "data-box" in edge.attrib else boxes)[int(edge.attrib["data-below"])]
        points = [tuple(map(int, p.split(","))) for p in edge.attrib["data-route"].split()]
        assert points[0][1] == int(upper.attrib["data-layer"])
        assert points[-1][1] == int(lower.attrib["data-layer"])
        assert [layer for _, layer in points] == list(range(points[0][1], points[-1][1] + 1))
        assert edge.attrib["d"].startswith("M")
