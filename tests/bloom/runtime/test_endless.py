"""A step without a fixpoint is given up with an error; recursion that has one is not disturbed."""

from __future__ import annotations

import pytest

from clew.analysis.calm.trying.orders import try_orders
from clew.analysis.calm.trying.workloads import Input, Workload
from clew.bloom import Bloom, bloom, interface, lmax, lset, scratch, table
from clew.bloom.runtime import endless
from clew.bloom.runtime.endless import EndlessStepError
from clew.engine.callbacks import MOST_OPERATIONS

FEW = 2_000


class _Recursive(Bloom):
    given = interface.input("n")
    seen = scratch("n")


class Counts(_Recursive):
    @bloom
    def rules(self) -> None:
        self.seen <= self.given
        self.seen <= self.seen(lambda r: (r.n + 1,))


class CountsByAnotherWay(_Recursive):
    more = scratch("n")

    @bloom
    def rules(self) -> None:
        self.seen <= self.given
        self.more <= self.seen(lambda r: (r.n + 1,))
        self.seen <= self.more


class Remembers(_Recursive):
    """A function that is none, and gives another row whenever it is asked."""

    @bloom
    def rules(self) -> None:
        calls: list[int] = []

        def remembered(row: tuple[int, ...]) -> tuple[int, ...]:
            calls.append(1)
            return (len(calls) + 1,)

        self.seen <= self.given
        self.seen <= self.seen(remembered)


class Squares(_Recursive):
    """Every round has as many rows as pairs of those of the round before."""

    kept = table("n")

    @bloom
    def rules(self) -> None:
        self.kept <= self.given
        self.kept <= (self.kept * self.kept).pairs(lambda x, y: (x.n * 1000 + y.n * 7,))


class Climbs(_Recursive):
    top = lmax()

    @bloom
    def rules(self) -> None:
        self.top <= self.given.project("n")
        self.top <= self.top.plus(1)


class Nests(_Recursive):
    """Sets of 2, 6, 38, 1,446 and more than two million elements, round after round."""

    pairs = lset()

    @bloom
    def rules(self) -> None:
        self.pairs <= self.given.project("n")
        self.pairs <= lset.of([0])
        self.pairs <= self.pairs.product(self.pairs)


class Lengthens(_Recursive):
    """Each round adds a few elements."""

    words = lset()
    next_words = scratch("w")

    @bloom
    def rules(self) -> None:
        self.words <= lset.of([f"{number}" for number in range(50)])
        self.next_words <= self.words.elements().rename("w").map(lambda w: (w.w[:2000] + "x",))
        self.words <= self.next_words.project("w")


@pytest.mark.parametrize("cls", [Counts, CountsByAnotherWay, Remembers, Squares, Climbs, Nests, Lengthens])
def test_a_step_that_does_not_end(cls: type[_Recursive], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endless, "MOST_COMPUTED", FEW)
    node = cls("n")
    node.given.insert((1,))
    with pytest.raises(EndlessStepError, match="a step does not end: more than 2,000 rows or values") as error:
        node.tick()
    assert error.value.position is not None
    assert error.value.position.file == __file__


def test_the_bound_is_that_of_the_check() -> None:
    assert endless.MOST_COMPUTED == MOST_OPERATIONS


def test_rows_of_a_round_are_joined_bit_by_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    """The number of rows that one round would make is not waited for."""
    monkeypatch.setattr(endless, "_JOINED_AT_ONCE", 1)
    monkeypatch.setattr(endless, "MOST_COMPUTED", FEW)
    node = Squares("n")
    for number in range(60):
        node.given.insert((number,))
    with pytest.raises(EndlessStepError):
        node.tick()
    assert len(node.kept) <= FEW


class Paths(Bloom):
    """Costs are computed, and there are finitely many, because links lead upwards."""

    link = table("a", "b", "cost")
    path = scratch("a", "b", "cost")
    first = table("a", "b", val=["cost"])

    @bloom
    def rules(self) -> None:
        self.path <= self.link
        self.path <= (self.link * self.path).pairs(lambda x, p: (x.a, p.b, x.cost + p.cost), b="a")
        self.first <= self.path.argmin(["a", "b"], "cost")


@pytest.mark.parametrize("at_once", [1, 10, 10**9])
def test_recursion_that_ends_is_the_same_in_bits(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endless, "_JOINED_AT_ONCE", at_once)
    node = Paths("n")
    links = [(a, b, (a * 7 + b * 3) % 5 + 1) for a in range(9) for b in range(a + 1, 9)]
    for link in links:
        node.link.insert(link)
    node.tick()
    costs = {(a, b, c) for a, b, c in links}
    while more := {(a, d, x + y) for a, b, x in links for c, d, y in costs if b == c} - costs:
        costs |= more
    assert set(map(tuple, node.path)) == costs


class Reaches(Bloom):
    """Nothing is computed: as deep as there are links."""

    link = table("a", "b")
    reached = scratch("a")

    @bloom
    def rules(self) -> None:
        self.reached <= self.link(lambda x: (0,))
        self.reached <= (self.reached * self.link).pairs(lambda r, x: (x.b,), a="a")


def test_recursion_that_computes_nothing_is_not_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endless, "MOST_COMPUTED", 10)
    node = Reaches("n")
    for number in range(100):
        node.link.insert((number, number + 1))
    node.tick()
    assert len(node.reached) == 101


def test_orders_are_not_tried_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endless, "MOST_COMPUTED", FEW)
    with pytest.raises(EndlessStepError):
        try_orders(Workload({"n": Counts}, (Input("n", "given", (1,)),)), ["seen"], orders=2)
