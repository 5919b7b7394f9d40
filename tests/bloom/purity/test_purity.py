"""Functions of rows that are none, and what only looks like it."""

from __future__ import annotations

import datetime
import enum
import functools
import itertools
import json
import math
import operator
import os
import random
import secrets
import statistics
import time
import uuid
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, NamedTuple

import pytest

from clew.bloom import Bloom, bloom, interface
from clew.bloom.purity.impurity import impurity_of


class Colour(enum.Enum):
    RED = 1


class Point(NamedTuple):
    x: int
    y: int


@dataclass(frozen=True)
class Place:
    x: int

    def moved(self) -> Place:
        return Place(self.x + 1)


class Unshown:
    """Has no text of its own: Python shows its address."""

    def __init__(self, x: int) -> None:
        self.x = x


class Tally:
    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, row: Any) -> Any:
        self.calls += 1
        return (row.x, self.calls)


class Clock:
    """Tells the time in each of the ways in which a class can be asked."""

    @property
    def by_property(self) -> float:
        return time.time()


class StaticClock:
    @staticmethod
    def now() -> float:
        return time.time()


class ClassClock:
    @classmethod
    def now(cls) -> float:
        return time.time()


class Answering(type):
    def __getattr__(cls, name: str) -> Any:
        return random.random()


class Answered(metaclass=Answering):
    """Has no attributes of its own."""


class Number(int):
    def __add__(self, other: Any) -> Any:
        return random.random()


class Dated(NamedTuple):
    x: int

    @property
    def now(self) -> float:
        return time.time()


class Shifted(NamedTuple):
    x: int

    def by_one(self) -> int:
        return self.x + 1


@dataclass(frozen=True)
class Drawn:
    x: float = field(default_factory=random.random)


class Config:
    limit = 3
    constant = 3


def configure() -> None:
    Config.limit += 1


class Counted:
    made = 0

    def __init__(self) -> None:
        Counted.made += 1

    def number(self) -> int:
        return self.made


ONE, DATED, SHIFTED = Number(1), Dated(1), Shifted(1)
TALLY = Tally()
NUMBERS = itertools.count()
SEEN: list[Any] = []
NAMES = {1: "one"}
LIMIT = 3
CHANGING = 0
SETTINGS: Any = None


def change() -> None:
    global CHANGING  # that is what is tested
    CHANGING += 1


def larger(row: Any) -> Any:
    return (row.x, max(row.x, LIMIT))


def through(row: Any) -> Any:
    return larger(row)


def numbered(row: Any) -> Any:
    return (row.x, next(NUMBERS))


@functools.lru_cache
def cached(x: int) -> int:
    return math.isqrt(x)


def counting() -> Callable[[Any], Any]:
    count = 0

    def step(row: Any) -> Any:
        nonlocal count
        count += 1
        return (row.x, count)

    return step


def _touched(function: Callable[..., Any]) -> str:
    class Program(Bloom):
        given = interface.input("x")
        out = interface.output("x", "y")

        @bloom
        def rules(self) -> None:
            self.out <= self.given(function)

    (rule,) = Program("a").program.rules
    return impurity_of(rule.expr)


PURE: list[Callable[..., Any]] = [
    lambda r: (r.x, LIMIT),
    lambda r: (str(r.x).upper(), tuple(sorted({r.x, 3}))),
    lambda r: (r.x, [n for n in range(r.x) if n > LIMIT]),
    lambda r: (r.x, json.dumps([r.x])),
    lambda r: (r.x, functools.reduce(operator.add, [r.x, 1])),
    lambda r: (r.x, len(Counter([r.x]))),
    lambda r: (r.x, Colour.RED.value),
    lambda r: (r.x, Point(r.x, 1).y),
    lambda r: (r.x, Place(r.x).moved().x),
    lambda r: (r.x, cached(r.x)),
    lambda r: (r.x, Unshown(r.x).x),
    lambda r: (r.x, f"{larger(r)}"),
    lambda r: (r.x, repr(larger(r))),
    lambda r: (r.x, str(Place(r.x))),
    lambda r: (r.x, max([r.x, 2], key=lambda n: -n)),
    lambda r: (r.x, max(SHIFTED.by_one(), SHIFTED.x)),
    lambda r: (r.x, max(Config.constant, r.x)),
    lambda r: (r.x, statistics.median([r.x, 1])),
    larger,
    through,
    functools.partial(lambda more, r: (r.x, max(more, r.x)), 3),
]


