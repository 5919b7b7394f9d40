"""A layered drawing of a directed acyclic graph: layers, places in them, ways of edges (Sugiyama's method).

Layer by the longest way from the top, order within layers by the average place of the neighbours, then pull
everything towards its neighbours without overlaps.  Edges that skip layers get a place in each of them, so they do
not run through other nodes.

A drawing can be kept ``within`` a width.  A layer that has no room for a node then leaves it to the next one (list
scheduling, as Coffman and Graham do it): the drawing becomes higher instead of wider.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

#: Passes over all layers, downwards and upwards in turn, to order them; placing takes twice as many.
_SWEEPS = 12
#: Pixels between neighbours.
_GAP = 14.0
#: A bend is where an edge passes a layer: not a node to see, but other nodes keep off it.
_BEND_WIDTH = 6.0
#: Between edges that pass a layer side by side, where room is short.
_NARROW_GAP = 5.0


@dataclass(frozen=True)
class Place:
    """The centre of a node within its layer."""

    layer: int
    x: float


@dataclass(frozen=True)
class Layered:
    """Where the nodes of a graph go, and the ways of its edges."""

    places: tuple[Place, ...]
    #: The places that each edge passes, both of its ends included.
    routes: tuple[tuple[Place, ...], ...]
    width: float
    layers: int


def lay_out(widths: Sequence[float], edges: Sequence[tuple[int, int]], within: float | None = None) -> Layered:
    """Lay out nodes of these widths; an edge goes from the upper to the lower node.

    ``within``: the drawing is not wider than this, unless one node is, or the edges that pass a layer need more.
    """
    drawing = _Drawing(widths, edges, within)
    drawing.order()
    drawing.place()
    places = [Place(drawing.layer[n], drawing.x[n]) for n in range(len(drawing.layer))]
    routes = tuple(tuple(places[n] for n in way) for way in drawing.ways)
    width = max((p.x + w / 2 for p, w in zip(places, drawing.widths, strict=True)), default=0.0)
    return Layered(tuple(places[: len(widths)]), routes, width, len(drawing.rows))


def backward_edges(edges: Sequence[tuple[int, int]], roots: Iterable[int]) -> frozenset[int]:
    """Return the edges, by number, that close a cycle in a depth-first search from these roots, one after another.

    ``lay_out`` takes a graph without cycles: it is given these edges against their direction.  Every node has to
    be a root, or to be reached from one.
    """
    leaving: dict[int, list[int]] = {}
    for number, (start, _) in enumerate(edges):
        leaving.setdefault(start, []).append(number)
    found: set[int] = set()
    entered: set[int] = set()
    inside: set[int] = set()

    def enter(node: int) -> tuple[int, Iterator[int]]:
        entered.add(node)
        inside.add(node)
        return node, iter(leaving.get(node, ()))

    for root in roots:
        # A stack of its own, not recursion: Python would give up at a chain of a thousand boxes.
        work = [] if root in entered else [enter(root)]
        while work:
            node, remaining = work[-1]
            following = next(remaining, None)
            if following is None:
                inside.discard(node)
                work.pop()
            elif edges[following][1] in inside:
                found.add(following)
            elif edges[following][1] not in entered:
                work.append(enter(edges[following][1]))
    return frozenset(found)


@dataclass(frozen=True)
class _Block:
    """Nodes that stand as close as they can."""

    nodes: list[int]
    #: From the centre of the first to that of the last.
    extent: float
    #: The sum of where each would have the block begin; it begins where they agree on average.
    wishes: float

    @property
    def start(self) -> float:
        return self.wishes / len(self.nodes)


class _Drawing:
    def __init__(self, widths: Sequence[float], edges: Sequence[tuple[int, int]], within: float | None) -> None:
        self.widths = list(widths)
        self.layer = _longest_ways(len(widths), edges)
        self._limit = within
        self._nodes = len(widths)  # what comes after these are bends
        # Longest ways give the fewest layers: only who asks for a width pays for it in height.
        if within is not None:
            self.layer = _narrow_layers(widths, edges, within)
        self.ways: list[list[int]] = []
        self._above: list[list[int]] = [[] for _ in widths]
        self._below: list[list[int]] = [[] for _ in widths]
        for upper, lower in edges:
            self.ways.append(self._way(upper, lower))
        self.rows: list[list[int]] = [[] for _ in range(max(self.layer, default=-1) + 1)]
        for node, layer in enumerate(self.layer):
            self.rows[layer].append(node)
        self.x = [0.0] * len(self.layer)

    def _way(self, upper: int, lower: int) -> list[int]:
        """Return the nodes of an edge, with one bend in each layer that it passes."""
        way = [upper]
        for layer in range(self.layer[upper] + 1, self.layer[lower]):
            way.append(len(self.layer))
            self.layer.append(layer)
            self.widths.append(_BEND_WIDTH)
            self._above.append([])
            self._below.append([])
        way.append(lower)
        for a, b in pairwise(way):
            self._below[a].append(b)
            self._above[b].append(a)
        return way

    def order(self) -> None:
        """Reduce crossings: nodes follow the average place of their neighbours, downwards and upwards in turn."""
        position = {node: float(k) for row in self.rows for k, node in enumerate(row)}
        for sweep in range(_SWEEPS):
            downwards = sweep % 2 == 0
            neighbours = self._above if downwards else self._below
            for row in self.rows if downwards else reversed(self.rows):
                row.sort(key=_by_average(neighbours, position))
                position.update({node: float(k) for k, node in enumerate(row)})

    def place(self) -> None:
        if self._limit is not None:
            # A single node, or many edges side by side, can need more than was asked for: the drawing is then as
            # wide as that.
            self._limit = max([self._limit, *map(self._extent, self.rows)])
        middle = (self._limit or 0.0) / 2
        for row in self.rows:
            self._spread(row, [middle] * len(row))
        for sweep in range(2 * _SWEEPS):
            downwards = sweep % 2 == 0
            neighbours = self._above if downwards else self._below
            for row in self.rows if downwards else reversed(self.rows):
                wanted = [self._average(neighbours[node], self.x[node]) for node in row]
                self._spread(row, wanted)
        # Places are relative until here; the drawing begins at 0.
        left = min((self.x[n] - self.widths[n] / 2 for n in range(len(self.x))), default=0.0)
        self.x = [x - left for x in self.x]

    def _average(self, nodes: Sequence[int], otherwise: float) -> float:
        return _add(self.x[n] for n in nodes) / len(nodes) if nodes else otherwise

    def _spread(self, row: Sequence[int], wanted: Sequence[float]) -> None:
        """Move as near to the wanted places as order and widths allow: neighbours that collide move as a block."""
        blocks: list[_Block] = []
        for node, wish in zip(row, wanted, strict=True):
            block = _Block([node], 0.0, wish)
            while blocks:
                shift = blocks[-1].extent + self._distance(blocks[-1].nodes[-1], block.nodes[0])
                # They stand apart, as the blocks before them do already.
                if blocks[-1].start + shift <= block.start:
                    break
                earlier = blocks.pop()
                wishes = earlier.wishes + block.wishes - shift * len(block.nodes)
                block = _Block(earlier.nodes + block.nodes, shift + block.extent, wishes)
            blocks.append(block)
        for block in blocks:
            self.x[block.nodes[0]] = block.start
            for before, node in pairwise(block.nodes):
                self.x[node] = self.x[before] + self._distance(before, node)
        if self._limit is not None:
            self._keep_within(row, self._limit)

    def _keep_within(self, row: Sequence[int], limit: float) -> None:
        """Push what stands outside to the nearest place inside; who stood apart still does, or touches now."""
        # Each node has the same leeway: from where it stands if all are pushed left to where it does if all are
        # pushed right.
        spare = limit - self._extent(row)
        leftmost = self.widths[row[0]] / 2
        for place, node in enumerate(row):
            leftmost += self._distance(row[place - 1], node) if place else 0.0
            self.x[node] = min(max(self.x[node], leftmost), leftmost + spare)

    def _extent(self, row: Sequence[int]) -> float:
        """Return how wide a layer is at least."""
        ends = (self.widths[row[0]] + self.widths[row[-1]]) / 2
        return ends + _add(self._distance(left, right) for left, right in pairwise(row))

    def _distance(self, left: int, right: int) -> float:
        bends = self._limit is not None and min(left, right) >= self._nodes
        return (self.widths[left] + self.widths[right]) / 2 + (_NARROW_GAP if bends else _GAP)


def _by_average(neighbours: Sequence[Sequence[int]], position: dict[int, float]) -> Callable[[int], float]:
    def key(node: int) -> float:
        near = neighbours[node]
        # Without neighbours on that side it stays where it is: sorting is stable, and so is the drawing.
        return _add(position[n] for n in near) / len(near) if near else position[node]

    return key


def _longest_ways(count: int, edges: Sequence[tuple[int, int]]) -> list[int]:
    """Return the layer of each node: the length of the longest way to it."""
    below: list[list[int]] = [[] for _ in range(count)]
    waiting = [0] * count
    for upper, lower in edges:
        below[upper].append(lower)
        waiting[lower] += 1
    layer = [0] * count
    ready = [n for n in range(count) if not waiting[n]]
    for node in ready:  # grows while it is walked
        for lower in below[node]:
            layer[lower] = max(layer[lower], layer[node] + 1)
            waiting[lower] -= 1
            if not waiting[lower]:
                ready.append(lower)
    # Some node waits for itself.  The callers turn such edges round first (``backward_edges``).
    if len(ready) < count:
        raise ValueError("only a graph without cycles has layers")
    return layer


def _narrow_layers(widths: Sequence[float], edges: Sequence[tuple[int, int]], within: float) -> list[int]:
    """Give each node a layer below all that is above it, so that no layer needs more room than there is.

    Where there is not enough, those come first that have waited longest, so that they stay near to what is above
    them, and then those that have most below them: they decide how high the drawing gets.
    """
    above: list[list[int]] = [[] for _ in widths]
    below: list[list[int]] = [[] for _ in widths]
    for upper, lower in edges:
        above[lower].append(upper)
        below[upper].append(lower)
    depth = _longest_ways(len(widths), [(lower, upper) for upper, lower in edges])
    layer: dict[int, int] = {}
    passing = 0  # edges from the layers so far to those to come
    number = 0
    while len(layer) < len(widths):
        waiting = [n for n in range(len(widths)) if n not in layer and all(u in layer for u in above[n])]
        chosen: list[int] = []
        bends = passing
        for node in sorted(waiting, key=lambda n: (max((layer[u] for u in above[n]), default=0), -depth[n], n)):
            fewer = bends - len(above[node])
            # The first one is taken even if it is too wide alone: otherwise this would never end.
            if not chosen or _room([*(widths[n] for n in chosen), widths[node]], fewer) <= within:
                chosen.append(node)
                bends = fewer
        layer.update(dict.fromkeys(chosen, number))
        passing += sum(len(below[n]) - len(above[n]) for n in chosen)
        number += 1
    return [layer[n] for n in range(len(widths))]


def _add(lengths: Iterable[float]) -> float:
    """Add up one after the other: ``sum`` rounds otherwise since Python 3.12, and some boxes moved by a pixel."""
    total = 0.0
    for length in lengths:
        total += length
    return total


def _room(widths: Sequence[float], bends: int) -> float:
    """Return how much these nodes and bends need side by side, in whatever order they come."""
    # Nodes can part the bends into one group more than there are nodes; all others stand beside a bend.
    beside_each_other = max(0, bends - len(widths) - 1)
    gaps = len(widths) + bends - 1 - beside_each_other
    return _add(widths) + bends * _BEND_WIDTH + gaps * _GAP + beside_each_other * _NARROW_GAP
