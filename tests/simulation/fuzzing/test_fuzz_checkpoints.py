"""Fuzzing that goes on from a checkpoint comes to what it would have come to."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from clew.errors import UsageError
from clew.files.checkpoints import Checkpoint
from clew.simulation.fuzzing import coverage
from clew.simulation.fuzzing.coverage import Tally
from clew.simulation.fuzzing.fuzz import Fuzzed, fuzz
from clew.simulation.loading import load_scenario
from interrupted import killed_and_continued, opportunities
from scenario_files import TOKENS, scenario_file


def search(where: str, checkpoint: Checkpoint | None, **how: Any) -> Fuzzed:
    # In this process there is an opportunity to save after every run; a worker is given several at once.
    return fuzz(load_scenario(where), checkpoint=checkpoint, in_process=True, **how)


@pytest.mark.parametrize(("limit", "at_least"), [(53, 0), (42, 240), (10**9, 0)])
def test_prefixes_lead_to_the_same(tmp_path: Path, limit: int, at_least: int) -> None:
    """A violation, one after others that came too early, and none."""
    where = scenario_file(tmp_path, TOKENS.replace("LIMIT = 40", f"LIMIT = {limit}"))
    expected = search(where, None, runs=13, at_least=at_least)
    resumed = partial(search, where, runs=13, at_least=at_least)
    times = opportunities(tmp_path / "ck", resumed)
    assert times >= 2
    for at in sorted({1, 2, times // 2, times}):
        assert killed_and_continued(tmp_path / "ck", resumed, at) == expected


@pytest.mark.parametrize(("before", "after"), [(1, 2), (2, 1), (2, 2)])
def test_the_number_of_processes_does_not_matter(tmp_path: Path, before: int, after: int) -> None:
    where = scenario_file(tmp_path, TOKENS.replace("LIMIT = 40", "LIMIT = 10**9"))
    expected = search(where, None, runs=40)
    started = iter((before, after))

    def resumed(checkpoint: Checkpoint) -> Fuzzed:
        return search(where, checkpoint, runs=40, workers=next(started))

    assert killed_and_continued(tmp_path / "ck", resumed, 3) == expected


def test_states_that_are_no_longer_told_apart(tmp_path: Path) -> None:
    where = scenario_file(tmp_path, TOKENS.replace("LIMIT = 40", "LIMIT = 10**9"))
    with mock.patch.object(coverage, "MOST_STATES", 12):
        expected = search(where, None, runs=12)
        assert expected.coverage.states == 12
        for at in (2, 6, 10):
            assert killed_and_continued(tmp_path / "ck", partial(search, where, runs=12), at) == expected


def test_a_time_limit_leaves_the_checkpoint(tmp_path: Path) -> None:
    where = scenario_file(tmp_path, TOKENS.replace("LIMIT = 40", "LIMIT = 10**9"))
    stopped = fuzz(where, runs=30, time_limit=1e-9, checkpoint=tmp_path / "ck")
    assert stopped.reason == "the time limit of 1e-09 s ran out"
    assert (tmp_path / "ck").exists()
    assert fuzz(where, runs=30, checkpoint=tmp_path / "ck") == fuzz(where, runs=30)
    assert not (tmp_path / "ck").exists()


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"seed": 1}, "--seed was 0, and is 1"),
        ({"runs": 31}, "--runs was 30, and is 31"),
        ({"steps": 299}, "--steps was 300, and is 299"),
        ({"at_least": 1}, "--at-least was 0, and is 1"),
    ],
)
def test_other_options_are_refused(tmp_path: Path, changed: dict[str, int], message: str) -> None:
    where = scenario_file(tmp_path, TOKENS)
    fuzz(where, runs=30, time_limit=1e-9, checkpoint=tmp_path / "ck")
    with pytest.raises(UsageError, match=message):
        search(where, Checkpoint(tmp_path / "ck"), **{"runs": 30, **changed})


def test_changed_code_is_refused(tmp_path: Path) -> None:
    where = scenario_file(tmp_path, TOKENS)
    fuzz(where, runs=30, time_limit=1e-9, checkpoint=tmp_path / "ck")
    scenario_file(tmp_path, TOKENS + "\n")
    with pytest.raises(UsageError, match="the code of the scenario has changed since"):
        fuzz(where, runs=30, checkpoint=tmp_path / "ck")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"runs": -1}, "runs: expected an integer from 0 to 30"),
        ({"runs": 31}, "runs: expected an integer from 0 to 30"),
        ({"runs": True}, "runs: expected an integer"),
        ({"early": 3}, "early: expected an integer from 0 to 2"),
        ({"idle": 3}, "idle: expected an integer from 0 to 2"),
        ({"deliveries": 99}, "no more deliveries than steps"),
        ({"unfinished": []}, "unfinished: expected an object"),
        ({"unfinished": {"x": 3}}, "unfinished.x: expected an integer from 1 to 2"),
        ({"types": [1]}, "types\\[0\\]: expected the type of a message"),
        ({"states": [2**64]}, "states\\[0\\]: expected an integer"),
        ({"more": 1}, "unknown field 'more'"),
    ],
)
def test_fields_are_checked(tmp_path: Path, changes: dict[str, object], message: str) -> None:
    file = tmp_path / "ck"
    checkpoint = Checkpoint(file)
    checkpoint.open({})
    good: dict[str, object] = {**Tally().to_json(), "runs": 2, "steps": 9, "deliveries": 4}
    checkpoint.state = lambda: {**good, **changes}
    checkpoint.save()
    saved = Checkpoint(file).open({})
    assert saved is not None
    with pytest.raises(UsageError, match=message):
        Tally.read(saved, 30)
