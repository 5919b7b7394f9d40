"""Lattices: merging and monotone functions are no points of order; a value that is replaced is one."""

from __future__ import annotations

import pytest

from analysis.calm.analysis import labels, of_class, reasons
from clew.bloom import bloom, channel, interface, lbool, lmax, lset
from clew.bloom.language.module import Module


class Collected(Module):
    ballot = channel("@dst", "voter")
    voters = lset()
    largest = lmax()
    enough = lbool()
    out = interface.output("voter")

    @bloom
    def collect(self) -> None:
        self.voters <= self.ballot.project("voter")
        self.largest <= self.ballot.project("voter")


class SetAsRows(Collected):
    @bloom
    def rules(self) -> None:
        self.out <= self.voters.elements()


class Quorum(Collected):
    """A threshold on the size of a set, as a lbool, that lets rows through."""

    question = interface.input("voter")

    @bloom
    def rules(self) -> None:
        self.enough <= self.voters.size().gt(2)
        self.out <= self.enough.when_true([("yes",)])


class ValueAsRow(Collected):
    @bloom
    def rules(self) -> None:
        self.out <= self.largest.elements()


class ValueCompared(Collected):
    @bloom
    def rules(self) -> None:
        self.out <= self.largest.elements()(lambda v: ("large",) if v.val > 10 else None)


@pytest.mark.parametrize("program", [SetAsRows, Quorum, ValueCompared])
def test_monotone(program: type[Module]) -> None:
    assert labels(of_class(program))["out"] == "A"


def test_a_value_as_a_row_replaces_another() -> None:
    analysis = of_class(ValueAsRow)
    assert labels(analysis)["out"] == "D"
    assert reasons(analysis, "out") == ["the value of the lmax of largest"]
