"""Checks of code that are killed go on from their checkpoints: to the same answer, and from no other's."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import clew
from clew.errors import UsageError
from clew.files.checkpoints import Checkpoint, ForeignCheckpointError
from clew.injection.result import CodeVerdict
from clew.simulation import Context, Node, Scenario, VirtualTime
from clew.simulation.recordings.recording import write_recording
from command import ROOT
from command import clew as command
from injection import impatient
from injection.impatient import scenario as impatient_scenario
from injection.systems import draw_system, scenario_of
from interrupted import Deadly, KilledError, forge, killed_and_continued, opportunities

REPLICATION = ROOT / "examples" / "replication" / "replication.py"
STRATEGIES = ("lineage", "exhaustive", "random")


def answer(verdict: CodeVerdict) -> object:
    """Return what does not depend on the clock, nor on classes that are loaded each time."""
    found = verdict.counterexample
    if found is None:
        return replace(verdict, seconds=0.0)
    assert found.recording is not None
    told = replace(verdict, seconds=0.0, counterexample=None)
    return told, found.faults, found.broken.what, found.found_with, write_recording(found.recording)


def searching(source: Scenario | str, **how: Any) -> Callable[[Checkpoint | None], object]:
    return lambda checkpoint: answer(clew.check_scenario(source, in_process=True, checkpoint=checkpoint, **how))


def refuse_difference(source: Scenario | str, share: float, folder: Path, **how: Any) -> int:
    """Kill a search somewhere and go on; return at how many places that could have been."""
    search = searching(source, **how)
    expected = search(None)
    times = opportunities(folder / "counted", search)
    if times:
        assert killed_and_continued(folder / "ck", search, max(1, round(share * times))) == expected
    return times


@given(st.integers(0, 10_000), st.floats(0, 1), st.sampled_from(STRATEGIES))
@settings(max_examples=25)
def test_any_prefix_leads_to_the_same(number: int, share: float, strategy: str) -> None:
    scenario = scenario_of(draw_system(number))
    with tempfile.TemporaryDirectory() as folder:
        try:
            refuse_difference(scenario, share, Path(folder), strategy=strategy, max_runs=40)
        except ForeignCheckpointError:
            raise
        except UsageError as error:  # an invariant that does not hold before anything has happened
            assert "initial" in error.message


@pytest.mark.parametrize(
    ("name", "how", "least"),
    [
        ("lossy", {"losses": 3, "crashes": 1}, 6),
        ("lossy", {"losses": 1, "crashes": 1, "strategy": "exhaustive"}, 50),
        ("lossy", {"strategy": "random", "max_runs": 100}, 50),
    ],
)
@pytest.mark.parametrize("share", [0.01, 0.7])
def test_an_example(tmp_path: Path, name: str, how: dict[str, Any], least: int, share: float) -> None:
    assert refuse_difference(f"{REPLICATION}:{name}", share, tmp_path, **how) >= least


def test_a_process_that_is_killed_and_killed_again_comes_to_its_end(tmp_path: Path) -> None:
    shutil.copy(REPLICATION, tmp_path)
    words = ["check", "replication.py:lossy", "--losses", "1", "--crashes", "1", "--strategy", "exhaustive"]
    undisturbed = command(*words, cwd=tmp_path)
    saving = [sys.executable, "-m", "fuzz.saving", "", *words, "--checkpoint", "ck"]
    for times in ("5", "30", "50"):
        saving[3] = times
        subprocess.run(saving, cwd=tmp_path, env={"PYTHONPATH": str(ROOT / "tests")}, check=True)
        assert (tmp_path / "ck").exists()
    done = command(*words, "--checkpoint", "ck", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (undisturbed.returncode, undisturbed.stdout)
    assert done.stderr == "continued from ck: 85 runs done\n"
    assert not (tmp_path / "ck").exists()


def test_a_command_that_is_killed_goes_on(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(SLOW, encoding="utf-8")
    words = ["check", "slow.py:slow", "--losses", "2", "--strategy", "exhaustive"]
    undisturbed = command(*words, cwd=tmp_path)
    checkpoint = [*words, "--checkpoint", "ck"]
    started = [sys.executable, "-m", "clew", *checkpoint]
    with subprocess.Popen(started, cwd=tmp_path, stdout=-1, stderr=-1) as killed:
        while not (tmp_path / "ck").exists():
            assert killed.poll() is None
        killed.send_signal(signal.SIGKILL)
    done = command(*checkpoint, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (undisturbed.returncode, undisturbed.stdout)
    assert done.stderr.startswith("continued from ck: ")


#: Twelve messages, each of which can be lost: 79 sets of at most two, 299 of at most three.
SLOW = """\
import time
from clew.simulation import *


class Talking(Node):
    def on_start(self, ctx):
        self.heard = []
        for number in range(12 if ctx.me == "a" else 0):
            ctx.send("b", number)

    def on_message(self, ctx, sender, message):
        self.heard.append(message)
        time.sleep(0.002)


def nothing(nodes):
    return None


