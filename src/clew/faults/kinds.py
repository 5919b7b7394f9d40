"""The kinds of faults.  Each class declares in one place all that the rest of Clew wants to know of its kind:

====================== =================================================================================
``name``               its name in the encoding for the solver and in checkpoints
``kind``               its notation, its field in documents, its flag of ``clew run``
``order_key``          its place in the canonical order of faults
``parts``              its columns; ``nodes`` and ``numbers`` among them
``message``, ``span``   what it hits: a message, a node for some time; the same is not hit twice
``halts``              whether its node executes nothing meanwhile; ``observable``: whether programs see it
``strikes, prevents``  which messages it can change, and which it keeps from arriving
``lateness, last``     by how many steps it makes a message late; the last time at which it acts
``rename``, ``among``  the same fault under other names of nodes; and as these nodes name it
``phases``             when it begins and is over, in words, if it lasts for a while
``sentence``           its words; ``effect`` and ``undone``: what it does to a message
``none_of``, ``beyond`` its words in the report; so are ``overlooked`` and ``allowance``
``possible, is_within`` which faults of the kind there are within some bounds
``most``, ``widen``    how many of it the bounds allow, and which bounds would allow it
``at_will``            whether the distance to failure counts those beyond the bounds, and its words
``limit, limit_words`` its bound, as a number and in words
``combinations``       its factor in the number of failure combinations
====================== =================================================================================

To add a kind: write its class here, add it to ``Fault``, and let mypy lead the way.  What can be decided from
the declarations above is decided from them; what cannot is a ``match`` that ends in ``assert_never``.  Nothing may
test for one kind and take all others for granted (``tests/test_faults.py`` looks for that): a kind that a search
leaves out ends in a wrong certificate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import comb
from typing import ClassVar, Literal, get_args

from clew.faults.base import Kind, L, MessageFault, Part, Span, notation, power, steps_text
from clew.faults.finite import Duplicate, Partition
from clew.faults.given import Input, Pick
from clew.faults.halting import Pause, Restart, Stop
from clew.faults.limits import Limits, NodeName, SentMessage, node_key
from clew.names import show


@dataclass(frozen=True)
class Loss(MessageFault):
    """What ``source`` sends to ``target`` at ``time`` does not arrive."""

    name: ClassVar[Literal["loss"]] = "loss"
    kind: ClassVar[Kind] = Kind(
        letter="O",
        plural="losses",
        limit="losses before (EFF)",
        flag="--lose",
        metavar="FROM,TO,T",
        help="Lose what FROM sends to TO at time T.",
        nodes=("from", "to"),
        numbers=("time",),
    )
    #: Programs cannot see it happen.
    observable: ClassVar[bool] = False
    #: All nodes run.
    halts: ClassVar[bool] = False
    #: The distance to failure counts those beyond the bounds, and this says that all inside may happen.
    at_will: ClassVar[str] = "whatever is lost"

    source: NodeName
    target: NodeName
    time: int

    @property
    def parts(self) -> tuple[NodeName, NodeName, int]:
        return self.source, self.target, self.time

    @property
    def numbers(self) -> tuple[int, ...]:
        return (self.time,)

    @property
    def lateness(self) -> int:
        return 0

    @property
    def last(self) -> int:
        """Return the last time at which it makes a difference by itself."""
        return self.time

    # Written out for each kind, not made of ``kind.columns``: sets of faults are sorted for every execution.
    def order_key(self) -> tuple[object, ...]:
        return (0, self.time, node_key(self.source), node_key(self.target))

    def prevents(self, message: SentMessage) -> bool:
        """Tell whether nothing of this message arrives because of it."""
        return message == self.message

    # With --symmetry, every set of faults is renamed by every symmetry; dataclasses.replace takes much longer.
    def rename(self, rename: Callable[[NodeName], NodeName]) -> Loss:
        return Loss(rename(self.source), rename(self.target), self.time)

    # -- words ---------------------------------------------------------------------------------------

    @property
    def sentence(self) -> str:
        return f"{self._link()} is lost"

    def effect(self, target: NodeName) -> str:
        """Say what becomes of a message that it hits."""
        return "is lost"

    def undone(self, target: NodeName, arrival: str) -> str:
        """Say what becomes of that message without it; ``arrival``: a remark on a late arrival, or empty."""
        return "arrives"

    @staticmethod
    def possible_words(spec: Limits) -> str:
        return f"messages between different nodes are lost at times 1 to {spec.eot - 1}"

    @staticmethod
    def limit_words(spec: Limits) -> str:
        """Say the bound in a line of bounds; nothing for a kind beyond the paper that is not allowed at all."""
        return f"EFF {spec.eff}"

    @staticmethod
    def allowance(spec: Limits) -> str:
        """Say the bound in a sentence; nothing for a kind beyond the paper that is not allowed at all."""
        return f"any messages sent before time {spec.eff} lost" if spec.eff > 1 else "no message lost"

    @staticmethod
    def none_of(spec: Limits) -> str:
        """Say that none of those within the bounds does something; nothing where the bounds admit none."""
        return "no loss"

    @staticmethod
    def overlooked(spec: Limits) -> str:
        """Say in a sentence that the kind was not looked at; nothing where it was, or nobody expects it."""
        return ""

    @staticmethod
    def beyond(spec: Limits) -> str:
        """Say which of them are outside the bounds."""
        return f"losses from time {max(1, spec.eff)} on"

    # -- bounds --------------------------------------------------------------------------------------

    @staticmethod
    def possible(spec: Limits) -> Iterator[Loss]:
        return (Loss(a, b, t) for t in range(1, min(spec.eff, spec.eot)) for a, b in spec.links())

    def is_within(self, spec: Limits) -> bool:
        return spec.has_link(self.source, self.target) and 1 <= self.time < min(spec.eff, spec.eot)

    @staticmethod
    def most(spec: Limits) -> int | None:
        """Return how many of the kind the bounds allow at once; None: all that are possible."""
        return None

    def widen(self, spec: L) -> L:
        """Return bounds that are just wide enough for one more fault, this one."""
        return replace(spec, eff=max(spec.eff, min(spec.eot, self.time + 1)))

    @staticmethod
    def limit(spec: Limits) -> int:
        return spec.eff

    @staticmethod
    def combinations(spec: Limits) -> int:
        """Return the factor of the kind in the paper's number of failure combinations."""
        # Those of nodes that never crash; crashes count the losses of the others.
        return power(_cuts(spec), spec.eff * max(0, len(spec.nodes) - spec.crashes))

    def __str__(self) -> str:
        return notation(self.kind.letter, self.parts)