@pytest.mark.parametrize("function", PURE)
def test_pure(function: Callable[..., Any]) -> None:
    assert _touched(function) == ""


@pytest.mark.parametrize(
    ("function", "touched"),
    [
        (lambda r: (r.x, random.random()), "random.random"),
        (lambda r: (r.x, random.Random(r.x).random()), "random.Random"),
        (lambda r: (r.x, time.time()), "time.time"),
        (lambda r: (r.x, datetime.datetime.now().year), "datetime.datetime"),
        (lambda r: (r.x, str(uuid.uuid4())), "uuid.uuid4"),
        (lambda r: (r.x, secrets.token_hex()), "secrets.token_hex"),
        (lambda r: (r.x, os.getpid()), "os.getpid"),
        (lambda r: (r.x, os.environ["HOME"]), "os.environ"),
        (lambda r: (r.x, next(NUMBERS)), "next"),
        (lambda r: (r.x, NUMBERS.__next__()), "NUMBERS, which can change"),
        (lambda r: (r.x, id(r)), "id"),
        (lambda r: (r.x, hash(r)), "hash"),
        (lambda r: (r.x, len(SEEN)), "SEEN, which can change"),
        (lambda r: (r.x, SEEN.pop()), "SEEN, which can change"),
        (lambda r: (r.x, NAMES.get(r.x)), "NAMES, which can change"),
        (lambda r: (r.x, max(CHANGING, r.x)), "the global 'CHANGING', which others change"),
        (lambda r: (r.x, open(r.x)), "open"),  # noqa: PTH123, SIM115  # that is what is tested
        (lambda r: (r.x, print(r.x)), "print"),
        (lambda r: (r.x, TALLY(r)), "TALLY, which can change"),
        (lambda r: (r.x, max(numbered(r))), "next"),
        (lambda r: (r.x, [next(NUMBERS) for _ in (1, 2)]), "next"),
        (lambda r: (r.x, (lambda: time.time())()), "time.time"),
        (lambda r, seen=SEEN: (r.x, len(seen)), "a default value, which can change"),
        (TALLY, "Tally, which can change"),
        (functools.partial(Tally.__call__, TALLY), "the attribute 'calls', which it changes"),
        (functools.partial(lambda seen, r: (r.x, len(seen)), SEEN), "partial, which is given something that can"),
        (counting(), "the variable 'count' around it, which it changes"),
        (numbered, "next"),
        (lambda r: (r.x, Clock().by_property), "time.time"),
        (lambda r: (r.x, StaticClock().now()), "time.time"),
        (lambda r: (r.x, ClassClock().now()), "time.time"),
        (lambda r: (r.x, Answered.chance), "Answered.chance, for which the class of a class answers"),
        (lambda r: (r.x, ONE + r.x), "random.random"),
        (lambda r: (r.x, DATED.now), "time.time"),
        (lambda r: (r.x, Drawn().x), "Drawn, a field of which begins with a function's result"),
        (lambda r: (r.x, max(Config.limit, r.x)), "Config.limit, which others change"),
        (lambda r: (r.x, Counted().number()), "Counted.made, which others change"),
        (lambda r: (r.x, statistics.NormalDist().samples(1)), "statistics.NormalDist"),
        (lambda r: (r.x, r.x.__hash__()), "the attribute '__hash__'"),
        (lambda r: (r.x, getattr(r.x, "__hash__")()), "the attribute '__hash__'"),  # noqa: B009
        (lambda r: (r.x, operator.methodcaller("__hash__")(r.x)), "the attribute '__hash__'"),
        (lambda r: (r.x, repr(larger)), "the address of larger in a text"),
        (lambda r: (r.x, f"{larger}"), "the address of larger in a text"),
        (lambda r: (r.x, "%s" % larger), "the address of larger in a text"),  # noqa: UP031
        (lambda r: (r.x, "%s %s" % (r.x, larger)), "the address of larger in a text"),  # noqa: UP031
        (lambda r: (r.x, repr(Unshown(r.x))), "the address of Unshown in a text"),
        (lambda r: (r.x, "%s" % Unshown(r.x)), "the address of Unshown in a text"),  # noqa: UP031
        (lambda r: (r.x, f"{Unshown(r.x)}"), "the address of Unshown in a text"),
    ],
)
def test_impure(function: Callable[..., Any], touched: str) -> None:
    assert _touched(function).startswith(f"a function touches {touched}")


