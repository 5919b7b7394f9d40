"""Laws of ``minimize`` on scenarios that do everything: it takes every recording, and what it finds replays."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.minimization import pipeline, shortening
from clew.minimization.minimizing import Minimized, minimize
from clew.simulation.fuzzing.fuzz import fuzz
from clew.simulation.loading import LoadedScenario
from clew.simulation.recordings.recording import write_recording
from clew.simulation.recordings.replaying import ReplayOutcome, replay
from minimization.scenarios import aimed, one_minimal
from simulation.adversarial import loaded_scenario

_EXAMPLES = settings.default.max_examples if settings.default else 100


def minimize_quickly(file: Path, loaded: LoadedScenario) -> Minimized:
    """With little patience, so that hundreds of scenarios can be tried; the laws are the same."""
    with mock.patch.multiple(pipeline, _PATIENCE=1, _BACKTRACKS=3), mock.patch.object(shortening, "LENGTH", 10):
        return minimize(file, loaded, in_process=True)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("recordings") / "rec.json"


@given(seed=st.integers(0, 2**40))
def test_every_recording_is_minimized_to_one_that_replays(file: Path, seed: int) -> None:
    loaded = loaded_scenario(seed)
    recording = fuzz(loaded, seed=seed, runs=4, in_process=True).recording
    if recording is None:
        return
    file.write_text(write_recording(recording), encoding="utf-8")
    found = minimize_quickly(file, loaded)
    assert (found.reason, found.problem) == (None, None)
    assert found.recording.identity == recording.identity
    assert len(found.recording.steps) <= len(recording.steps)
    file.write_text(write_recording(found.recording), encoding="utf-8")
    replayed = replay(file, loaded, in_process=True)
    assert (replayed.outcome, replayed.execution.identity) == (ReplayOutcome.SAME, recording.identity)
    assert one_minimal(*aimed(loaded.scenario, found.recording.steps, recording.seed))


MINIMIZE = """\
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from clew.simulation.fuzzing.fuzz import fuzz
from clew.simulation.recordings.recording import write_recording
from minimization.test_any_recording import minimize_quickly
from simulation.adversarial import loaded_scenario
file = Path(sys.argv[2])
for seed in range(int(sys.argv[3])):
    loaded = loaded_scenario(seed)
    recording = fuzz(loaded, seed=seed, runs=2, in_process=True).recording
    if recording is not None:
        file.write_text(write_recording(recording), encoding="utf-8")
        print(seed, write_recording(minimize_quickly(file, loaded).recording))
"""


def test_the_same_bytes_in_every_process(file: Path) -> None:
    outputs = [
        subprocess.run(
            [sys.executable, "-c", MINIMIZE, str(Path(__file__).parents[1]), str(file), str(_EXAMPLES // 4)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert outputs[0] == outputs[1]
    assert outputs[0].count('"format": "clew-recording"') > _EXAMPLES // 16
