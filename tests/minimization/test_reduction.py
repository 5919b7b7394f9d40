"""Reduction within one candidate."""

from __future__ import annotations

from unittest import mock

from clew.minimization import reduction
from clew.minimization.reduction import ReducedTrial
from clew.minimization.search import TrialResult
from clew.minimization.trial import Match, measure
from clew.simulation import Send
from clew.simulation.execution.steps import Size, Step
from minimization.scenarios import Key, act, aimed, keepers, never

STEPS: list[Step] = [
    *(Send("b", Key(key)) for key in (1, 2, 3)),
    *(act("", nth, "b") for nth in (1, 2, 3)),
]


def test_what_is_left_counts() -> None:
    target, schedule = aimed(keepers(never("b", lambda kept: 3 in kept)), STEPS)
    found = ReducedTrial(schedule, schedule, Match.CAUSE).evaluate(target)
    assert found.schedule is not None
    assert measure(target, found.schedule) == Size(1, 1)
    assert ReducedTrial(schedule, found.schedule, Match.CAUSE).evaluate(target) == TrialResult(
        None, found.executed
    )


def test_what_does_not_end_in_the_violation_takes_one_schedule() -> None:
    target, schedule = aimed(keepers(never("b", lambda kept: 3 in kept)), STEPS)
    assert ReducedTrial(schedule[:2], schedule, Match.CAUSE).evaluate(target) == TrialResult(None, 1)


def test_a_reduction_is_given_up_when_it_takes_long() -> None:
    target, schedule = aimed(keepers(never("b", lambda kept: len(kept) == 3)), STEPS)
    with mock.patch.object(reduction, "_SCHEDULES", 4):
        assert ReducedTrial(schedule, schedule, Match.CAUSE).evaluate(target) == TrialResult(None, 5)
