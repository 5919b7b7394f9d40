"""The programs of a node, one for each of its lives: read once, if its lives can share what was read.

To read the rules of a class takes longer than most executions.  They can be shared by several machines where no
function in them can reach the object that they were read from: it would find the rows of another life there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import BuiltinFunctionType, FunctionType
from typing import Any

from clew.bloom.ir.expressions import Fold, Reduce, RowFunction, Transform, subexpressions
from clew.bloom.ir.function_code import outer_values
from clew.bloom.ir.program import BloomProgram
from clew.bloom.ir.schema import Collection, Kind
from clew.bloom.runtime.machine import Machine, Waiting
from clew.bloom.runtime.node import Node as Program
from clew.bloom.runtime.prepared import prepare
from clew.bloom.runtime.tap import tap_of
from clew.bloom.simulated.contributions import Contributions
from clew.bloom.values import Row, is_immutable
from clew.errors import UsageError
from clew.simulation.user_code import ask

#: A class of Bloom programs, or a function that makes the program of the node with a name.
Made = type[Program] | Callable[[str], Program]
#: Rows by collection.
GivenRows = Mapping[str, Iterable[Sequence[Any]]]

#: Rows come into these by rules alone.
DERIVED_ONLY = (Kind.LATTICE, Kind.DIE)

#: What arrives is the cause of a step, and no part of the state after it; what ends a node is shown as its end.
HIDDEN = frozenset({Kind.CHANNEL, Kind.LOOPBACK, Kind.PERIODIC, Kind.INPUT, Kind.STDIO, Kind.DIE})


class Plan:
    """What is the same for all lives of a program: what is shown, kept and timed, and what comes from what."""

    def __init__(self, program: BloomProgram) -> None:
        self.program = program
        self.prepared = prepare(program)
        self.contributions = Contributions(program)
        self.shown: tuple[Collection, ...] = tuple(c for c in program.collections if c.kind not in HIDDEN)
        self.durable = tuple(c.name for c in program.collections if c.durable)
        self.invariants = tuple(c.name for c in program.collections if c.kind is Kind.DIE)
        self.stdio = tuple(c.name for c in program.collections if c.kind is Kind.STDIO)
        self.periods: dict[str, float] = {
            c.name: c.period for c in program.collections if c.kind is Kind.PERIODIC and c.period is not None
        }


@dataclass(frozen=True)
class _Shared:
    """A program that was read, and what is left to do before its first step when it is made."""

    plan: Plan
    waiting: Waiting
    node: Program


class Programs:
    """Makes the program of a node for each of its lives; ``given`` are rows that each of them begins with."""

    def __init__(self, make: Made, given: GivenRows) -> None:
        self._make = make
        self._given = {name: tuple(map(tuple, rows)) for name, rows in given.items()}
        self._shared: dict[str, _Shared] = {}

    def begin(self, name: str) -> tuple[Machine, Plan]:
        """Make the machine of a new life of the node with this name."""
        shared = self._shared.get(name)
        if shared is None:
            made = make_program(self._make, name)
            shared = _Shared(Plan(made.program), made.machine.waiting, made)
            self._check_given(shared.plan.program)
            if not _can_share(made.program):
                return self._filled(made.machine, Waiting()), shared.plan
            self._shared[name] = shared
        # A new machine, and not the one that was made with the program: that may have belonged to another life.
        program = shared.plan.program
        machine = Machine(program, name, shared.plan.prepared, tap_of(shared.node, program, name))
        return self._filled(machine, shared.waiting), shared.plan

    def _filled(self, machine: Machine, waiting: Waiting) -> Machine:
        for collection, rows in (*waiting.inserted, *self._given.items()):
            machine.insert(collection, rows)
        for collection, rows in waiting.deleted:
            machine.delete(collection, rows)
        for collection, rows in waiting.sent:
            machine.send(collection, rows)
        return machine

    def _check_given(self, program: BloomProgram) -> None:
        for collection, rows in self._given.items():
            find_collection(program, collection)
            for row in rows:
                check_row(program, collection, row)


def make_program(make: Made, name: str) -> Program:
    """Make the program of a node."""
    what = f"making the program of the node '{name}'"
    remedy = "give a class that takes its address, or a function of it: lambda name: Store(name, peers)"
    # By its keyword: the base class of a node without a network takes it only so.
    made = ask(what, partial(make, address=name) if isinstance(make, type) else partial(make, name), remedy=remedy)
    if not isinstance(made, Program):
        raise UsageError(f"{what} gave a {type(made).__qualname__}, which is no Bloom program", remedy=remedy)
    return made


def find_collection(program: BloomProgram, collection: str) -> Collection:
    """Return a collection that rows from outside can come into; refuse another name."""
    found = program.by_name.get(collection)
    if found is None or found.kind in DERIVED_ONLY:
        what = f"is a {found.kind.value}" if found is not None else "is no collection"
        known = ", ".join(c.name for c in program.collections if c.kind not in DERIVED_ONLY)
        raise UsageError(
            f"rows are given to '{collection}', which {what} of {program.name}", remedy=f"it has {known}"
        )
    return found


def check_row(program: BloomProgram, collection: str, row: Row) -> None:
    """Refuse a row from outside that has no place in a program."""
    columns = find_collection(program, collection).schema.columns
    if len(row) != len(columns):
        raise UsageError(
            f"{row!r} is given to '{collection}', which has {len(columns)} columns",
            remedy=f"give a value for each of {', '.join(columns)}",
        )


# -- what lives can share ----------------------------------------------------------------------------------------


def _can_share(program: BloomProgram) -> bool:
    return all(map(_reaches_nothing, _opaque_functions(program)))


def _opaque_functions(program: BloomProgram) -> Iterator[Callable[..., Any]]:
    """Yield the functions of which it is not known what they do."""
    for rule in program.rules:
        for expr in subexpressions(rule.expr):
            match expr:
                case Transform(_, function) | Fold(_, RowFunction() as function):
                    if function.paths is None or function.reads:
                        yield function.call
                case Reduce():
                    yield expr.fold


def _reaches_nothing(function: Callable[..., Any]) -> bool:
    """Tell whether a function has nothing from around it that can change, such as ``self``."""
    if isinstance(function, BuiltinFunctionType):
        return not isinstance(function.__self__, Program)
    return isinstance(function, FunctionType) and all(map(is_immutable, outer_values(function)))
