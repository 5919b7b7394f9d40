"""A misspelt name gets the known name that is most like it."""

from __future__ import annotations

from itertools import permutations

import pytest

from clew.program.nearest import nearest_name

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
