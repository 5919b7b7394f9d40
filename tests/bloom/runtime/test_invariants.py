"""``die``: a step that derives a row there raises, and nothing of it leaves the node."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bloom.runtime.test_evaluation_naive import COLLECTIONS, Generated, naive, programs, relations, run_naively
from clew.bloom import Bloom, BrokenInvariant, InvariantError, bloom, channel, imported, interface, outcome, table
from clew.bloom.ir.program import Op, Rule
from clew.bloom.ir.schema import Collection, Kind, Schema
from clew.bloom.language.module import program_of
from clew.bloom.runtime.machine import Machine
from clew.bloom.values import sort_rows
from clew.errors import ProgramError, UsageError

# mypy: disable-error-code="comparison-overlap, operator"


class Account(Bloom):
    """Pays out what it has, and should not pay out more."""

    deposit = interface.input("number", "amount")
    payment = channel("@to", "number")
    booked = table("number", val=["amount"])

    @bloom
    def book(self) -> None:
        self.booked <= self.deposit
        self.payment <~ self.deposit(lambda d: ("bank", d.number))

    @bloom
    def invariants(self) -> None:
        self.die <= self.booked.filter(lambda b: b.amount < 0)
        self.die <= (self.booked * self.booked).pairs(lambda a, b: (a.number,) if a.amount > 9 else None)


def test_a_broken_invariant_raises_with_its_rows_and_its_place() -> None:
    account = Account()
    account.deposit.insert((1, 5))
    assert account.tick().sent == (("payment", ("bank", 1)),)
    account.deposit.insert((2, -1), (3, -2), (4, 10))
    with pytest.raises(InvariantError) as caught:
        account.tick()
    negative, large = caught.value.broken
    assert (negative.collection, negative.block, negative.columns, negative.rows) == (
        "die",
        "Account.invariants",
        ("number", "amount"),
        ((2, -1), (3, -2)),
    )
    assert (large.collection, large.columns, large.rows) == ("die_2", ("number",), ((4,),))
    assert negative.position is not None
    assert large.position is not None
    assert (negative.position.file, large.position.line) == (__file__, negative.position.line + 1)
    assert caught.value.message == (
        "the invariants of Account are broken at node: Account.invariants: die(number=2, amount=-1)"
        " die(number=3, amount=-2); Account.invariants: die_2(number=4)"
    )


def test_a_node_that_died_steps_no_more_and_can_be_looked_at() -> None:
    account = Account()
    account.deposit.insert((1, -5))
    for _ in range(2):
        with pytest.raises(InvariantError, match="die"):
            account.tick()
        account.deposit.insert((2, 5))
    assert list(account.booked) == [(1, -5)]
    assert account.until_quiet() == ()


def test_many_rows_are_in_the_error_and_few_in_its_message() -> None:
    broken = BrokenInvariant("die", "A.b", ("x",), tuple((n,) for n in range(8)))
    assert str(broken) == "die(x=0) die(x=1) die(x=2) die(x=3) die(x=4) and 3 more"
    assert broken.name == "die (A.b)"


class Two(Bloom):
    first = imported(Account)
    second = imported(Account)

    @bloom
    def rules(self) -> None:
        self.die <= self.first.booked(lambda b: (b.number, "own") if b.amount == 7 else None)


def test_modules_bring_their_invariants() -> None:
    found = [(c.name, len(c.schema.columns)) for c in program_of(Two).collections if c.kind is Kind.DIE]
    assert found == [("first.die", 2), ("first.die_2", 1), ("second.die", 2), ("second.die_2", 1), ("die", 2)]
    both = Two()
    both.second.deposit.insert((1, -1))
    with pytest.raises(InvariantError, match=r"second\.die\(number=1, amount=-1\)$") as caught:
        both.tick()
    assert len(caught.value.broken) == 1


def later(self: Any) -> None:
    self.die <+ self.booked


def read(self: Any) -> None:
    self.booked <= self.die


def read_column(self: Any) -> None:
    self.booked <= self.die.rows


def gone_through(self: Any) -> None:
    for row in self.die:
        self.booked <= row


def nameless(self: Any) -> None:
    self.die <= self.booked(lambda b: tuple(sorted(b)))


def minus(self: Any) -> None:
    self.die <= -self.booked


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        (later, "'die' takes <= only"),
        (read, "Die is not a collection"),
        (read_column, r"'\.rows' of 'die' is read"),
        (gone_through, "'die' is read"),
        (nameless, "the columns of 'die' cannot be inferred"),
        (minus, "'<=' is followed by '-'"),
    ],
)
def test_what_cannot_be_done_with_it_is_refused(rules: Any, message: str) -> None:
    wrong = type("Wrong", (Account,), {rules.__name__: bloom(rules)})
    with pytest.raises(ProgramError, match=message) as caught:
        program_of(wrong)
    assert caught.value.message.startswith(f"Wrong.{rules.__name__}: ")
    assert caught.value.remedy
    assert caught.value.position is not None
    assert caught.value.position.file == __file__


def test_outcomes_and_the_outside_do_not_derive_it() -> None:
    class Observed(Account):
        @outcome
        def promise(self) -> None:
            self.die <= self.everywhere.booked

    with pytest.raises(ProgramError, match="'die' is derived by an outcome"):
        program_of(Observed)
    with pytest.raises(ProgramError, match="'die' is derived outside of rules"):
        Account().die <= [(1, 2)]
    with pytest.raises(UsageError, match="rows are inserted into 'die', a die"):
        Account().machine.insert("die", [(1, 2)])


def test_no_collection_may_be_called_so() -> None:
    with pytest.raises(ProgramError, match="uses the name 'die', which every Bloom class has"):
        type("Other", (Bloom,), {"die": table("x")})


# -- generated programs ------------------------------------------------------------------------------------------

DIE = Collection("die", Kind.DIE, Schema(("x", "y")), "Generated")


@given(programs(), st.data())
def test_a_step_raises_exactly_if_an_invariant_derives_rows(generated: Generated, data: st.DataObject) -> None:
    body = data.draw(relations(2, 2)).to_expr()
    watched = replace(
        generated.program,
        collections=(*COLLECTIONS, DIE),
        rules=(*generated.program.rules, Rule("die", Op.NOW, body, "Generated.invariant")),
    )
    machine = Machine(watched, "here")
    for arrived, state in zip(generated.steps, run_naively(generated), strict=True):
        for name, rows in arrived.items():
            machine.insert(name, rows)
        expected = naive(body, state)
        if expected:
            with pytest.raises(InvariantError) as caught:
                machine.step()
            assert caught.value.broken == (
                BrokenInvariant("die", "Generated.invariant", ("x", "y"), tuple(sort_rows(expected))),
            )
            assert not machine.pending
            return
        machine.step()
