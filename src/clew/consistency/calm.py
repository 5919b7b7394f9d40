"""CALM analysis: which outputs depend on the order in which rows arrive, and where (thesis, section 3.3).

Along every way from a source to an output, two things count: whether rows were sent, so that their order is lost,
and whether something that is not monotone looks at them.  The second after the first makes a *point of order*.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from clew.consistency.ends import Source, outputs_of, sources_of
from clew.consistency.graph import Dataflow, Edge, NodeKind
from clew.consistency.races import Race, races_of


class Label(enum.Enum):
    """What an output is.  FIXED is internal to the analysis: no order has been involved so far."""

    FIXED = "F"
    MONOTONE = "M"
    NONMONOTONE = "N"
    ASYNCHRONOUS = "A"
    DIVERGES = "D"
    UNKNOWN = "?"

    @property
    def consistent(self) -> bool:
        return self in (Label.MONOTONE, Label.NONMONOTONE, Label.ASYNCHRONOUS)


@dataclass(frozen=True)
class Point:
    """A point of order: a statement, and what order changes there."""

    statement: int
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class From:
    """What the ways from one source make of an output."""

    source: str
    label: Label


@dataclass(frozen=True)
class Output:
    """An output, its label, the labels of the ways to it, and the points of order on them."""

    name: str
    label: Label
    ways: tuple[From, ...]
    points: tuple[Point, ...]


@dataclass(frozen=True)
class Analysis:
    """``unconnected``: inputs that nothing reads, and outputs that nothing derives (figure 3.5).

    An output is underspecified if it depends on one that nothing derives.
    """

    flow: Dataflow
    sources: tuple[Source, ...]
    outputs: tuple[Output, ...]
    races: tuple[Race, ...]
    unconnected: tuple[str, ...]

    @property
    def consistent(self) -> bool:
        return all(output.label.consistent for output in self.outputs)


def analysed(flow: Dataflow) -> Analysis:
    """The labels of all outputs of a program."""
    sources = sources_of(flow)
    outputs = outputs_of(flow)
    races = races_of(flow, sources)
    labelling = _Labelling(flow, sources, races)
    return Analysis(
        flow,
        sources,
        tuple(labelling.output(name) for name in outputs),
        races,
        tuple(n.name for n in flow.nodes if _is_unconnected(n.name, flow)),
    )


def _is_unconnected(name: str, flow: Dataflow) -> bool:
    match flow.by_name[name].kind:
        case NodeKind.INPUT:
            return not flow.outgoing[name]
        case NodeKind.OUTPUT:
            return name not in flow.derived
    return False


# -- labels along ways -------------------------------------------------------------------------------------------

#: Of a large cluster, this many collections are named.
_MOST_NAMES = 4

_AFTER_NONMONOTONE = {Label.MONOTONE: Label.NONMONOTONE, Label.ASYNCHRONOUS: Label.DIVERGES}


def _after(label: Label, *, nonmonotone: bool, sends: bool) -> Label:
    """The label of a way that goes on over an edge."""
    if nonmonotone:
        label = _AFTER_NONMONOTONE.get(label, label)
    if sends and label is not Label.DIVERGES:
        label = Label.ASYNCHRONOUS
    return label


def joined(labels: Iterable[Label]) -> Label:
    """What several ways make of an output together."""
    found = frozenset(labels)
    if Label.DIVERGES in found or {Label.NONMONOTONE, Label.ASYNCHRONOUS} <= found:
        return Label.DIVERGES
    for label in (Label.ASYNCHRONOUS, Label.NONMONOTONE):
        if label in found:
            return label
    return Label.MONOTONE


class _Labelling:
    def __init__(self, flow: Dataflow, sources: Sequence[Source], races: Sequence[Race]) -> None:
        self._flow = flow
        self._sources = sources
        self._raced: dict[tuple[int, str], list[str]] = {}
        for race in races:
            for name in race.edges:
                self._raced.setdefault((race.statement, name), []).append(_said(race))
        self._labels = {source.name: self._from(source) for source in sources}
        missing = [n.name for n in flow.nodes if n.kind is NodeKind.OUTPUT and n.name not in flow.derived]
        self._underspecified = flow.reached(missing)

    def _from(self, source: Source) -> dict[str, set[Label]]:
        """The labels of all ways from a source, for each collection."""
        first = Label.ASYNCHRONOUS if source.arrives else Label.FIXED if source.fixed else Label.MONOTONE
        labels: dict[str, set[Label]] = {node.name: set() for node in self._flow.nodes}
        labels[source.name].add(first)
        pending = [(source.name, first)]
        while pending:
            name, label = pending.pop()
            for edge in self._flow.outgoing[name]:
                # A cycle of fixed rows goes on for ever, as a clock does: what it holds depends on the step.
                turns = label is Label.FIXED and edge.target in self._flow.cluster_of
                before = Label.MONOTONE if turns else label
                following = _after(before, nonmonotone=self._is_point(edge), sends=edge.sends)
                if following not in labels[edge.target]:
                    labels[edge.target].add(following)
                    pending.append((edge.target, following))
        return labels

    def _is_point(self, edge: Edge) -> bool:
        return edge.target in self._flow.cluster_of or any(self._reasons(edge))

    def _reasons(self, edge: Edge) -> Iterator[str]:
        """What order changes at an edge: all that leads into a temporal cluster is one step of a history."""
        cluster = self._flow.cluster_of.get(edge.target, ())
        if edge.reason:
            yield edge.reason
        elif cluster and edge.source not in cluster:
            yield f"{edge.source} enters the cycle of {_listed(cluster)}"
        yield from self._raced.get((edge.statement, edge.source), ())

    def output(self, name: str) -> Output:
        every = frozenset(label for labels in self._labels.values() for label in labels[name])
        if name in self._underspecified and joined(every).consistent:
            return Output(name, Label.UNKNOWN, (), ())
        ways = tuple(
            From(source.name, joined(self._labels[source.name][name]))
            for source in self._sources
            if self._labels[source.name][name]
            and not (source.fixed and joined(self._labels[source.name][name]).consistent)
        )
        return Output(name, joined(every), ways, self._points(name, every))

    def _points(self, name: str, labels: frozenset[Label]) -> tuple[Point, ...]:
        """The edges on ways to the output at which order counts, by statement."""
        before = self._flow.reaching([name])
        unsent = self._reaching_unsent(name)
        found: dict[int, dict[str, None]] = {}
        for edge in self._flow.edges:
            if edge.target not in before:
                continue
            here = {label for labels in self._labels.values() for label in labels[edge.source]}
            late = bool(here & {Label.ASYNCHRONOUS, Label.DIVERGES})
            local = Label.NONMONOTONE in labels and edge.target in unsent and not edge.sends
            if late or (local and here & {Label.MONOTONE, Label.NONMONOTONE}):
                for reason in self._reasons(edge):
                    found.setdefault(edge.statement, {})[reason] = None
        return tuple(Point(statement, tuple(reasons)) for statement, reasons in sorted(found.items()))

    def _reaching_unsent(self, name: str) -> frozenset[str]:
        """The collections from which the output is reached without sending."""
        found, pending = {name}, [name]
        while pending:
            for edge in self._flow.incoming[pending.pop()]:
                if not edge.sends and edge.source not in found:
                    found.add(edge.source)
                    pending.append(edge.source)
        return frozenset(found)


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMES
    return ", ".join(names) if more <= 0 else f"{', '.join(names[:_MOST_NAMES])} and {more} more"


def _said(race: Race) -> str:
    if race.first == race.second:
        return f"rows of {race.first} meet only if they come in the same step"
    return f"{race.first} and {race.second} meet, and it is open which comes first"
