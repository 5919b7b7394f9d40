"""A node on the network."""

from __future__ import annotations

from clew.bloom.node import Node


class Bloom(Node):
    """What the classes of Bloom programs are derived from."""
