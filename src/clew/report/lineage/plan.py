"""Where the boxes of a lineage drawing go, and the ways of the edges between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from clew.report.diagrams.layered import Layered, layered

GOAL_HEIGHT, FIRING_HEIGHT, GAP = 24, 18, 22
_CHARACTER = 6.6


@dataclass(frozen=True)
class Size:
    width: float
    height: int


def goal_size(words: str) -> Size:
    return Size(_width(words), GOAL_HEIGHT)


def firing_size(words: str) -> Size:
    return Size(_width(words) - 6, FIRING_HEIGHT)


def _width(words: str) -> float:
    return max(44.0, len(words) * _CHARACTER + 18)


class Plan:
    """Boxes in layers, the upper ends of edges above the lower ones; a layer is as high as its highest box."""

    def __init__(self, sizes: Sequence[Size], edges: Sequence[tuple[int, int]], within: float) -> None:
        self.sizes = sizes
        self.edges = edges
        self.layout: Layered = layered([size.width for size in sizes], edges, within)
        self.heights = [0] * self.layout.layers
        for size, place in zip(sizes, self.layout.places, strict=True):
            self.heights[place.layer] = max(self.heights[place.layer], size.height)
        self._tops = list(accumulate((height + GAP for height in self.heights), initial=0))

    @property
    def width(self) -> float:
        return self.layout.width

    @property
    def height(self) -> int:
        return max(self._tops[-1] - GAP, 0)

    def x(self, box: int) -> float:
        return self.layout.places[box].x

    def layer(self, box: int) -> int:
        return self.layout.places[box].layer

    def top(self, box: int) -> int:
        return self._tops[self.layer(box)]

    def middle(self, edge: int) -> tuple[float, float]:
        """Return the point of an edge halfway to the layer below its upper end."""
        start, after = self.layout.routes[edge][:2]
        return (start.x + after.x) / 2, (self._bottom(start.layer) + self._tops[after.layer]) / 2

    def _bottom(self, layer: int) -> int:
        return self._tops[layer] + self.heights[layer]

    def path(self, edge: int) -> str:
        """Return the way from the bottom of the upper box to the top of the lower one.

        It goes straight past what is higher in its layer, and through the layers between them.
        """
        route = self.layout.routes[edge]
        x, bottom = route[0].x, self._tops[route[0].layer] + self.sizes[self.edges[edge][0]].height
        y = self._bottom(route[0].layer)
        parts = [f"M{x:.0f},{bottom}"]
        parts += [f"V{y}"] if y > bottom else []
        for k, place in enumerate(route[1:], start=1):
            top = self._tops[place.layer]
            middle = (y + top) / 2
            parts.append(f"C{x:.0f},{middle:.0f} {place.x:.0f},{middle:.0f} {place.x:.0f},{top}")
            x, y = place.x, top
            if k < len(route) - 1:
                y = self._bottom(place.layer)
                parts.append(f"V{y}")
        return "".join(parts)

    def route(self, edge: int) -> str:
        """Return the points of an edge as ``x,layer``."""
        return " ".join(f"{p.x:.0f},{p.layer}" for p in self.layout.routes[edge])
