"""Every kind of expression: the rows of one step."""

from __future__ import annotations

from typing import Any

import pytest

from clew.bloom import agg
from clew.bloom.language.declarations import bloom, lattice, scratch, table
from clew.bloom.runtime.node import Node
from clew.bloom.values import Row
from clew.errors import ProgramError


class Base(Node):
    a = table("k", val=["v"])
    b = scratch("k", "w")
    c = scratch("w", "z")
    out1 = scratch("x")
    out2 = scratch("x", "y")
    out3 = scratch("x", "y", "z")
    out4 = scratch("x", "y", "z", "u")


def derived(module: type[Node], target: str, **given: list[Row]) -> list[Row]:
    """The rows of ``target`` after one step, in which nothing may be refused."""
    node = module()
    for name, rows in given.items():
        getattr(node, name).insert(*rows)
    assert node.tick().refused == ()
    return list(getattr(node, target))


A: list[Row] = [(1, "x"), (2, "y"), (3, "x")]
B: list[Row] = [(1, "p"), (1, "q"), (3, "p"), (9, "p")]


class RowByRow(Base):
    @bloom
    def rules(self) -> None:
        self.out1 <= self.a.filter(lambda r: r.v == "x").project("k")
        self.out2 <= self.a(lambda r: (r.v, r.k) if r.k > 1 else None)
        self.out3 <= self.a.flat_map(lambda r: [(r.k, r.v, n) for n in range(r.k)])
        self.out4 <= [(1, 2, 3, 4)]


def test_functions_of_rows() -> None:
    assert derived(RowByRow, "out1", a=A) == [(1,), (3,)]
    assert derived(RowByRow, "out2", a=A) == [("x", 3), ("y", 2)]
    assert derived(RowByRow, "out3", a=A[:2]) == [(1, "x", 0), (2, "y", 0), (2, "y", 1)]
    assert derived(RowByRow, "out4") == [(1, 2, 3, 4)]


class Columns(Base):
    @bloom
    def rules(self) -> None:
        self.out1 <= self.b.rename("one", "two").filter(lambda r: r.one == 1).project("two")
        self.out2 <= self.b.map(lambda r: tuple(reversed(r))).rename("w", "k").map(lambda r: (r.k, r["w"]))
        self.out3 <= self.b(lambda r: (0, *r))


def test_names_of_columns() -> None:
    assert derived(Columns, "out1", b=B) == [("p",), ("q",)]
    assert derived(Columns, "out2", b=B) == B
    assert derived(Columns, "out3", b=B[:1]) == [(0, 1, "p")]


class Constants(Base):
    @bloom
    def rules(self) -> None:
        self.out1 <= self.a(lambda r: (self.ip_port,))
        self.out2 <= self.a(lambda r: (r.k, "seen"))
        self.out3 <= self.a(lambda r: (str(self.ip_port), r.k, r.v))


def test_constants_and_the_address_of_the_node() -> None:
    node = Constants(address="here:1")
    node.a.insert((1, "x"))
    node.tick()
    assert (list(node.out1), list(node.out2), list(node.out3)) == (
        [("here:1",)],
        [(1, "seen")],
        [("here:1", 1, "x")],
    )


class Joins(Base):
    @bloom
    def rules(self) -> None:
        self.out4 <= (self.a * self.b).pairs(k="k")
        self.out2 <= (self.a * self.b).lefts(k="k")
        self.out3 <= (self.a * self.b).outer(lambda a, b: (a.k, a.v, b.w), k="k")
        self.temp.right <= (self.a * self.b).rights(k="k")
        self.out1 <= self.temp.right.project("w")


def test_joins_of_two() -> None:
    assert derived(Joins, "out4", a=A, b=B) == [(1, "x", 1, "p"), (1, "x", 1, "q"), (3, "x", 3, "p")]
    assert derived(Joins, "out2", a=A, b=B) == [(1, "x"), (3, "x")]
    assert derived(Joins, "out3", a=A, b=B) == [(1, "x", "p"), (1, "x", "q"), (2, "y", None), (3, "x", "p")]
    assert derived(Joins, "out1", a=A, b=B) == [("p",), ("q",)]


