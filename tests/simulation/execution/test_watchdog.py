"""The step time limit."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from clew.errors import UsageError
from clew.simulation import CodeBlock, Context, Node, Scenario, Send, Start, WaitCondition
from clew.simulation.execution.trace import execute
from clew.simulation.execution.watchdog import step_limit
from clew.simulation.fuzzing.random_run import random_run


def forever(*arguments: Any) -> Any:
    while True:
        try:
            time.sleep(0)
        except Exception:
            continue


def asleep(*arguments: Any) -> Any:
    """Inside a call of the system, where no exception gets in by itself."""
    time.sleep(1000)


def swallowing(*arguments: Any) -> Any:
    try:
        forever()
    except BaseException:
        return None


class Stuck(Node):
    def on_start(self, ctx: Context) -> None:
        forever()


class Sleeping(Node):
    def on_message(self, ctx: Context, sender: str, message: Any) -> None:
        asleep()


class Swallowing(Node):
    def on_timer(self, ctx: Context, name: str) -> None:
        swallowing()

    def on_start(self, ctx: Context) -> None:
        ctx.set_timer()


def scenario(node: Callable[[], Node] = Node, **more: Any) -> Scenario:
    return Scenario(nodes={"a": node}, **{"before": [Start("a"), Send("a", 1)], "timers": 1.0, **more})


CASES = [
    (scenario(Stuck), "at a, event 1: Stuck.on_start has not returned for 0.2 s"),
    (scenario(Sleeping), "at a, event 3: Sleeping.on_message has not returned for 0.2 s"),
    (scenario(Swallowing), "at a, event 3: Swallowing.on_timer has not returned for 0.2 s"),
    (scenario(invariants=[forever]), "after 0 events, the invariant forever has not returned for 0.2 s"),
    (scenario(before=[WaitCondition("c", forever)]), "the condition 'c' has not returned for 0.2 s"),
    (scenario(before=[CodeBlock("b", forever)]), "the code block 'b' has not returned for 0.2 s"),
    (scenario(events=[(1, forever)], count=1, steps=3), "the maker of events forever has not returned for 0.2 s"),
    (scenario(forever), "making the node 'a' has not returned for 0.2 s"),
]


@pytest.mark.parametrize(("stuck", "says"), CASES, ids=[says.partition(" has")[0] for _, says in CASES])
def test_what_does_not_return_is_stopped(stuck: Scenario, says: str) -> None:
    with pytest.raises(UsageError) as caught, step_limit(0.2):
        random_run(stuck, 0)
    assert caught.value.message == says
    assert caught.value.position is not None and caught.value.position.file == __file__
    assert caught.value.remedy is not None and "step_seconds" in caught.value.remedy


def test_also_in_an_execution_that_is_followed() -> None:
    with pytest.raises(UsageError, match=r"at a, event 1: Stuck\.on_start has not returned"), step_limit(0.2):
        execute(scenario(Stuck), 0, [Start("a")])


def test_also_in_another_thread() -> None:
    said: list[str] = []

    def work() -> None:
        try:
            with step_limit(0.2):
                random_run(scenario(Stuck), 0)
        except UsageError as error:
            said.append(error.message)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(30)
    assert said == ["at a, event 1: Stuck.on_start has not returned for 0.2 s"]


def test_many_short_calls_are_not_one_long_call() -> None:
    class Slow(Node):
        def on_message(self, ctx: Context, sender: str, message: Any) -> None:
            time.sleep(0.005)
            ctx.send(ctx.me, message)

    with step_limit(0.2):
        run = random_run(scenario(Slow, after=[], steps=100), 0)
    assert run.world.events == 100


@pytest.mark.parametrize("node", [Stuck, Sleeping, Swallowing])
def test_apart_the_limit_goes_on(node: Callable[[], Node]) -> None:
    """What was stopped is an error there, every time, and none of what comes after."""
    said = 0
    with step_limit(0.2) as limit:
        for _ in range(3):
            with pytest.raises(UsageError, match=r"has not returned for 0\.2 s"), limit.guard():
                random_run(scenario(node), 0)
            said += 1
        with limit.guard():
            random_run(scenario(), 0)
        time.sleep(0.3)
    assert said == 3


def test_other_exceptions_get_through() -> None:
    with pytest.raises(KeyError), step_limit(0.2):
        raise KeyError("x")


def holds(nodes: Mapping[str, Any]) -> None:
    return None


def test_nothing_is_left_behind() -> None:
    before = threading.active_count()
    with step_limit(5):
        random_run(scenario(invariants=[holds]), 0)
    assert threading.active_count() == before


def test_what_comes_after_it_can_be_traced() -> None:
    """In CPython 3.11 a tracer spins for ever once the exceptions of a thread were cleared."""
    with step_limit(5):
        random_run(scenario(invariants=[holds]), 0)
    seen: list[str] = []
    before = sys.gettrace()
    sys.settrace(lambda frame, event, argument: seen.append(event))
    try:
        holds({})
    finally:
        sys.settrace(before)
    assert seen[0] == "call"
