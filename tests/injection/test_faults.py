"""The faults of code: how they are said, ordered, and which exclude each other."""

from __future__ import annotations

import pytest

from clew.faults import FaultsOf
from clew.injection.bounds import InjectionBounds
from clew.injection.faults import (
    CODE_KINDS,
    CodeFault,
    MessageCopy,
    MessageLoss,
    MessageName,
    NetworkPartition,
    NodeCrash,
    NodeRestart,
    exclusive_code_pairs,
    ordinal,
)

PING = MessageName("a", "b", "Ping", 2)
ALL: list[CodeFault] = [
    MessageLoss(PING),
    MessageCopy(PING),
    NodeCrash("a", 0),
    NodeRestart("b", 3, 500_000),
    NetworkPartition(("a", "b"), 1_000_000, 2_500_000),
]


def test_each_fault_says_what_it_is() -> None:
    assert [fault.sentence for fault in ALL] == [
        "the 2nd Ping from a to b is lost",
        "the 2nd Ping from a to b arrives twice",
        "a crashes before its first event",
        "b restarts after its 3rd event, and is down for 0.5 s",
        "a and b are cut off from the others from 1 s until 2.5 s",
    ]
    assert [str(fault) for fault in ALL] == [
        "O(a,b,Ping,2)",
        "U(a,b,Ping,2)",
        "C(a,0)",
        "R(b,3,0.5 s)",
        "P({a,b},1 s,2.5 s)",
    ]


def test_each_fault_says_why_it_did_not_strike() -> None:
    assert [fault.missed for fault in ALL] == [
        "b got no 2nd Ping from a",
        "b got no 2nd Ping from a",
        "a was not up at the beginning",
        "b was not up after 3 events",
        "nothing was on its way between the two sides at that time",
    ]


def test_there_is_one_of_each_kind_and_sets_have_one_order() -> None:
    assert tuple(type(fault) for fault in ALL) == CODE_KINDS
    assert list(FaultsOf.of(reversed(ALL))) == ALL


@pytest.mark.parametrize(
    ("one", "other", "exclusive"),
    [
        (MessageLoss(PING), MessageCopy(PING), True),
        (MessageLoss(PING), MessageCopy(PING._replace(nth=1)), False),
        (NodeCrash("a", 1), NodeCrash("a", 2), True),
        (NodeRestart("a", 1, 5), NodeRestart("a", 1, 7), True),
        (NodeRestart("a", 1, 5), NodeRestart("a", 2, 5), False),
        (NodeRestart("a", 1, 5), NodeCrash("a", 2), False),
        (NodeCrash("a", 1), NodeRestart("a", 2, 5), True),
        (NodeCrash("a", 1), NodeCrash("b", 1), False),
        (MessageLoss(PING), NetworkPartition(("a",), 0, 5), False),
    ],
)
def test_which_faults_exclude_each_other(one: CodeFault, other: CodeFault, exclusive: bool) -> None:
    assert bool(list(exclusive_code_pairs([one, other]))) == exclusive
    assert bool(list(exclusive_code_pairs([other, one]))) == exclusive


def test_a_partition_loses_what_crosses_it_while_it_lasts() -> None:
    partition = NetworkPartition(("a",), 10, 20)
    assert [partition.parts_at("a", "b", time) for time in (9, 10, 19, 20)] == [False, True, True, False]
    assert not partition.parts_at("b", "c", 15)


def test_bounds_admit_as_many_as_they_say() -> None:
    bounds = InjectionBounds(("a", "b"), 100, 100, losses=1, crashes=2, faults=2)
    loss, crash, other = MessageLoss(PING), NodeCrash("a", 1), NodeCrash("b", 1)
    assert bounds.admits([loss, crash])
    assert not bounds.admits([loss, MessageLoss(PING._replace(nth=1))])
    assert not bounds.admits([loss, crash, other])
    assert not bounds.admits([NodeRestart("a", 1, 5)])
    assert bounds.has_room([loss]) and not bounds.has_room([loss, crash])
    assert not InjectionBounds(("a",), 100, 100, losses=1).has_room([loss])


def test_people_count_like_this() -> None:
    assert [ordinal(n) for n in (1, 2, 3, 4, 11, 12, 13, 21, 112)] == [
        *("1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "112th")
    ]
