"""What must come before what: transactions and the reasons for their order.

- *ww*: two values follow each other in a list; who appended the first comes first.
- *wr*: a read ends in a value; who appended it comes before who read it.
- *rw*: a read ends before a value; who read comes before who appended it.  What is in no read at all is missing
  from the longest, too, so who read that comes before who appended it and was committed.
- *process*: two transactions of a client, one after the other.
- *realtime*: one ended before the other began.

Some of these come in great numbers: a transaction is after *all* that ended before it began.  There, *hubs* stand
between them, nodes without a transaction, so that the graph stays as large as the history is long.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from clew.histories.operations import Outcome
from clew.histories.transactions.parsing import Transaction
from clew.histories.transactions.versions import Read, Versions
from clew.histories.values import Value


class Kind(enum.IntFlag):
    """Why one transaction comes before another; a set of kinds is one, too."""

    WITHIN = 0  # of a hub: whoever came in has had a reason
    WW = 1
    WR = 2
    RW = 4
    PROCESS = 8
    REALTIME = 16


class Edge(NamedTuple):
    """An edge to a node.  ``read`` and ``value``: what was read, and which value decides."""

    target: int
    kind: int
    key: Value = None
    value: Value = None
    read: tuple[Value, ...] = ()


@dataclass
class Graph:
    """Nodes are numbers: first the transactions, then the hubs.  ``edges``: by node, those that leave it."""

    transactions: Sequence[Transaction]
    edges: list[list[Edge]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.edges = [[] for _ in self.transactions]

    def is_hub(self, node: int) -> bool:
        """Tell whether a node stands for no transaction."""
        return node >= len(self.transactions)

    def add_hub(self) -> int:
        """Return a new hub."""
        self.edges.append([])
        return len(self.edges) - 1

    def add(self, source: int, edge: Edge) -> None:
        """Add an edge, unless it leads to where it begins."""
        if source != edge.target:
            self.edges[source].append(edge)


def build_graph(
    transactions: Sequence[Transaction], versions: Versions, *, process: bool = False, realtime: bool = False
) -> Graph:
    """Return the graph of committed transactions: those that are known to be, and whose appends were read."""
    # What was read was committed, whoever read it: reads of aborted ones are flaws of their own.
    observed = {
        versions.writers[key, value].number
        for key, order in versions.orders.items()
        for value in order
        if (key, value) in versions.writers
    }
    committed = [
        t
        for t in transactions
        if t.outcome is Outcome.OK or (t.outcome is Outcome.UNKNOWN and t.number in observed)
    ]
    graph = Graph(committed)
    nodes = {transaction.number: node for node, transaction in enumerate(committed)}
    _add_dependencies(graph, versions, nodes)
    # Only the committed ones: what never happened comes before nothing.
    if process:
        _add_process_order(graph)
    if realtime:
        _add_time_order(graph)
    return graph


def _add_dependencies(graph: Graph, versions: Versions, nodes: dict[int, int]) -> None:
    orders = {key: order for key, order in versions.orders.items() if key not in versions.unsound}
    # By key, the committed values in their order, with the node that appended each, and their places.
    appended = {key: list(_appended(key, order, versions, nodes)) for key, order in orders.items()}
    for key, values in appended.items():
        for (_, source, _), (_, target, value) in pairwise(values):
            graph.add(source, Edge(target, Kind.WW, key, value))
    following = {
        key: _next_places(len(orders[key]), [place for place, _, _ in values]) for key, values in appended.items()
    }
    last_readers: dict[Value, list[Read]] = {}
    for read in versions.reads:
        if read.key not in orders:
            continue
        reader = nodes[read.transaction.number]
        writer = _writer_of_last(read, versions)
        if writer is not None and writer in nodes:
            graph.add(nodes[writer], Edge(reader, Kind.WR, read.key, read.values[-1]))
        # Only the next value counts: whoever appended those behind it comes after that one by ww.
        place = following[read.key][len(read.values)]
        if place < len(appended[read.key]):
            _, target, value = appended[read.key][place]
            graph.add(reader, Edge(target, Kind.RW, read.key, value, read.values))
        else:
            last_readers.setdefault(read.key, []).append(read)
    _add_unobserved(graph, orders, last_readers, nodes)


def _appended(
    key: Value, order: Sequence[Value], versions: Versions, nodes: dict[int, int]
) -> Iterator[tuple[int, int, Value]]:
    for place, value in enumerate(order):
        writer = versions.writers.get((key, value))
        if writer is not None and writer.number in nodes:
            yield place, nodes[writer.number], value


def _next_places(length: int, places: Sequence[int]) -> list[int]:
    """Return, for each number of values that may be read, which of ``places`` is the first not among them."""
    found, place = [], 0
    for number in range(length + 1):
        while place < len(places) and places[place] < number:
            place += 1
        found.append(place)
    return found


def _writer_of_last(read: Read, versions: Versions) -> int | None:
    """Return who appended the last value that is not the reader's own."""
    for value in reversed(read.values):
        writer = versions.writers.get((read.key, value))
        if writer is not read.transaction:
            return None if writer is None else writer.number
    return None