slow = Scenario(
    nodes={"a": Talking, "b": Talking},
    running=["a", "b"],
    time=VirtualTime(latency=0.1, until=3),
    promises=[nothing],
)
"""


def test_what_ends_the_process_is_found_by_its_number_whoever_counts(tmp_path: Path) -> None:
    """Executions are numbered over all processes: the one that is left out is the one that ended them."""
    how: dict[str, Any] = {"losses": 2, "strategy": "random", "max_runs": 100, "seed": 5}
    expected = answer(clew.check_scenario(impatient_scenario, **how))
    file = tmp_path / "ck"
    assert answer(clew.check_scenario(impatient_scenario, checkpoint=file, **how)) == expected
    assert not file.exists()
    with pytest.raises(KilledError):
        clew.check_scenario(impatient_scenario, in_process=True, checkpoint=Deadly(file, 1), **how)
    assert answer(clew.check_scenario(impatient_scenario, checkpoint=file, **how)) == expected
    assert not file.exists()
    shutil.copy(impatient.__file__, tmp_path / "s.py")
    words = ["check", "s.py", "--losses", "1", "--strategy", "exhaustive"]
    undisturbed = command(*words, cwd=tmp_path)
    done = command(*words, "--checkpoint", "ck", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (1, undisturbed.stdout, "")
    assert not file.exists()


def test_a_limit_leaves_the_file(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(SLOW, encoding="utf-8")
    words = ["check", "slow.py:slow", "--losses", "3", "--strategy", "exhaustive", "--checkpoint", "ck"]
    done = command(*words, "--time-limit", "0.5", cwd=tmp_path)
    assert done.returncode == 3
    assert done.stderr == "to go on, run the same command again: ck holds what was done\n"


# -- what is not this search's -----------------------------------------------------------------------------------


def saved(file: Path, at: int = 4, **how: Any) -> Any:
    """Leave a checkpoint behind; return its state."""
    with pytest.raises(KilledError):
        searching(f"{REPLICATION}:lossy", **how)(Deadly(file, at))
    return json.loads(file.read_bytes())["state"]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"strategy": "random"}, '--strategy was "lineage", and is "random"'),
        ({"losses": 1}, "the bound of losses was 2, and is 1"),
        ({"seed": 3}, "--seed was 0, and is 3"),
        ({"max_runs": 9}, "--max-runs was null, and is 9"),
        ({"until": 2.0}, "the bound of until was"),
        ({"outages": (0.5,)}, "--outage was"),
    ],
)
def test_other_options_are_refused(tmp_path: Path, changed: dict[str, Any], message: str) -> None:
    file = tmp_path / "ck"
    saved(file, losses=2)
    before = file.read_bytes()
    with pytest.raises(UsageError) as refused:
        searching(f"{REPLICATION}:lossy", **{"losses": 2, **changed})(Checkpoint(file))
    assert message in refused.value.message
    assert file.read_bytes() == before


def test_changed_code_is_refused(tmp_path: Path) -> None:
    code = tmp_path / "replication.py"
    shutil.copy(REPLICATION, code)
    words = ["check", "replication.py:lossy", "--losses", "3", "--strategy", "exhaustive", "--checkpoint", "ck"]
    command(*words, "--time-limit", "0.3", cwd=tmp_path)
    code.write_text(code.read_text(encoding="utf-8").replace("class ", "# changed\nclass ", 1), encoding="utf-8")
    code.write_text(code.read_text(encoding="utf-8") + "\nLATER = 1\n", encoding="utf-8")
    done = command(*words, cwd=tmp_path)
    assert done.returncode == 2
    assert "is the checkpoint of another search: the code of the scenario has changed since" in done.stderr


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_state_in_which_anything_was_changed(tmp_path: Path, strategy: str) -> None:
    """It is refused, or believed, and then the search comes to an answer: never anything else."""
    file = tmp_path / "ck"
    how: dict[str, Any] = {"strategy": strategy, "max_runs": 12, "losses": 2, "crashes": 1}
    state = saved(file, 4, **how)
    written = file.read_bytes()
    source = Random(strategy)
    refused = 0
    for _ in range(60):
        file.write_bytes(written)
        forge(file, changed_somewhere(source, json.loads(json.dumps(state))))
        try:
            searching(f"{REPLICATION}:lossy", **how)(Checkpoint(file))
        except UsageError:
            refused += 1
    assert 20 < refused < 60


def changed_somewhere(source: Random, value: Any) -> Any:
    if isinstance(value, dict) and value:
        at: Any = source.choice(list(value))
    elif isinstance(value, list) and value and source.random() < 0.9:
        at = source.randrange(len(value))
    else:
        near = [value + 1, value - 1] if isinstance(value, int) else []
        return source.choice([*near, *near, None, -1, 10**20, "x", [], [0], {}, True])
    value[at] = changed_somewhere(source, value[at])
    return value


def test_a_fault_that_does_not_strike_then(tmp_path: Path) -> None:
    file = tmp_path / "ck"
    state = saved(file, 3, strategy="exhaustive", losses=2)
    first = state["search"]["level"][0]
    first[1] += 1
    forge(file, state)
    with pytest.raises(ForeignCheckpointError) as refused:
        searching(f"{REPLICATION}:lossy", strategy="exhaustive", losses=2)(Checkpoint(file))
    assert "is not what was remembered" in refused.value.message


def nothing(nodes: object) -> None:
    """Promise nothing that could be broken."""


class Counting(Node):
    """Leaves something behind where its message does not come: not in the run that a search goes on with."""

    lost = 0

    def on_start(self, ctx: Context) -> None:
        if ctx.me == "a":
            ctx.send("b", "x")
        else:
            ctx.set_timer("late", after=0.5)

    def on_message(self, ctx: Context, sender: str, message: Any) -> None:
        ctx.cancel_timer("late")

    def on_timer(self, ctx: Context, name: str) -> None:
        Counting.lost += 1


def test_what_executions_left_behind_before_the_kill_still_counts(tmp_path: Path) -> None:
    scenario = Scenario(
        nodes={"a": Counting, "b": Counting},
        running=("a", "b"),
        time=VirtualTime(latency=0.1, until=2),
        promises=[nothing],
    )
    search = searching(scenario, losses=1, strategy="exhaustive")
    expected = search(None)
    assert "executions have changed" in str(expected)
    assert "executions have changed" in str(killed_and_continued(tmp_path / "ck", search, 2))
