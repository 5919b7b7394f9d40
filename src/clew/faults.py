"""What can go wrong, and how much of it is allowed.

The failure model of MOLLY (sections 2.1.1 and 4.1.1 of the paper): messages may be lost before the
end of finite failures (EFF), nodes may crash for good, and, beyond the paper, a delivered message may
take longer than one step.  Of Clew, this module imports only how names are shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from math import comb

from clew.names import show

Node = str | int

#: What a loss or delay hits: all that a source sends to a target at a time.
SentMessage = tuple[Node, Node, int]


def node_key(node: Node) -> tuple[bool, str | int]:
    """Sort key that orders numbers before names, so that mixed node sets have one order."""
    return (isinstance(node, str), node)


@dataclass(frozen=True)
class Loss:
    """What ``source`` sends to ``target`` at ``time`` does not arrive."""

    source: Node
    target: Node
    time: int

    @property
    def message(self) -> SentMessage:
        return self.source, self.target, self.time

    def __str__(self) -> str:
        return f"O({show(self.source)},{show(self.target)},{self.time})"


@dataclass(frozen=True)
class Crash:
    """``node`` sends nothing from ``time`` on, for good."""

    node: Node
    time: int

    def __str__(self) -> str:
        return f"C({show(self.node)},{self.time})"


@dataclass(frozen=True)
class Delay:
    """What ``source`` sends to ``target`` at ``time`` arrives ``lag`` steps later than usual."""

    source: Node
    target: Node
    time: int
    lag: int

    @property
    def message(self) -> SentMessage:
        return self.source, self.target, self.time

    def __str__(self) -> str:
        return f"D({show(self.source)},{show(self.target)},{self.time},{self.lag})"


Fault = Loss | Crash | Delay

_KIND_ORDER = {Loss: 0, Crash: 1, Delay: 2}


def fault_key(fault: Fault) -> tuple[object, ...]:
    """The one order in which faults are listed everywhere: losses, crashes, delays; by time, then name."""
    kind = _KIND_ORDER[type(fault)]
    if isinstance(fault, Crash):
        return (kind, fault.time, node_key(fault.node))
    lag = fault.lag if isinstance(fault, Delay) else 0
    return (kind, fault.time, node_key(fault.source), node_key(fault.target), lag)


def by_message(faults: Iterable[Fault]) -> dict[SentMessage, list[Loss | Delay]]:
    """The losses and delays, grouped by what they hit: of each group at most one can happen."""
    groups: dict[SentMessage, list[Loss | Delay]] = {}
    for fault in faults:
        if not isinstance(fault, Crash):
            groups.setdefault(fault.message, []).append(fault)
    return groups


@dataclass(frozen=True)
class FaultSet:
    """A set of faults with one canonical order."""

    faults: tuple[Fault, ...] = ()

    @staticmethod
    def of(faults: Iterable[Fault]) -> FaultSet:
        return FaultSet(tuple(sorted(set(faults), key=fault_key)))

    @property
    def losses(self) -> tuple[Loss, ...]:
        return tuple(f for f in self.faults if isinstance(f, Loss))

    @property
    def crashes(self) -> tuple[Crash, ...]:
        return tuple(f for f in self.faults if isinstance(f, Crash))

    @property
    def delays(self) -> tuple[Delay, ...]:
        return tuple(f for f in self.faults if isinstance(f, Delay))

    def __iter__(self) -> Iterator[Fault]:
        return iter(self.faults)

    def __len__(self) -> int:
        return len(self.faults)

    def __contains__(self, fault: object) -> bool:
        return fault in self.faults

    def sort_key(self) -> tuple[object, ...]:
        """Fewest faults first, then the order of the faults."""
        return (len(self.faults), tuple(fault_key(f) for f in self.faults))

    def __str__(self) -> str:
        return " ".join(map(str, self.faults)) if self.faults else "no fault"


@dataclass(frozen=True)
class FailureSpec:
    """The bounds of a search.

    ``eot`` is the last time of an execution, losses happen at times ``< eff``, at most ``crashes`` nodes
    crash, each at a time ``< eot``, and a delivered message takes at most ``delays`` extra steps.
    """

    nodes: tuple[Node, ...]
    eot: int
    eff: int = 0
    crashes: int = 0
    delays: int = 0
    _members: frozenset[Node] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_members", frozenset(self.nodes))

    @property
    def longest_lag(self) -> int:
        """What is later than this does not arrive before the end, whenever it was sent; longer is no different."""
        return min(self.delays, max(0, self.eot - 1))

    def links(self) -> Iterator[tuple[Node, Node]]:
        """Every ordered pair of different nodes."""
        return ((a, b) for a in self.nodes for b in self.nodes if a != b)

    def possible_losses(self) -> Iterator[Loss]:
        return (Loss(a, b, t) for t in range(1, min(self.eff, self.eot)) for a, b in self.links())

    def possible_crashes(self) -> Iterator[Crash]:
        if self.crashes > 0:
            for t in range(1, self.eot):
                for n in self.nodes:
                    yield Crash(n, t)

    def possible_delays(self) -> Iterator[Delay]:
        for t in range(1, self.eot):
            for a, b in self.links():
                for lag in range(1, self.longest_lag + 1):
                    yield Delay(a, b, t, lag)

    def possible_faults(self) -> Iterator[Fault]:
        """Every single fault that these bounds admit."""
        yield from self.possible_losses()
        yield from self.possible_crashes()
        yield from self.possible_delays()

    def admits(self, faults: FaultSet) -> bool:
        """Whether this set of faults stays within the bounds."""
        crashed = [c.node for c in faults.crashes]
        return (
            all(self._admits_one(f) for f in faults)
            and len(crashed) == len(set(crashed)) <= self.crashes
            and all(len(group) == 1 for group in by_message(faults).values())
        )

    def _admits_one(self, fault: Fault) -> bool:
        if isinstance(fault, Crash):
            return fault.node in self._members and 1 <= fault.time < self.eot
        linked = {fault.source, fault.target} <= self._members and fault.source != fault.target
        if isinstance(fault, Loss):
            return linked and 1 <= fault.time < min(self.eff, self.eot)
        return linked and 1 <= fault.time < self.eot and 1 <= fault.lag <= self.longest_lag

    def combinations(self) -> int:
        """The paper's bound on the number of failure combinations (the Combinations column).

        A factor for the arrival of every message is added when messages may be delayed.
        """
        n, c = len(self.nodes), self.crashes
        k = 2 ** max(0, n - 1)
        crash_choices: int = sum(k ** min(self.eff, t - 1) for t in range(1, self.eot + 2))
        arrivals: int = (self.delays + 1) ** (n * (n - 1) * (self.eot - 1))
        loss_choices: int = k ** (self.eff * (n - c))
        return comb(n, c) * loss_choices * int(crash_choices**c) * arrivals
