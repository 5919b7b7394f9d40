"""Fault sets that are the same up to a renaming of nodes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from clew.faults import Fault, FaultSet, NodeName


def rename_fault(fault: Fault, renaming: Mapping[NodeName, NodeName]) -> Fault:
    """Return the fault with its nodes renamed; a node that the renaming does not mention keeps its name."""
    return fault.rename(lambda node: renaming.get(node, node))


def rename_faults(faults: Iterable[Fault], renaming: Mapping[NodeName, NodeName]) -> FaultSet:
    return FaultSet.of(rename_fault(f, renaming) for f in faults)


def is_representative(faults: FaultSet, renamings: Iterable[Mapping[NodeName, NodeName]]) -> bool:
    """Tell whether this set is the first of its class in the canonical order of fault sets."""
    own = faults.sort_key()
    return all(own <= rename_faults(faults, renaming).sort_key() for renaming in renamings)
