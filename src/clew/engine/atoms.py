"""What the grounder hands over: atoms as rows and messages, and the ground rules.

Tuples throughout, not dataclasses: there are thousands of each, and nothing else about a search is as numerous.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import NamedTuple

from clingo import Observer, Symbol

from clew.budgets.deadline import Deadline
from clew.faults import NodeName
from clew.program.ir import Value


class RowAtom(NamedTuple):
    """The ground atom of a row at a time."""

    literal: int
    relation: str
    row: tuple[Value, ...]
    time: int


class SentAtom(NamedTuple):
    """The ground atom of a message at its sending time."""

    literal: int
    relation: str
    row: tuple[Value, ...]
    source: NodeName
    time: int


class LinkAtom(NamedTuple):
    """The ground atom that what ``source`` sends ``target`` at a time arrives, is cut off, or is late."""

    literal: int
    source: NodeName
    target: NodeName
    time: int


class ArrivalAtom(NamedTuple):
    """The ground atom of a row that has arrived at a time: it waits while the node is paused."""

    literal: int
    relation: str
    row: tuple[Value, ...]
    time: int


class HaltAtom(NamedTuple):
    """The ground atom that a node is down or paused at a time, or runs again from then on."""

    literal: int
    node: NodeName
    time: int


class SightingAtom(NamedTuple):
    """The ground atom that it is seen that a node has crashed, or is down."""

    literal: int
    node: NodeName


class GroundRule(NamedTuple):
    """``head :- body`` over atom numbers, negated literals negative; ``bound`` makes it a weight rule.

    A weight rule fires when the weights of its true literals add up to the bound.  ``source`` is the number of
    the program's rule that it is an instance of, where the grounding was asked to be traceable.
    """

    head: int
    body: tuple[int, ...]
    weights: tuple[int, ...] = ()
    bound: int | None = None
    source: int | None = None

    @property
    def blocking_weight(self) -> int:
        """Return how much weight must be missing so that a weight rule cannot fire."""
        return sum(self.weights) - (self.bound or 0) + 1

    def fires(self, true: Container[int]) -> bool:
        """Tell whether its body holds in the execution in which exactly these atoms hold."""
        if self.bound is None:
            return all((abs(b) in true) == (b > 0) for b in self.body)
        held = sum(w for b, w in zip(self.body, self.weights, strict=True) if (abs(b) in true) == (b > 0))
        return held >= self.bound


class Recorder(Observer):
    """Keeps the ground rules: the lineage rewrite of the paper (section 4.1.2), without changing the program.

    The paper adds a relation to each rule that records the bindings with which it fired.  clingo tells of every
    ground rule by itself, also of those that fire only under faults nobody has tried.  Choices and constraints
    are no derivations.

    Nor are disjunctions.  Programs have none; gringo makes some for sums with negative numbers, beside rules that
    derive what they could: they only keep such a sum from supporting itself.
    """

    def __init__(self, deadline: Deadline) -> None:
        self._deadline = deadline
        self.rules: list[GroundRule] = []

    def rule(self, choice: bool, head: Sequence[int], body: Sequence[int]) -> None:
        # A choice leaves it open whether its atom holds, and a constraint derives nothing: neither explains
        # anything.
        if len(head) == 1 and not choice:
            self.rules.append(GroundRule(head[0], tuple(body)))
            if len(self.rules) % 10_000 == 0:
                self._deadline.check()  # the thread that grounds stops by itself

    # clingo turns the #count and #sum of aggregates into these.
    def weight_rule(
        self, choice: bool, head: Sequence[int], lower_bound: int, body: Sequence[tuple[int, int]]
    ) -> None:
        if head and not choice:
            literals, weights = zip(*body, strict=True) if body else ((), ())
            self.rules.append(GroundRule(head[0], literals, weights, lower_bound))


class NamingRecorder(Recorder):
    """Remembers what the atoms stand for, too: asking the control afterwards takes three times as long."""

    def __init__(self, deadline: Deadline) -> None:
        super().__init__(deadline)
        self.symbols: dict[int, Symbol] = {}

    def output_atom(self, symbol: Symbol, atom: int) -> None:
        if atom:  # 0 for what is certain
            self.symbols[atom] = symbol
