"""The lock service of the guide: what the hasty server does, and that the careful one does not."""

from __future__ import annotations

import pytest

from clew.exploration import ExplorationAnswer, explore
from clew.simulation.fuzzing.fuzz import fuzz
from clew.simulation.loading import load_scenario
from command import ROOT

LOCK = f"{ROOT / 'examples' / 'lock' / 'lock.py'}"


def test_fuzzing_finds_two_holders() -> None:
    found = fuzz(f"{LOCK}:hasty")
    assert found.recording is not None
    assert (found.run, found.recording.deliveries, found.recording.identity) == (0, 40, "mutual exclusion")


def test_the_careful_server_hands_out_one_lock() -> None:
    assert fuzz(f"{LOCK}:careful", runs=50).recording is None


@pytest.mark.parametrize(
    ("name", "answer", "schedules"),
    [("three_careful", ExplorationAnswer.ALL_EXPLORED, 444), ("three_hasty", ExplorationAnswer.VIOLATION, 7)],
)
def test_every_schedule_of_three_clients(name: str, answer: ExplorationAnswer, schedules: int) -> None:
    explored = explore(load_scenario(f"{LOCK}:{name}"))
    assert (explored.answer, explored.schedules) == (answer, schedules)
