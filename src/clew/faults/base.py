"""What kinds of faults are made of: how a kind is written, and what the faults of one message share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from math import comb
from typing import ClassVar, NamedTuple, Protocol, Self, TypeVar

from clew.faults.limits import Limits, NodeName, SentMessage
from clew.names import show

L = TypeVar("L", bound=Limits)

#: What a row holds; the same as ``clew.program.ir.Value``.
Cell = str | int | None | tuple["Cell", ...]

#: A column of a fault: a node, a number, the nodes of a group, or a row.
Part = NodeName | tuple[Cell, ...]


class Span(NamedTuple):
    """The times from ``first`` to before ``end`` in which a node does not run as usual; None: for good."""

    node: NodeName
    first: int
    end: int | None

    def overlaps(self, other: Span) -> bool:
        """Tell whether both are of one node and have a time in common."""
        begins_before = other.end is None or self.first < other.end
        return self.node == other.node and begins_before and (self.end is None or other.first < self.end)


class Kind(NamedTuple):
    """How faults of a kind are written.

    ``letter``: in the paper's notation.  ``plural``: the field of a verdict document that lists them.  ``limit``:
    the heading of its bound in a table.  ``flag``, ``metavar`` and ``help``: of ``clew run``.  ``nodes`` and
    ``numbers``: the columns, in the order of the fields of the class; every number counts from 1, and the first is
    the time.  ``group``: the first column is not one node but a group of them.  ``is_failure``: something fails;
    otherwise the columns are a relation, a row of it, and a time.  ``counted``: what one of them is called.
    """

    letter: str
    plural: str
    limit: str
    flag: str
    metavar: str
    help: str
    nodes: tuple[str, ...]
    numbers: tuple[str, ...]
    group: bool = False
    is_failure: bool = True
    counted: str = "fault"

    @property
    def columns(self) -> tuple[str, ...]:
        return (*self.nodes, *self.numbers)


class AnyFault(Protocol):
    """What searches want to know of a fault: nothing of what it does.

    The faults of models are in ``clew.faults.kinds``, those of simulated code in ``clew.injection.faults``.
    """

    kind: ClassVar[Kind]

    def order_key(self) -> tuple[object, ...]:
        """Return its place in the canonical order of faults."""


class MessageFault:
    """What the faults of one message have in common: its sender, its receiver and the time it is sent."""

    source: NodeName
    target: NodeName
    time: int

    @property
    def message(self) -> SentMessage:
        return self.source, self.target, self.time

    @property
    def span(self) -> None:
        """Return None: it does not keep a node from running."""
        return None

    @property
    def nodes(self) -> tuple[NodeName, ...]:
        return self.source, self.target

    def among(self, nodes: Sequence[NodeName]) -> Self:
        """Return the same fault as it is named among these nodes."""
        return self

    @property
    def phases(self) -> tuple[tuple[int, str], ...]:
        """Return nothing: it is told with its message."""
        return ()

    def strikes(self, time: int) -> bool:
        """Tell whether it can change what becomes of messages that are sent at this time."""
        return self.time == time

    def _link(self) -> str:
        return f"the message from {show(self.source)} to {show(self.target)} at time {self.time}"


class CountedFault:
    """What the kinds beyond the paper share: the bound that their plural names says how many there may be."""

    name: ClassVar[str]
    kind: ClassVar[Kind]
    #: The distance to failure moves the bounds of losses and crashes alone.
    at_will: ClassVar[str] = ""

    @classmethod
    def limit(cls, spec: Limits) -> int:
        number: int = getattr(spec, cls.kind.plural)
        return number

    @classmethod
    def most(cls, spec: Limits) -> int | None:
        return cls.limit(spec)

    @classmethod
    def limit_words(cls, spec: Limits) -> str:
        number = cls.limit(spec)
        return f"{number} {cls.name if number == 1 else cls.kind.plural}" if number else ""

    @classmethod
    def allowance(cls, spec: Limits) -> str:
        return f"up to {cls.limit_words(spec)}" if cls.limit(spec) else ""

    @classmethod
    def none_of(cls, spec: Limits) -> str:
        return f"no {cls.name}" if cls.limit(spec) else ""

    @classmethod
    def overlooked(cls, spec: Limits) -> str:
        """Return nothing: who does not allow them does not expect them."""
        return ""


class PassingFault(CountedFault):
    """What the kinds that pass have in common: they are over by EFF."""

    @classmethod
    def beyond(cls, spec: Limits) -> str:
        most = cls.limit(spec)
        return f"{cls.kind.plural} beyond {most} or after time {spec.all_over}" if most else ""


def notation(letter: str, parts: Iterable[Part]) -> str:
    """Return a fault as the paper writes it: ``O(a,b,1)``."""
    return f"{letter}({','.join(map(_part_text, parts))})"


def _part_text(part: Part) -> str:
    return f"{{{','.join(map(show, part))}}}" if isinstance(part, tuple) else show(part)


def power(base: int, exponent: int) -> int:
    """Return an integer power; mypy has to allow for exponents below 0, which give fractions."""
    result: int = base**exponent
    return result


def steps_text(number: int) -> str:
    """Say a number of steps."""
    return "1 step" if number == 1 else f"{number} steps"


def times_text(first: int, end: int) -> str:
    """Say the times from ``first`` to before ``end``."""
    return f"time {first}" if end == first + 1 else f"times {first} to {end - 1}"


# -- of kinds that pass ------------------------------------------------------------------------------------------


def intervals(spec: Limits) -> Iterator[tuple[int, int]]:
    """Yield the beginnings and ends of what is over by EFF."""
    return combinations(range(1, spec.all_over + 1), 2)


def count_selections(possible: Iterator[object], most: int) -> int:
    """Return in how many ways at most so many of these can happen."""
    number = sum(1 for _ in possible)
    return sum(comb(number, k) for k in range(most + 1))


def least_eff(spec: Limits, over: int) -> int:
    """Return the least EFF, and not less than it is, by which something is over."""
    return max(spec.eff, min(spec.eot, over))
