"""Laws of ``minimize``: whatever the cluster, the result is smaller, fails in the same way, and replays."""

from __future__ import annotations

from dataclasses import replace
from unittest import mock

import pytest
from hypothesis import given, settings

from clew.errors import UsageError
from clew.minimization import pipeline, shortening
from clew.minimization.minimizing import Minimized, minimize
from clew.simulation.execution import execute
from clew.simulation.recording import Recording
from clew.simulation.replaying import Outcome, replay
from clew.simulation.scenario import Scenario
from minimization.scenarios import Failing, aimed, failing, failures, one_minimal


def quickly(recording: Recording, scenario: Scenario, **how: object) -> Minimized:
    """With little patience, so that hundreds of clusters can be tried; the laws are the same."""
    with mock.patch.multiple(pipeline, _PATIENCE=1, _BACKTRACKS=3), mock.patch.object(shortening, "_LENGTH", 20):
        return minimize(recording, scenario, **how)  # type: ignore[arg-type]


def check_laws(failure: Failing) -> None:
    scenario, recording = failure
    found = quickly(recording, scenario)
    assert (found.stopped, found.problem) == (None, None)
    execution = execute(replace(scenario, check_every=1), recording.seed, found.recording.steps)
    assert execution.identity == recording.identity == found.recording.identity
    assert len(execution.moments) == len(found.recording.steps) <= len(recording.steps)
    assert replay(found.recording, scenario).outcome is Outcome.SAME
    deliveries = [stage.size.deliveries for stage in found.stages]
    assert deliveries == sorted(deliveries, reverse=True)
    assert (deliveries[0], deliveries[-1]) == (recording.deliveries, found.recording.deliveries)
    assert found.size == found.stages[-1].size
    assert one_minimal(*aimed(scenario, found.recording.steps, recording.seed))


@given(failures)
@settings(max_examples=20)
def test_laws(failure: Failing) -> None:
    check_laws(failure)


@pytest.mark.parametrize("seed", [63, 87, 152])
def test_nothing_can_be_left_out_of_a_tidy_order_either(seed: int) -> None:
    """Once something could: telling the events in another order came last."""
    failure = failing(seed)
    assert failure is not None
    check_laws(failure)


@given(failures)
@settings(max_examples=4)
def test_the_result_is_the_same_however_many_workers(failure: Failing) -> None:
    scenario, recording = failure
    found = [quickly(recording, scenario, workers=workers) for workers in (1, 2, 3)]
    said = [(one.recording, one.pace, [(s.name, s.size, s.schedules) for s in one.stages]) for one in found]
    assert said[0] == said[1] == said[2]


def test_what_is_asked_for_is_looked_at() -> None:
    found = failing(0)
    assert found is not None
    with pytest.raises(UsageError, match="workers is 0"):
        minimize(found.recording, found.scenario, workers=0)
    with pytest.raises(UsageError, match="the budget is 0 s"):
        minimize(found.recording, found.scenario, budget=0)
    with pytest.raises(UsageError, match="ends in no violation"):
        minimize(replace(found.recording, broken=None, identity=None), found.scenario)
    with pytest.raises(UsageError, match="the recording is of other code"):
        minimize(replace(found.recording, code="0" * 64), found.scenario)
