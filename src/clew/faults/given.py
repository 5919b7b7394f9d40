"""What the adversary decides beside faults: rows that are given from outside, and what a ``choose`` takes.

They are treated as faults are, searched for, executed, explained and replayed, but they are none: nothing fails
when a client writes.  So they cost no fault, and a counterexample has as few of them as its faults allow.  Which
of them are possible is the program's business, not that of the bounds: ``clew.engine.given_rows`` says so.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, Self

from clew.faults.base import Cell, Kind, L
from clew.faults.limits import Limits, NodeName, SentMessage
from clew.names import show


class GivenRow:
    """What inputs and picks have in common: a row, and the time at which it is there."""

    name: ClassVar[str]
    kind: ClassVar[Kind]
    #: Programs see the row, and no time with it.
    observable: ClassVar[bool] = False
    halts: ClassVar[bool] = False
    #: The distance to failure does not look beyond what the program offers.
    at_will: ClassVar[str] = ""

    relation: str
    row: tuple[Cell, ...]
    time: int

    @abstractmethod
    def row_of(self, picked: Mapping[str, str]) -> str:
        """Return the relation that gets the row; ``picked`` has those of the choices."""

    @property
    def parts(self) -> tuple[str, tuple[Cell, ...], int]:
        return self.relation, self.row, self.time

    @property
    def numbers(self) -> tuple[int, ...]:
        return (self.time,)

    @property
    def message(self) -> None:
        """Return None: it hits no message."""
        return None

    @property
    def span(self) -> None:
        """Return None: it keeps no node from running."""
        return None

    @property
    def nodes(self) -> tuple[NodeName, ...]:
        """Return nothing: the names in a row are the program's, and not looked up among the nodes."""
        return ()

    @property
    def lateness(self) -> int:
        return 0

    @property
    def last(self) -> int:
        return self.time

    @property
    def shown(self) -> str:
        """Return the row as people see it."""
        return f"{self.relation}({', '.join(map(show, self.row))})"

    @property
    def phases(self) -> tuple[tuple[int, str], ...]:
        """Return nothing: it is there at one time."""
        return ()

    def among(self, nodes: Sequence[NodeName]) -> Self:
        return self

    def strikes(self, time: int) -> bool:
        return False

    def prevents(self, message: SentMessage) -> bool:
        return False

    def effect(self, target: NodeName) -> str:
        raise AssertionError("it does nothing to a message")

    def undone(self, target: NodeName, arrival: str) -> str:
        raise AssertionError("it does nothing to a message")

    def is_within(self, spec: Limits) -> bool:
        """Tell whether its time is within the execution; whether the program offers it, the engine knows."""
        return 1 <= self.time <= spec.eot

    @classmethod
    def possible(cls, spec: Limits) -> Iterator[Self]:
        """Yield nothing: the bounds alone do not say which rows there are."""
        return iter(())

    @staticmethod
    def none_of(spec: Limits) -> str:
        return ""

    @staticmethod
    def overlooked(spec: Limits) -> str:
        return ""

    @staticmethod
    def beyond(spec: Limits) -> str:
        return ""

    @staticmethod
    def combinations(spec: Limits) -> int:
        return 1  # the paper's number is that of failures

    def widen(self, spec: L) -> L:
        return spec

    def __str__(self) -> str:
        return f"{self.kind.letter}({self.shown},{self.time})"


def cell_key(cell: Cell) -> tuple[object, ...]:
    """Return a sort key for what a row holds, which Python does not compare: numbers, strings, None, tuples."""
    match cell:
        case int():
            return 0, cell
        case str():
            return 1, cell
        case None:
            return 2, 0
        case tuple():
            return 3, tuple(map(cell_key, cell))


def _rename_cell(cell: Cell, rename: Callable[[NodeName], NodeName]) -> Cell:
    if isinstance(cell, tuple):
        return tuple(_rename_cell(item, rename) for item in cell)
    # Numbers as well: a node may be called 1.
    return cell if cell is None else rename(cell)


@dataclass(frozen=True)
class Input(GivenRow):
    """``row`` is given to ``relation`` at ``time``: one that an ``input`` declaration offers."""

    name: ClassVar[Literal["input"]] = "input"
    kind: ClassVar[Kind] = Kind(
        letter="I",
        plural="inputs",
        limit="inputs up to",
        flag="--input",
        metavar="ROW@T",
        help="Give a row that an input declaration offers at time T, as in 'write(c, 1)@2'.",
        nodes=("relation", "row"),
        numbers=("time",),
        is_failure=False,
        counted="input",
    )

    relation: str
    row: tuple[Cell, ...]
    time: int

    def order_key(self) -> tuple[object, ...]:
        # After all failures: people ask what broke before they ask what was given.
        return (8, self.time, self.relation, tuple(map(cell_key, self.row)))

    def rename(self, rename: Callable[[NodeName], NodeName]) -> Input:
        return Input(self.relation, tuple(_rename_cell(cell, rename) for cell in self.row), self.time)

    def row_of(self, picked: Mapping[str, str]) -> str:
        return self.relation

    @property
    def sentence(self) -> str:
        return f"{self.shown} is given at time {self.time}"

    @staticmethod
    def possible_words(spec: Limits) -> str:
        return f"inputs are rows that an input declaration of the program offers, at times 1 to {spec.eot}"

    @staticmethod
    def limit_words(spec: Limits) -> str:
        if spec.inputs is None:
            return ""
        return f"{spec.inputs} input" if spec.inputs == 1 else f"{spec.inputs} inputs"

    @staticmethod
    def allowance(spec: Limits) -> str:
        return f"up to {Input.limit_words(spec)}" if spec.inputs is not None else ""

    @staticmethod
    def most(spec: Limits) -> int | None:
        return spec.inputs

    @staticmethod
    def limit(spec: Limits) -> int:
        return spec.inputs or 0


@dataclass(frozen=True)
class Pick(GivenRow):
    """At ``time``, the rule for ``relation`` that chooses takes what ``row`` has, if that is on offer.

    ``row``: the place, what the choice is made for, and what is chosen.
    """

    name: ClassVar[Literal["pick"]] = "pick"
    kind: ClassVar[Kind] = Kind(
        letter="K",
        plural="picks",
        limit="picks",
        flag="--choose",
        metavar="ROW@T",
        help="Let a rule with choose((X), (Y)) take this place, X and Y at time T, as in 'leader(a, b)@3'.",
        nodes=("relation", "row"),
        numbers=("time",),
        is_failure=False,
        counted="choice",
    )

    relation: str
    row: tuple[Cell, ...]
    time: int

    def order_key(self) -> tuple[object, ...]:
        # Last, since what is chosen depends on all that was given and failed before.
        return (9, self.time, self.relation, tuple(map(cell_key, self.row)))

    def rename(self, rename: Callable[[NodeName], NodeName]) -> Pick:
        return Pick(self.relation, tuple(_rename_cell(cell, rename) for cell in self.row), self.time)

    def row_of(self, picked: Mapping[str, str]) -> str:
        return picked[self.relation]

    @property
    def sentence(self) -> str:
        return f"{self.shown} is chosen at time {self.time}"

    @staticmethod
    def possible_words(spec: Limits) -> str:
        return f"choices are made by rules with choose((X), (Y)), at times 1 to {spec.eot}"

    @staticmethod
    def limit_words(spec: Limits) -> str:
        return ""

    @staticmethod
    def allowance(spec: Limits) -> str:
        return ""

    @staticmethod
    def most(spec: Limits) -> int | None:
        return None

    @staticmethod
    def limit(spec: Limits) -> int:
        return 0
