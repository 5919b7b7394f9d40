"""The program between languages and engine: relations, rules and facts as frozen data.

Source positions travel along for messages and are ignored by equality, so that two programs are equal
when they mean the same text.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from clew.errors import Position

Value = str | int
ArithmeticOp = Literal["+", "-", "*", "/"]
ComparisonOp = Literal["==", "!=", "<", "<=", ">", ">="]
AggregateName = Literal["count", "sum", "min", "max", "avg"]

#: Numbers have 32 bits, as in the engine; what leaves this range is refused, never wrapped around.
SMALLEST_NUMBER, LARGEST_NUMBER = -(2**31), 2**31 - 1

#: The built-in relation crash(Observer, Node, Time); programs read it and may not define it.
CRASH = "crash"
CRASH_ARITY = 3


@dataclass(frozen=True)
class Const:
    value: Value


@dataclass(frozen=True)
class Var:
    name: str


@dataclass(frozen=True)
class Wildcard:
    """``_``: any value; every occurrence stands on its own."""


@dataclass(frozen=True)
class BinOp:
    op: ArithmeticOp
    left: Expr
    right: Expr


@dataclass(frozen=True)
class Aggregate:
    """``count<X>`` and its like; taken over the distinct values of X in the group."""

    function: AggregateName
    var: Var


Expr = Const | Var | BinOp
Term = Const | Var | Wildcard
HeadArg = Const | Var | BinOp | Wildcard | Aggregate


class Timing(enum.Enum):
    """When (and where) the conclusion of a rule holds."""

    SAME = ""
    NEXT = "@next"
    ASYNC = "@async"


@dataclass(frozen=True)
class Premise:
    """``rel(args)`` or ``notin rel(args)``.

    ``at`` is None (the rule's time), a number (that time) or a variable (bound to the rule's time).
    """

    relation: str
    args: tuple[Term, ...]
    negated: bool = False
    at: int | Var | None = None
    position: Position | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Comparison:
    op: ComparisonOp
    left: Expr
    right: Expr
    position: Position | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Rule:
    relation: str
    args: tuple[HeadArg, ...]
    timing: Timing
    body: tuple[Premise | Comparison, ...]
    position: Position | None = field(default=None, compare=False, repr=False)

    @property
    def premises(self) -> tuple[Premise, ...]:
        return tuple(b for b in self.body if isinstance(b, Premise))

    @property
    def positive(self) -> tuple[Premise, ...]:
        return tuple(p for p in self.premises if not p.negated)

    @property
    def negative(self) -> tuple[Premise, ...]:
        return tuple(p for p in self.premises if p.negated)

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        return tuple(b for b in self.body if isinstance(b, Comparison))

    @property
    def aggregates(self) -> tuple[Aggregate, ...]:
        return tuple(a for a in self.args if isinstance(a, Aggregate))

    @property
    def location(self) -> Term:
        """Where the rule runs: the first column of its first premise."""
        if self.positive and isinstance(self.premises[0].args[0], Wildcard):
            return self.positive[0].args[0]
        return self.premises[0].args[0]


@dataclass(frozen=True)
class Fact:
    """A row that is given at one time."""

    relation: str
    args: tuple[Value, ...]
    time: int = 1
    position: Position | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Program:
    """Facts and rules in source order."""

    clauses: tuple[Fact | Rule, ...]

    @property
    def facts(self) -> tuple[Fact, ...]:
        return tuple(c for c in self.clauses if isinstance(c, Fact))

    @property
    def rules(self) -> tuple[Rule, ...]:
        return tuple(c for c in self.clauses if isinstance(c, Rule))


def expr_vars(expr: HeadArg) -> Iterator[Var]:
    """The variables of an expression or aggregate, left to right, with repetitions."""
    match expr:
        case Var():
            yield expr
        case BinOp(_, left, right):
            yield from expr_vars(left)
            yield from expr_vars(right)
        case Aggregate(_, var):
            yield var


def rule_constants(program: Program) -> Iterator[Value]:
    """Every constant that a rule names."""
    for rule in program.rules:
        for arg in (*rule.args, *(a for p in rule.premises for a in p.args)):
            yield from _constants(arg)
        for comparison in rule.comparisons:
            yield from _constants(comparison.left)
            yield from _constants(comparison.right)


def _constants(expr: HeadArg) -> Iterator[Value]:
    match expr:
        case Const(value):
            yield value
        case BinOp(_, left, right):
            yield from _constants(left)
            yield from _constants(right)
