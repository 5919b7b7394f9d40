"""Exact texts: equal where no handler could tell two values apart, and only there."""

from __future__ import annotations

import enum
import threading
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pytest

from clew.exploration.timed.encoding import encode
from clew.simulation.values import NoValueError


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


class Shade(enum.Enum):
    RED = 1


class Pair(NamedTuple):
    first: int
    second: int


class Couple(NamedTuple):
    first: int
    second: int


@dataclass(frozen=True)
class Note:
    text: str
    tags: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class Frozen:
    number: int


@dataclass
class Loose:
    text: str


class Plain:
    def __init__(self, **attributes: Any) -> None:
        vars(self).update(attributes)


class Slotted:
    __slots__ = ("kept", "unset")

    def __init__(self, kept: int) -> None:
        self.kept = kept


class Items(list[int]):
    pass


def _filled(*keys: int, remove: int | None = None) -> set[int]:
    made: set[int] = set()
    for key in keys:
        made.add(key)
    if remove is not None:
        made.remove(remove)
    return made


def _shared(share: bool) -> list[list[int]]:
    one: list[int] = []
    return [one, one] if share else [[], []]


def _in_itself() -> list[Any]:
    made: list[Any] = []
    made.append(made)
    return made


#: No two of these could be taken for each other by a handler.
DIFFERENT: list[Any] = [
    *(None, True, 1, 1.0, -0.0, 0.0, "1", b"1", 10**5000, "None", "", (), [], {}, set(), frozenset()),
    *((1,), [1], {1}, frozenset({1}), {1: 1}, ((1,),), (1, 1), "(0x1,)", [[1]], [[], []], _shared(True)),
    *({"a": 1, "b": 2}, {"b": 2, "a": 1}, {"a": 1}, {1: "a"}, {1.0: "a"}, {True: "a"}),
    # Where the one was put in first, they are listed in another order.
    *(_filled(0, 8), _filled(8, 0)),
    *({"a", "b"}, {"ab"}, {"a,b"}, {("a", "b")}),
    *(Colour.RED, Colour.BLUE, Shade.RED, Colour, Pair(1, 2), Couple(1, 2), Pair(2, 1), (1, 2)),
    *([Note("x")] * 2, [Note("x"), Note("x")], [Loose("x")] * 2, [Loose("x"), Loose("x")]),  # is it one list?
    *(Note("x"), Note("y"), Note("x", [1]), Loose("x"), Plain(), Plain(text="x"), Plain(other="x")),
    *(Slotted(1), Slotted(2), Items(), Items([1]), deque([1]), deque([1], 3), deque([1, 2])),
    *(OrderedDict(a=1), Counter(a=1), defaultdict(int, a=1), defaultdict(float, a=1.0), _in_itself()),
]  # fmt: skip


def test_no_two_different_values_have_the_same_text() -> None:
    texts = [encode(value) for value in DIFFERENT]
    same = [(DIFFERENT[i], DIFFERENT[j]) for i, text in enumerate(texts) for j in range(i) if texts[j] == text]
    assert same == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (lambda: {"a", "b", "c"}, lambda: {"c", "b", "a"}),
        (lambda: Plain(a=1, b=[2]), lambda: Plain(b=[2], a=1)),
        # Frozen all the way down: whether it is the same object shows nowhere.
        (lambda: [Pair(1, 2)] * 2, lambda: [Pair(1, 2), Pair(1, 2)]),
        (lambda: [Frozen(1)] * 2, lambda: [Frozen(1), Frozen(1)]),
        (lambda: {Pair(1, 2), Pair(3, 4)}, lambda: {Pair(3, 4), Pair(1, 2)}),
        (lambda: {Frozen(1), Frozen(2)}, lambda: {Frozen(2), Frozen(1)}),
        (lambda: Counter("aab"), lambda: Counter({"a": 2, "b": 1})),
        (lambda: [Counter("a"), Counter("b")], lambda: [Counter("a"), Counter("b")]),
    ],
)
def test_equal_values_have_the_same_text(one: Callable[[], Any], other: Callable[[], Any]) -> None:
    assert encode(one()) == encode(other())


@pytest.mark.parametrize(
    "value",
    [
        lambda: None,
        threading.Lock(),
        (number for number in range(3)),
        iter([1]),
        {Plain()},  # by its identity, in whatever order
        ValueError("x"),
        print,
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_cannot_be_written_exactly_is_refused(value: Any) -> None:
    for wrapped in (value, [value], {"key": value}, Plain(inside=value)):
        with pytest.raises(NoValueError):
            encode(wrapped)


def test_what_is_nested_too_deeply_is_refused() -> None:
    deep: list[Any] = []
    for _ in range(1000):
        deep = [deep]
    with pytest.raises(NoValueError, match="nested too deeply"):
        encode(deep)
