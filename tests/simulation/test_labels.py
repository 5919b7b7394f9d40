"""Labels: what a message is called, whoever says it, and whose mistake it is if that goes wrong."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pytest

from clew.errors import UsageError
from clew.simulation import Context, Node, Scenario, Send
from clew.simulation.execution.steps import Act, Do, Step
from clew.simulation.execution.trace import execute
from clew.simulation.execution.watchdog import step_limit
from clew.simulation.labels import LONGEST_LABEL, label_of


def scenario(fingerprint: Callable[[Any], str] | None = None, **how: Any) -> Scenario:
    return Scenario(nodes={"a": Node}, running=["a"], fingerprint=fingerprint, **how)


@dataclass
class Plain:
    number: int = 1


@dataclass
class Constant:
    label = "constant"


@dataclass
class Field:
    label: Any


@dataclass(slots=True)
class Slot:
    label: Any


@dataclass
class Property:
    number: int = 1

    @property
    def label(self) -> str:
        return f"property {self.number}"


@dataclass
class Cached:
    number: int = 1

    @cached_property
    def label(self) -> str:
        return f"cached {self.number}"


@dataclass
class Method:
    number: int = 1

    def label(self) -> str:
        return f"method {self.number}"


@dataclass
class Static:
    @staticmethod
    def label() -> str:
        return "static"


@dataclass
class Sometimes:
    number: int

    def label(self) -> str | None:
        return "small" if self.number < 10 else None


class Colour(enum.Enum):
    RED = 1
    label = 2


@pytest.mark.parametrize(
    ("message", "label"),
    [
        (Plain(), ""),
        (Constant(), "constant"),
        (Field("its field"), "its field"),
        (Field(7), ""),
        (Field(None), ""),
        (Field(["x"]), ""),
        (Slot("its slot"), "its slot"),
        (Slot(7), ""),
        (Property(3), "property 3"),
        (Cached(3), "cached 3"),
        (Method(3), "method 3"),
        (Static(), "static"),
        (Sometimes(3), "small"),
        (Sometimes(30), ""),
        (Colour.RED, ""),
        (Colour.label, ""),
        *(((value), "") for value in (7, "text", b"x", None, [1], {"label": "no"}, ("label",), {1})),
    ],
    ids=str,
)
def test_what_a_message_says_itself(message: object, label: str) -> None:
    assert label_of(scenario(), message) == label


def test_the_fingerprint_is_next_and_then_the_type() -> None:
    told = scenario(lambda message: f"fingerprint of {type(message).__name__}")
    assert label_of(told, Method(3)) == "method 3"
    assert label_of(told, Sometimes(30)) == "fingerprint of Sometimes"
    assert label_of(told, Field(7)) == "fingerprint of Field"
    assert label_of(told, 7) == "fingerprint of int"
    # The type says it all: other names of it are shown as they were.
    assert label_of(scenario(lambda message: type(message).__qualname__), Plain()) == ""
    assert label_of(scenario(lambda message: ""), Plain()) == ""


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("x" * LONGEST_LABEL, "x" * LONGEST_LABEL),
        ("x" * 10**6, "x" * (LONGEST_LABEL - 1) + "…"),
        ("two\nlines", "two\\nlines"),
        ("\x1b[31mred\udc80", "\\x1b[31mred\\udc80"),
        ("\n" * LONGEST_LABEL + "x", "x"),
        ("a\x00" * 40, ("a\\x00" * 40)[: LONGEST_LABEL - 1] + "…"),
        ("  ", ""),
    ],
)
def test_a_label_is_short_and_harmless(text: str, shown: str) -> None:
    assert label_of(scenario(), Field(text)) == shown
    assert label_of(scenario(lambda message: text), 1) == shown


class Raising:
    """A label that goes wrong in each way."""

    @dataclass
    class InProperty:
        @property
        def label(self) -> str:
            raise KeyError("colour")

    @dataclass
    class InMethod:
        def label(self) -> str:
            return f"{1 // 0}"

    @dataclass
    class Exits:
        def label(self) -> str:
            raise SystemExit(3)

    @dataclass
    class NeedsMore:
        def label(self, language: str) -> str:
            return language

    @dataclass
    class Number:
        def label(self) -> int:
            return 7

    @dataclass
    class NumberProperty:
        @property
        def label(self) -> int:
            return 7

    @dataclass
    class Coroutine:
        async def label(self) -> str:
            return "late"


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        (Raising.InProperty, "the label of a Raising.InProperty raised KeyError: 'colour'"),
        (Raising.InMethod, "the label of a Raising.InMethod raised ZeroDivisionError: "),
        (Raising.Exits, "the label of a Raising.Exits raised SystemExit: 3"),
        (Raising.NeedsMore, "the label of a Raising.NeedsMore raised TypeError: "),
        (Raising.Number, "the label of a Raising.Number is 7"),
        (Raising.NumberProperty, "the label of a Raising.NumberProperty is 7"),
        (Raising.Coroutine, "the label of a Raising.Coroutine returned a coroutine, and nobody would execute it"),
    ],
)
def test_a_label_that_goes_wrong_is_a_mistake_in_the_scenario(kind: type, says: str) -> None:
    with pytest.raises(UsageError) as caught:
        execute(scenario(), 0, [Send("a", kind())])
    assert caught.value.message.startswith(says)
    assert caught.value.position is not None and caught.value.position.file == __file__
    assert caught.value.remedy


def test_a_label_that_takes_for_ever_is_stopped() -> None:
    @dataclass
    class Endless:
        def label(self) -> str:
            while True:
                pass

    with pytest.raises(UsageError, match=r"the label of a .*Endless"), step_limit(0.1):
        execute(scenario(), 0, [Send("a", Endless())])


@dataclass
class Counting:
    number: int = 1

    def label(self) -> str:
        self.number += 1
        return f"counting {self.number}"


class Doubling(Node):
    """Changes what it gets, and passes it on."""

    def on_start(self, ctx: Context) -> None:
        self.seen: list[int] = []

    def on_message(self, ctx: Context, sender: str, message: Counting) -> None:
        self.seen.append(message.number)
        message.number *= 2
        ctx.send("b" if ctx.me == "a" else "a", message)


def test_a_label_is_that_of_the_message_as_it_arrives_and_changes_nothing() -> None:
    made = Scenario(nodes=dict.fromkeys("ab", Doubling), running="ab")
    steps: list[Step] = [
        Send("a", Counting()),
        Act(Do.DELIVER, "", 1, "a", False, "Counting", "Counting"),
        Act(Do.DELIVER, "a", 1, "b", False, "Counting", "Counting"),
    ]
    execution = execute(made, 0, steps)
    assert execution.labels == ("counting 2", "counting 2", "counting 3")
    assert [moment.sent_labels for moment in execution.moments] == [
        ("counting 2",),
        ("counting 3",),
        ("counting 5",),
    ]
    assert [moment.after for moment in execution.moments[1:]] == [{"seen": [1]}, {"seen": [2]}]


def test_a_label_identifies_nothing() -> None:
    """Effects, steps and the violation are the same whatever messages are called."""
    steps: list[Step] = [Send("a", Method()), Act(Do.DELIVER, "", 1, "a", False, "Method", "Method")]
    called = execute(scenario(), 0, steps)
    label = Method.label
    try:
        Method.label = lambda self: "another"  # type: ignore[method-assign]
        renamed = execute(scenario(), 0, steps)
    finally:
        Method.label = label  # type: ignore[method-assign]
    assert (called.labels, renamed.labels) == (("method 1",) * 2, ("another",) * 2)
    assert [(m.step, m.effect) for m in called.moments] == [(m.step, m.effect) for m in renamed.moments]
