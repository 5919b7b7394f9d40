"""Seals, step by step: manifests, votes, and what waits for them."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from clew.coordination import IndependentSeals, OneByOne, ReadsOfAll, ReadsOfPartition, Sealer, VotedSeals

P, Q = ("p",), ("q",)


def _spelled(order: Any) -> str:
    return "".join(name[0] + str(row[1][0]) for name, row in order)


def _rows(collection: Any) -> list[tuple[Any, ...]]:
    return sorted(map(tuple, collection))


def _stepped(node: Any, **given: Any) -> None:
    for name, rows in given.items():
        getattr(node, name).insert(*rows)
    node.tick()


# -- producers ---------------------------------------------------------------------------------------------------


def test_a_manifest_counts_different_rows() -> None:
    sealer: Any = Sealer("a")
    _stepped(sealer, produced=[(P, (1,)), (P, (2,)), (Q, (1,))])
    _stepped(sealer, produced=[(P, (2,)), (P, (3,))], ended=[(P,)])
    assert _rows(sealer.punctuation) == [(P, "a", 3)]
    sealer.tick()
    assert _rows(sealer.sent) == [(Q, (1,))]


def test_a_partition_without_rows_has_an_empty_manifest() -> None:
    sealer: Any = Sealer("a")
    _stepped(sealer, ended=[(P,)])
    assert _rows(sealer.punctuation) == [(P, "a", 0)]


def test_a_partition_ends_once() -> None:
    sealer: Any = Sealer("a")
    _stepped(sealer, produced=[(P, (1,))], ended=[(P,)])
    _stepped(sealer, produced=[(P, (2,))], ended=[(P,)])
    assert (_rows(sealer.punctuation), _rows(sealer.too_late)) == ([], [(P, (2,))])


# -- consumers ---------------------------------------------------------------------------------------------------

#: What two producers send about a partition.
SENT = [
    ("row", (P, (1,))),
    ("row", (P, (2,))),
    ("row", (P, (3,))),
    ("punctuation", (P, "a", 2)),
    ("punctuation", (P, "b", 1)),
]


@pytest.mark.parametrize("order", list(itertools.permutations(SENT)), ids=lambda order: _spelled(order))
def test_a_partition_is_let_go_with_the_last_message_whichever_that_is(order: Any) -> None:
    seals: Any = VotedSeals("c")
    seals.producers.insert((P, "a"), (P, "b"))
    for name, row in order[:-1]:
        _stepped(seals, **{name: [row]})
        assert (_rows(seals.released), _rows(seals.opened)) == ([], [])
    name, row = order[-1]
    _stepped(seals, **{name: [row]})
    assert _rows(seals.released) == [(P, (1,)), (P, (2,)), (P, (3,))]
    assert _rows(seals.opened) == [(P,)]
    seals.tick()
    assert (_rows(seals.released), _rows(seals.opened), _rows(seals.held)) == ([], [], [])


def test_partitions_do_not_wait_for_each_other() -> None:
    seals: Any = VotedSeals("c")
    seals.producers.insert((P, "a"), (Q, "a"), (Q, "b"))
    _stepped(seals, row=[(P, (1,)), (Q, (2,))], punctuation=[(P, "a", 1), (Q, "a", 1)])
    assert _rows(seals.released) == [(P, (1,))]
    _stepped(seals, punctuation=[(Q, "b", 0)])
    assert _rows(seals.released) == [(Q, (2,))]


def test_nothing_is_let_go_while_no_producer_is_known() -> None:
    seals: Any = VotedSeals("c")
    _stepped(seals, row=[(P, (1,))], punctuation=[(P, "a", 1)])
    assert _rows(seals.opened) == []
    _stepped(seals, producers=[(P, "a")])
    assert _rows(seals.opened) == [(P,)]


def test_repeated_messages_change_nothing() -> None:
    seals: Any = VotedSeals("c")
    seals.producers.insert((P, "a"))
    _stepped(seals, row=[(P, (1,))])
    _stepped(seals, row=[(P, (1,))], punctuation=[(P, "a", 2)])
    assert _rows(seals.opened) == []
    _stepped(seals, row=[(P, (2,))])
    assert _rows(seals.released) == [(P, (1,)), (P, (2,))]
    _stepped(seals, punctuation=[(P, "a", 2)])
    assert (_rows(seals.opened), _rows(seals.votes)) == ([], [])


def test_who_breaks_the_promise_is_found_out() -> None:
    seals: Any = VotedSeals("c")
    seals.producers.insert((P, "a"))
    _stepped(seals, row=[(P, (1,))], punctuation=[(P, "a", 1)])
    _stepped(seals, row=[(P, (2,))])
    assert (_rows(seals.late), _rows(seals.released), _rows(seals.held)) == ([(P, (2,))], [], [])


def test_one_producer_need_not_vote() -> None:
    seals: Any = IndependentSeals("c")
    _stepped(seals, punctuation=[(P, "a", 1), (Q, "b", 0)])
    assert _rows(seals.opened) == [(Q,)]
    _stepped(seals, row=[(P, (1,))])
    assert (_rows(seals.opened), _rows(seals.released)) == ([(P,)], [(P, (1,))])


# -- what comes after --------------------------------------------------------------------------------------------


def test_rows_that_replace_each_other_come_one_by_one() -> None:
    turns: Any = OneByOne("c")
    _stepped(turns, row=[(P, (2,)), (P, (1,)), (Q, (7,))], complete=[(P,), (Q,)])
    assert (_rows(turns.released), _rows(turns.opened)) == ([(P, (1,)), (Q, (7,))], [])
    turns.tick()
    assert (_rows(turns.released), _rows(turns.opened)) == ([(P, (2,))], [(Q,)])
    turns.tick()
    assert (_rows(turns.released), _rows(turns.opened)) == ([], [(P,)])
    turns.tick()
    assert _rows(turns.opened) == []


def test_a_request_about_a_partition_waits_for_it() -> None:
    reads: Any = ReadsOfPartition("c")
    _stepped(reads, read=[(P, (1,)), (Q, (2,))])
    assert _rows(reads.due) == []
    _stepped(reads, opened=[(P,)])
    assert _rows(reads.due) == [], "the rows of the partition come before it"
    reads.tick()
    assert _rows(reads.due) == [(P, (1,))]
    reads.tick()
    assert _rows(reads.due) == []
    _stepped(reads, read=[(P, (3,))])
    assert _rows(reads.due) == [(P, (3,))]


def test_a_request_about_all_is_made_again_for_each_partition() -> None:
    reads: Any = ReadsOfAll("c")
    _stepped(reads, read=[((1,),)])
    assert _rows(reads.due) == [((1,),)]
    for partition in (P, Q):
        _stepped(reads, opened=[(partition,)])
        assert _rows(reads.due) == []
        reads.tick()
        assert _rows(reads.due) == [((1,),)]
    reads.tick()
    assert _rows(reads.due) == []
