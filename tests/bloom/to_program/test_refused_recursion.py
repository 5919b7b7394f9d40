"""Recursion through lattices, case by case: what never ends is refused, and the rest is checked with faults."""

from __future__ import annotations

from pathlib import Path

import pytest

import clew
from bloom.lockstep import NODES, Inserted, assert_same_rows
from bloom.to_program.endless import ends
from clew.bloom import Bloom, channel, rows
from clew.bloom.language.declarations import bloom, lbool, lmax, lmin, lpset, lset, outcome, scratch, table
from clew.bloom.language.module import Module
from clew.bloom.language.setting import checked
from clew.errors import ProgramError


class Base(Bloom):
    given = scratch("x")
    largest, other = lmax(), lmax()
    smallest = lmin()
    seen, pairs = lset(), lset()
    numbers = lpset()
    rows = scratch("x")
    setting = checked(nodes=NODES, eot=2, given={"a": {"given": [(1,), (2,)]}})


class Grows(Base):
    @bloom
    def rules(self) -> None:
        self.largest <= self.given
        self.largest <= self.other.plus(2)
        self.other <= self.largest.minus(1)


class Falls(Base):
    @bloom
    def rules(self) -> None:
        self.smallest <= self.given
        self.smallest <= self.smallest - 1


class Text(Base):
    @bloom
    def rules(self) -> None:
        self.largest <= self.largest.plus("x")


class Pairs(Base):
    @bloom
    def rules(self) -> None:
        self.seen <= self.given
        self.pairs <= self.seen.product(self.seen)
        self.seen <= self.pairs


class NoNumber(Base):
    @bloom
    def rules(self) -> None:
        self.largest <= self.given
        self.largest <= self.rows
        self.rows <= self.largest.gt(1).when_true([("text",)])
        self.other <= self.largest.plus(1)
        self.rows <= self.other.gt(1).when_true([(7,)])


class Endless(Base):
    @bloom
    def rules(self) -> None:
        self.rows <= self.given
        self.rows <= self.seen.elements().map(lambda r: (r[0] + 1,))
        self.seen <= self.rows


@pytest.mark.parametrize(
    ("program", "message", "statement", "remedy"),
    [
        (
            Grows,
            "Grows.rules: 'largest' depends on itself (largest <= other <= largest) and gets larger and larger"
            " within one step, without end",
            "self.largest <= self.other.plus(2)",
            "derive one of these lattices in the next step, with <+",
        ),
        (
            Falls,
            "Falls.rules: 'smallest' depends on itself (smallest <= smallest) and gets smaller and smaller"
            " within one step, without end",
            "self.smallest <= self.smallest - 1",
            "derive one of these lattices in the next step, with <+",
        ),
        (
            Text,
            "Text.rules: 'largest' depends on itself plus 'x', and that cannot be checked",
            'self.largest <= self.largest.plus("x")',
            "add whole numbers from -2147483648 to 2147483647",
        ),
        (
            Pairs,
            "Pairs.rules: 'pairs' depends on itself (pairs <= seen <= pairs) and gets pairs of its own elements"
            " within one step, without end",
            "self.pairs <= self.seen.product(self.seen)",
            "derive one of these lattices in the next step, with <+",
        ),
    ],
)
def test_what_never_ends_is_refused_in_the_words_of_the_program(
    program: type[Module], message: str, statement: str, remedy: str
) -> None:
    with pytest.raises(ProgramError) as caught:
        clew.check(program)
    assert (caught.value.message, caught.value.remedy) == (message, remedy)
    assert caught.value.position is not None
    assert _line(caught.value.position.line) == statement


def _line(number: int) -> str:
    return Path(__file__).read_text().splitlines()[number - 1].strip()


def test_a_function_of_its_own_rows_that_gives_ever_new_ones_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("clew.engine.callbacks.MOST_OPERATIONS", 100)
    with pytest.raises(ProgramError) as caught:
        clew.check(Endless)
    assert caught.value.message == (
        "a step may never end: it computes more than 100 different values, from its own, in the rule"
        " Endless.rules: self.rows <= self.seen.elements().map(lambda r: (r[0] + 1,))"
    )
    assert caught.value.remedy == "bound what it computes with a condition, or derive it in the next step, with <+"


