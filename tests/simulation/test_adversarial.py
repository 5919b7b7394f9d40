"""Laws on scenarios that do everything: what was recorded replays, and a run says how far it came."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.simulation import Scenario, WaitCondition, WaitQuiescence
from clew.simulation.execution.steps import Act, At, Ended
from clew.simulation.fuzzing.fuzz import fuzz, record
from clew.simulation.fuzzing.random_run import RandomRun
from clew.simulation.recordings.reading import open_recording
from clew.simulation.recordings.recording import write_recording
from clew.simulation.recordings.replaying import ReplayOutcome, replay
from clew.simulation.world import External, Wait
from simulation.adversarial import loaded_scenario, random_scenario

SEEDS = st.integers(0, 2**40)

_EXAMPLES = settings.default.max_examples if settings.default else 100


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("recordings") / "rec.json"


@given(seed=SEEDS)
def test_every_recording_is_read_back_and_replays(file: Path, seed: int) -> None:
    loaded = loaded_scenario(seed)
    text = write_recording(record(loaded, seed, in_process=True))
    file.write_text(text, encoding="utf-8")
    assert write_recording(open_recording(str(file), loaded).recording) == text
    replayed = replay(file, loaded, in_process=True)
    assert (replayed.outcome, replayed.difference) == (ReplayOutcome.SAME, None)


@given(seed=SEEDS)
def test_what_fuzzing_finds_is_what_its_recording_ends_with(file: Path, seed: int) -> None:
    loaded = loaded_scenario(seed)
    found = fuzz(loaded, seed=seed, runs=4, in_process=True)
    if found.recording is None:
        assert (found.run, found.trace, found.also, found.coverage.runs) == (None, None, (), 4)
        return
    recording = found.recording
    assert recording.identity is not None and "ClockError" not in recording.identity
    assert recording == record(loaded, recording.seed, in_process=True)
    file.write_text(write_recording(recording), encoding="utf-8")
    execution = replay(file, loaded, in_process=True).execution
    assert (execution.broken, execution.identity) == (recording.broken, recording.identity)
    assert (execution.trace, execution.also) == (found.trace, found.also)


@given(SEEDS)
def test_events_are_numbered_as_the_schedule_has_them(seed: int) -> None:
    run = RandomRun(random_scenario(seed), seed, recording=True)
    run.finish()
    events = [step for step in run.steps if not isinstance(step, Wait)]
    assert run.world.history is not None
    assert (
        [happened.number for happened in run.world.history]
        == list(range(len(events)))
        == list(range(run.world.events))
    )
    for happened, step in zip(run.world.history, events, strict=True):
        assert isinstance(step, Act) or happened.what is step
        assert all(number < happened.number for number in happened.depends)
        # A copy has the cause of what it is a copy of.
        assert all(-1 <= envelope.cause <= happened.number for envelope in happened.sent)


@given(SEEDS)
def test_a_run_says_how_far_it_came(seed: int) -> None:
    scenario = replace(random_scenario(seed), count=0)
    run = RandomRun(scenario, seed, recording=True)
    run.finish()
    if run.broken is None:
        missing = _missing(scenario, run)
        # With nothing but timers to go on with, quiescence is not what it ends with.
        assert (run.describe_unfinished() is not None) == (missing and not run.driven_by_timers)


def _missing(scenario: Scenario, run: RandomRun) -> bool:
    """Whether something that the scenario says did not happen, or what it waits for at the end does not hold."""
    said = [*scenario.before, *scenario.after]
    done = [step for step in run.steps if not isinstance(step, Act | At | Ended)]
    assert done == said[: len(done)]
    pending = [*done[-1:], *said[len(done) :]]
    if any(not isinstance(event, Wait) for event in pending[1:]):
        return True
    return any(not _holds(event, run) for event in pending)


def _holds(wait: External, run: RandomRun) -> bool:
    match wait:
        case WaitCondition(_, condition):
            return bool(condition(run.world))
        case WaitQuiescence():
            return not run.world.pool.messages
    return True


# -- determinism -------------------------------------------------------------------------------------------------

FUZZ = """\
import sys
sys.path.insert(0, sys.argv[1])
from clew.simulation.fuzzing.fuzz import fuzz, record
from clew.simulation.recordings.recording import write_recording
from simulation.adversarial import loaded_scenario
for seed in range(int(sys.argv[2])):
    loaded = loaded_scenario(seed)
    found = fuzz(loaded, seed=seed, runs=3)
    print(seed, found.coverage, found.run, found.also, write_recording(found.recording or record(loaded, seed)))
"""


def test_the_same_bytes_in_every_process() -> None:
    outputs = [
        subprocess.run(
            [sys.executable, "-c", FUZZ, str(Path(__file__).parents[1]), str(_EXAMPLES // 2)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert outputs[0] == outputs[1]
    assert outputs[0].count('"format": "clew-recording"') == _EXAMPLES // 2
