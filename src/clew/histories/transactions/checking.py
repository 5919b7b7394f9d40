"""Check transactions: is there an order in which they could have run one by one, and if not, what shows it?

The result is exact in one direction: each anomaly that is reported is one.  In the other it is as exact as what
was observed: of appends that nobody read, only that they came after what was read is known.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from clew.histories.operations import Operation, Outcome
from clew.histories.transactions.cycles import Cycle, Reason, find_cycles
from clew.histories.transactions.graph import Graph, Kind, build_graph
from clew.histories.transactions.parsing import Transaction, parse_transactions
from clew.histories.transactions.versions import infer_versions
from clew.histories.values import show_value

#: What can be asked, with the orders that count besides the reads.
ORDERS = {
    "serializable": Kind.WITHIN,
    "session-serializable": Kind.PROCESS,
    "strict-serializable": Kind.PROCESS | Kind.REALTIME,
}


_SUFFIX = re.compile("-(process|realtime)$")


@dataclass(frozen=True)
class Why:
    """One reason why a transaction comes before another: its kind, and in words."""

    kind: str
    source: str
    target: str
    text: str


@dataclass(frozen=True)
class Anomaly:
    """What no order explains: its name, what was seen, who is involved, and of a cycle each step.

    ``others``: how many more of the same name were seen, which are not told.
    """

    name: str
    text: str
    transactions: tuple[Transaction, ...]
    cycle: tuple[Why, ...] = ()
    others: int = 0


@dataclass(frozen=True)
class CheckedTransactions:
    """Anomalies, one of each name; ``is_compared``: whether the cycles are certainly the shortest."""

    transactions: tuple[Transaction, ...]
    anomalies: tuple[Anomaly, ...]
    reads: int
    is_compared: bool


def check_transactions(operations: Sequence[Operation], model: str, file: str = "") -> CheckedTransactions:
    """Check transactions for what ``model``, one of ``ORDERS``, promises."""
    transactions = parse_transactions(operations, file)
    versions = infer_versions(transactions)
    anomalies: dict[str, Anomaly] = {}
    for flaw in versions.flaws:
        known = anomalies.get(flaw.name)
        anomalies[flaw.name] = (
            Anomaly(flaw.name, flaw.what, flaw.transactions)
            if known is None
            else replace(known, others=known.others + 1)
        )
    orders = ORDERS[model]
    # Who ended before another began came before it for its client, too: time alone is enough where it counts.
    realtime = Kind.REALTIME in orders
    # With all flaws known: lists that contradict each other say nothing of order, and give no edges.
    graph = build_graph(transactions, versions, process=bool(orders) and not realtime, realtime=realtime)
    cycles, is_compared = find_cycles(graph, orders)
    names = {cycle.name for cycle in cycles}
    # What shows without the order of time or of a client says more than what shows with it.
    telling = [c for c in cycles if not _SUFFIX.search(c.name) or _SUFFIX.sub("", c.name) not in names]
    found = [*anomalies.values(), *(_anomaly_of_cycle(cycle, graph) for cycle in telling)]
    reads = sum(bool(read.values) for read in versions.reads if read.transaction.outcome is Outcome.OK)
    return CheckedTransactions(tuple(transactions), tuple(found), reads, is_compared)


def _anomaly_of_cycle(cycle: Cycle, graph: Graph) -> Anomaly:
    involved = tuple(graph.transactions[reason.source] for reason in cycle.reasons)
    names = " before ".join([*(t.name for t in involved), involved[0].name])
    steps = tuple(_why(reason, graph) for reason in cycle.reasons)
    return Anomaly(cycle.name, f"{names}: none can be first", involved, steps)


def _why(reason: Reason, graph: Graph) -> Why:
    edge = reason.edge
    source, target = graph.transactions[reason.source].name, graph.transactions[edge.target].name
    key, value = show_value(edge.key), show_value(edge.value)
    kind = Kind(edge.kind)
    if kind is Kind.WW:
        text = f"{target} appended {value} to {key} right after what {source} had appended"
    elif kind is Kind.WR:
        text = f"{target} read {key} with {value} at its end, which {source} appended"
    elif kind is Kind.RW:
        text = f"{source} read {key} as {_ending(edge.read)}, without {value}, which {target} appended"
    elif kind is Kind.PROCESS:
        text = f"{source} and {target} are of the same client, one after the other"
    else:
        text = f"{source} ended before {target} began"
    return Why(kind.name.lower() if kind.name else "", source, target, text)


def _ending(values: tuple[object, ...]) -> str:
    if len(values) <= 6:
        return show_value(values)
    return f"[... {', '.join(map(show_value, values[-4:]))}]"
