"""A node: an object that runs its rules, one step at a time."""

from __future__ import annotations

from clew.bloom.module import Module


class Node(Module):
    """Steps by ``tick()``."""
