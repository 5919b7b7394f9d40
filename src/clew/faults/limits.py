"""The numbers that bound a search.

They are a class of their own, below the kinds of faults: a kind says by these numbers which of its faults are
possible, and ``FailureSpec`` asks all kinds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

NodeName = str | int

#: What a fault of a message hits: all that a source sends to a target at a time.
SentMessage = tuple[NodeName, NodeName, int]


#: The bounds that documents and printed commands always state; further ones only where they allow something.
FIRST_BOUNDS = ("eot", "eff", "crashes", "delays")


def node_key(node: NodeName) -> tuple[bool, str | int]:
    """Return a sort key that puts numbers before names, so that mixed sets of nodes have one order."""
    # Python does not compare 1 with "a".
    return (isinstance(node, str), node)


@dataclass(frozen=True)
class Limits:
    """The bounds of a search.

    ``eot`` is the last time of an execution, losses happen at times ``< eff``, at most ``crashes`` nodes
    crash, each at a time ``< eot``, and a delivered message takes at most ``delays`` extra steps.  At most so many
    ``duplicates``, ``restarts``, ``pauses`` and ``partitions`` happen, and they are over by ``eff``.  At most
    ``stops`` nodes stop, each at a time ``< eot``.  At most so many ``inputs`` are given; None: all that the
    program offers may be.
    """

    nodes: tuple[NodeName, ...]
    eot: int
    eff: int = 0
    crashes: int = 0
    delays: int = 0
    duplicates: int = 0
    restarts: int = 0
    pauses: int = 0
    partitions: int = 0
    stops: int = 0
    inputs: int | None = None
    # Searches ask for every single fault whether its nodes exist; a scan of the tuple would show.
    _members: frozenset[NodeName] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_members", frozenset(self.nodes))

    @property
    def numbers(self) -> dict[str, int]:
        """Return the bounds but the nodes, by name: what documents and checkpoints write down.

        Of the bounds beyond the first ones those that allow something, so that documents that do without them stay
        what they were.
        """
        # Not dataclasses.asdict: it copies deeply, and would have the nodes and the members in it.
        numbers = {name: getattr(self, name) for name in self.__match_args__ if name != "nodes"}
        # No input at all is a bound that allows less than not to bound them.
        return {
            name: number
            for name, number in numbers.items()
            if number or name in FIRST_BOUNDS or (name == "inputs" and number is not None)
        }

    @property
    def longest_lag(self) -> int:
        """Return the longest delay that differs from a loss: a longer one ends after EOT, whenever it began."""
        return min(self.delays, max(0, self.eot - 1))

    @property
    def all_over(self) -> int:
        """Return the time by which finite failures are over: EFF, and within the execution."""
        return min(self.eff, self.eot)

    @property
    def can_restart(self) -> bool:
        """Tell whether there is time for a restart, and one may happen."""
        return self.all_over > 1 and self.restarts > 0

    @property
    def can_pause(self) -> bool:
        """Tell whether there is time for a pause, and one may happen."""
        return self.all_over > 1 and self.pauses > 0

    @property
    def can_stop(self) -> bool:
        """Tell whether a node may stop for good before the execution ends."""
        return self.eot > 1 and self.stops > 0

    @property
    def halts(self) -> bool:
        """Tell whether nodes can be kept from running, for a while or for good."""
        return self.can_restart or self.can_pause or self.can_stop

    def links(self) -> Iterator[tuple[NodeName, NodeName]]:
        """Yield every ordered pair of different nodes: a message to oneself is never lost or late."""
        return ((a, b) for a in self.nodes for b in self.nodes if a != b)

    def has_node(self, node: NodeName) -> bool:
        return node in self._members

    def has_link(self, source: NodeName, target: NodeName) -> bool:
        return source != target and source in self._members and target in self._members