class Deep(Base):
    """A set of pairs that an intersection hides from a first look: every pair gives another one."""

    @bloom
    def rules(self) -> None:
        self.seen <= self.given
        self.seen <= self.seen.intersect(self.seen).product(lset.of([1]).intersect(self.seen))


def test_pairs_of_pairs_without_end_are_refused() -> None:
    assert not ends(Deep, {("a", 1): [("given", [(1,), (2,)])]}, 3)
    with pytest.raises(ProgramError) as caught:
        clew.check(Deep)
    assert caught.value.message == (
        "Deep.rules: a step may never end: in a product, a value is nested more than 50 deep"
        " in the rule for 'seen'"
    )
    assert caught.value.remedy == "derive the product in the next step, with <+"


def test_adding_to_what_is_no_number_on_a_cycle_is_refused() -> None:
    with pytest.raises(ProgramError) as caught:
        clew.check(NoNumber)
    assert caught.value.message == (
        "'text' is merged into a lattice that depends on itself, and 1 is added to it in the rule NoNumber.rules:"
        " self.other <= self.largest.plus(1)"
    )
    assert caught.value.remedy == "merge numbers only, or add in the next step, with <+"


class Quorum(Bloom):
    """Votes spread: a node that knows two says yes, too, to itself at once and to all with the next message."""

    begin = scratch("who")
    vote = channel("@to", "voter")
    votes, decided = lset(), lbool()
    done = table("what")
    pre, post = scratch("node"), scratch("node")
    setting = checked(nodes=["a", "b", "c"], eot=4, eff=2, given={"a": {"begin": [("a",), ("x",)]}})

    @bloom
    def rules(self) -> None:
        self.votes <= self.begin
        self.votes <= self.vote(lambda v: (v.voter,))
        self.decided <= self.votes.size().gt_eq(2)
        self.votes <= self.decided.when_true([("y",)])
        self.done <= self.votes.size().gt_eq(3).when_true([("three",)])
        self.vote <~ self.votes.elements().flat_map(lambda v: [("b", v.val), ("c", v.val)]).rename("to", "voter")

    @outcome
    def everybody_is_done(self) -> None:
        self.pre <= rows([("b",), ("c",)])
        self.post <= self.everywhere.done(lambda d: (d.node,))


@pytest.mark.parametrize("strategy", ["exact", "lineage", "exhaustive"])
@pytest.mark.parametrize(("eff", "expected"), [(2, ("certified", 0)), (4, ("counterexample", 5))])
def test_recursion_is_checked_with_faults(strategy: str, eff: int, expected: tuple[str, int]) -> None:
    verdict = clew.check(Quorum, strategy=strategy, eff=eff)
    faults = len(verdict.counterexamples[0].faults) if verdict.counterexamples else 0
    assert (verdict.answer.value, faults) == expected


def test_a_lpset_refuses_what_a_node_refuses() -> None:
    class Refuses(Base):
        @bloom
        def rules(self) -> None:
            self.numbers <= self.given.map(lambda g: (g.x - 2,))
            self.largest <= self.given.map(lambda g: (g.x, g.x))

    run = clew.run(Refuses)
    assert run.tables["numbers"][0] == (("a", 0),)
    assert "largest" not in run.tables or run.tables["largest"][0] == ()
    assert [notice.message.split("; ")[0] for notice in run.notices if "fails" in notice.message] == [
        "the rule for 'numbers' calls a lpset, which fails for (-1): BadValueError: a lpset holds integers from 0"
        " on, not -1",
        "the rule Refuses.rules: self.largest <= self.given.map(lambda g: (g.x, g.x)) calls a lmax, which fails"
        " for (1, 1): BadValueError: a lmax is made of rows with one column, not of (1, 1)",
    ]


def test_tuples_of_its_own_tuples_end_where_those_of_a_node_do() -> None:
    class Nests(Base):
        @bloom
        def rules(self) -> None:
            self.rows <= self.given
            self.rows <= self.rows.map(lambda r: ((r.x,),))

    inserted: Inserted = {("a", 1): [("given", [(1,), (2,)])]}
    assert_same_rows(Nests, inserted, 2)
