"""Sequences of events that are still to be explored from a place, as a tree (Abdulla et al., POPL 2014).

Each branch begins with something that was not explored there yet.  A sequence is added only if no branch leads to
the same executions already; so every branch that is followed leads to executions that were never seen.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from clew.exploration.dependence import Footprint, independent
from clew.exploration.event import Key

#: Events in their order, each with its footprint.
Sequence = list[tuple[Key, Footprint]]


@dataclass
class Branch:
    """An event, and what is to follow it: anything, if nothing is said."""

    key: Key
    footprint: Footprint
    children: list[Branch] = field(default_factory=list)


def can_begin(key: Key, footprint: Footprint, sequence: Sequence) -> bool:
    """Whether an event can come first in an execution that contains the events of the sequence in their order."""
    for other, its_footprint in sequence:
        if other == key:
            return True
        if not independent(footprint, its_footprint):
            return False
    return True


def insert(tree: list[Branch], sequence: Sequence) -> None:
    """Add a sequence, unless a branch leads to it already."""
    while sequence:
        branch = next((b for b in tree if can_begin(b.key, b.footprint, sequence)), None)
        if branch is None:
            for key, footprint in sequence:
                tree.append(Branch(key, footprint))
                tree = tree[-1].children
            return
        if not branch.children:
            return
        sequence = [(key, footprint) for key, footprint in sequence if key != branch.key]
        tree = branch.children