@dataclass(frozen=True)
class Crash:
    """``node`` sends nothing from ``time`` on, for good."""

    name: ClassVar[Literal["crash"]] = "crash"
    kind: ClassVar[Kind] = Kind(
        letter="C",
        plural="crashes",
        limit="crashes up to",
        flag="--crash",
        metavar="NODE,T",
        help="Crash NODE at time T.",
        nodes=("node",),
        numbers=("time",),
    )
    #: Programs see it, with its time, in the relation ``crash``.
    observable: ClassVar[bool] = True
    #: The node goes on deducing and receiving, as in the paper's tool; see ``Stop``.
    halts: ClassVar[bool] = False
    at_will: ClassVar[str] = "whoever crashes"

    node: NodeName
    time: int

    @property
    def parts(self) -> tuple[NodeName, int]:
        return self.node, self.time

    @property
    def numbers(self) -> tuple[int, ...]:
        return (self.time,)

    @property
    def message(self) -> None:
        """Return None: it hits no single message."""
        return None

    @property
    def span(self) -> Span:
        return Span(self.node, self.time, None)

    @property
    def nodes(self) -> tuple[NodeName, ...]:
        return (self.node,)

    @property
    def lateness(self) -> int:
        return 0

    @property
    def last(self) -> int:
        return self.time

    def order_key(self) -> tuple[object, ...]:
        return (1, self.time, node_key(self.node))

    def among(self, nodes: Sequence[NodeName]) -> Crash:
        return self

    def strikes(self, time: int) -> bool:
        return self.time <= time  # for good: the paper knows no recovery

    def prevents(self, message: SentMessage) -> bool:
        source, _, time = message
        return self.node == source and self.time <= time

    def rename(self, rename: Callable[[NodeName], NodeName]) -> Crash:
        return Crash(rename(self.node), self.time)

    # -- words ---------------------------------------------------------------------------------------

    @property
    def phases(self) -> tuple[tuple[int, str], ...]:
        """Return nothing: it is told with what it keeps from being sent, and where somebody sees it."""
        return ()

    @property
    def sentence(self) -> str:
        return f"{show(self.node)} crashes at time {self.time}"

    def effect(self, target: NodeName) -> str:
        return "is not sent"

    def undone(self, target: NodeName, arrival: str) -> str:
        return f"is sent{arrival}"

    @staticmethod
    def possible_words(spec: Limits) -> str:
        return f"a node crashes at times 1 to {spec.eot - 1}"

    @staticmethod
    def limit_words(spec: Limits) -> str:
        return f"{spec.crashes} {'crash' if spec.crashes == 1 else 'crashes'}"

    @staticmethod
    def allowance(spec: Limits) -> str:
        return f"up to {Crash.limit_words(spec)}" if spec.crashes else "no crash"

    @staticmethod
    def none_of(spec: Limits) -> str:
        return "no crash" if spec.crashes else ""

    @staticmethod
    def overlooked(spec: Limits) -> str:
        return "" if spec.crashes else "Crashes are outside the bounds and were not looked at."

    @staticmethod
    def beyond(spec: Limits) -> str:
        return f"crashes beyond {spec.crashes}"

    # -- bounds --------------------------------------------------------------------------------------

    @staticmethod
    def possible(spec: Limits) -> Iterator[Crash]:
        if spec.crashes == 0:
            return iter(())
        return (Crash(n, t) for t in range(1, spec.eot) for n in spec.nodes)

    def is_within(self, spec: Limits) -> bool:
        # At EOT it would be too late to make a difference: what is sent then does not arrive in any case.
        return spec.has_node(self.node) and 1 <= self.time < spec.eot

    @staticmethod
    def most(spec: Limits) -> int | None:
        return spec.crashes  # the paper's third parameter, beside EOT and EFF

    def widen(self, spec: L) -> L:
        return replace(spec, crashes=spec.crashes + 1)

    @staticmethod
    def limit(spec: Limits) -> int:
        return spec.crashes

    @staticmethod
    def combinations(spec: Limits) -> int:
        # Of a node that crashes at t, only what it sends before t can be lost; at EOT + 1 it does not crash.
        courses = sum(power(_cuts(spec), min(spec.eff, t - 1)) for t in range(1, spec.eot + 2))
        return comb(len(spec.nodes), spec.crashes) * power(courses, spec.crashes)

    def __str__(self) -> str:
        return notation(self.kind.letter, self.parts)