class JoinsOfExpressions(Base):
    @bloom
    def rules(self) -> None:
        known = self.b.filter(lambda r: r.w == "p")
        self.out2 <= (self.a * known).pairs(lambda a, b: (a.v, b.k), k="k")
        self.out3 <= (self.a * self.b * self.c).pairs(
            self.a.k == self.b.k, self.b.w == self.c.w, lambda a, b, c: (a.k, b.w, c.z)
        )
        opaque = self.b.map(lambda r: list(r))
        self.out1 <= (self.a * opaque).pairs(lambda a, b: (b[1] + a.v,))
        self.out4 <= (self.a * self.b.rename("j", "w")).pairs(lambda a, b: (a.k, a.v, b.j, b.w), k="j")


def test_joins_of_expressions_and_of_three() -> None:
    given = {"a": A, "b": B, "c": [("p", 0), ("q", 1), ("r", 2)]}
    assert derived(JoinsOfExpressions, "out2", **given) == [("x", 1), ("x", 3)]
    assert derived(JoinsOfExpressions, "out3", **given) == [(1, "p", 0), (1, "q", 1), (3, "p", 0)]
    assert derived(JoinsOfExpressions, "out1", **given) == [("px",), ("py",), ("qx",), ("qy",)]
    assert derived(JoinsOfExpressions, "out4", a=A[:1], b=B[1:]) == [(1, "x", 1, "q")]


class Absence(Base):
    @bloom
    def rules(self) -> None:
        self.out1 <= self.a.notin(self.b, k="k").project("k")
        self.out2 <= self.b.notin(self.c)
        self.out3 <= self.a.map(lambda r: [*r, 0]).notin(self.c.map(lambda r: [*r, 0]))


def test_rows_that_are_not_there() -> None:
    assert derived(Absence, "out1", a=A, b=B) == [(2,)]
    assert derived(Absence, "out2", b=B, c=[(1, "p"), (3, "q")]) == [(1, "q"), (3, "p"), (9, "p")]
    assert derived(Absence, "out3", a=A, c=[(1, "x")]) == [(2, "y", 0), (3, "x", 0)]


class Aggregates(Base):
    n = scratch("k", "v")
    by_group = scratch("k", val=["number", "total", "mean", "least", "most"])
    sets = scratch("k", val=["all", "pairs", "some", "one"])
    truths = scratch("k", val=["every", "any"])

    @bloom
    def rules(self) -> None:
        self.by_group <= self.n.group(
            ["k"], agg.count(), agg.sum("v"), agg.avg("v"), agg.min("v"), agg.max("v")
        )
        self.sets <= self.n.group(
            ["k"], agg.accum("v"), agg.accum_pair("k", "v"), agg.count("v"), agg.choose("v")
        )
        self.truths <= self.n(lambda r: (r.k, r.v > 1)).rename("k", "v").group(
            ["k"], agg.bool_and("v"), agg.bool_or("v")
        )
        self.out1 <= self.n.group([], agg.sum("v"))


def test_aggregates() -> None:
    given: dict[str, list[Row]] = {"n": [("x", 1), ("x", 5), ("y", 2)]}
    assert derived(Aggregates, "by_group", **given) == [("x", 2, 6, 3.0, 1, 5), ("y", 1, 2, 2.0, 2, 2)]
    assert derived(Aggregates, "sets", **given) == [
        ("x", frozenset({1, 5}), frozenset({("x", 1), ("x", 5)}), 2, 1),
        ("y", frozenset({2}), frozenset({("y", 2)}), 1, 2),
    ]
    assert derived(Aggregates, "truths", **given) == [("x", False, True), ("y", True, True)]
    assert derived(Aggregates, "out1", **given) == [(8,)]
    assert derived(Aggregates, "out1") == []


