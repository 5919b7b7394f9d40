"""What of a NameNode depends on order: its tree alone, for ``clew calm`` and ``clew blazes``.

``Tree`` is the namespace with its paths as an output.  Decrees are its input, as they come from whoever decides on
their order.
"""

from __future__ import annotations

from clew.bloom import bloom, interface
from clew.boomfs.namenode.namespace import Namespace
from clew.boomfs.namenode.node import NameNode
from clew.boomfs.namenode.replicated import ReplicatedNameNode

__all__ = ["NameNode", "ReplicatedNameNode", "Tree"]


class Tree(Namespace):
    paths = interface.output("path")

    @bloom
    def tell(self) -> None:
        self.paths <= self.fqpath.project("path")
