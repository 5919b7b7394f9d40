"""Whatever ends the search, the best so far is the result, and it is a good one."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from dataclasses import replace
from typing import Any
from unittest import mock

import pytest

from clew.budgets.deadline import Deadline
from clew.errors import BudgetExhaustedError, UsageError
from clew.minimization import pipeline, shortening
from clew.minimization.minimizing import Minimized, minimize
from clew.minimization.pipeline import Minimizer
from clew.minimization.searching.stages import Smallest, Surroundings
from clew.simulation import Broken, Context, Network, Node, Scenario, Send
from clew.simulation.execution.steps import Size, Step
from clew.simulation.execution.trace import execute
from clew.simulation.recordings.recording import Recording
from minimization.scenarios import Keeper, Key, Letters, Vote, act, failing, keepers, never, of_steps, votes


class Counted(Deadline):
    """Comes after so many looks at it."""

    def __init__(self, checks: int) -> None:
        super().__init__(None)
        self.left = checks

    def check(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise BudgetExhaustedError("counted")


def stopped_after(checks: int, scenario: Scenario, recording: Recording) -> Smallest:
    assert recording.identity is not None
    exact = replace(scenario, check_every=1)
    with mock.patch.multiple(pipeline, _PATIENCE=2), mock.patch.object(shortening, "LENGTH", 10):
        surroundings = Surroundings(Counted(checks))
        return Minimizer(exact, recording.seed, recording.steps, recording.identity, surroundings).run()


class Pair(Node):
    """a sends the letters that it is told to b."""

    def on_start(self, ctx: Context) -> None:
        self.kept: list[int] = []

    def on_message(self, ctx: Context, sender: str, message: Any) -> None:
        if isinstance(message, Letters):
            for letter in message.letters:
                ctx.send("b", Vote(letter))
        else:
            self.kept.append(message.term)


def shrinkable() -> tuple[Scenario, Recording]:
    """Over FIFO the third letter comes third, so that smaller contents mean fewer deliveries."""
    scenario = keepers(
        never("b", lambda kept: kept[-1:] == [3]),
        nodes=dict.fromkeys("ab", Pair),
        running="ab",
        network=Network.FIFO,
    )
    steps: list[Step] = [Send("a", Letters([1, 2, 3, 4], 0)), Send("a", Letters([1, 2], 0))]
    steps += [act("", 2, "a", "Letters"), act("", 1, "a", "Letters")]
    steps += [act("a", nth, "b", "Vote") for nth in range(1, 6)]
    return scenario, of_steps(scenario, steps)


def check(scenario: Scenario, recording: Recording, found: Smallest | Minimized) -> None:
    steps = found.steps if isinstance(found, Smallest) else found.recording.steps
    execution = execute(replace(scenario, check_every=1), recording.seed, steps)
    assert execution.identity == recording.identity
    assert len(execution.moments) == len(steps) <= len(recording.steps)
    assert execution.deliveries == found.size.deliveries <= recording.deliveries


def example(name: str) -> tuple[Scenario, Recording]:
    if name == "contents":
        return shrinkable()
    if name == "votes":
        return votes(lambda kept: len(kept) == 2)
    found = failing(int(name))
    assert found is not None
    return found


@pytest.mark.parametrize("name", ["contents", "votes", "0", "5"])
def test_a_deadline_at_any_time(name: str) -> None:
    scenario, recording = example(name)
    sizes = []
    for checks in range(10_000):
        found = stopped_after(checks, scenario, recording)
        check(scenario, recording, found)
        sizes.append(len(found.steps))
        if found.stopped is None:
            break
        assert found.stopped == "counted"
    assert sizes == sorted(sizes, reverse=True), "more time never gives a larger one"
    assert sizes[-1] < sizes[0]


def test_contents_and_deliveries_go_together() -> None:
    """One key is sent and one delivered in the end; before, a stop gave the new contents with the old schedule."""
    scenario, recording = shrinkable()
    found = minimize(recording, scenario)
    assert found.size == Size(2, 1)
    assert found.recording.steps[0] == Send("a", Letters([3], 0))


def test_a_budget() -> None:
    scenario, recording = votes(lambda kept: len(kept) == 2)
    found = minimize(recording, scenario, time_limit=1e-9)
    assert (found.reason, found.problem) == ("the time limit of 1e-09 s ran out", None)
    check(scenario, recording, found)
    assert [stage.name for stage in found.stages] == ["recorded", "provenance", "STSSched"]


@pytest.mark.parametrize("workers", [1, 2])
def test_ctrl_c(workers: int) -> None:
    """When it comes is not known; that what is there then is good, and that the handler is what it was, is."""
    scenario, recording = example("0")
    pressed: list[str] = []

    def press(stage: str, tried: int, size: Size) -> None:
        if tried > 3 and not pressed:
            pressed.append(stage)
            os.kill(os.getpid(), signal.SIGINT)

    before = signal.getsignal(signal.SIGINT)
    with mock.patch.multiple(pipeline, _PATIENCE=1000, _LEAST_PATIENCE=1000):
        found = minimize(recording, scenario, workers=workers, progress=press)
    assert (found.reason, len(pressed)) == ("interrupted", 1)
    check(scenario, recording, found)
    assert signal.getsignal(signal.SIGINT) is before


# -- mistakes that only the search brings to light ---------------------------------------------------------------


class Sensitive(Keeper):
    """It cannot bear to get key 2 without key 1."""

    how = "send"

    def on_message(self, ctx: Context, sender: str, message: Any) -> None:
        super().on_message(ctx, sender, message)
        if self.kept and 2 in self.kept and 1 not in self.kept:
            if self.how == "send":
                ctx.send("nobody", Key(1))
            while self.how == "stuck":
                time.sleep(0.01)


class Stuck(Sensitive):
    how = "stuck"


def needs_one(nodes: Any) -> Broken | None:
    kept = nodes["b"].kept
    if 2 in kept:
        kept.index(1)  # raises
    return Broken("three", "kept", ("b",)) if kept[-1:] == [3] else None


#: Spoils everything as soon as the first message is left out; what is at d can be spared before.
STEPS: list[Step] = [Send("d", Key(4)), act("", 1, "d")]
STEPS += [Send("b", Key(key)) for key in (1, 2, 3)] + [act("", nth, "b") for nth in (2, 3, 4)]

MISTAKES = {
    "an invariant raises": (
        keepers(needs_one),
        "after 3 events, the invariant needs_one raised ValueError: 1 is not in list",
    ),
    "a handler sends to nobody": (
        keepers(never("b", lambda kept: kept[-1:] == [3]), nodes=dict.fromkeys("bd", Sensitive), running="bd"),
        "at b, in Sensitive.on_message: b sends to the unknown node 'nobody'",
    ),
    "a handler never returns": (
        keepers(
            never("b", lambda kept: kept[-1:] == [3]),
            nodes=dict.fromkeys("bd", Stuck),
            running="bd",
            step_seconds=0.3,
        ),
        "at b, event 3: Sensitive.on_message has not returned for 0.3 s",
    ),
}


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_that_only_the_search_brings_to_light(name: str, workers: int) -> None:
    scenario, message = MISTAKES[name]
    recording = of_steps(scenario, STEPS)
    found = minimize(recording, scenario, workers=workers)
    assert isinstance(found.problem, UsageError)
    assert found.problem.message == message
    assert found.reason == "an error ended the stage STSSched"
    check(scenario, recording, found)
    assert found.size == Size(3, 3), "what provenance spared is spared"
    assert [stage.name for stage in found.stages] == ["recorded", "provenance", "STSSched"]


def test_a_mistake_in_the_recording_itself_is_raised() -> None:
    """There is nothing to save."""
    scenario = keepers(needs_one)
    recording = of_steps(scenario, STEPS)
    with pytest.raises(UsageError, match="the invariant needs_one raised"):
        minimize(replace(recording, steps=(Send("b", Key(2)), act("", 1, "b"))), scenario)


def test_a_worker_that_is_killed() -> None:
    scenario, recording = example("0")

    def kill(stage: str, tried: int, size: Size) -> None:
        for child in multiprocessing.active_children():
            os.kill(child.pid or 0, signal.SIGKILL)

    found = minimize(recording, scenario, workers=2, progress=kill, in_process=True)
    assert found.problem is not None
    assert found.problem.message == "a worker process died: it was ended by SIGKILL"
    assert multiprocessing.active_children() == []
    check(scenario, recording, found)


def test_code_that_is_not_deterministic() -> None:
    """It is noticed somewhere, and said; what fails only now and then is no result."""
    turns = iter(range(1_000_000))

    class Fickle(Keeper):
        def on_message(self, ctx: Context, sender: str, message: Any) -> None:
            super().on_message(ctx, sender, message)
            if next(turns) % 29 == 28:
                self.kept.append(17)

    scenario = keepers(never("b", lambda kept: kept[-2:] == [2, 3]), nodes={"b": Fickle}, running="b")
    recording = of_steps(scenario, STEPS[2:5] + [act("", nth, "b") for nth in (1, 2, 3)])
    with pytest.raises(UsageError, match="the same schedule twice is not the same execution"):
        for _ in range(50):
            found = minimize(recording, scenario)
            if found.problem is not None:
                raise found.problem
