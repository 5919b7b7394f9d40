"""What ``print`` and a failing assertion show of results from Python, and of their parts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import clew
from clew.simulation import Broken
from clew.simulation.execution.effects import Effect
from clew.simulation.execution.steps import Size
from clew.simulation.fuzzing.coverage import Coverage
from scenario_files import scenario_file
from simulated import crash, everything

COUNTING = """\
from clew.simulation import *


class Counter(Node):
    def __init__(self):
        self.count = 0

    def on_message(self, ctx, sender, message):
        self.count += 1
        if self.count < 200:
            ctx.send(ctx.me, message)


def few(nodes):
    for name, node in nodes.items():
        if node.count >= 150:
            return Broken("few", f"{name} counts to {node.count}\\x1b[2J", (name,))
    return None


scenario = Scenario(nodes={"a": Counter}, running=["a"], before=[Send("a", "x")], invariants=[few])
"""


@pytest.fixture
def results(tmp_path: Path) -> dict[str, clew.Result]:
    file = scenario_file(tmp_path, COUNTING)
    fuzzed = clew.fuzz(file)
    assert fuzzed.recording is not None
    return {
        "fuzz": fuzzed,
        "explore": clew.explore(file),
        "minimize": clew.minimize(fuzzed.recording, time_limit=1),
        "replay": clew.replay(fuzzed.recording),
    }


def test_the_repr_of_a_result_does_not_have_every_event(results: dict[str, clew.Result]) -> None:
    for name, result in results.items():
        assert len(repr(result)) < 2000, name
        assert "counts to 150" in repr(result) and "counts to 150" in str(result)
        assert "Act(" not in repr(result) and "Moment(" not in repr(result)


def test_the_parts_of_a_result_are_printed_in_one_line(tmp_path: Path) -> None:
    file = scenario_file(tmp_path, COUNTING)
    fuzzed, explored = clew.fuzz(file), clew.explore(file)
    size = "150 deliveries, 1 event from outside; broken: few at a: a counts to 150\\x1b[2J"
    assert str(fuzzed.recording) == f"{file}:scenario, seed 0: {size}"
    assert [str(fuzzed.execution), str(explored.found[0])] == [size, size]
    assert str(fuzzed.coverage) == "1 run, 151 steps, 150 deliveries"
    assert f"covered: {fuzzed.coverage}\n" in str(fuzzed)


def test_runs_that_hold_sizes_and_violations() -> None:
    assert str(everything()) == (
        "8 deliveries, 13 events from outside; broken: one pong at a: a has pongs from b and c"
    )
    assert str(crash()).startswith("2 deliveries, 1 event from outside; broken: no uncaught exception at a: ")
    assert str(Size(1, 0)) == "1 delivery, 0 events from outside"
    assert str(Broken("few", "too many")) == "few: too many"
    assert str(Broken("few", "too many", ("a", "b"))) == "few at a, b: too many"
    assert str(Coverage(1, 1, 1, (), 0)) == "1 run, 1 step, 1 delivery"


def test_a_replay_that_differs_says_why_that_may_be(tmp_path: Path) -> None:
    text = COUNTING.replace("self.count += 1", "self.count += 1 + (random.random() < 0)")
    file = scenario_file(tmp_path, "import random\n" + text)
    recording = clew.fuzz(file).recording
    assert recording is not None
    effects = (e._replace(all="0" * 12) if isinstance(e, Effect) else e for e in recording.effects)
    told = str(clew.replay(replace(recording, effects=tuple(effects))))
    assert told.splitlines()[1].startswith("DIFFERENT: the replay differs from the recording: event 1")
    assert "  likely cause: it depends on the process" in told
    assert f"    {file}:10:28: random.random(): random numbers" in told
