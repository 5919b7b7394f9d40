"""Faults under which code ends its own process."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

import clew
from clew.simulation import Context, Scenario, VirtualTime
from clew.simulation.execution.isolation import ProcessEndedError
from command import clew as command
from injection import impatient
from injection.impatient import Impatient, nothing_more, scenario

ENDS = "the process ended by itself (exit code 0) in Impatient.on_timer at a"


@pytest.mark.parametrize("strategy", ["exhaustive", "random"])
def test_it_is_a_counterexample_with_the_faults_that_are_needed(strategy: str) -> None:
    verdict = clew.check_scenario(scenario, losses=2, strategy=strategy)
    assert verdict.answer is clew.Answer.COUNTEREXAMPLE
    found = verdict.counterexample
    assert found is not None and found.recording is not None
    (fault,) = map(str, found.faults)
    events = {"O(a,b,Ping,1)": 2, "O(b,a,Ping,1)": 3}[fault]
    assert (found.broken.invariant, found.broken.what) == ("the process goes on", f"{ENDS}, at event {events}")
    assert found.recording.ends_process
    with pytest.raises(ProcessEndedError, match=f"at event {events}"):
        clew.replay(found.recording, scenario)


def test_without_faults_it_is_one_with_none() -> None:
    class Hasty(Impatient):
        def on_timer(self, ctx: Context, name: str) -> None:
            os._exit(0)

    hasty = Scenario(
        nodes={"a": Hasty, "b": Hasty},
        running=("a", "b"),
        promises=[nothing_more],
        time=VirtualTime(latency=0.1, until=3),
    )
    found = clew.check_scenario(hasty).counterexample
    assert found is not None
    assert list(found.faults) == []
    assert found.broken.what.endswith("Hasty.on_timer at a, at event 3")


def test_the_command_says_so_and_its_recording_replays(tmp_path: Path) -> None:
    shutil.copy(impatient.__file__, tmp_path / "s.py")
    check = ("check", "s.py", "--losses", "1", "--strategy", "exhaustive", "-o", "rec.json")
    done = command(*check, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.splitlines() == [
        "COUNTEREXAMPLE: 1 fault, within 1 loss, in 3 s of virtual time.",
        "  the 1st Ping from a to b is lost, at 0.1 s",
        f"  breaks the process goes on: {ENDS}, at event 2",
        "  recorded in rec.json",
        "  replay:   clew replay rec.json",
        "",
        "  exhaustive search, 3 executions, and 1 to leave out faults that are not needed",
    ]
    replayed = command("replay", "rec.json", cwd=tmp_path)
    assert (replayed.returncode, replayed.stdout) == (1, f"STILL FAILS: {ENDS}, at event 2.\n")
