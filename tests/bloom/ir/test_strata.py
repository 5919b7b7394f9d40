"""The order of evaluation, and programs that have none."""

from __future__ import annotations

import inspect

import pytest

from clew.bloom import agg
from clew.bloom.ir.strata import Stratum, stratify, uses
from clew.bloom.language.declarations import bloom, lattice, scratch, table
from clew.bloom.language.module import Module, program_of
from clew.bloom.runtime.machine import Machine
from clew.errors import ProgramError


def strata_of(module: type[Module]) -> tuple[Stratum, ...]:
    program = program_of(module)
    return stratify(program.rules, [c.name for c in program.collections])


class Base(Module):
    a = scratch("x")
    b = scratch("x")
    c = scratch("x")
    n = scratch("x", val=["y"])
    t = table("x")


class Layers(Base):
    @bloom
    def rules(self) -> None:
        self.c <= self.a.notin(self.b)
        self.b <= self.t
        self.b <= (self.b * self.a).lefts(x="x")


def test_what_is_needed_comes_first() -> None:
    assert strata_of(Layers) == (
        Stratum(("a",), (), False),
        Stratum(("t",), (), False),
        Stratum(("b",), (1, 2), True),
        Stratum(("c",), (0,), False),
        Stratum(("n",), (), False),
    )


class MutualRecursion(Base):
    @bloom
    def rules(self) -> None:
        self.a <= self.b
        self.b <= self.a
        self.c <= self.b


def test_collections_that_depend_on_each_other_are_one_stratum() -> None:
    assert [(set(s.collections), s.rules) for s in strata_of(MutualRecursion) if s.recursive] == [
        ({"a", "b"}, (0, 1))
    ]


class InTheNextStep(Base):
    @bloom
    def rules(self) -> None:
        self.t <+ self.a.notin(self.t)
        self.t <- self.t.notin(self.a)


def test_only_rules_of_the_same_step_count() -> None:
    assert all(s.rules == () for s in strata_of(InTheNextStep))


class UsesEverything(Base):
    total = lattice("lset")

    @bloom
    def rules(self) -> None:
        self.c <= self.a.notin(self.b)
        self.n <= (self.a * self.b).outer(x="x")
        self.n <= self.a.group(["x"], agg.count())
        self.c <= self.a.argmin([], "x")
        self.c <= self.a.reduce([], lambda memo, row: [*memo, row], columns=["x"])
        self.c <= self.a(lambda r: (r.x,) if r in self.b else None)
        self.total <= self.a
        self.c <= self.total.elements("x")
        self.c <= self.total.size().elements("x")
        self.c <= self.total.size().gt(2).when_true(self.a)


def test_what_is_strict() -> None:
    assert [list(uses(rule.expr)) for rule in program_of(UsesEverything).rules] == [
        [("a", False), ("b", True)],
        [("a", False), ("b", True)],
        [("a", True)],
        [("a", True)],
        [("a", True)],
        [("b", True), ("a", False)],
        [("a", False)],
        [("total", False)],
        [("total", True)],  # a number of a lmax goes when a larger one comes
        [("total", False), ("a", False)],
    ]


class NegativeCycle(Base):
    @bloom
    def rules(self) -> None:
        self.a <= self.b
        self.b <= self.c
        self.c <= self.t.notin(self.a)  # refused


class CountsItself(Base):
    @bloom
    def rules(self) -> None:
        self.n <= self.n.group(["x"], agg.count())  # refused


class LooksIntoItself(Base):
    @bloom
    def rules(self) -> None:
        self.a <= self.t(lambda r: None if r in self.a else (r.x,))  # refused


class LooksIntoTemp(Base):
    @bloom
    def rules(self) -> None:
        self.temp.seen <= self.a
        self.a <= self.t(lambda r: None if r in self.temp.seen else (r.x,))  # refused


class ShrinkingLattice(Base):
    numbers = lattice("lset")

    @bloom
    def rules(self) -> None:
        self.numbers <= self.numbers.without(self.numbers)  # refused


@pytest.mark.parametrize(
    ("module", "message"),
    [
        (
            NegativeCycle,
            "NegativeCycle.rules: 'c' needs all rows of 'a', and these depend on 'c' in the same step"
            " (c <= a <= b <= c)",
        ),
        (
            CountsItself,
            "CountsItself.rules: 'n' needs all rows of 'n', and these depend on 'n' in the same step (n <= n)",
        ),
        (
            LooksIntoItself,
            "LooksIntoItself.rules: 'a' needs all rows of 'a', and these depend on 'a' in the same step (a <= a)",
        ),
        (
            LooksIntoTemp,
            "LooksIntoTemp.rules: 'a' needs all rows of 'seen', and these depend on 'a' in the same step"
            " (a <= seen <= a)",
        ),
        (
            ShrinkingLattice,
            "ShrinkingLattice.rules: 'numbers' needs all rows of 'numbers', and these depend on 'numbers' in the"
            " same step (numbers <= numbers)",
        ),
    ],
)
def test_a_cycle_through_a_strict_use_is_refused(module: type[Module], message: str) -> None:
    with pytest.raises(ProgramError) as caught:
        Machine(program_of(module), "here")
    assert caught.value.message == message
    assert caught.value.remedy == "break the cycle: derive one of these collections in the next step, with <+"
    lines, start = inspect.getsourcelines(module)
    refused = next(k for k, line in enumerate(lines) if "# refused" in line)
    assert caught.value.position is not None
    assert (caught.value.position.file, caught.value.position.line) == (__file__, start + refused)
