"""Smaller contents of messages from outside."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

import pytest

from clew.errors import UsageError
from clew.minimization import pipeline, shrinking
from clew.minimization.minimizing import Minimized, minimize
from clew.minimization.shrinking import shrink_message, smaller_targets
from clew.minimization.trial import Target
from clew.simulation import Context, Node, Scenario, Send
from clew.simulation.execution.steps import Step
from minimization.scenarios import act, aimed, keepers, never, of_steps


@dataclass(frozen=True)
class Inner:
    items: list[int]


@dataclass(frozen=True)
class Outer:
    name: str
    inner: Inner
    marks: set[str]
    table: dict[str, list[int]] = field(default_factory=dict)


@dataclass(frozen=True)
class Task:
    inputs: tuple[int, ...]


@dataclass(frozen=True)
class Job:
    """Hashable all the way down, as messages of protocols mostly are."""

    name: str
    tasks: tuple[Task, ...]


@dataclass(frozen=True)
class Picky:
    """Has at least two members, and knows how many."""

    members: list[str]
    count: int = field(init=False)

    def __post_init__(self) -> None:
        if len(self.members) < 2:
            raise ValueError("too few members")
        object.__setattr__(self, "count", len(self.members))


# -- in one step -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (5, []),
        ("text", []),
        (None, []),
        ([], []),
        ([1, 2], [[2], [1]]),
        ([[1], 2], [[2], [[1]], [[], 2]]),
        ({3, 20}, [{3}, {20}]),
        (frozenset({1}), [frozenset()]),
        ((), []),
        ((1, 2), [(2,), (1,)]),
        ((1, [2, 3]), [([2, 3],), (1,), (1, [3]), (1, [2])]),
        (frozenset({(1,)}), [frozenset(), frozenset({()})]),
        ({(1, 2): 3}, [{}, {(2,): 3}, {(1,): 3}]),
        ({(1,): 3, (): 4}, [{(): 4}, {(1,): 3}]),
        (Job("j", (Task((1,)),)), [Job("j", ()), Job("j", (Task(()),))]),
        ({"b": 1, "a": [2]}, [{"b": 1}, {"a": [2]}, {"b": 1, "a": []}]),
        (Inner([1]), [Inner([])]),
        (
            Outer("o", Inner([1]), {"x"}, {"k": [9]}),
            [
                Outer("o", Inner([]), {"x"}, {"k": [9]}),
                Outer("o", Inner([1]), set(), {"k": [9]}),
                Outer("o", Inner([1]), {"x"}, {}),
                Outer("o", Inner([1]), {"x"}, {"k": []}),
            ],
        ),
        (Picky(["a", "b", "c"]), [Picky(["b", "c"]), Picky(["a", "c"]), Picky(["a", "b"])]),
        (Picky(["a", "b"]), []),
        (Inner, []),
    ],
    ids=repr,
)
def test_what_a_message_can_be_shrunk_to(message: Any, expected: list[Any]) -> None:
    assert list(shrink_message(message)) == expected


# -- in minimization ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Config:
    members: list[str]


class Member(Node):
    """Counts the members that it is told of."""

    def on_start(self, ctx: Context) -> None:
        self.kept: list[int] = []

    def on_message(self, ctx: Context, sender: str, message: Any) -> None:
        self.kept.append(size_of(message))


def size_of(message: Any) -> int:
    return len(message.members) if isinstance(message, Config) else message.number


def minimized(message: Any, enough: int, **how: Any) -> Minimized:
    """Of a message to a that is wrong if it is of at least this size."""
    scenario = members(enough, **how)
    steps: list[Step] = [Send("a", message), act("", 1, "a", type(message).__qualname__)]
    with mock.patch.multiple(pipeline, _PATIENCE=1):
        return minimize(of_steps(scenario, steps), scenario)


def members(enough: int, **how: Any) -> Scenario:
    wrong = never("a", lambda kept: any(number >= enough for number in kept))
    return keepers(wrong, nodes=dict.fromkeys("ab", Member), running="ab", **how)


def content(found: Minimized) -> Any:
    (send,) = (step for step in found.recording.steps if isinstance(step, Send))
    return send.message


def test_items_go_until_none_can() -> None:
    found = minimized(Config(["p", "q", "r", "s"]), 2)
    assert content(found) == Config(["r", "s"])
    assert {stage.name: stage.schedules for stage in found.stages}["contents"] > 0


def test_no_shrinking_where_that_is_asked_for() -> None:
    scenario = members(2)
    recording = of_steps(scenario, [Send("a", Config(["p", "q", "r"])), act("", 1, "a", "Config")])
    found = minimize(recording, scenario, shrink=False)
    assert content(found) == Config(["p", "q", "r"])
    assert "contents" not in [stage.name for stage in found.stages]


def test_equal_messages_are_shrunk_together() -> None:
    """Both nodes have to know the same members for it to break."""

    def wrong(nodes: Any) -> str | None:
        return "both" if nodes["a"].kept == nodes["b"].kept != [] and nodes["a"].kept[0] else None

    scenario = keepers(wrong, nodes=dict.fromkeys("ab", Member), running="ab")
    sends: list[Step] = [Send(node, Config(["p", "q", "r"])) for node in "ab"]
    found = minimize(of_steps(scenario, [*sends, act("", 1, "a", "Config"), act("", 2, "b", "Config")]), scenario)
    assert [step.message for step in found.recording.steps if isinstance(step, Send)] == [Config(["r"])] * 2


def test_only_messages_that_the_schedule_uses_are_shrunk() -> None:
    target, schedule = aimed(members(1), [Send("a", Config(["p"])), act("", 1, "a", "Config")])
    more = Target(target.scenario, 0, (*target.externals, Send("b", Config(["x", "y"]))), target.identity)
    shrunk = list(smaller_targets(more, schedule))
    assert [t.externals for t in shrunk] == [(Send("a", Config([])), Send("b", Config(["x", "y"])))]


# -- the user's own ways -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Number:
    """``how``: what its ``smaller`` does."""

    number: int
    how: str = "one less"

    def smaller(self) -> Any:
        return getattr(self, f"_{self.how.replace(' ', '_')}")()

    def _one_less(self) -> list[Number]:
        return [Number(self.number - 1, self.how)] if self.number else []

    def _raises(self) -> list[Number]:
        raise KeyError("members")

    def _raises_later(self) -> Iterator[Number]:
        yield Number(-1, self.how)
        raise KeyError("members")

    def _itself(self) -> list[Number]:
        return [self, Number(self.number, self.how), *self._one_less()]

    def _without_end(self) -> Iterator[Number]:
        while True:
            yield self

    def _to_and_fro(self) -> list[Number]:
        return [Number(self.number ^ 1, self.how), Number(self.number - 2, self.how)]

    def _larger(self) -> list[Number]:
        return [Number(self.number + 1, self.how)]

    def _no_list(self) -> int:
        return 5

    def _nothing(self) -> None:
        return None

    def _no_value(self) -> list[Any]:
        return [Number(object(), self.how)]  # type: ignore[arg-type]

    def _other_type(self) -> list[Any]:
        return ["text", 7]


@pytest.mark.parametrize(
    ("how", "left"),
    [("one less", 5), ("itself", 5), ("without end", 9), ("to and fro", 5), ("nothing", 9), ("other type", 9)],
)
def test_what_a_message_says_itself(how: str, left: int) -> None:
    found = minimized(Number(9, how), 5)
    assert content(found) == Number(left, how)
    assert (found.reason, found.problem) == (None, None)


def test_what_only_grows_comes_to_an_end() -> None:
    """It is believed to be smaller, but not for ever."""
    with mock.patch.multiple(pipeline, _SIDEWAYS=7):
        found = minimized(Number(10, "larger"), 5)
    assert content(found) == Number(17, "larger")
    assert found.reason is None


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("raises", "the method smaller of a Number raised KeyError: 'members'"),
        ("raises later", "the method smaller of a Number raised KeyError: 'members'"),
        ("no list", "the method smaller of a Number raised TypeError: 'int' object is not iterable"),
        ("no value", "the method smaller of a Number gave no message: a object cannot be written down"),
    ],
)
def test_a_mistake_in_smaller_ends_the_search_with_the_best_so_far(how: str, message: str) -> None:
    scenario = members(5)
    steps: list[Step] = [
        Send("b", Number(1, how)),
        act("", 1, "b", "Number"),
        Send("a", Number(9, how)),
        act("", 2, "a", "Number"),
    ]
    found = minimize(of_steps(scenario, steps), scenario)
    assert isinstance(found.problem, UsageError)
    assert (found.problem.message, found.reason) == (message, "an error ended the stage contents")
    assert found.recording.steps == (Send("a", Number(9, how)), act("", 1, "a", "Number"))


def test_ways_without_end_are_cut_off() -> None:
    with mock.patch.multiple(shrinking, _MOST_WAYS=3):
        assert list(shrink_message(Number(1, "without end"))) == [Number(1, "without end")] * 3
