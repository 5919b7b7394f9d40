"""Fault sets that are the same up to a renaming of nodes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from clew.faults import Crash, Delay, Fault, FaultSet, Loss, Node


def rename_fault(fault: Fault, renaming: Mapping[Node, Node]) -> Fault:
    match fault:
        case Loss(source, target, time):
            return Loss(renaming.get(source, source), renaming.get(target, target), time)
        case Crash(node, time):
            return Crash(renaming.get(node, node), time)
        case Delay(source, target, time, lag):
            return Delay(renaming.get(source, source), renaming.get(target, target), time, lag)


def rename_faults(faults: Iterable[Fault], renaming: Mapping[Node, Node]) -> FaultSet:
    return FaultSet.of(rename_fault(f, renaming) for f in faults)


def is_representative(faults: FaultSet, renamings: Iterable[Mapping[Node, Node]]) -> bool:
    """Whether this set is the first of its class in the order of fault sets."""
    own = faults.sort_key()
    return all(own <= rename_faults(faults, renaming).sort_key() for renaming in renamings)