@dataclass(frozen=True)
class Delay(MessageFault):
    """What ``source`` sends to ``target`` at ``time`` arrives ``lag`` steps later than usual."""

    name: ClassVar[Literal["delay"]] = "delay"
    kind: ClassVar[Kind] = Kind(
        letter="D",
        plural="delays",
        limit="delays up to",
        flag="--delay",
        metavar="FROM,TO,T,LAG",
        help="Let it arrive LAG steps late.",
        nodes=("from", "to"),
        numbers=("time", "lag"),
    )
    #: Programs cannot see it happen.
    observable: ClassVar[bool] = False
    halts: ClassVar[bool] = False
    #: The distance to failure does not look beyond the bounds.
    at_will: ClassVar[str] = ""

    source: NodeName
    target: NodeName
    time: int
    lag: int

    @property
    def parts(self) -> tuple[NodeName, NodeName, int, int]:
        return self.source, self.target, self.time, self.lag

    @property
    def numbers(self) -> tuple[int, ...]:
        return self.time, self.lag

    @property
    def lateness(self) -> int:
        return self.lag

    @property
    def last(self) -> int:
        return self.time + self.lag

    def order_key(self) -> tuple[object, ...]:
        return (2, self.time, node_key(self.source), node_key(self.target), self.lag)

    def prevents(self, message: SentMessage) -> bool:
        return False

    def rename(self, rename: Callable[[NodeName], NodeName]) -> Delay:
        return Delay(rename(self.source), rename(self.target), self.time, self.lag)

    # -- words ---------------------------------------------------------------------------------------

    @property
    def sentence(self) -> str:
        return f"{self._link()} arrives {steps_text(self.lag)} late"

    def effect(self, target: NodeName) -> str:
        return f"arrives at {self.time + 1 + self.lag}, not {self.time + 1}"

    def undone(self, target: NodeName, arrival: str) -> str:
        return f"arrives at {self.time + 1}, not {self.time + 1 + self.lag}"

    @staticmethod
    def possible_words(spec: Limits) -> str:
        last = spec.eot - 1
        return f"messages between different nodes at times 1 to {last} are late by 1 to {last} steps"

    @staticmethod
    def limit_words(spec: Limits) -> str:
        return f"delays up to {spec.delays}" if spec.delays else ""

    @staticmethod
    def allowance(spec: Limits) -> str:
        return f"messages up to {steps_text(spec.delays)} late" if spec.delays else ""

    @staticmethod
    def none_of(spec: Limits) -> str:
        return f"no delay of up to {steps_text(spec.delays)}" if spec.delays else ""

    @staticmethod
    def overlooked(spec: Limits) -> str:
        return ""

    @staticmethod
    def beyond(spec: Limits) -> str:
        return f"messages that are more than {steps_text(spec.delays)} late" if spec.delays else "late messages"

    # -- bounds --------------------------------------------------------------------------------------

    @staticmethod
    def possible(spec: Limits) -> Iterator[Delay]:
        lags = range(1, spec.longest_lag + 1)
        return (Delay(a, b, t, lag) for t in range(1, spec.eot) for a, b in spec.links() for lag in lags)

    def is_within(self, spec: Limits) -> bool:
        within = 1 <= self.time < spec.eot and 1 <= self.lag <= spec.longest_lag
        return within and spec.has_link(self.source, self.target)

    @staticmethod
    def most(spec: Limits) -> int | None:
        return None  # the bound is on how late a message is, not on how many are

    def widen(self, spec: L) -> L:
        return replace(spec, delays=max(spec.delays, self.lag))

    @staticmethod
    def limit(spec: Limits) -> int:
        return spec.delays

    @staticmethod
    def combinations(spec: Limits) -> int:
        # Beyond the paper: when each message arrives.
        n = len(spec.nodes)
        return power(spec.delays + 1, n * (n - 1) * (spec.eot - 1))

    def __str__(self) -> str:
        return notation(self.kind.letter, self.parts)


Fault = Loss | Crash | Delay | Duplicate | Restart | Pause | Partition | Stop | Input | Pick

#: Every kind there is, in canonical order.  Taken from the union, so that none can be in one and not in the other.
KINDS: tuple[type[Fault], ...] = get_args(Fault)


#: The fields of documents that are always there; those of further kinds only where such faults happen.
FIRST_KINDS = tuple(kind.kind.plural for kind in (Loss, Crash, Delay))


def _cuts(spec: Limits) -> int:
    """Return in how many ways some of what a node sends at a time can be lost, one message for each other node."""
    return power(2, max(0, len(spec.nodes) - 1))


def make_fault(kind: Callable[..., Fault], parts: Iterable[Part]) -> Fault:
    """Return the fault of a kind that has these parts, which are in the order of its columns."""
    return kind(*parts)


def fault_columns(fault: Fault) -> list[object]:
    """Return the columns of a fault as documents and checkpoints write them: a group or a row is a list."""
    return [list(part) if isinstance(part, tuple) else part for part in fault.parts]


def fault_key(fault: Fault) -> tuple[object, ...]:
    """Return the sort key of the canonical order: losses, crashes, delays; by time, then by names."""
    return fault.order_key()
