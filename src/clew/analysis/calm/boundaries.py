"""Where rows enter a program and where they leave it, also in one that is a part of a larger one.

Sources: input interfaces, clocks, and channels that nobody here sends to.  A collection that no rule derives, or
only from rows that are written down, is *fixed*: it has no order that could matter, until it is sent.
Outputs: output interfaces, channels that nobody here reads, and what is stored and leads to none of these.
"""

from __future__ import annotations

from dataclasses import dataclass

from clew.analysis.calm.dataflow.graph import Dataflow, Node, NodeKind


@dataclass(frozen=True)
class Source:
    """``arrives``: its rows come in an order and at times of their own."""

    name: str
    arrives: bool
    fixed: bool = False


def sources_of(flow: Dataflow) -> tuple[Source, ...]:
    """Return where rows enter, in the order of the text; the fixed ones last."""
    names = {node.name for node in flow.nodes if _is_source(node, flow)}
    # Inputs that are derived as well (a module is given rows by who
    # imports it) count if nothing else leads to them.
    for node in flow.nodes:
        if node.kind is NodeKind.INPUT and node.name not in flow.reachable_from(sorted(names)):
            names.add(node.name)
    known = flow.reachable_from(sorted(names))
    found = [Source(n.name, n.kind in _ARRIVING) for n in flow.nodes if n.name in names]
    for node in flow.nodes:
        if node.name not in known and not flow.incoming[node.name]:
            found.append(Source(node.name, arrives=False, fixed=True))
    # A cycle that nothing enters: its rows can only come from rows that are written down.
    entered = flow.reachable_from([source.name for source in found])
    found += [Source(n.name, False, fixed=True) for n in flow.nodes if n.name not in entered]
    return tuple(found)


_ARRIVING = (NodeKind.CHANNEL, NodeKind.PERIODIC)


def _is_source(node: Node, flow: Dataflow) -> bool:
    if node.given or node.kind is NodeKind.PERIODIC:
        return True
    # An output that is read and not derived is filled by a module that is not there; a scratch has rows only in
    # the step in which they are inserted.
    outside = (NodeKind.INPUT, NodeKind.CHANNEL, NodeKind.OUTPUT, NodeKind.SCRATCH)
    return node.kind in outside and node.name not in flow.derived


def outputs_of(flow: Dataflow) -> tuple[str, ...]:
    """Return where rows leave, in the order of the text."""
    names = {node.name for node in flow.nodes if _is_output(node, flow)}
    for node in flow.nodes:
        if node.kind is NodeKind.OUTPUT and not flow.reachable_from([node.name]) & names:
            names.add(node.name)
    if not names:
        last = (n for n in flow.nodes if n.name in flow.derived and _is_last(n, flow))
        names = {node.name for node in last if node.kind is not NodeKind.INVARIANT}
    # State that is updated in place and leads to no output is read by itself alone: it is what there is to see.
    stored = [n.name for n in flow.nodes if n.name in flow.derived and n.kind.stored]
    names |= {name for name in stored if not flow.reachable_from([name]) & names}
    return tuple(node.name for node in flow.nodes if node.name in names)


def _is_output(node: Node, flow: Dataflow) -> bool:
    if node.observed:
        return True
    if node.kind is NodeKind.OUTPUT:
        return not flow.outgoing[node.name]
    leaves = node.kind is NodeKind.CHANNEL or node.kind.stored
    return leaves and node.name in flow.derived and _is_last(node, flow)


def _is_last(node: Node, flow: Dataflow) -> bool:
    return all(edge.target == node.name for edge in flow.outgoing[node.name])
