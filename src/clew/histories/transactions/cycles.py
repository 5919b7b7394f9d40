"""Cycles of reasons, and their names: Adya's, as Elle uses them.

=========== ==================================================================
G0          only ww: writes of two transactions are interleaved
G1c         ww and wr: information flows in a circle
G-single    one rw: somebody saw part of a transaction and not the rest of it
G2-item     two or more rw: each overlooked what the other did
=========== ==================================================================

A cycle that needs the order of a client or of time has ``-process`` or ``-realtime`` behind its name.

Whether there is a cycle at all is decided exactly, in linear time (Tarjan).  Of each kind a shortest one is looked
for, by a breadth-first search from each edge within a component; the effort for that is counted, and bounded.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from clew.histories.transactions.graph import Edge, Graph, Kind

#: So many edges are followed for the shortest cycles of each kind; a search that has begun is finished.
_EFFORT = 3_000_000

#: By the kind of edge that a cycle must have, those that the rest of it may have: from the most telling kind on.
_SEARCHES = (
    (Kind.WW, Kind.WW),
    (Kind.WR, Kind.WW | Kind.WR),
    (Kind.RW, Kind.WW | Kind.WR),
    (Kind.RW, Kind.WW | Kind.WR | Kind.RW),
)

_NAMES = [name + order for order in ("", "-process", "-realtime") for name in ("G0", "G1c", "G-single", "G2-item")]


class Reason(NamedTuple):
    """One step of a cycle: from a transaction to the next, and why."""

    source: int
    edge: Edge


class Cycle(NamedTuple):
    """A cycle; the last step leads back to where the first begins."""

    name: str
    reasons: tuple[Reason, ...]


def find_cycles(graph: Graph, orders: Kind) -> tuple[list[Cycle], bool]:
    """Return a shortest cycle of each name, and whether all were compared; none only if there is none at all.

    ``orders``: the orders of clients and of time that cycles may also use.
    """
    if not any(strong_components(graph, _SEARCHES[-1][1] | orders)):
        return [], True
    # First without the orders of clients and of time: a cycle that does not need them says more.
    found: dict[str, Cycle] = {}
    is_complete = True
    for extra in dict.fromkeys((Kind.WITHIN, orders)):
        for must, may in _SEARCHES:
            cycles, all_compared = _shortest(graph, must, may | extra)
            is_complete &= all_compared
            for cycle in cycles:
                _keep_shorter(found, cycle)
    assert found, "whatever lies on a cycle lies on one of these"
    return sorted(found.values(), key=lambda cycle: _NAMES.index(cycle.name)), is_complete


def _keep_shorter(found: dict[str, Cycle], cycle: Cycle) -> None:
    known = found.get(cycle.name)
    if known is None or len(cycle.reasons) < len(known.reasons):
        found[cycle.name] = cycle


def _shortest(graph: Graph, must: Kind, may: Kind) -> tuple[list[Cycle], bool]:
    """Return a shortest cycle of each name among those through one edge of a kind and others of some kinds.

    Within a component each edge lies on a cycle, so the first search finds one.  That with ``must`` once only is
    no property of components: there, searching ends without one, when the effort is over.
    """
    # With ``must`` once only: the way back may not use another edge of its kind.
    is_once = not must & may
    component = strong_components(graph, must | may)
    found: dict[str, Cycle] = {}
    effort = _EFFORT
    for source, edges in enumerate(graph.edges[: len(graph.transactions)]):
        for edge in edges if component[source] else ():
            if edge.kind != must or component[edge.target] != component[source]:
                continue
            # A search that has begun is finished, so the same cycles are found on every machine.
            if effort < 0 and (found or is_once):
                return list(found.values()), False
            path, followed = _path(graph, component, edge.target, source, may)
            effort -= followed
            if path is not None:
                _keep_shorter(found, _name([Reason(source, edge), *path], graph))
    return list(found.values()), True


def _path(
    graph: Graph, component: Sequence[int], begin: int, end: int, may: Kind
) -> tuple[list[Reason] | None, int]:
    """Return a shortest path within a component, hubs not counted, and how many edges were followed for it."""
    came_from: dict[int, Reason | None] = {begin: None}
    queue = deque([begin])
    done: set[int] = set()
    followed = 0
    while queue:
        node = queue.popleft()
        if node == end:
            return _steps_to(end, came_from), followed
        if node in done:
            continue
        done.add(node)
        for edge in graph.edges[node]:
            followed += 1
            target = edge.target
            # From a hub on, it is free: whoever came in has paid.
            if target in came_from or component[target] != component[begin]:
                continue
            if edge.kind and not edge.kind & may:
                continue
            came_from[target] = Reason(node, edge)
            # To enter a hub and to leave it is one step of a cycle: it goes to the front of the queue.
            if graph.is_hub(target):
                queue.appendleft(target)
            else:
                queue.append(target)
    return None, followed


def _steps_to(end: int, came_from: dict[int, Reason | None]) -> list[Reason]:
    steps: list[Reason] = []
    node = end
    while (reason := came_from[node]) is not None:
        steps.append(reason)
        node = reason.source
    return steps[::-1]


def _name(steps: Sequence[Reason], graph: Graph) -> Cycle:
    """Return the cycle without its hubs, and with its name."""
    reasons = tuple(_without_hubs(steps, graph))
    kinds = [reason.edge.kind for reason in reasons]
    reads = kinds.count(Kind.RW)
    name = "G2-item" if reads > 1 else "G-single" if reads else "G1c" if Kind.WR in kinds else "G0"
    if Kind.REALTIME in kinds:
        name += "-realtime"
    elif Kind.PROCESS in kinds:
        name += "-process"
    return Cycle(name, reasons)


def _without_hubs(steps: Sequence[Reason], graph: Graph) -> Iterator[Reason]:
    entered: Reason | None = None
    for step in steps:
        if entered is None:
            entered = step
        if not graph.is_hub(step.edge.target):
            # The reason is that of the way in; which value decides stands at the way out.
            value = entered.edge.value if entered is step else step.edge.value
            yield Reason(entered.source, entered.edge._replace(target=step.edge.target, value=value))
            entered = None


def strong_components(graph: Graph, may: Kind) -> list[int]:
    """Return the number of the component of each node, from 1 on; 0 where it is on no cycle (Tarjan).

    ``may``: the kinds of edges that count; those within hubs always do.
    """
    size = len(graph.edges)
    index, low, component = [0] * size, [0] * size, [0] * size
    on_stack = bytearray(size)
    stack: list[int] = []
    counted = components = 0
    for root in range(size):
        if index[root]:
            continue
        work = [(root, iter(graph.edges[root]))]
        counted += 1
        index[root] = low[root] = counted
        stack.append(root)
        on_stack[root] = 1
        while work:
            node, edges = work[-1]
            for edge in edges:
                target = edge.target
                if edge.kind and not edge.kind & may:
                    continue
                if not index[target]:
                    counted += 1
                    index[target] = low[target] = counted
                    stack.append(target)
                    on_stack[target] = 1
                    work.append((target, iter(graph.edges[target])))
                    break
                if on_stack[target] and index[target] < low[node]:
                    low[node] = index[target]
            else:
                work.pop()
                if work and low[node] < low[work[-1][0]]:
                    low[work[-1][0]] = low[node]
                if low[node] == index[node]:
                    components += _number_component(node, stack, on_stack, component, components + 1)
    return component


def _number_component(root: int, stack: list[int], on_stack: bytearray, component: list[int], number: int) -> bool:
    """Take a component from the stack; return whether it has more than one node."""
    members = []
    while True:
        node = stack.pop()
        # Back to the root of the component, which was pushed first.
        on_stack[node] = 0
        members.append(node)
        if node == root:
            break
    if len(members) == 1:
        return False
    for node in members:
        component[node] = number
    return True
