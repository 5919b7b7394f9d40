"""The bounds of a search as far as they are said: on the command line, in a ``//!`` line, in a Bloom ``setting``.

``clew.checker.bounds.complete`` makes a ``FailureSpec`` of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from clew.node_lists import WrittenNode


# A NamedTuple: unlike a dataclass it costs a cold start next to nothing, and the names of its fields are those
# that a //! line and the flags may use.
class Bounds(NamedTuple):
    """Bounds that may be partly open, None where nothing is said; their meaning is that in a ``FailureSpec``."""

    nodes: Sequence[WrittenNode] | None = None
    eot: int | None = None
    eff: int | None = None
    crashes: int | None = None
    delays: int | None = None
    duplicates: int | None = None
    restarts: int | None = None
    pauses: int | None = None
    partitions: int | None = None
    stops: int | None = None
    inputs: int | None = None

    def or_else(self, others: Bounds) -> Bounds:
        """Return these bounds, and where they are open the others."""
        return others._replace(**{name: own for name, own in self._asdict().items() if own is not None})


def without_faults(nodes: Sequence[WrittenNode] | None, eot: int | None) -> Bounds:
    """Return bounds that allow no fault, so that what a program states cannot allow any either."""
    # Not inputs: which of them are given, whoever asks for a run says.
    counts = [name for name in Bounds._fields if name not in ("nodes", "eot", "inputs")]
    return Bounds(nodes, eot, **dict.fromkeys(counts, 0))
