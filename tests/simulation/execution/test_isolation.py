"""Calls from Python survive what a scenario does to the process it runs in, and say where it did that."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from clew.errors import BudgetExhaustedError, UsageError
from clew.exploration import ExplorationAnswer, explore
from clew.minimization.minimizing import minimize
from clew.simulation import CodeBlock, Context, Node, Scenario, Send
from clew.simulation.execution.isolation import ProcessEndedError, call_in_child, run_isolated
from clew.simulation.fuzzing.fuzz import fuzz, record
from clew.simulation.recordings.recording import PROCESS_GOES_ON
from clew.simulation.recordings.replaying import ReplayOutcome, replay


def passing(evil: Callable[[], object], **more: Any) -> Scenario:
    """Two nodes that pass a number to and fro, and do something evil at three."""

    class Passing(Node):
        def on_message(self, ctx: Context, sender: str, message: int) -> None:
            if message == 3:
                evil()
            if message < 4:
                ctx.send("b" if ctx.me == "a" else "a", message + 1)

    return Scenario(nodes={"a": Passing, "b": Passing}, running=["a", "b"], before=[Send("a", 1)], **more)


def leave() -> None:
    os._exit(7)


HOW = "the process ended by itself (exit code 7) in passing.<locals>.Passing.on_message at a, at event 4"


def test_fuzz_records_the_run_up_to_the_end_of_its_process() -> None:
    fuzzed = fuzz(passing(leave), runs=10)
    assert fuzzed.recording is not None and fuzzed.recording.broken is not None
    assert (fuzzed.recording.broken.invariant, fuzzed.recording.broken.what) == (PROCESS_GOES_ON, HOW)
    assert (fuzzed.run, fuzzed.recording.deliveries, fuzzed.reason) == (0, 3, None)
    assert fuzz(passing(leave), runs=10, workers=2) == fuzzed
    assert record(passing(leave), 0) == fuzzed.recording


def test_runs_before_it_are_counted() -> None:
    class Moody(Node):
        def on_message(self, ctx: Context, sender: str, message: int) -> None:
            if ctx.random.random() < 0.05:
                os.kill(os.getpid(), signal.SIGKILL)

    scenario = Scenario(nodes={"a": Moody}, running=["a"], before=[Send("a", 1)])
    fuzzed = fuzz(scenario, runs=200)
    assert fuzzed.run == fuzzed.coverage.runs == 29
    assert fuzzed.recording is not None and fuzzed.recording.identity is not None
    assert "was ended by SIGKILL" in fuzzed.recording.identity
    assert fuzz(scenario, runs=200, workers=3) == fuzzed


def test_explore_finds_the_schedule_that_ends_the_process() -> None:
    explored = explore(passing(leave))
    assert explored.answer is ExplorationAnswer.VIOLATION
    (found,) = explored.found
    assert (found.broken.what, len(found.steps), found.deliveries) == (HOW, 4, 3)
    several = explore(passing(leave), stop_at_first=False)
    assert several.found == explored.found
    assert several.reason == "an event ends the process, and what is after it is not explored"


def test_a_recording_that_ends_its_process_is_replayed_apart() -> None:
    scenario = passing(leave)
    recording = record(scenario, 0)
    with pytest.raises(ProcessEndedError) as caught:
        replay(recording, scenario)
    assert caught.value.message == HOW
    with pytest.raises(UsageError, match="the recording ends its process"):
        minimize(recording, scenario)


def test_what_is_known_only_before_the_first_event_is_an_error() -> None:
    class Starting(Node):
        def on_start(self, ctx: Context) -> None:
            os._exit(0)

    scenario = Scenario(nodes={"a": Starting}, running=["a"], before=[Send("a", 1)])
    for call in (fuzz, explore):
        with pytest.raises(UsageError, match="on_start at a, before the first event"):
            call(scenario)


def test_code_that_is_not_deterministic_is_not_blamed_on_an_event(tmp_path: Path) -> None:
    for times, search in ((1, fuzz), (2, fuzz), (1, explore)):

        def now_and_then(times: int = times) -> None:
            if len(marks := [*tmp_path.iterdir()]) < times:
                (tmp_path / str(len(marks))).touch()
                os._exit(0)

        with pytest.raises(UsageError, match="but not when the same"):
            search(passing(now_and_then))
        for mark in tmp_path.iterdir():
            mark.unlink()


def test_what_cannot_be_sent_is_computed_here() -> None:
    """Code blocks made of local functions are part of the schedule, and cannot be pickled."""
    block = CodeBlock("nothing", lambda world: None)
    scenario = passing(lambda: None, code=[block], after=[block])
    recording = record(scenario, 3)
    assert recording.broken is None
    assert any(step is block for step in recording.steps)
    assert replay(recording, scenario).outcome is ReplayOutcome.SAME


def test_side_effects_stay_in_the_child_unless_asked_for() -> None:
    seen: list[int] = []

    def look(nodes: Mapping[str, Any]) -> None:
        seen.append(len(nodes))

    scenario = passing(lambda: None, invariants=[look])
    fuzz(scenario, runs=2)
    explore(scenario)
    assert seen == []
    fuzz(scenario, runs=2, in_process=True)
    assert seen


# -- the child itself --------------------------------------------------------------------------------------------


def test_results_errors_and_progress_come_back() -> None:
    told: list[tuple[object, ...]] = []

    def work(tell: Callable[..., None]) -> list[int]:
        for number in range(100):
            tell(number)
        return [1, 2]

    assert call_in_child(work, lambda *what: told.append(what)) == [1, 2]
    assert (told[0], told[-1]) == ((0,), (99,))

    def refuse(tell: Callable[..., None]) -> None:
        raise UsageError("no", remedy="yes")

    with pytest.raises(UsageError) as caught:
        run_isolated(refuse, None)
    assert (caught.value.message, caught.value.remedy) == ("no", "yes")

    def fail(tell: Callable[..., None]) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError) as failed:
        run_isolated(fail, None)
    assert "in fail" in failed.value.__notes__[0]
    assert multiprocessing.active_children() == []


def test_a_time_limit_that_is_not_kept_is_enforced() -> None:
    def stuck() -> None:
        pow(7, 10**9)

    with pytest.raises((BudgetExhaustedError, UsageError), match=r"time limit of 0\.5 s|has not returned for 1 s"):
        explore(passing(stuck, step_seconds=1), time_limit=0.5)


SEARCH = """
import clew
from clew.simulation import Node, Scenario, Send

