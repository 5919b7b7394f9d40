"""Identities that makers take from ``world.events``: unique in an execution, and the same when it is repeated."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from random import Random

import pytest

import clew
from clew.simulation import CodeBlock, External, Node, Restart, Scenario, Send, WaitQuiescence, World
from clew.simulation.execution.steps import Step
from clew.simulation.fuzzing.random_run import random_run
from scenario_files import scenario_file

GUIDE = Path(__file__).resolve().parents[3] / "docs" / "simulation.md"


def one(random: Random, world: World) -> External:
    return Send(random.choice("ab"), f"r{world.events}")


def other(random: Random, world: World) -> External | None:
    """Now and then there is nothing to make: then no event has the number, and the next one gets it."""
    return random.choice([None, Restart("a"), Send("b", f"r{world.events}"), BLOCK])


def several(world: World) -> None:
    for k in range(3):
        world.inject(Send("a", f"r{world.events}.{k}"))


BLOCK = CodeBlock("several", several)


class Noting(Node):
    def __init__(self) -> None:
        self.seen: list[str] = []

    def on_message(self, ctx: object, sender: str, message: str) -> None:
        self.seen.append(message)


MADE = Scenario(
    nodes=dict.fromkeys("ab", Noting),
    running="ab",
    before=[Send("a", "first"), WaitQuiescence(), Send("b", "second")],
    events=[(2, one), (1, other)],
    count=60,
    code=[BLOCK],
    loss=0.1,
    duplication=0.0,
    steps=400,
)


def sent(steps: Iterable[Step]) -> list[str]:
    return [step.message for step in steps if isinstance(step, Send)]


@pytest.mark.parametrize("seed", range(20))
def test_they_are_unique_and_the_same_for_the_same_seed(seed: int) -> None:
    run = random_run(MADE, seed, recording=True)
    identities = sent(run.steps)
    assert len(identities) > 20 and len(set(identities)) == len(identities)
    assert sent(random_run(MADE, seed, recording=True).steps) == identities
    assert run.world.history is not None
    everything = [envelope.payload for happened in run.world.history for envelope in happened.sent]
    assert len(set(everything)) == len(everything), "also what code blocks send"


#: The maker of the guide, and a server that must not see the same request twice.
SERVER = """\
from dataclasses import dataclass
from random import Random

from clew.simulation import *


@dataclass(frozen=True)
class Put:
    request: str
    value: int


class Server(Node):
    def __init__(self):
        self.seen = []

    def on_message(self, ctx, sender, message):
        self.seen.append(message.request)


def once(nodes):
    for name, node in nodes.items():
        if len(set(node.seen)) < len(node.seen):
            return Broken("once", f"{name} has seen {node.seen[-1]} twice", (name,))
    return None


{maker}

scenario = Scenario(
    nodes=dict.fromkeys("abc", Server), running="abc", events=[(1, put)], count=30, invariants=[once], DUPLICATION
)
"""


def server(folder: Path, duplication: str, name: str) -> str:
    (maker,) = re.findall(r"```python\n(def put\(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    return scenario_file(folder, SERVER.replace("{maker}", maker).replace("DUPLICATION", duplication), name)


def test_the_maker_of_the_guide_sends_nothing_twice(tmp_path: Path) -> None:
    assert clew.fuzz(server(tmp_path, "", "s.py"), runs=50).exit_code == 0


def test_recordings_keep_what_was_made(tmp_path: Path) -> None:
    file = server(tmp_path, "duplication=0.1", "d.py")
    fuzzed = clew.fuzz(file)
    assert fuzzed.recording is not None and fuzzed.recording.broken is not None
    (request,) = re.findall(r"r\d+", fuzzed.recording.broken.what)
    assert fuzzed.recording == clew.fuzz(file, workers=2).recording
    assert clew.replay(fuzzed.recording).execution.broken == fuzzed.recording.broken
    small = clew.minimize(fuzzed.recording, time_limit=10)
    (message,) = sent(small.recording.steps)
    assert getattr(message, "request", "").startswith("r")
    assert request in {getattr(message, "request", "") for message in sent(fuzzed.recording.steps)}
