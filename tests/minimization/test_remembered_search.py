"""A minimization that goes on from a checkpoint comes to what it would have come to."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.errors import UsageError
from clew.files.checkpoints import Checkpoint
from clew.minimization import pipeline, shortening
from clew.minimization.minimizing import Minimized, minimize
from clew.simulation.fuzzing.fuzz import fuzz
from clew.simulation.recordings.recording import write_recording
from interrupted import Deadly, KilledError, forge, killed_and_continued, opportunities
from minimization.scenarios import Failing, failing, failures
from scenario_files import TOKENS, scenario_file


def shown(found: Minimized) -> tuple[object, ...]:
    """All that is told of a minimization, but for time and what was tried in vain by others."""
    stages = [replace(stage, seconds=0.0) for stage in found.stages]
    return write_recording(found.recording), found.size, stages, found.pace, found.reason, found.problem


def minimized(failure: Failing, checkpoint: Checkpoint | None, workers: int = 1) -> tuple[object, ...]:
    scenario, recording = failure
    with mock.patch.multiple(pipeline, _PATIENCE=1, _BACKTRACKS=3), mock.patch.object(shortening, "LENGTH", 20):
        found = minimize(recording, scenario, checkpoint=checkpoint, workers=workers)
    assert workers > 1 or found.ahead == 0
    return shown(found)


def one_failure() -> Failing:
    found = failing(3)
    assert found is not None
    return found


@given(failures, st.floats(0, 1))
@settings(max_examples=6)
def test_any_prefix_leads_to_the_same(failure: Failing, share: float) -> None:
    def search(checkpoint: Checkpoint) -> tuple[object, ...]:
        return minimized(failure, checkpoint)

    with tempfile.TemporaryDirectory() as folder:
        times = opportunities(Path(folder) / "counted", search)
        if times:
            at = max(1, round(share * times))
            assert killed_and_continued(Path(folder) / "ck", search, at) == minimized(failure, None)


@pytest.mark.parametrize(("before", "after"), [(1, 2), (2, 1)])
def test_the_number_of_processes_does_not_matter(tmp_path: Path, before: int, after: int) -> None:
    failure = one_failure()
    started = iter((before, after))
    times = opportunities(tmp_path / "counted", lambda checkpoint: minimized(failure, checkpoint))

    def search(checkpoint: Checkpoint) -> tuple[object, ...]:
        return minimized(failure, checkpoint, next(started))

    assert killed_and_continued(tmp_path / "ck", search, times // 2) == minimized(failure, None)


def test_killed_again_and_again(tmp_path: Path) -> None:
    failure = one_failure()
    expected = minimized(failure, None)
    for _ in range(1000):
        try:
            found = minimized(failure, Deadly(tmp_path / "ck", 40))
        except KilledError:
            continue
        break
    assert found == expected


def test_a_budget_leaves_the_checkpoint(tmp_path: Path) -> None:
    failure = scenario, recording = one_failure()
    stopped = minimize(recording, scenario, time_limit=1e-9, checkpoint=tmp_path / "ck")
    assert stopped.reason is not None
    assert (tmp_path / "ck").exists()
    assert minimized(failure, Checkpoint(tmp_path / "ck")) == minimized(failure, None)


def test_another_recording_and_other_options_are_refused(tmp_path: Path) -> None:
    where = scenario_file(tmp_path, TOKENS)
    one, other = (fuzz(where, seed=seed).recording for seed in (0, 1))
    assert one is not None
    assert other is not None
    minimize(one, where, time_limit=1e-9, checkpoint=tmp_path / "ck")
    with pytest.raises(UsageError, match="the recording has changed since"):
        minimize(other, where, checkpoint=tmp_path / "ck")
    with pytest.raises(UsageError, match="--shrink was true, and is false"):
        minimize(one, where, shrink=False, checkpoint=tmp_path / "ck")


@pytest.mark.parametrize(
    ("families", "message"),
    [
        ([[[], 1]] * 40, "does not belong to this search"),
        ([[[[1, 10**12]], None]], "does not belong to this search"),
        ([[[[1, 0]], None]], "expected an integer from 1"),
        ([[[[1]], None]], "expected"),
        ([[[], 0]], "expected an integer from 1"),
        ([[[], True]], "expected an integer from 1"),
        ([1], "expected"),
        (7, "expected a list"),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path: Path, families: object, message: str) -> None:
    scenario, recording = one_failure()
    minimize(recording, scenario, time_limit=1e-9, checkpoint=tmp_path / "ck")
    forge(tmp_path / "ck", {"families": families})
    before = (tmp_path / "ck").read_bytes()
    with pytest.raises(UsageError, match=message):
        minimize(recording, scenario, checkpoint=tmp_path / "ck")
    assert (tmp_path / "ck").read_bytes() == before