class Passing(Node):
    def on_message(self, ctx, sender, message):
        ctx.send("b" if ctx.me == "a" else "a", message + 1)

scenario = Scenario(nodes={"a": Passing, "b": Passing}, running=["a", "b"], before=[Send("a", 1)], steps=300)
print("begun", flush=True)
print(clew.CALL, flush=True)
"""


@pytest.mark.parametrize(
    ("call", "answer"),
    [
        ("fuzz(scenario, runs=10**6).reason", "interrupted"),
        ("explore(scenario, timers=0, losses=0, seed=1).reason", "interrupted"),
    ],
)
def test_an_interrupt_gives_what_was_found_so_far(call: str, answer: str) -> None:
    if call.startswith("explore"):
        call = call.replace("scenario,", "WIDE,")
        wide = "WIDE = Scenario(nodes={n: Node for n in 'abcdefgh'}, running=list('abcdefgh'), "
        wide += "before=[Send(n, i) for n in 'abcdefgh' for i in (1, 2, 3)], invariants=[lambda nodes: None])\n"
        text = SEARCH.replace('print("begun"', wide + 'print("begun"').replace("CALL", call)
    else:
        text = SEARCH.replace("CALL", call)
    with subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        time.sleep(1.0)
        process.send_signal(signal.SIGINT)
        assert process.stdout.read().strip().startswith(answer)
        assert process.wait(60) == 0
