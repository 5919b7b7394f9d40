"""Labels of messages: everywhere that people read of a message, and in all commands."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

import clew
from clew.report.simulated.diagram import run_diagram
from clew.report.simulated.page import run_page
from clew.report.simulated.replayed import replay_event
from clew.report.simulated.run import story_of
from clew.report.simulated.text import run_text
from clew.simulation import Context, Node, Scenario, Send
from clew.simulation.execution.effects import Effect
from clew.simulation.execution.steps import Act, Do, Step
from clew.simulation.execution.trace import execute
from clew.simulation.labels import LONGEST_LABEL
from command import clew as command
from scenario_files import scenario_file
from simulated import HOSTILE

#: Two replicas that take what comes last, and a message that says what it is called; Ack is called by its type.
REPLICAS = """\
from dataclasses import dataclass

from clew.simulation import *


@dataclass(frozen=True)
class Put:
    value: int

    @property
    def label(self):
        return f"put {self.value}"


@dataclass(frozen=True)
class Ack:
    value: int


class Replica(Node):
    def __init__(self):
        self.value = None

    def on_message(self, ctx, sender, message):
        if isinstance(message, Put):
            self.value = message.value
            if not sender:
                ctx.send("b" if ctx.me == "a" else "a", message)
                ctx.send("down", message)
            else:
                ctx.send(sender, Ack(message.value))


def agree(nodes):
    values = {node.value for node in nodes.values()}
    return "they differ" if None not in values and len(values) == 2 else None


scenario = Scenario(
    nodes=dict.fromkeys(["a", "b", "down"], Replica),
    running=["a", "b"],
    before=[Send("a", Put(1)), Send("b", Put(2))],
    invariants=[agree],
)
"""


def schedules(result: clew.Result) -> list[list[str]]:
    document = json.loads(result.to_json())
    found = [document["violation"]] if "violation" in document else document["violations"]
    return [violation["schedule"] for violation in found]


def test_all_commands_call_messages_by_their_labels(tmp_path: Path) -> None:
    scenario = scenario_file(tmp_path, REPLICAS)
    fuzzed = clew.fuzz(scenario)
    assert fuzzed.recording is not None
    explored, small = clew.explore(scenario), clew.minimize(fuzzed.recording, time_limit=20)
    replayed = clew.replay(small.recording)
    for result in (fuzzed, explored, small, replayed):
        (schedule,) = schedules(result)
        words = [line for line in schedule if line.startswith(("send", "deliver"))]
        assert words and all(re.match(r"(send|deliver) (put [12]|Ack) ", line) for line in words)
        clew.write_report(result, tmp_path / "page.html")
        page = (tmp_path / "page.html").read_text(encoding="utf-8")
        assert "outside sends a: put 1</span>" in page and ">put 1</text>" in page
    assert "1. send put 1 to a" in str(explored)
    assert "▼ put 1" in str(small) and "a <- outside: put 1 = Put(value=1)" in str(small)
    assert "LOST: down is down" in str(small)
    assert "Put " not in str(small).partition("1. ")[0], "also what is sent in vain is called by its label"
    steps = "".join(replay_event(n, m) for n, m in enumerate(replayed.execution.moments, start=1))
    assert "1. send put 1 to a" in steps and "deliver put 1 from outside to a" in steps
    # What identifies messages is the type.
    assert {step.kind for step in small.recording.steps if isinstance(step, Act)} <= {"Put", "Ack"}


def test_every_violation_of_an_exploration_has_its_labels(tmp_path: Path) -> None:
    other = REPLICAS.replace("invariants=[agree]", "invariants=[agree, low]")
    other = other.replace(
        "scenario =", "def low(nodes):\n    return 'two' if nodes['b'].value == 2 else None\n\n\nscenario ="
    )
    explored = clew.explore(scenario_file(tmp_path, other), stop_at_first=False)
    assert len(explored.found) == 2
    for schedule in schedules(explored):
        assert not [line for line in schedule if "Put" in line]


def test_a_difference_names_the_message_by_its_label(tmp_path: Path) -> None:
    file = scenario_file(tmp_path, REPLICAS)
    recording = clew.fuzz(file).recording
    assert recording is not None
    effects = (e._replace(all="0" * 12) if isinstance(e, Effect) else e for e in recording.effects)
    edited = clew.replay(replace(recording, effects=tuple(effects)))
    assert "(send put 1 to a)" in str(edited)


def test_the_fingerprint_is_a_label(tmp_path: Path) -> None:
    plain = REPLICAS.replace('    @property\n    def label(self):\n        return f"put {self.value}"\n', "")
    assert "label" not in plain
    told = str(clew.fuzz(scenario_file(tmp_path, plain)))
    file = scenario_file(tmp_path, plain.replace("before=", "fingerprint=repr, before="), "repr.py")
    fuzzed = clew.fuzz(file)
    (schedule,) = schedules(fuzzed)
    assert schedule[0] == "send Put(value=1) to a" and "VIOLATION" in told
    assert fuzzed.execution is not None
    text = run_text("run", fuzzed.execution)
    assert "▼ Put(value=1)" in text
    assert "a <- outside: Put(value=1)\n" in text, "and is not said twice"


@dataclass(frozen=True)
class Named:
    label: str


class Sink(Node):
    def on_message(self, ctx: Context, sender: str, message: Any) -> None:
        """Take it."""


@pytest.mark.parametrize("label", [*HOSTILE, "]]>", "&lt;", "x" * 10_000, "…" * 100])
def test_hostile_labels(label: str) -> None:
    made = Scenario(nodes=dict.fromkeys("ab", Sink), running="ab")
    steps: list[Step] = [Send("a", Named(label)), Act(Do.DELIVER, "", 1, "a", False, "Named", "Named")]
    execution = execute(made, 0, steps)
    page, text = run_page("run", execution), run_text("run", execution, width=80)
    assert "<script>window" not in page and "<img" not in page
    assert all(char == "\n" or char.isprintable() for char in text)
    assert max(map(len, text.partition("1. ")[0].split("\n"))) <= 80
    (mark,) = run_diagram(story_of(execution)).marks
    assert len(mark.label) <= LONGEST_LABEL


def test_a_label_that_raises_is_told_with_its_line(tmp_path: Path) -> None:
    scenario_file(tmp_path, REPLICAS.replace('f"put {self.value}"', "self.colour"))
    line = next(n for n, text in enumerate(REPLICAS.splitlines(), start=1) if "return f" in text)
    for arguments in (["fuzz", "s.py"], ["explore", "s.py"], ["fuzz", "s.py", "--report", "x.html"]):
        done = command(*arguments, cwd=tmp_path)
        assert done.returncode == 2
        first, _, rest = done.stderr.partition("\n")
        place, _, message = first.partition(": error: ")
        assert place.endswith(f"s.py:{line}:1")
        assert message == "the label of a Put raised AttributeError: 'Put' object has no attribute 'colour'"
        assert "remedy: let it return a string for every message of this type" in rest
        assert "Traceback" not in done.stderr
