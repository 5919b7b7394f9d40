"""Checking Bloom programs: functions of rows, aggregates and values, and what cannot be checked."""

from __future__ import annotations

from typing import Any

import pytest

import clew
from clew.bloom import agg
from clew.bloom.language.declarations import bloom, scratch, table
from clew.bloom.language.module import Module
from clew.bloom.language.setting import EVERY, checked


def program(**body: Any) -> type[Module]:
    """A class made of these declarations and functions."""
    made = type("Made", (Module,), body)
    for name, value in body.items():
        if hasattr(value, "__set_name__"):
            value.__set_name__(made, name)
    return made


# -- functions ---------------------------------------------------------------------------------------------------


def counted(function: Any, rows: list[tuple[Any, ...]] | None = None) -> type[Module]:
    def rules(self: Any) -> None:
        self.found <= self.given.map(function)

    return program(
        given=scratch("x"),
        found=scratch("x"),
        rules=bloom(rules),
        setting=checked(nodes=["a"], eot=1, given={"a": {"given": rows or [(1,), (2,)]}}),
    )


def test_functions_that_are_not_seen_through_are_called() -> None:
    run = clew.run(counted(lambda row: (f"<{row.x}>",)))
    assert run.rows("found") == (("a", "<1>"), ("a", "<2>"))
    assert run.notices == ()


def test_a_function_that_fails_gives_no_row_and_a_notice() -> None:
    run = clew.run(counted(lambda row: (6 // (row.x - 1),)))
    assert run.rows("found") == (("a", 6),)
    (notice,) = run.notices
    assert notice.message == (
        "the rule for 'found' calls the function in Made.rules, which fails for (a, 1):"
        " NoRowError: a function raised ZeroDivisionError: integer division or modulo by zero for the row (1,);"
        " it does not fire there"
    )


def test_a_function_with_a_memory_is_refused() -> None:
    calls: list[int] = []

    def remembers(row: Any) -> tuple[int]:
        calls.append(1)
        return (len(calls),)

    with pytest.raises(clew.ProgramError) as refused:
        clew.run(counted(remembers))
    assert refused.value.message.startswith("the function in Made.rules gives [(")
    assert refused.value.message.endswith("for the same values in the rule for 'found'")


def test_values_that_cannot_be_checked_are_refused() -> None:
    with pytest.raises(clew.ProgramError) as refused:
        clew.run(counted(lambda row: (row.x / 2,)))
    assert refused.value.message == (
        "the function in Made.rules gives a float (0.5) in the rule for 'found'"
    )


def test_a_rule_that_makes_ever_longer_values_is_refused() -> None:
    def rules(self: Any) -> None:
        self.found <= self.given
        self.found <= self.found.map(lambda row: (row.x + row.x,))

    endless = program(
        given=scratch("x"),
        found=scratch("x"),
        rules=bloom(rules),
        setting=checked(nodes=["a"], eot=1, given={"a": {"given": [("ab",)]}}),
    )
    with pytest.raises(clew.ProgramError) as refused:
        clew.run(endless)
    assert refused.value.message == (
        "the function in Made.rules gives a value with more than 10000 characters in the rule for 'found'"
    )


def test_a_function_knows_its_node() -> None:
    class Here(Module):
        given = scratch("x")
        found = scratch("x")
        setting = checked(nodes=["a", "b"], eot=1, given={EVERY: {"given": [(1,)]}})

        @bloom
        def rules(self) -> None:
            self.found <= self.given.map(lambda row: (f"{self.ip_port}{row.x}",))

    assert clew.run(Here).rows("found") == (("a", "a1"), ("b", "b1"))


def test_sums_are_over_rows() -> None:
    def rules(self: Any) -> None:
        self.total <= self.given.group(["k"], agg.sum("v"), agg.count(), agg.count("v"))

    sums = program(
        given=scratch("i", "k", "v"),
        total=scratch("k", "sum", "rows", "kinds"),
        rules=bloom(rules),
        setting=checked(nodes=["a"], eot=1, given={"a": {"given": [(1, "k", 5), (2, "k", 5), (3, "l", 7)]}}),
    )
    assert clew.run(sums).rows("total") == (("a", "k", 10, 2, 1), ("a", "l", 7, 1, 1))


def test_tuples_and_none_are_values() -> None:
    run = clew.run(counted(lambda row: ((row.x, ("b", None)),), [(1,), (None,), ((2, 3),)]))
    assert run.rows("found") == (
        ("a", (1, ("b", None))),
        ("a", (None, ("b", None))),
        ("a", ((2, 3), ("b", None))),
    )


# -- what is refused, and what is told ---------------------------------------------------------------------------


def _reads(self: Any) -> None:
    self.found <+ self.given.filter(lambda row: row in self.found)


def _accumulates(self: Any) -> None:
    self.found <= self.given.group([], agg.accum("x"))


def _unknown(self: Any) -> None:
    opaque = self.given.map(lambda r: (str(r.x),))
    self.found <= (opaque * opaque).lefts()


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        (_reads, "Made.rules: a function looks into found, and that cannot be checked"),
        (_accumulates, "Made.rules: the aggregate 'accum' cannot be checked"),
        (_unknown, "Made.rules: it is not known how many columns a function returns"),
    ],
)
def test_what_cannot_be_checked(rules: Any, message: str) -> None:
    refusing = program(
        given=scratch("x"),
        found=table("x"),
        rules=bloom(rules),
        setting=checked(nodes=["a"], eot=1, given={"a": {"given": [(1,)]}}),
    )
    with pytest.raises(clew.ProgramError) as refused:
        clew.run(refusing)
    assert refused.value.message == message
    assert refused.value.position is not None
    assert refused.value.remedy is not None


def test_keys_are_not_checked_and_that_is_said() -> None:
    keyed = program(
        state=table("k", val=["v"]),
        setting=checked(nodes=["a"], eot=2, given={"a": {"state": [(1, 1), (1, 2)]}}),
    )
    run = clew.run(keyed)
    assert run.rows("state") == (("a", 1, 1), ("a", 1, 2))
    assert [notice.message for notice in run.notices] == [
        "two rows with the same key and other values are not noticed in 'state'"
    ]


def test_deleted_and_inserted_rows_stay() -> None:
    def rules(self: Any) -> None:
        self.t <- self.drop
        self.t <+ self.keep

    deleting = program(
        t=table("x"),
        drop=scratch("x"),
        keep=scratch("x"),
        rules=bloom(rules),
        setting=checked(
            nodes=["a"], eot=2, given={"a": {"t": [(1,), (2,), (3,)], "drop": [(1,), (2,)], "keep": [(2,)]}}
        ),
    )
    run = clew.run(deleting)
    assert run.rows("t", 1) == (("a", 1), ("a", 2), ("a", 3))
    assert run.rows("t", 2) == (("a", 2), ("a", 3))
