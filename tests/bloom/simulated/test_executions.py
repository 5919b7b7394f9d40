"""Executions of Bloom programs: found, recorded, repeated, made small, explored, and checked for chosen faults."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from clew.exploration.search import explore
from clew.minimization.minimizing import minimize
from clew.simulation.fuzzing.fuzz import fuzz
from clew.simulation.recordings.recording import write_recording
from clew.simulation.recordings.replaying import replay

PROGRAM = '''
from clew.bloom import Bloom, agg, bloom, channel, interface, lset, table
from clew.bloom.simulated import bloom_scenario, insert
from clew.simulation import Network


class Register(Bloom):
    """Keeps what it heard last, and all that it heard as one set."""

    put = interface.input("value")
    peers = table("peer")
    write = channel("@to", "value")
    last = table(val=["value"])
    heard = lset()
    seen = table("all")

    @bloom
    def spread(self):
        self.write <~ (self.put * self.peers).pairs(lambda p, q: (q.peer, p.value))
        self.last <- (self.last * self.write).lefts()
        self.last <+ self.write.payloads()
        self.heard <= self.write.payloads()
        self.temp.now <= self.heard.elements("value").group([], agg.accum("value"))
        self.seen <= self.temp.now


def same_last(nodes):
    if all(len(node.heard) == 2 and len(node.last) for node in nodes.values()):
        if len({tuple(node.last) for node in nodes.values()}) > 1:
            return "the replicas end with different values"
    return None


scenario = bloom_scenario(
    {"a": Register, "b": Register},
    given={name: {"peers": [("a",), ("b",)]} for name in "ab"},
    before=[insert("a", "put", ("x",)), insert("b", "put", ("y",))],
    invariants=[same_last],
)
'''

#: Two rows from outside, two messages each, of which one to the node itself, and what these leave to do.
SMALLEST = 6

RECORD = """
import sys
from clew.simulation.fuzzing.fuzz import fuzz
from clew.simulation.recordings.recording import write_recording
sys.stdout.write(write_recording(fuzz(sys.argv[1], in_process=True).recording))
"""


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "register.py"
    path.write_text(PROGRAM, encoding="utf-8")
    return f"{path}:scenario"


def test_a_violation_is_found_repeated_and_made_small(
    file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # recordings name files below the folder that they are read in
    found = fuzz(file, in_process=True)
    assert found.recording is not None
    assert found.recording.broken is not None
    assert found.recording.broken.invariant == "same_last"
    path = tmp_path / "rec.json"
    path.write_text(write_recording(found.recording), encoding="utf-8")
    steps = json.loads(path.read_text("utf-8"))["steps"]
    assert [(step["send"], step["message"]) for step in steps if "send" in step] == [
        ("a", {"$put": {"row": {"$tuple": ["x"]}}}),
        ("b", {"$put": {"row": {"$tuple": ["y"]}}}),
    ]
    assert replay(path, in_process=True).outcome.name == "SAME"
    small = minimize(path, in_process=True)
    assert (small.size.deliveries, small.problem) == (SMALLEST, None)
    (tmp_path / "min.json").write_text(write_recording(small.recording), encoding="utf-8")
    assert replay(tmp_path / "min.json", in_process=True).outcome.name == "SAME"


def test_recordings_are_the_same_under_every_hash_seed(file: str) -> None:
    outputs = [
        subprocess.run(
            [sys.executable, "-c", RECORD, file],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert outputs[0] == outputs[1]
    assert "frozenset" not in outputs[0]


def test_every_schedule_is_explored(file: str) -> None:
    found: Any = explore(file, in_process=True)
    # Before the invariant breaks: a write that comes before the next step finds the old value still there.
    assert [one.broken.invariant for one in found.found] == ["no row is refused"]
    assert "('y',) has the same key as ('x',), which is kept" in found.found[0].broken.what
