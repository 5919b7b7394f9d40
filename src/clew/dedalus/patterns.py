"""Facts that compute or stand for several rows, and the params that they compute with.

``acceptor(1..replicas, replicas / 2 + 1);`` is a pattern: once the params are known it becomes facts, a row for
each number of an interval, and the product of several.  The number of rows is bounded, because a slip of the
keyboard in ``1..1000000`` must not fill the memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product
from math import prod
from typing import NamedTuple

from clew.errors import Position, ProgramError
from clew.names import show
from clew.program.ir import LARGEST_NUMBER, SMALLEST_NUMBER, BinOp, Const, Expr, Fact, Value

#: So many rows the intervals of a program may come to.  Nobody checks a cluster of a hundred nodes, each of which
#: knows all others, and a program of more facts than this takes minutes to ground.
MOST_ROWS = 10_000


class ParamClause(NamedTuple):
    """``param replicas = 3;``: a value that may be set from outside; it may be computed from other params."""

    name: str
    value: Expr
    position: Position


class Interval(NamedTuple):
    """``1..replicas`` in a fact: a row for each number."""

    first: Expr
    last: Expr
    position: Position


class Computed(NamedTuple):
    """``replicas / 2 + 1`` in a fact, where ``replicas`` may be a param."""

    value: Expr
    position: Position


class FactPattern(NamedTuple):
    """A fact that computes, or stands for several rows: for either, params have to be known."""

    relation: str
    args: tuple[Const | Interval | Computed, ...]
    time: int
    position: Position


def refuse_interval(position: Position) -> ProgramError:
    """Return the error for an interval that stands elsewhere."""
    return ProgramError(
        "an interval stands in a fact only",
        position=position,
        remedy="list its numbers in a fact of their own and read that: number(1..3);",
    )


def expand_facts(clauses: Iterable[object]) -> Iterator[object]:
    """Yield the clauses with the facts that patterns stand for in their place; refuse what is too many."""
    left = MOST_ROWS
    for clause in clauses:
        # Most facts are no patterns; they pass through in their place, so that positions keep their order.
        if not isinstance(clause, FactPattern):
            yield clause
            continue
        columns = [_expand_argument(clause, arg) for arg in clause.args]
        # Counted before any row is made: the product of a few short intervals is large, too.
        count = prod(map(len, columns))
        if count > left:
            raise ProgramError(
                f"the intervals of the program come to more than {MOST_ROWS} rows",
                position=clause.position,
                remedy="give shorter ones; rules can conclude what follows from fewer rows",
            )
        left -= count
        for row in product(*columns):
            yield Fact(clause.relation, row, clause.time, clause.position)


def _expand_argument(fact: FactPattern, arg: Const | Interval | Computed) -> range | tuple[Value, ...]:
    match arg:
        case Const(value):
            return (value,)
        case Computed(value, position):
            return (evaluate(value, f"the fact '{fact.relation}'", position),)
        case Interval(first, last, position):
            ends = [evaluate(end, "an interval", position) for end in (first, last)]
            for end in ends:
                if not isinstance(end, int):
                    raise _refuse_operand(end, "an interval", position)
            low, high = (end for end in ends if isinstance(end, int))
            return expand_interval(low, high, position)


def expand_interval(first: int, last: int, position: Position) -> range:
    """Return the numbers of an interval; refuse one without any, and one that is too long."""
    if first > last:
        raise ProgramError(
            f"the interval {first}..{last} is empty",
            position=position,
            remedy="write the smaller number first; to have no row, leave the fact out",
        )
    # By itself, before the product: a range without end would be counted by nobody.
    if last - first >= MOST_ROWS:
        raise ProgramError(
            f"the interval {first}..{last} has more than {MOST_ROWS} numbers",
            position=position,
            remedy="give a shorter one",
        )
    return range(first, last + 1)


def evaluate(expr: Expr, where: str, position: Position) -> Value:
    """Compute a value of constants; ``where`` is what messages call its place."""
    match expr:
        case Const(value):
            return value
        case BinOp(op, left, right):
            operands = [evaluate(side, where, position) for side in (left, right)]
            for operand in operands:
                if not isinstance(operand, int):
                    raise _refuse_operand(operand, where, position)
            first, second = (operand for operand in operands if isinstance(operand, int))
            return _compute(op, first, second, position)
    raise ProgramError(
        f"{where} contains a variable, and there is no premise that could bind it",
        position=position,
        remedy="compute with numbers and params",
    )


def _compute(op: str, left: int, right: int, position: Position) -> int:
    if op == "/" and right == 0:
        raise ProgramError("a division by zero", position=position, remedy="divide by another number")
    match op:
        case "+":
            number = left + right
        case "-":
            number = left - right
        case "*":
            number = left * right
        case _:  # toward zero, as rules divide
            number = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
    if not SMALLEST_NUMBER <= number <= LARGEST_NUMBER:
        raise ProgramError(
            f"the number {number} is too large", position=position, remedy=f"numbers go up to {LARGEST_NUMBER}"
        )
    return number


def _refuse_operand(value: Value, where: str, position: Position) -> ProgramError:
    return ProgramError(
        f"{where} computes with {show(value)}, which is neither a number nor a param that is one",
        position=position,
        remedy=f"declare it: param {value} = 3; or check its spelling",
    )