def test_an_attribute_of_a_module_that_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rule is read with the value that it has now, and is called with the one that it has then."""
    module: Any = ModuleType("settings")
    exec("limit = fixed = 3\ndef change():\n    global limit\n    limit += 1", vars(module))
    monkeypatch.setitem(globals(), "SETTINGS", module)
    assert _touched(lambda r: (r.x, r.x + SETTINGS.fixed)) == ""
    changing = _touched(lambda r: (r.x, r.x + SETTINGS.limit))
    assert changing.startswith("a function touches settings.limit, which others change (line ")


def test_the_line_is_that_of_what_is_touched() -> None:
    line = numbered.__code__.co_firstlineno + 1
    assert f"next (line {line})" in _touched(lambda r: numbered(r))


class Attributes(Bloom):
    given = interface.input("x")
    out = interface.output("x", "y")

    def __init__(self, address: str | None = None) -> None:
        super().__init__(address)
        self._limit = 3
        self._calls = 0

    def note(self) -> None:
        self._calls += 1

    def _larger(self, row: Any) -> Any:
        return (row.x, max(row.x, self._limit))

    def _counted(self, row: Any) -> Any:
        return (row.x, max(row.x, self._calls))


class Method(Attributes):
    @bloom
    def rules(self) -> None:
        self.out <= self.given(lambda r: self._larger(r))
        self.out <= self.given(self._larger)
        self.out <= self.given(lambda r: (r.x, str(self.ip_port)))


class ChangingAttribute(Attributes):
    @bloom
    def rules(self) -> None:
        self.out <= self.given(lambda r: self._counted(r))


def test_attributes_of_the_node() -> None:
    assert [impurity_of(rule.expr) for rule in Method("a").program.rules] == ["", "", ""]
    (rule,) = ChangingAttribute("a").program.rules
    assert impurity_of(rule.expr).startswith("a function touches self._calls, which note changes")


class Methods(Bloom):
    """Methods as functions of rows; ``_calls`` changes, ``limit`` does not."""

    given = interface.input("x")
    out = interface.output("x", "y")

    def __init__(self, address: str) -> None:
        self._calls = 0
        self.limit = 3
        super().__init__(address)

    def note(self) -> None:
        self._calls += 1

    def directly(self, row: Any) -> Any:
        return (row.x, self._calls)

    def in_a_comprehension(self, row: Any) -> Any:
        return (row.x, [self._calls for _ in range(2)])

    def in_a_generator(self, row: Any) -> Any:
        return (row.x, tuple(self._calls for _ in range(2)))

    def in_a_function(self, row: Any) -> Any:
        return (row.x, sorted((1, 2), key=lambda n: n * self._calls))

    def beside_a_function(self, row: Any) -> Any:
        return (self._calls, sorted((1, 2), key=lambda n: n * self.limit))

    def passed_on(self, row: Any) -> Any:
        return calls_of(self, row)

    def with_a_comprehension(self, row: Any) -> Any:
        return (row.x, [n * self.limit for n in range(2)])

    def with_a_generator(self, row: Any) -> Any:
        return (row.x, tuple(n * self.limit for n in range(2)))

    def with_a_function(self, row: Any) -> Any:
        return (row.x, sorted((1, 2), key=lambda n: n * self.limit))


def calls_of(methods: Any, row: Any) -> Any:
    return (row.x, methods._calls)


@pytest.mark.parametrize(
    ("method", "touched"),
    [
        ("directly", "self._calls, which note changes"),
        ("in_a_comprehension", "self._calls, which note changes"),
        ("in_a_generator", "self._calls, which note changes"),
        ("in_a_function", "self._calls, which note changes"),
        ("beside_a_function", "self._calls, which note changes"),
        ("passed_on", "self as a whole"),
        ("with_a_comprehension", None),
        ("with_a_generator", None),
        ("with_a_function", None),
    ],
)
def test_methods_of_the_node(method: str, touched: str | None) -> None:
    class Program(Methods):
        @bloom
        def rules(self) -> None:
            self.out <= self.given(getattr(self, method))

    (rule,) = Program("a").program.rules
    found = impurity_of(rule.expr)
    assert found.startswith(f"a function touches {touched} (line ") if touched else not found
