"""Names and values as people see them: what differs looks different."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.faults import Crash, Delay, Loss
from clew.names import nearest_name, show
from clew.violation import Violation


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a", "a"),
        ("a b", "a b"),
        ("É", "É"),
        (1, "1"),
        (-1, "-1"),
        ("1", '"1"'),
        ("-1", '"-1"'),
        ("007", '"007"'),
        ("1.5", "1.5"),
        ("1a", "1a"),
        ("--1", "--1"),
        ("²", "²"),
        ("", '""'),
        (" a", '" a"'),
        ("a ", '"a "'),
        ("a,b", '"a,b"'),
        ('a"b', 'a"b'),
        ('"a"', '"""a"""'),
        (None, "None"),
        ("None", '"None"'),
        (("a", 1), "('a', 1)"),
    ],
)
def test_how_a_value_is_shown(value: object, text: str) -> None:
    assert show(value) == text


def test_faults_and_violations_show_their_values() -> None:
    assert str(Loss(1, "1", 2)) == 'O(1,"1",2)'
    assert str(Crash("1", 2)) == 'C("1",2)'
    assert str(Delay("a,b", "c", 2, 3)) == 'D("a,b",c,2,3)'
    assert str(Violation("pre", (1, "1", "x"))) == 'pre(1, "1", x)'


#: Names that are made of what quoting and lists are made of.
_TRICKY = st.one_of(st.integers(-12, 12), st.text(' ,"1-a+', max_size=5))


@given(st.lists(_TRICKY, max_size=4), st.lists(_TRICKY, max_size=4))
def test_different_names_and_different_lists_of_them_are_shown_differently(
    one: list[str | int], other: list[str | int]
) -> None:
    shown = [",".join(map(show, names)) for names in (one, other)]
    assert (shown[0] == shown[1]) == (one == other)


KNOWN = ("ack", "alive", "log", "member", "node")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("acks", "ack"),
        ("akc", "ack"),
        ("Ack", "ack"),
        ("nodes", "node"),
        ("membr", "member"),
        ("xyz", None),
        ("", None),
        ("log", None),
    ],
)
def test_the_nearest_name_is_found(name: str, expected: str | None) -> None:
    assert nearest_name(name, KNOWN) == expected


def test_without_any_name_there_is_none_near() -> None:
    assert nearest_name("ack", ()) is None


def test_a_name_is_not_its_own_neighbour() -> None:
    assert nearest_name("ack", ("ack", "acks")) == "acks"


def test_the_order_of_the_known_names_does_not_matter() -> None:
    """All four differ from the name by one letter."""
    assert {nearest_name("ackx", order) for order in permutations(("acka", "ackb", "ackc", "ackd"))} == {"acka"}
