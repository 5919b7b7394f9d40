"""Renaming nodes: a partition of halves is named by one of them, whatever is renamed."""

from __future__ import annotations

import clew
from clew.checker.model import Model
from clew.checker.traced import TracedModel
from clew.faults import FailureSpec, FaultSet, Loss, NodeName, Partition, Restart
from clew.lineage.negation import Negation
from clew.program.checks import check_program
from clew.search import exhaustive, lineage
from clew.search.symmetry import Symmetries
from clew.search.verdict import Ledger, conduct

FOUR = ("a", "b", "c", "d")
SWAP: dict[NodeName, NodeName] = {"a": "c", "c": "a", "b": "d", "d": "b"}


def test_the_side_that_names_a_partition_stays_the_one() -> None:
    faults = FaultSet.of([Loss("a", "b", 1), Restart("a", 1, 2), Partition(("a", "b"), 1, 3)])
    (image,) = Symmetries([SWAP], FOUR).images(faults)
    assert image == FaultSet.of([Loss("c", "d", 1), Restart("c", 1, 2), Partition(("a", "b"), 1, 3)])


def test_a_smaller_side_moves_with_its_nodes() -> None:
    (image,) = Symmetries([SWAP], FOUR).images([Partition(("a",), 1, 2)])
    assert image == FaultSet.of([Partition(("c",), 1, 2)])


#: Everybody tells everybody once; nobody may miss two.
_ROUND = """
node(a, b)@1; node(a, c)@1; node(a, d)@1; node(b, a)@1; node(b, c)@1; node(b, d)@1;
node(c, a)@1; node(c, b)@1; node(c, d)@1; node(d, a)@1; node(d, b)@1; node(d, c)@1;
heard(Y, X)@async :- node(X, Y);
heard(X, Y)@next :- heard(X, Y);
kept(X, Y)@next :- node(X, Y);
kept(X, Y)@next :- kept(X, Y);
pre(X, Y) :- kept(X, Y);
post(X, Y) :- heard(X, Y);
post(X, Y) :- kept(X, Y), heard(X, Z), heard(X, V), Z != V;
"""


def test_searches_with_symmetry_find_a_partition_into_halves() -> None:
    program = check_program(clew.parse_program(_ROUND)).program
    spec = FailureSpec(FOUR, 4, 2, partitions=1)
    system = Model(program, spec)
    assert len(system.symmetries()) == 23
    every = conduct(lambda book: exhaustive.search(system, book, find_all=True), Ledger())
    halves = [c.faults for c in every.counterexamples if c.faults.of_kind(Partition)]
    assert FaultSet.of([Partition(("a", "b"), 1, 2)]) in halves
    symmetries = Symmetries(system.symmetries(), FOUR)
    traced = TracedModel(program, spec, Negation.EXACT)
    one = conduct(lambda book: exhaustive.search(system, book, find_all=True, symmetric=system), Ledger())
    other = conduct(lambda book: lineage.search(traced, book, find_all=True, symmetric=traced), Ledger())
    for found in (one, other):
        known = {c.faults for c in found.counterexamples}
        assert known < {c.faults for c in every.counterexamples}
        images = known | {image for faults in known for image in symmetries.images(faults)}
        assert images == {c.faults for c in every.counterexamples}
