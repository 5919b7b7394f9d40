"""Fault sets that are the same up to a renaming of nodes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from clew.faults import Fault, FaultSet, NodeName


def rename_fault(fault: Fault, renaming: Mapping[NodeName, NodeName], nodes: Sequence[NodeName]) -> Fault:
    """Return the fault with its nodes renamed; a node that the renaming does not mention keeps its name."""
    return fault.rename(lambda node: renaming.get(node, node)).among(nodes)


class Symmetries:
    """Renamings of the ``nodes`` of a system that change nothing, without the identity."""

    def __init__(self, renamings: Sequence[Mapping[NodeName, NodeName]], nodes: Sequence[NodeName]) -> None:
        self.renamings = renamings
        self._nodes = nodes

    def images(self, faults: Iterable[Fault]) -> Iterator[FaultSet]:
        """Yield the fault set under each of the renamings."""
        known = tuple(faults)
        for renaming in self.renamings:
            yield FaultSet.of(rename_fault(fault, renaming, self._nodes) for fault in known)

    def is_representative(self, faults: FaultSet) -> bool:
        """Tell whether this set is the first of its class in the canonical order of fault sets."""
        own = faults.sort_key()
        return all(own <= image.sort_key() for image in self.images(faults))
