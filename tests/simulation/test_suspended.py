"""Functions that would never be executed are refused, wherever a scenario takes a function."""

from __future__ import annotations

import functools
from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from clew.errors import UsageError
from clew.simulation import CodeBlock, Node, Scenario, Send, WaitCondition
from clew.simulation.fuzzing.fuzz import fuzz


class Async(Node):
    async def on_message(self, ctx: Any, sender: str, message: Any) -> None:  # type: ignore[override]
        raise AssertionError


class AsyncStart(Node):
    async def on_start(self, ctx: Any) -> None:  # type: ignore[override]
        raise AssertionError


class Generating(Node):
    def on_message(self, ctx: Any, sender: str, message: Any) -> Any:
        yield message


def wrapped(function: Any) -> Any:
    def call(*arguments: Any) -> Any:
        return function(*arguments)

    return call


class Wrapped(Node):
    on_message = wrapped(Async.on_message)


async def asynchronous(*given: Any) -> None:
    raise AssertionError


def generating(*given: Any) -> Any:
    yield given


def scenario(node: Callable[[], Node] = Node, **more: Any) -> Scenario:
    return Scenario(nodes={"a": node}, running=["a"], before=[Send("a", 1), *more.pop("before", ())], **more)


@pytest.mark.parametrize(
    ("node", "message"),
    [
        (Async, "Async.on_message is an async function"),
        (AsyncStart, "AsyncStart.on_start is an async function"),
        (Generating, "Generating.on_message is a generator: it has a 'yield'"),
        (Wrapped, "returned a coroutine"),
    ],
)
def test_handlers(node: type[Node], message: str) -> None:
    with pytest.raises(UsageError, match=message) as refused:
        fuzz(scenario(node), runs=1)
    assert refused.value.remedy is not None and "write a plain function" in refused.value.remedy


@pytest.mark.parametrize("function", [asynchronous, generating, functools.partial(asynchronous, 1)])
@pytest.mark.parametrize(
    "place",
    [
        lambda f: {"invariants": [f]},
        lambda f: {"events": [(1.0, f)], "count": 1},
        lambda f: {"code": [CodeBlock("block", f)]},
        lambda f: {"before": [WaitCondition("held", f)]},
        lambda f: {"fingerprint": f},
        lambda f: {"identity": f},
    ],
)
def test_functions_of_a_scenario(function: Any, place: Callable[[Any], dict[str, Any]]) -> None:
    with pytest.raises(UsageError, match="nobody would execute it"):
        scenario(**place(function))


def test_wrapped_functions_of_a_scenario_are_refused_when_they_are_asked() -> None:
    for more in ({"invariants": [wrapped(asynchronous)]}, {"events": [(1.0, wrapped(asynchronous))], "count": 1}):
        with pytest.raises(UsageError, match="nobody would execute it"):
            fuzz(scenario(**more), runs=1)


def test_a_plain_function_that_returns_something_is_none_of_them() -> None:
    class Returning(Node):
        def on_message(self, ctx: Any, sender: str, message: Any) -> Any:
            return Random(1)

    assert fuzz(scenario(Returning), runs=2).recording is None
