"""CALM analysis: which outputs depend on the order in which rows arrive, and where (thesis, section 3.3).

A *schedule* says in which step of a node each row is given, when each message arrives, when clocks tick, and how
many steps there are.  An output is all that an interface ever showed, all that was sent, or what is stored in
the end.

- M (nothing is sent) and A (messages are): every schedule gives the same output.
- N: no message and no clock leads to it, so the steps of a node and what each is given decide it; others give
  another.
- D: no promise.

``histories`` says which reads of rules are order-sensitive, and why no others are.  A way from a source to an
output is consistent if it crosses none of these *points of order*; otherwise it is N, and D if something is sent
on the way, before or after: what is sent because of the steps of a node differs as they do.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from clew.analysis.calm.boundaries import Source, outputs_of, sources_of
from clew.analysis.calm.dataflow.graph import Dataflow, Edge, NodeKind
from clew.analysis.calm.histories import Histories, Race, SensitiveRead, histories_of


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
        """Tell whether every schedule gives the same outcome."""
        return self in (Label.MONOTONE, Label.ASYNCHRONOUS)


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

    An output is underspecified if it depends on one that nothing derives.  ``invariants`` are labelled like
    outputs, and the verdict is not about them: it is about executions in which they hold.
    """

    flow: Dataflow
    sources: tuple[Source, ...]
    outputs: tuple[Output, ...]
    histories: Histories
    unconnected: tuple[str, ...]
    invariants: tuple[Output, ...] = ()

    @property
    def races(self) -> tuple[Race, ...]:
        return self.histories.races

    @property
    def consistent(self) -> bool:
        return all(output.label.consistent for output in self.outputs)


class CalmVerdict(enum.Enum):
    """What all outputs together are, the worst of them; the values are words for machines."""

    CONSISTENT = "consistent"
    DEPENDS_ON_STEPS = "depends on steps"
    UNDERSPECIFIED = "underspecified"
    ORDER_MATTERS = "order matters"


def verdict_of(analysis: Analysis) -> CalmVerdict:
    """Return the verdict on a program."""
    labels = {output.label for output in analysis.outputs}
    if Label.DIVERGES in labels:
        return CalmVerdict.ORDER_MATTERS
    if Label.UNKNOWN in labels:
        return CalmVerdict.UNDERSPECIFIED
    return CalmVerdict.DEPENDS_ON_STEPS if Label.NONMONOTONE in labels else CalmVerdict.CONSISTENT


