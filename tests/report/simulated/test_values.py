"""Values as text, and where two texts differ."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.report.simulated.values import abbreviate, difference, message_text, pieces, trim_context


class Role(enum.Enum):
    LEADER = 1


@dataclass
class Vote:
    term: int
    by: set[str] = field(default_factory=set)


class Plain:
    def __init__(self) -> None:
        self.x = [1]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "None"),
        (-1.5, "-1.5"),
        (float("nan"), "nan"),
        ("it's\n", '"it\'s\\n"'),
        (b"\x00a", "b'\\x00a'"),
        ([1, (2,), ()], "[1, (2,), ()]"),
        ({"b", "a"}, "{'a', 'b'}"),
        (frozenset(), "set()"),
        ({2: "x", 1: {}}, "{1: {}, 2: 'x'}"),
        (Role.LEADER, "Role.LEADER"),
        (Vote(3, {"b", "a"}), "Vote(term=3, by={'a', 'b'})"),
        (Plain(), "Plain(x=[1])"),
        (len, "<len>"),
    ],
)
def test_a_value_reads_like_python(value: Any, text: str) -> None:
    assert message_text(value) == text


def test_what_differs_is_found_in_whole_words() -> None:
    changed = difference("{'a': 10, 'b': 2}", "{'a': 17, 'b': 2}")
    assert changed == ("{'a': ", "10", "17", ", 'b': 2}")
    assert difference("['a']", "['a', 'a']") == ("['a'", "", ", 'a'", "]")


@given(st.text("ab, '[]0", max_size=20), st.text("ab, '[]0", max_size=20))
def test_the_parts_are_the_whole(before: str, after: str) -> None:
    changed = difference(before, after)
    assert changed.start + changed.before + changed.end == before
    assert changed.start + changed.after + changed.end == after
    old, new = pieces(changed)
    assert ["".join(piece.text for piece in side) for side in (old, new)] == [before, after]
    # What both have in common is the same on both sides.
    assert "".join(p.text for p in old if not p.own) == "".join(p.text for p in new if not p.own)


def test_several_differences_are_marked_one_by_one() -> None:
    old, new = pieces(difference("{'a': 1, 'b': 1, 'c': 1}", "{'a': 5, 'b': 1, 'c': 6}"))
    assert [piece.text for piece in old if piece.own] == ["1", "1"]
    assert [piece.text for piece in new if piece.own] == ["5", "6"]


def test_a_great_difference_is_one_piece() -> None:
    old, new = pieces(difference("x " * 500, "y " * 500))
    assert [piece.own for piece in old] == [True, False]
    assert new[0].text == ("y " * 500).rstrip()


def test_what_is_near_a_difference_begins_and_ends_with_a_word() -> None:
    changed = difference("[100, 200, 300, 400]", "[100, 200, 333, 400]")
    assert trim_context(changed, 3) == ("…, ", "300", "333", ", …")
    assert trim_context(changed, 100) == changed


def test_long_text_loses_its_middle_and_says_how_much() -> None:
    assert abbreviate("x" * 30, 30) == "x" * 30
    assert abbreviate("a" * 40 + "b" * 40, 30) == "a" * 20 + " … 50 characters … " + "b" * 10
