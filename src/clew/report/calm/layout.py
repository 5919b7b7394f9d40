"""The dataflow of a program as boxes and arrows with places (figures 3.4 to 3.10 of the thesis).

A temporal cluster is one box.  S stands for what comes from outside, T for who looks at the outputs, and "??" for
what connects interfaces that the program does not.  The layers are those of ``layered``, which knows no cycles:
arrows that close one are laid out against their direction.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass

from clew.analysis.calm.analysis import Analysis, Label
from clew.analysis.calm.dataflow.graph import Edge, NodeKind
from clew.report.diagrams.layered import Layered, backward_edges, lay_out
from clew.report.text.plain import shorten

#: Pixels for a character, and how many of these a box shows; its title has the whole.
_CHARACTER = 7.0
_LONGEST_LABEL = 34


class Shape(enum.Enum):
    """How a box is drawn."""

    STORED = "stored"  # a rectangle
    PASSING = "passing"  # an oval
    CLUSTER = "cluster"  # an octagon
    END = "end"  # S and T
    OPEN = "open"  # a diamond: underspecified


@dataclass(frozen=True)
class Box:
    label: str
    title: str
    shape: Shape
    width: float
    label_of_output: str = ""


@dataclass(frozen=True)
class Arrow:
    """An arrow between two boxes, by their numbers."""

    start: int
    end: int
    sends: bool = False
    temporal: bool = False
    nonmonotone: bool = False
    #: Whether a rule is a point of order of an output whose outcome depends on order.
    point: bool = False
    #: By the numbers of the statements.
    rules: tuple[int, ...] = ()


@dataclass(frozen=True)
class Laid:
    """A dataflow with places."""

    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]
    #: Its routes are those of the arrows, in the same order.
    layout: Layered
    #: The arrows, by number, that go against the layers.
    backwards: frozenset[int]
    #: From a box to itself: layers know no such edge, so these are drawn beside their box.
    loops: tuple[Arrow, ...]


def lay_out_dataflow(analysis: Analysis) -> Laid:
    picture = _Picture(analysis)
    every = list(picture.arrows())
    arrows = [arrow for arrow in every if arrow.start != arrow.end]
    # Box 0 is S, from where all else is reached but what nothing from outside gets to.
    backwards = backward_edges([(a.start, a.end) for a in arrows], range(len(picture.boxes)))
    edges = [(a.end, a.start) if k in backwards else (a.start, a.end) for k, a in enumerate(arrows)]
    layout = lay_out([box.width for box in picture.boxes], edges)
    loops = tuple(arrow for arrow in every if arrow.start == arrow.end)
    return Laid(tuple(picture.boxes), tuple(arrows), layout, backwards, loops)


class _Picture:
    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self._labels = {output.name: output.label for output in analysis.outputs}
        self._points = {p.statement for o in analysis.outputs if o.label is Label.DIVERGES for p in o.points}
        self._number: dict[str, int] = {}
        self.boxes: list[Box] = [_end("S", "what comes from outside")]
        for node in analysis.flow.nodes:
            if node.name not in self._number:
                self._add(node.name)
        self._open = len(self.boxes)
        if analysis.unconnected:
            self.boxes.append(Box("??", "the program does not say how these are connected", Shape.OPEN, 52.0))
        self._end = len(self.boxes)
        self.boxes.append(_end("T", "who looks at the outputs"))

    def _add(self, name: str) -> None:
        flow = self._analysis.flow
        members = flow.cluster_of.get(name, (name,))
        for member in members:
            self._number[member] = len(self.boxes)
        outputs = [f"{self._labels[m].value}" for m in members if m in self._labels]
        if name in flow.cluster_of:
            title, shape = f"a temporal cluster: {', '.join(members)}", Shape.CLUSTER
        else:
            kind = flow.by_name[name].kind
            title, shape = f"{name}: {kind.value}", Shape.STORED if kind.stored else Shape.PASSING
        label = shorten(", ".join(members), _LONGEST_LABEL)
        width = max(56.0, len(label) * _CHARACTER + 30)
        self.boxes.append(Box(label, title, shape, width, "".join(outputs)))

    def arrows(self) -> Iterator[Arrow]:
        analysis = self._analysis
        for source in analysis.sources:
            # A clock is no input, and an output that nothing derives hangs on the question marks.
            inner = analysis.flow.by_name[source.name].kind in (NodeKind.PERIODIC, NodeKind.OUTPUT)
            if not source.fixed and not inner:
                yield Arrow(0, self._number[source.name], sends=source.arrives)
        yield from self._merge_edges()
        for name in analysis.unconnected:
            number = self._number[name]
            incoming = analysis.flow.by_name[name].kind is NodeKind.INPUT
            yield Arrow(number, self._open) if incoming else Arrow(self._open, number)
        for output in analysis.outputs:
            yield Arrow(self._number[output.name], self._end)

    def _merge_edges(self) -> Iterator[Arrow]:
        """Yield one arrow between two boxes, and one more if some rules send and others do not."""
        found: dict[tuple[int, int, bool], list[Edge]] = {}
        for edge in self._analysis.flow.edges:
            key = (self._number[edge.source], self._number[edge.target], edge.sends)
            inner = key[0] == key[1] and edge.source in self._analysis.flow.cluster_of
            if not inner:
                found.setdefault(key, []).append(edge)
        for (start, end, sends), edges in found.items():
            yield Arrow(
                start,
                end,
                sends,
                temporal=any(e.temporal for e in edges),
                nonmonotone=any(e.reason for e in edges),
                point=any(e.statement in self._points for e in edges),
                rules=tuple(dict.fromkeys(e.statement for e in edges)),
            )


def _end(label: str, title: str) -> Box:
    return Box(label, title, Shape.END, 34.0)
