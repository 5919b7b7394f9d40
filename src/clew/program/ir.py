"""The program between languages and engine: Dedalus (section 2 of the paper) as frozen data.

Dedalus is Datalog with negation and aggregates in which every row is at a place, its first column, and at a time.
A rule concludes at the same time, at the next one (``@next``: state), or at another place at some later time
(``@async``: a message).  The text of Dedalus and Bloom classes both become this; nothing to the right of it knows
which of the two it was, but for the texts that messages show.

Source positions travel along for messages and are ignored by equality, so that two programs are equal
when they mean the same text.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from clew.errors import Position
from clew.faults import NodeName

#: What a column holds.  The text of Dedalus knows strings and numbers; tuples and None are of other languages.
Value = str | int | None | tuple["Value", ...]
#: Spelt as in the text of Dedalus; clingo's spelling is the encoding's business.
ArithmeticOp = Literal["+", "-", "*", "/"]
ComparisonOp = Literal["==", "!=", "<", "<=", ">", ">="]
AggregateName = Literal["count", "sum", "min", "max", "avg"]

#: Numbers have 32 bits, as in the engine; what leaves this range is refused, never wrapped around.
SMALLEST_NUMBER, LARGEST_NUMBER = -(2**31), 2**31 - 1

#: One half of a surrogate pair: Python strings may contain it, UTF-8 cannot.
_HALF_CHARACTER = re.compile("[\ud800-\udfff]")

#: The built-in relation crash(Observer, NodeName, Time); programs read it and may not define it.
CRASH = "crash"
#: The built-in relation down(Observer, NodeName), at the times at which the node is down, for good or not.
DOWN = "down"
#: Dedalus has no declarations, so what is built in states its own number of columns.
BUILT_IN = {CRASH: 3, DOWN: 2}


@dataclass(frozen=True)
class Const:
    """A value that the rule names."""

    value: Value


@dataclass(frozen=True)
class Var:
    """A variable: within a rule, one name is one value."""

    name: str


@dataclass(frozen=True)
class Wildcard:
    """``_``: any value; every occurrence stands on its own."""


@dataclass(frozen=True)
class BinOp:
    """Arithmetic on numbers of 32 bits, checked for overflow when it is evaluated."""

    op: ArithmeticOp
    left: Expr
    right: Expr


@dataclass(frozen=True)
class Nested:
    """A tuple in a column."""

    items: tuple[Expr, ...]


#: Functions that add values up: of equal ones each counts once, unless ``per`` tells them apart.
ADDING = ("sum", "avg")


@dataclass(frozen=True)
class Aggregate:
    """``count<X>`` and its like; taken over the distinct values of X in the group.

    With ``per``, equal values of X count once for each combination of these variables: once a row, for example.
    """

    function: AggregateName
    var: Var
    per: tuple[Var, ...] = ()


#: What can be computed, what a premise can be matched with, and what a head can conclude.
Expr = Const | Var | BinOp | Nested
Term = Const | Var | Wildcard
HeadArg = Const | Var | BinOp | Nested | Wildcard | Aggregate


class Timing(enum.Enum):
    """When (and where) the conclusion of a rule holds."""

    # The values are the annotations of Dedalus, as the parser reads and the printer writes them.

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
    """A condition on values that premises have bound; it binds nothing itself."""

    op: ComparisonOp
    left: Expr
    right: Expr
    position: Position | None = field(default=None, compare=False, repr=False)


class CannotCheckError(Exception):
    """What a function did cannot be part of a check; the message says what that was, ``remedy`` what to do."""

    def __init__(self, message: str, remedy: str) -> None:
        super().__init__(message)
        self.remedy = remedy


# Compared by identity: two functions with one name are not the same function.
@dataclass(frozen=True, eq=False)
class Function:
    """A Python function of a program, from values to any number of rows.  What it returns is always the same.

    ``name`` is what messages call it.  Where it raises an exception, it gives no row, and the user is told; where
    that is a ``CannotCheckError``, the program is refused.
    """

    name: str
    rows: Callable[[tuple[Value, ...]], Iterable[tuple[Value, ...]]]


@dataclass(frozen=True)
class Call:
    """A premise that a function decides: it binds ``results`` to each of the rows that it gives for ``args``."""

    function: Function
    args: tuple[Expr, ...]
    results: tuple[Var, ...] = ()
    position: Position | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Choose:
    """``choose((X), (Y))``: of the ways to satisfy the body, those with one Y for each X, whichever that is.

    Only in programs as they are written: ``clew.program.choosing`` replaces it by rules.
    """

    keys: tuple[Var, ...]
    values: tuple[Var, ...]
    position: Position | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Rule:
    """``text`` is what the reader knows the rule as, where that is not Dedalus."""

    relation: str
    args: tuple[HeadArg, ...]
    timing: Timing
    body: tuple[Premise | Comparison | Call | Choose, ...]
    position: Position | None = field(default=None, compare=False, repr=False)
    text: str | None = field(default=None, compare=False, repr=False)

    # One body in the order of the text, and views of it: the printer needs the order, everybody else the kinds.
    # Kept, because nothing is read as often, by checks and by the encoding of every program.

    @cached_property
    def premises(self) -> tuple[Premise, ...]:
        return tuple(b for b in self.body if isinstance(b, Premise))

    @cached_property
    def positive(self) -> tuple[Premise, ...]:
        return tuple(p for p in self.premises if not p.negated)

    @cached_property
    def negative(self) -> tuple[Premise, ...]:
        return tuple(p for p in self.premises if p.negated)

    @cached_property
    def comparisons(self) -> tuple[Comparison, ...]:
        return tuple(b for b in self.body if isinstance(b, Comparison))

    @cached_property
    def calls(self) -> tuple[Call, ...]:
        return tuple(b for b in self.body if isinstance(b, Call))

    @cached_property
    def choices(self) -> tuple[Choose, ...]:
        return tuple(b for b in self.body if isinstance(b, Choose))

    @cached_property
    def aggregates(self) -> tuple[Aggregate, ...]:
        return tuple(a for a in self.args if isinstance(a, Aggregate))

    @cached_property
    def location(self) -> Term:
        """Return where the rule runs: the first column of its first premise."""
        # A negated premise may come first in the text; if it says ``_``, the next one knows the place.
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
class InputRule:
    """``input write(C, V)@T :- client(C), value(V), T >= 2;``: rows that may be given from outside, or not.

    ``rule`` has head and body; its premises are about facts alone, whatever their time.  ``time`` is when a row is
    given: a number, or a variable that stands for every time that the comparisons leave.
    """

    rule: Rule
    time: int | Var

    @property
    def relation(self) -> str:
        return self.rule.relation

    @property
    def args(self) -> tuple[HeadArg, ...]:
        return self.rule.args

    @property
    def position(self) -> Position | None:
        return self.rule.position


@dataclass(frozen=True)
class Choice:
    """``choose((X), (Y))`` in a rule: of what is ``offered`` to a place for each X, one Y is taken in each step.

    ``name`` is what the choice is called, ``offered`` and ``picked`` are relations of the rules that
    ``clew.program.choosing`` writes for it: their first ``keys`` columns are the place and X, the others Y.
    """

    name: str
    offered: str
    picked: str
    keys: int
    values: int
    position: Position | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Param:
    """A value that the program has a name for; ``given``: it was set from outside, and is not the default."""

    name: str
    value: str | int
    given: bool = False


@dataclass(frozen=True)
class Program:
    """Facts and rules in source order; ``helpers`` are relations that the program's author does not know.

    ``durable``: the relations that survive a restart; None: the program does not say, and restarts make no sense.
    ``observed``: relations that belong to no node, so that no fault of a node touches them.
    ``inputs`` and ``choices``: what the adversary decides beside faults; ``given``: rows from outside that are
    certain, because that has been decided.  ``params``: what names stood for; the clauses have the values, so that
    a program with params is equal to the one in which they are written out.
    """

    clauses: tuple[Fact | Rule, ...]
    helpers: frozenset[str] = frozenset()
    durable: frozenset[str] | None = None
    observed: frozenset[str] = frozenset()
    inputs: tuple[InputRule, ...] = ()
    choices: tuple[Choice, ...] = ()
    given: tuple[Fact, ...] = ()
    params: tuple[Param, ...] = field(default=(), compare=False)

    @property
    def facts(self) -> tuple[Fact, ...]:
        return tuple(c for c in self.clauses if isinstance(c, Fact))

    @property
    def rules(self) -> tuple[Rule, ...]:
        return tuple(c for c in self.clauses if isinstance(c, Rule))

    @property
    def open_rows(self) -> frozenset[str]:
        """Return the relations whose rows the adversary may give."""
        decided = (fact.relation for fact in self.given)
        return frozenset((*(i.relation for i in self.inputs), *(c.picked for c in self.choices), *decided))

    @property
    def ranges(self) -> frozenset[str]:
        """Return the relations that only declarations of inputs read: their facts say what may be given."""
        # A rule that only keeps such a relation (p@next :- p) does not make it a part of the protocol.
        read = {premise.relation for declared in self.inputs for premise in declared.rule.premises}
        return frozenset(
            read - {p.relation for rule in self.rules for p in rule.premises if p.relation != rule.relation}
        )

    @property
    def reads_down(self) -> bool:
        """Tell whether a rule asks which nodes are down."""
        return any(premise.relation == DOWN for rule in self.rules for premise in rule.premises)

    def describe(self, rule: Rule) -> str:
        """Return what messages call a rule: by its relation, or by its text where that is a helper."""
        # A helper has a name that a front end made up, which tells its author nothing.
        if rule.relation in self.helpers and rule.text:
            return f"the rule {rule.text}"
        return f"the rule for '{rule.relation}'"


def expr_vars(expr: HeadArg) -> Iterator[Var]:
    """Yield the variables of an expression or aggregate, left to right, with repetitions."""
    match expr:
        case Var():
            yield expr
        case BinOp(_, left, right):
            yield from expr_vars(left)
            yield from expr_vars(right)
        case Nested(items):
            for item in items:
                yield from expr_vars(item)
        case Aggregate(_, var, per):
            yield from (var, *per)


def rule_constants(program: Program) -> Iterator[Value]:
    """Yield every constant that a rule names."""
    for rule in (*program.rules, *(given.rule for given in program.inputs)):
        for arg in (*rule.args, *(a for p in rule.premises for a in p.args)):
            yield from expr_constants(arg)
        for comparison in rule.comparisons:
            yield from expr_constants(comparison.left)
            yield from expr_constants(comparison.right)
        for call in rule.calls:
            for arg in call.args:
                yield from expr_constants(arg)


def expr_constants(expr: HeadArg) -> Iterator[Value]:
    """Yield the constants of an expression, left to right, with repetitions."""
    match expr:
        case Const(value):
            yield value
        case BinOp(_, left, right):
            yield from expr_constants(left)
            yield from expr_constants(right)
        case Nested(items):
            for item in items:
                yield from expr_constants(item)


def as_place(value: Value) -> NodeName:
    """Return the first column of a row as a place; nobody is where the name is neither a string nor a number."""
    return value if isinstance(value, str | int) else str(value)


def as_value(value: object) -> Value:
    """Return a Python value as a column of a program holds it; raise ``ValueError`` if none can.

    All that is equal in Python is equal here: truth values are numbers (True == 1), and so is a float without a
    fraction.
    """
    match value:
        case None:
            return value
        case str():
            # The solver ends a string at a NUL, where "a\0b" would become "a", and takes no half characters.
            if "\0" in value or _HALF_CHARACTER.search(value):
                raise ValueError(f"the text {value!r:.60}")
            return value
        case bool() | int():  # also of a subclass, such as an enum: the number is what counts
            number = int(value)
        # 2.0 == 2 in Python, so a join would find one for the other; 2.5 has no number that is equal to it.
        case float() if value.is_integer():
            number = int(value)
        case tuple() | list():
            return tuple(as_value(item) for item in value)
        case _:
            raise ValueError(f"a {type(value).__name__} ({value!r:.60})")
    if not SMALLEST_NUMBER <= number <= LARGEST_NUMBER:
        raise ValueError(f"the number {number}")
    return number
