"""A run under a partition of many nodes: there are too many groups to list, and one is asked for."""

from __future__ import annotations

import clew
from clew.faults import Loss, Partition

NODES = [f"n{number}" for number in range(30)]
TEXT = (
    "".join(f"hear({node}, n0)@1;" for node in NODES[1:])
    + """
tell(X, Y)@async :- hear(Y, X);  told(X, Y)@next :- tell(X, Y);  told(X, Y)@next :- told(X, Y);
pre(X, Y) :- hear(Y, X)@1;  post(X, Y) :- told(X, Y);
"""
)


def test_a_partition_of_thirty_nodes() -> None:
    cut = NODES[1:4]
    run = clew.run(clew.parse_program(TEXT), [Partition(tuple(cut), 1, 2)], nodes=NODES, eot=4)
    assert [v.row for v in run.violations] == [("n0", node) for node in cut]
    assert run.faults.faults == (Partition(tuple(cut), 1, 2),)


def test_the_larger_side_means_the_same() -> None:
    others = tuple(node for node in NODES if node not in ("n1", "n2"))
    run = clew.run(clew.parse_program(TEXT), [Partition(others, 1, 2), Loss("n5", "n0", 1)], nodes=NODES, eot=4)
    assert str(run.faults) == "O(n5,n0,1) P({n1,n2},1,2)"
    assert [v.row for v in run.violations] == [("n0", "n1"), ("n0", "n2"), ("n0", "n5")]
