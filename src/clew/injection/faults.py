"""The faults of simulated code.

A message has a name that is the same in all runs in which its sender did the same so far: from whom to whom, its
type, and the how many-th of that type it is on this link.

A crash comes right after an event of its node, or before its first.  Between two events nothing of a node changes,
so that a crash at any time between them does the same to all others.  An invariant sees the node for longer the
later it crashes; but what it sees until then, it sees without the crash, too.

How long a node is down and a partition lasts is chosen from the ``outages`` of the bounds.  A partition begins
with a message that it loses: one that begins earlier does nothing until then.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar, NamedTuple, get_args

from clew.faults import Kind, notation
from clew.names import show
from clew.simulation.timing import show_time


class MessageName(NamedTuple):
    """The ``nth`` message of the type ``kind`` from ``source`` to ``target``."""

    source: str
    target: str
    kind: str
    nth: int

    def __str__(self) -> str:
        return f"the {ordinal(self.nth)} {self.kind} from {show(self.source)} to {show(self.target)}"

    @property
    def short(self) -> str:
        """Return it for a line with others."""
        number = "" if self.nth == 1 else f" #{self.nth}"
        return f"{self.kind}{number} {show(self.source)}→{show(self.target)}"


@dataclass(frozen=True)
class MessageLoss:
    """A message does not arrive."""

    name: ClassVar[str] = "loss"
    kind: ClassVar[Kind] = Kind(
        letter="O",
        plural="losses",
        limit="losses up to",
        flag="--lose",
        metavar="FROM,TO,TYPE,NTH",
        help="Lose the NTH message of this TYPE from FROM to TO.",
        nodes=("from", "to"),
        numbers=("nth",),
    )
    message: MessageName

    @property
    def parts(self) -> tuple[str | int, ...]:
        return self.message

    @property
    def node(self) -> None:
        """Return None: it keeps no node from running."""
        return None

    @property
    def sentence(self) -> str:
        return f"{self.message} is lost"

    @property
    def missed(self) -> str:
        """Say why it did not strike, in a run in which it did not."""
        return _missed_message(self.message)

    def order_key(self) -> tuple[object, ...]:
        # The first number is the rank of the kind: wherever faults are listed, kinds come in this order.
        return (0, *self.message)

    def __str__(self) -> str:
        return notation(self.kind.letter, self.parts)


@dataclass(frozen=True)
class MessageCopy:
    """A message arrives, and as long after that as it took, a second time."""

    name: ClassVar[str] = "duplicate"
    kind: ClassVar[Kind] = Kind(
        letter="U",
        plural="duplicates",
        limit="duplicates up to",
        flag="--duplicate",
        metavar="FROM,TO,TYPE,NTH",
        help="Let the NTH message of this TYPE from FROM to TO arrive twice.",
        nodes=("from", "to"),
        numbers=("nth",),
    )
    message: MessageName

    @property
    def parts(self) -> tuple[str | int, ...]:
        return self.message

    @property
    def node(self) -> None:
        """Return None: it keeps no node from running."""
        return None

    @property
    def sentence(self) -> str:
        return f"{self.message} arrives twice"

    @property
    def missed(self) -> str:
        """Say why it did not strike, in a run in which it did not."""
        return _missed_message(self.message)

    def order_key(self) -> tuple[object, ...]:
        return (1, *self.message)

    def __str__(self) -> str:
        return notation(self.kind.letter, self.parts)


@dataclass(frozen=True)
class NodeCrash:
    """A node stops after its ``after``-th event, for good; 0: before the first."""

    name: ClassVar[str] = "crash"
    kind: ClassVar[Kind] = Kind(
        letter="C",
        plural="crashes",
        limit="crashes up to",
        flag="--crash",
        metavar="NODE,AFTER",
        help="Crash NODE after so many of its events.",
        nodes=("node",),
        numbers=("after",),
    )
    node: str
    after: int

    @property
    def parts(self) -> tuple[str | int, ...]:
        return self.node, self.after

    @property
    def message(self) -> None:
        """Return None: it hits no single message."""
        return None

    @property
    def sentence(self) -> str:
        return f"{show(self.node)} crashes {_after(self.after)}"

    @property
    def missed(self) -> str:
        """Say why it did not strike, in a run in which it did not."""
        return _missed_node(self.node, self.after)

    def order_key(self) -> tuple[object, ...]:
        return (2, self.node, self.after)

    def __str__(self) -> str:
        return notation(self.kind.letter, self.parts)


@dataclass(frozen=True)
class NodeRestart:
    """A node stops after its ``after``-th event and starts again ``down`` microseconds later."""

    name: ClassVar[str] = "restart"
    kind: ClassVar[Kind] = Kind(
        letter="R",
        plural="restarts",
        limit="restarts up to",
        flag="--restart",
        metavar="NODE,AFTER,SECONDS",
        help="Stop NODE after so many of its events, and start it again so many SECONDS later.",
        nodes=("node",),
        numbers=("after", "seconds"),
    )
    node: str
    after: int
    down: int

    @property
    def parts(self) -> tuple[str | int, ...]:
        return self.node, self.after, show_time(self.down)

    @property
    def message(self) -> None:
        """Return None: it hits no single message."""
        return None

    @property
    def sentence(self) -> str:
        return f"{show(self.node)} restarts {_after(self.after)}, and is down for {show_time(self.down)}"

    @property
    def missed(self) -> str:
        """Say why it did not strike, in a run in which it did not."""
        return _missed_node(self.node, self.after)

    def order_key(self) -> tuple[object, ...]:
        return (3, self.node, self.after, self.down)

    def __str__(self) -> str:
        return notation(self.kind.letter, self.parts)


@dataclass(frozen=True)
class NetworkPartition:
    """What the nodes of ``group`` and the others send each other from ``first`` until ``until`` is lost."""

    name: ClassVar[str] = "partition"
    kind: ClassVar[Kind] = Kind(
        letter="P",
        plural="partitions",
        limit="partitions up to",
        flag="--partition",
        metavar="A,B:FROM,UNTIL",
        help="Lose what A, B and the others send each other from FROM until UNTIL, in seconds.",
        nodes=("group",),
        numbers=("from", "until"),
        group=True,
    )
    group: tuple[str, ...]
    first: int
    until: int

    @property
    def parts(self) -> tuple[tuple[str, ...] | str, ...]:
        return self.group, show_time(self.first), show_time(self.until)

    @property
    def message(self) -> None:
        """Return None: it hits no single message."""
        return None

    @property
    def node(self) -> None:
        """Return None: it keeps no node from running."""
        return None

    @property
    def sentence(self) -> str:
        cut_off = "is" if len(self.group) == 1 else "are"
        times = f"from {show_time(self.first)} until {show_time(self.until)}"
        return f"{_list(self.group)} {cut_off} cut off from the others {times}"

    @property
    def missed(self) -> str:
        """Say why it did not strike, in a run in which it did not."""
        return "nothing was on its way between the two sides at that time"

    def parts_at(self, source: str, target: str, time: int) -> bool:
        """Tell whether it loses what is sent from one to the other at a time."""
        # By when it is sent, not by when it would arrive, as in models.
        return self.first <= time < self.until and (source in self.group) != (target in self.group)

    def order_key(self) -> tuple[object, ...]:
        return (4, self.first, self.until, self.group)

    def __str__(self) -> str:
        return notation(self.kind.letter, self.parts)


CodeFault = MessageLoss | MessageCopy | NodeCrash | NodeRestart | NetworkPartition

#: Every kind there is, in canonical order.  Taken from the union, so that none can be in one and not in the other.
CODE_KINDS: tuple[type[CodeFault], ...] = get_args(CodeFault)


def exclusive_code_pairs(faults: Iterable[CodeFault]) -> Iterator[tuple[CodeFault, CodeFault]]:
    """Yield the faults of which not both can happen: of one message, or of one node after the same event."""
    messages: dict[MessageName, list[CodeFault]] = {}
    nodes: dict[str, list[NodeCrash | NodeRestart]] = {}
    for fault in faults:
        match fault:
            case MessageLoss(message) | MessageCopy(message):
                messages.setdefault(message, []).append(fault)
            case NodeCrash(node, _) | NodeRestart(node, _, _):
                nodes.setdefault(node, []).append(fault)
            case NetworkPartition():
                # Partitions may overlap: what is lost twice is lost.
                pass
    for of_message in messages.values():
        yield from combinations(of_message, 2)
    for of_node in nodes.values():
        yield from ((f, g) for f, g in combinations(of_node, 2) if _overlap(f, g) or _overlap(g, f))


def _overlap(one: NodeCrash | NodeRestart, other: NodeCrash | NodeRestart) -> bool:
    """Tell whether the other comes while a node is down because of the one: after the same event, or for good."""
    # A node that is down has no events: a restart delays the later ones, and a crash ends them.
    return one.after == other.after or (isinstance(one, NodeCrash) and one.after < other.after)


def _missed_message(message: MessageName) -> str:
    return f"{show(message.target)} got no {ordinal(message.nth)} {message.kind} from {show(message.source)}"


def _missed_node(node: str, after: int) -> str:
    return (
        f"{show(node)} was not up after {after} events" if after else f"{show(node)} was not up at the beginning"
    )


def ordinal(number: int) -> str:
    """Write a number as people count."""
    # Not 11st, 12nd and 13rd, whatever the last digit says.
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def _after(number: int) -> str:
    return f"after its {ordinal(number)} event" if number else "before its first event"


def _list(names: tuple[str, ...]) -> str:
    shown = [show(name) for name in names]
    return " and ".join([", ".join(shown[:-1]), shown[-1]]) if len(shown) > 1 else shown[0]
