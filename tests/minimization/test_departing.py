"""Departures from an execution, and what is left of them."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from clew.minimization.departing import Departure, Shortcuts
from clew.minimization.trial import Target, is_better, measure
from clew.simulation import Broken, Restart, Send
from clew.simulation.execution.steps import Size, Step
from clew.simulation.execution.trace import execute
from minimization.scenarios import Failing, Key, act, aimed, failures, keepers, never, one_minimal


@given(failures, st.integers(0, 100))
@settings(max_examples=20)
def test_a_departure_leads_to_the_same_violation_or_to_nothing(failure: Failing, seed: int) -> None:
    target, schedule = aimed(failure.scenario, failure.recording.steps, failure.recording.seed)
    found = Departure(schedule, str(seed), 30).evaluate(target)
    assert found == Departure(schedule, str(seed), 30).evaluate(target)
    if found.schedule is None:
        assert found.executed >= 30
        return
    assert is_better(found.schedule, schedule)
    assert execute(target.scenario, target.seed, target.steps(found.schedule)).identity == target.identity


def test_it_may_become_longer_before_it_is_reduced() -> None:
    """A tick and 7 are enough, in any company; without the tick, all five keys are needed, in their order."""

    def wrong(kept: list[int]) -> bool:
        return kept == [1, 2, 3, 4, 7] or {0, 7} <= set(kept)

    steps: list[Step] = [Send("b", Key(key)) for key in (1, 2, 3, 4, 7)]
    target, schedule = aimed(keepers(never("b", wrong)), [*steps, *(act("", nth, "b") for nth in range(1, 6))])
    assert one_minimal(target, schedule)
    found = Departure(schedule, "0", 100).evaluate(target).schedule
    assert found is not None
    assert measure(target, found) == Size(2, 1)


def test_more_events_from_outside_open_other_ways() -> None:
    """One message after a restart is as bad as three; but the schedule has no restart any more."""

    def wrong(nodes: Any) -> Broken | None:
        node = nodes["b"]
        bad = node.kept == [1, 2, 3] or (node.lives, node.kept) == (2, [0])
        return Broken("bad", "kept", ("b",)) if bad else None

    steps: list[Step] = [Send("b", Key(key)) for key in (1, 2, 3)]
    target, schedule = aimed(keepers(wrong), [*steps, *(act("", nth, "b") for nth in (1, 2, 3))])
    more = Target(target.scenario, 0, (*target.externals, Restart("b")), target.identity)
    assert Departure(schedule, "0", 100).evaluate(more).schedule is None
    found = Departure(schedule, "0", 100, (3,)).evaluate(more).schedule
    assert found is not None
    assert more.steps(found)[0] == Restart("b")
    assert measure(more, found) == Size(1, 1)


def test_a_candidate_executes_not_much_more_than_it_may() -> None:
    steps: list[Step] = [Send("b", Key(1)), act("", 1, "b")]
    target, schedule = aimed(keepers(never("b", lambda kept: 1 in kept)), steps)
    found = Departure(schedule, "0", 10).evaluate(target)
    assert found.schedule is None
    assert 10 <= found.executed <= 20


# -- shortcuts ---------------------------------------------------------------------------------------------------


def test_shortcuts_leave_a_long_execution_near_its_beginning() -> None:
    """A key and a tick are enough; the recording has 200 keys before."""
    steps: list[Step] = [step for key in range(1, 201) for step in (Send("b", Key(key)), act("", key, "b"))]
    target, schedule = aimed(keepers(never("b", lambda kept: 0 in kept[1:] or len(kept) == 200)), steps)
    family = Shortcuts(schedule, "0")
    assert len(family) == 8
    assert {family.at(place).latest for place in range(8)} == {100}
    found = next(filter(None, (family.at(place).evaluate(target).schedule for place in range(8))))
    assert measure(target, found) == Size(2, 1)
    assert len(Shortcuts(schedule[:49], "0")) == 0
