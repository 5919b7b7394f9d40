"""Rows that a step refuses: each with the place and the reason, and everything else goes on."""

from __future__ import annotations

import enum
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from clew.bloom import agg
from clew.bloom.language.declarations import bloom, interface, lattice, scratch, table
from clew.bloom.language.module import Module, program_of
from clew.bloom.runtime.machine import Machine, StepResult


def machine_of(module: type[Module]) -> Machine:
    return Machine(program_of(module), "here")


def _line(text: str) -> int:
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if line.strip() == text)


def refusals(stepped: StepResult) -> list[tuple[str, str, str]]:
    return [(r.collection, r.rule, r.message) for r in stepped.refused]


class Storage(Module):
    put = interface.input("key", val=["val"])
    kept = table("key", val=["val"])

    @bloom
    def rules(self) -> None:
        self.kept <= self.put


def test_the_smallest_of_new_rows_with_one_key_stays() -> None:
    machine = machine_of(Storage)
    machine.insert("put", [(1, "c"), (1, "a")])
    machine.insert("put", [(1, "b"), (2, "b")])
    stepped = machine.step()
    assert list(machine.rows("put")) == [(1, "a"), (2, "b")]
    assert refusals(stepped) == [
        ("put", "from outside", "(1, 'b') has the same key as (1, 'a'), which is kept"),
        ("put", "from outside", "(1, 'c') has the same key as (1, 'a'), which is kept"),
    ]


class Again(Module):
    source = table("key", "val")
    kept = table("key", val=["val"])

    @bloom
    def rules(self) -> None:
        self.kept <+ self.source


def test_a_row_that_is_refused_in_every_step_does_not_keep_the_node_busy() -> None:
    machine = machine_of(Again)
    machine.insert("source", [(1, "a"), (1, "b")])
    machine.step()
    assert machine.pending
    assert len(machine.step().refused) == 1
    assert not machine.pending
    machine.delete("kept", [(1, "a")])
    assert not machine.pending, "it is inserted again in the same step"
    machine.delete("source", [(1, "a")])
    assert machine.pending
    assert len(machine.step().refused) == 1, "what waited from the step before"
    machine.delete("kept", [(1, "a")])
    assert machine.pending
    assert machine.step().refused == ()
    assert list(machine.rows("kept")) == [(1, "b")]


class Sets(Module):
    given = scratch("x")


def test_the_order_of_sets_does_not_depend_on_how_they_came() -> None:
    """Of two sets neither may be the smaller for Python."""
    sets = [(frozenset([1]),), (frozenset([1, 3]),), (frozenset([2]),)]
    for order in permutations(sets):
        machine = machine_of(Sets)
        machine.insert("given", order)
        machine.step()
        assert list(machine.rows("given")) == sets


class Level(enum.IntEnum):
    LOW = 9
    HIGH = 10


class Name(str, enum.Enum):  # noqa: UP042  # text of it is not its value, in this one
    ANN = "ann"


class Ranked(Module):
    given = scratch("who", "level")
    best = scratch("who", "level")

    @bloom
    def rules(self) -> None:
        self.best <= self.given.argmax([], "level")


def test_members_of_enumerations_are_kept_as_their_values() -> None:
    machine = machine_of(Ranked)
    machine.insert("given", [("bob", Level.LOW), (Name.ANN, Level.HIGH)])
    machine.step()
    (found,) = machine.rows("best")
    assert found == ("ann", 10)
    assert [type(value) for value in found] == [str, int]


def test_a_row_that_is_there_stays() -> None:
    machine = machine_of(Storage)
    machine.insert("put", [(1, "b")])
    machine.step()
    machine.insert("put", [(1, "a")])
    stepped = machine.step()
    where = f"Storage.rules, line {_line('self.kept <= self.put')}"
    assert refusals(stepped) == [("kept", where, "(1, 'a') has the same key as (1, 'b'), which is kept")]
    assert str(stepped.refused[0]) == f"kept ({where}): (1, 'a') has the same key as (1, 'b'), which is kept"
    assert stepped.refused[0].position is not None
    assert stepped.refused[0].position.line == _line("self.kept <= self.put")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ((1,), "a row with 1 columns where 2 are expected: (1,)"),
        (
            (1, object),
            "(1, <class 'object'>) is not a row: type is not a value for a column: it can change or cannot be"
            " sent",
        ),
        (7, "7 is not a row: a row is a tuple, not int"),
    ],
)
def test_what_is_no_row_is_refused(row: Any, message: str) -> None:
    machine = machine_of(Storage)
    machine.insert("put", [row, (2, "fine")])
    assert refusals(machine.step()) == [("put", "from outside", message)]
    assert list(machine.rows("kept")) == [(2, "fine")]


class Careless(Module):
    given = scratch("x", "y")
    quotient = table("x", "y")
    total = scratch("n")
    number = lattice("lpset")

    @bloom
    def divide(self) -> None:
        self.quotient <= self.given(lambda r: (r.x, r.x / r.y))
        self.quotient <= self.given(lambda r: "text" if r.x == 1 else None)
        self.quotient <= self.given(lambda r: tuple(range(r.x)))

    @bloom
    def add(self) -> None:
        self.total <= self.given.group([], agg.sum("y"))
        self.number <= self.given.project("y")


def test_a_function_that_raises_costs_the_row() -> None:
    machine = machine_of(Careless)
    machine.insert("given", [(1, 0), (2, 4)])
    stepped = machine.step()
    line = _line("self.quotient <= self.given(lambda r: (r.x, r.x / r.y))")
    assert {r.collection for r in stepped.refused} == {"quotient"}
    assert [(r.rule, r.message) for r in stepped.refused] == [
        (
            f"Careless.divide, line {line}",
            "a function raised ZeroDivisionError: division by zero for the row (1, 0)",
        ),
        (
            f"Careless.divide, line {line + 1}",
            "a function returned something that is not a row (str instead of a tuple: 'text') for the row (1, 0)",
        ),
        (f"Careless.divide, line {line + 2}", "a row with 1 columns where 2 are expected: (0,)"),
    ]
    assert list(machine.rows("quotient")) == [(0, 1), (2, 0.5)]
    assert list(machine.rows("total")) == [(4,)]
    assert stepped.refused[0].position is not None
    assert stepped.refused[0].position.line == line


class OwnError(BaseException):
    """Not an ``Exception``: nothing that handles errors takes it for one."""


def _give_up(*_: Any) -> Any:
    raise OwnError


class GivesUp(Module):
    given = interface.input("x")
    called = scratch("x")
    reduced = scratch("x")

    @bloom
    def rules(self) -> None:
        self.called <= self.given(lambda r: _give_up(r))
        self.reduced <= self.given.reduce([], _give_up, columns=["x"])


def test_whatever_a_function_raises_it_costs_no_step() -> None:
    machine = machine_of(GivesUp)
    machine.insert("given", [(1,)])
    assert [(r.collection, r.message) for r in machine.step().refused] == [
        ("called", "a function raised OwnError for the row (1,)"),
        ("reduced", "reduce raised OwnError"),
    ]


def test_aggregates_and_lattices_of_unfit_values() -> None:
    machine = machine_of(Careless)
    machine.insert("given", [(2, "a"), (2, 3)])
    found = {collection: message for collection, _, message in refusals(machine.step())}
    assert found["total"] == (
        "sum of the group () cannot be computed: TypeError: unsupported operand type(s) for +: 'int' and 'str'"
    )
    assert found["number"] == (
        "no value of a lpset can be made of the row ('a',): a lpset holds integers from 0 on, not 'a'"
    )
    assert list(machine.rows("number")) == [(3,)]