class Best(Base):
    @bloom
    def rules(self) -> None:
        self.out2 <= self.b.argmax(["w"], "k")
        self.temp.least <= self.b.argmin([], "k")
        self.out1 <= self.temp.least.project("w")
        self.out3 <= self.b.reduce({}, _keys_in_order, columns=["w", "keys"])(lambda r: (r.w, r.keys, len(r)))


def _keys_in_order(memo: dict[Any, Any], row: Any) -> dict[Any, Any]:
    memo[row.w] = (*memo.get(row.w, ()), row.k)
    return memo


def test_the_best_rows_and_reduce() -> None:
    assert derived(Best, "out2", b=B) == [(1, "q"), (9, "p")]
    assert derived(Best, "out1", b=B) == [("p",), ("q",)]
    assert derived(Best, "out3", b=B[::-1]) == [("p", (1, 3, 9), 2), ("q", (1,), 2)]


class Lookups(Base):
    @bloom
    def rules(self) -> None:
        self.out2 <= self.b(lambda r: (r.k, self.a[r.k].v) if self.a[r.k] else None)
        self.temp.few <= self.a.filter(lambda r: r.k < 3)
        self.out1 <= self.b(lambda r: (len(self.temp.few) + len(self.a),))


def test_functions_that_look_into_collections() -> None:
    assert derived(Lookups, "out2", a=A, b=B) == [(1, "x"), (3, "x")]
    assert derived(Lookups, "out1", a=A, b=B) == [(5,)]


class Votes(Base):
    votes = lattice("lset")
    largest = lattice("lmax")
    vote = scratch("voter")

    @bloom
    def rules(self) -> None:
        self.votes <= self.vote
        self.out1 <= self.votes.elements("x")
        self.out2 <= self.votes.size().gt_eq(2).when_true([("quorum", "reached")])
        self.largest <= self.votes.size()
        self.largest <+ self.largest.plus(10)


def test_lattices_merge_and_stay() -> None:
    node = Votes()
    node.vote.insert(("ann",))
    node.tick()
    assert (list(node.out1), list(node.out2), node.largest.value.elements()) == ([("ann",)], [], ((1,),))
    node.vote.insert(("bob",))
    node.tick()
    assert (list(node.out1), list(node.out2)) == ([("ann",), ("bob",)], [("quorum", "reached")])
    assert node.largest.value.elements() == ((11,),)
    assert node.machine.pending


class Reach(Base):
    """A lattice in a cycle: it grows to a fixpoint within the step."""

    reached = lattice("lset")

    @bloom
    def rules(self) -> None:
        self.reached <= [("start",)]
        self.reached <= (self.reached.elements("at") * self.c).pairs(lambda r, c: (c.z,), at="w")


def test_lattices_in_recursion() -> None:
    node = Reach()
    node.c.insert(("start", "b"), ("b", "d"), ("d", "start"), ("e", "f"))
    node.tick()
    assert node.reached.value.elements() == (("b",), ("d",), ("start",))


class Ways(Base):
    """Not linear: both sides of the join grow."""

    link = table("src", "dst")
    way = scratch("src", "dst")

    @bloom
    def rules(self) -> None:
        self.way <= self.link
        self.way <= (self.way * self.way).pairs(lambda p, q: (p.src, q.dst), dst="src")


def test_recursion_of_many_rounds() -> None:
    chain: list[Row] = [(k, k + 1) for k in range(40)]
    assert derived(Ways, "way", link=chain) == [(j, k) for j in range(41) for k in range(j + 1, 41)]


def test_two_sides_of_unknown_width_are_refused() -> None:
    class Unknown(Base):
        @bloom
        def rules(self) -> None:
            left, right = self.a.map(lambda r: list(r)), self.b.map(lambda r: list(r))
            self.out1 <= (left * right).pairs(lambda p, q: (p[0] + q[0],))

    with pytest.raises(ProgramError, match="it is not known where its sides begin"):
        Unknown().tick()