def analyse_dataflow(flow: Dataflow) -> Analysis:
    """Label all outputs of a program."""
    sources = sources_of(flow)
    outputs = outputs_of(flow)
    histories = histories_of(flow, sources)
    labelling = _Labelling(flow, sources, histories.reads)
    return Analysis(
        flow,
        sources,
        tuple(labelling.output(name) for name in outputs),
        histories,
        tuple(n.name for n in flow.nodes if _is_unconnected(n.name, flow)),
        tuple(labelling.output(n.name) for n in flow.nodes if n.kind is NodeKind.INVARIANT),
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

_AFTER_POINT = {
    Label.FIXED: Label.NONMONOTONE,
    Label.MONOTONE: Label.NONMONOTONE,
    Label.ASYNCHRONOUS: Label.DIVERGES,
}
#: What a node sends is in an order of its own when it arrives; and if it depends on the steps of the sender, the
#: messages do too.
_AFTER_SENDING = {
    Label.FIXED: Label.ASYNCHRONOUS,
    Label.MONOTONE: Label.ASYNCHRONOUS,
    Label.NONMONOTONE: Label.DIVERGES,
}


def _after(label: Label, *, point: bool, sends: bool) -> Label:
    """Return the label of a way that goes on over an edge."""
    if point:
        label = _AFTER_POINT.get(label, label)
    return _AFTER_SENDING.get(label, label) if sends else label


def join_labels(labels: Iterable[Label]) -> Label:
    """Return what several ways make of an output together."""
    found = frozenset(labels)
    # N depends on the steps of the node, and messages (A) decide how many
    # steps it takes: together nothing is left.
    if Label.DIVERGES in found or {Label.NONMONOTONE, Label.ASYNCHRONOUS} <= found:
        return Label.DIVERGES
    for label in (Label.ASYNCHRONOUS, Label.NONMONOTONE):
        if label in found:
            return label
    return Label.MONOTONE


class _Labelling:
    def __init__(self, flow: Dataflow, sources: Sequence[Source], reads: Sequence[SensitiveRead]) -> None:
        self._flow = flow
        self._sources = sources
        self._sensitive: dict[tuple[int, str | None], list[str]] = {}
        for read in reads:
            self._sensitive.setdefault((read.statement, read.collection), []).append(read.reason)
        self._labels = {source.name: self._spread(source.name, _first_label(source)) for source in sources}
        #: Statements that are order-sensitive by themselves begin ways of their own.
        self._unread = [
            self._spread(
                flow.statements[read.statement].target,
                Label.DIVERGES if read.by_chance else Label.NONMONOTONE,
            )
            for read in reads
            if read.collection is None
        ]
        # Rows that are written down and sent come from no source, and arrive all the same.
        # Constants have no source that a way could begin at, and sending makes messages of them all the same.
        written = {s.target for s in flow.statements if s.sends and s.reading is None}
        self._unread += [self._spread(name, Label.ASYNCHRONOUS) for name in sorted(written)]
        missing = [n.name for n in flow.nodes if n.kind is NodeKind.OUTPUT and n.name not in flow.derived]
        self._underspecified = flow.reachable_from(missing)

    def _spread(self, name: str, first: Label) -> dict[str, set[Label]]:
        """Return the labels of all ways from a collection, for each collection."""
        # All labels of all ways, not the worst of them: which of two is worse
        # depends on what comes behind, N then sending
        # is D and A then sending is A.  There are five labels, so that this ends, also on cycles.
        labels: dict[str, set[Label]] = {node.name: set() for node in self._flow.nodes}
        labels[name].add(first)
        pending = [(name, first)]
        while pending:
            name, label = pending.pop()
            for edge in self._flow.outgoing[name]:
                following = _after(label, point=any(self._reasons(edge)), sends=edge.sends)
                if following not in labels[edge.target]:
                    labels[edge.target].add(following)
                    pending.append((edge.target, following))
        return labels

    def _reasons(self, edge: Edge) -> Iterator[str]:
        """Yield what order changes at an edge: all that leads into a temporal cluster is one step of a history."""
        found = self._sensitive.get((edge.statement, edge.source), [])
        yield from found
        cluster = self._flow.cluster_of.get(edge.target, ())
        # Section 3.3 of the thesis: in a temporal cluster, each step works on
        # what the one before left, so that the order
        # in which rows enter it is the point of order.
        if cluster and edge.source not in cluster and not found:
            yield f"{edge.source} enters the cycle of {_list_names(cluster)}"

    def output(self, name: str) -> Output:
        every = {label for labels in (*self._labels.values(), *self._unread) for label in labels[name]}
        # Something that is not there decides, and nobody can say how; but a D that is known already stays one.
        if name in self._underspecified and join_labels(every) is not Label.DIVERGES:
            return Output(name, Label.UNKNOWN, (), ())
        ways = tuple(
            From(source.name, join_labels(self._labels[source.name][name]))
            for source in self._sources
            if self._labels[source.name][name]
            and not (source.fixed and join_labels(self._labels[source.name][name]).consistent)
        )
        label = join_labels(every)
        return Output(name, label, ways, () if label.consistent else self._points(name))

    def _points(self, name: str) -> tuple[Point, ...]:
        """Return what is order-sensitive on ways to the output, by statement."""
        before = self._flow.leading_to([name])
        found: dict[int, dict[str, None]] = {}
        for number, statement in enumerate(self._flow.statements):
            for reason in self._sensitive.get((number, None), ()):
                if statement.target in before:
                    found.setdefault(number, {})[reason] = None
        for edge in self._flow.edges:
            for reason in self._reasons(edge) if edge.target in before else ():
                found.setdefault(edge.statement, {})[reason] = None
        return tuple(Point(statement, tuple(reasons)) for statement, reasons in sorted(found.items()))


def _first_label(source: Source) -> Label:
    # A fixed source begins as F, which only sending turns into something: rows that never change have no order.
    return Label.ASYNCHRONOUS if source.arrives else Label.FIXED if source.fixed else Label.MONOTONE


def _list_names(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMES
    return ", ".join(names) if more <= 0 else f"{', '.join(names[:_MOST_NAMES])} and {more} more"