def _add_unobserved(
    graph: Graph,
    orders: dict[Value, tuple[Value, ...]],
    last_readers: dict[Value, list[Read]],
    nodes: dict[int, int],
) -> None:
    """Put who read the last version of a key before those who appended what nobody read.

    A reader that is one of them itself must not come before itself: it enters a chain of hubs to those before it,
    and another to those after it.
    """
    seen = {key: set(order) for key, order in orders.items()}
    unobserved: dict[Value, dict[int, Value]] = {}
    for node, transaction in enumerate(graph.transactions):
        for step in transaction.steps:
            if step.is_append and step.key in last_readers and step.value not in seen[step.key]:
                unobserved.setdefault(step.key, {}).setdefault(node, step.value)
    # Reader by appender these edges would be quadratic; along two chains of hubs they are linear.
    for key, appenders in unobserved.items():
        places = {node: place for place, node in enumerate(appenders)}
        # ``up[k]`` leads to the first k appenders, ``down[k]`` to those from the k-th on.
        # In both directions, so that one that is in the middle can leave itself out.
        up = _chain(graph, key, list(appenders.items()))
        down = _chain(graph, key, list(appenders.items())[::-1])
        for read in last_readers[key]:
            reader = nodes[read.transaction.number]
            place = places.get(reader)
            ends = [up[len(appenders)]] if place is None else [up[place], down[len(appenders) - place - 1]]
            for hub in ends:
                if hub is not None:
                    graph.add(reader, Edge(hub, Kind.RW, key, None, read.values))


def _chain(graph: Graph, key: Value, appenders: Sequence[tuple[int, Value]]) -> list[int | None]:
    """Return hubs, the k-th of which leads to the first k appenders; none for none."""
    hubs: list[int | None] = [None]
    for node, value in appenders:
        hub, before = graph.add_hub(), hubs[-1]
        graph.add(hub, Edge(node, Kind.WITHIN, key, value))
        if before is not None:
            graph.add(hub, Edge(before, Kind.WITHIN))
        hubs.append(hub)
    return hubs


# -- orders of clients and of time -------------------------------------------------------------------------------


def _add_process_order(graph: Graph) -> None:
    latest: dict[Value, int] = {}
    for node, transaction in enumerate(graph.transactions):
        process = transaction.operation.process
        if process in latest:
            graph.add(latest[process], Edge(node, Kind.PROCESS))
        # What nobody knows the end of may have happened after what its client did next.
        if transaction.outcome is Outcome.OK:
            latest[process] = node


def _add_time_order(graph: Graph) -> None:
    """Put a hub at each end: what ended leads to it, and it leads to what begins before the next end."""
    moments = sorted(
        moment
        for node, transaction in enumerate(graph.transactions)
        for moment in (
            (transaction.operation.start, False, node),
            *([] if transaction.operation.end is None else [(transaction.operation.end, True, node)]),
        )
    )
    latest: int | None = None
    for _, is_end, node in moments:
        if is_end:
            hub = graph.add_hub()
            if latest is not None:
                graph.add(latest, Edge(hub, Kind.WITHIN))
            graph.add(node, Edge(hub, Kind.REALTIME))
            latest = hub
        # Only the latest hub: all that ended before is behind it already.
        elif latest is not None:
            graph.add(latest, Edge(node, Kind.WITHIN))
