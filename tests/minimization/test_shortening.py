"""Walks away from an execution: deterministic, and never to anything larger."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from clew.budgets.deadline import Deadline
from clew.minimization.searching.search import SequentialSearch
from clew.minimization.shortening import Walk, shorten
from clew.minimization.trial import Schedule, Target, measure
from clew.simulation import Broken, Context, Node, Restart, Send
from clew.simulation.execution.steps import Size, Step
from clew.simulation.execution.trace import execute
from minimization.scenarios import Failing, Key, act, aimed, failures, keepers, never, one_minimal, tick


@given(failures, st.integers(0, 100))
@settings(max_examples=20)
def test_a_walk_leads_to_the_same_violation_or_to_nothing(failure: Failing, seed: int) -> None:
    target, schedule = aimed(failure.scenario, failure.recording.steps, failure.recording.seed)
    found = Walk(schedule, str(seed)).evaluate(target)
    assert found == Walk(schedule, str(seed)).evaluate(target)
    if found.schedule is None:
        assert found.executed == 100
        return
    assert len(found.schedule) < len(schedule)
    assert measure(target, found.schedule).deliveries <= measure(target, schedule).deliveries
    execution = execute(target.scenario, target.seed, target.steps(found.schedule))
    assert execution.identity == target.identity


def alone(target: Target, schedule: Schedule) -> Schedule:
    return shorten(SequentialSearch(target, Deadline(None), lambda executed, found: None), schedule, "0", 20)


def test_another_order_does_with_less() -> None:
    """Nothing can be left out, but in another order half of it would do: 2 before 1."""

    def wrong(kept: list[int]) -> bool:
        return kept == [2, 1] or kept == [1, 2, 0, 3]

    steps: list[Step] = [Send("b", Key(1)), Send("b", Key(2)), Send("b", Key(3))]
    steps += [act("", 1, "b"), act("", 2, "b"), tick("b"), act("", 3, "b")]
    target, schedule = aimed(keepers(never("b", wrong)), steps)
    assert one_minimal(target, schedule)
    found = alone(target, schedule)
    assert measure(target, found) == Size(2, 2)
    execution = execute(target.scenario, 0, target.steps(found))
    assert execution.broken == Broken("never", "b keeps [2, 1]", ("b",))


def test_events_from_outside_are_not_paid_for_with_deliveries() -> None:
    """Three restarts and a tick, or three ticks: the ticks are fewer events, but more deliveries."""

    class Clock(Node):
        def on_start(self, ctx: Context) -> None:
            self.lives = ctx.durable["lives"] = ctx.durable.get("lives", 0) + 1
            self.ticks = 0
            ctx.set_timer("tick")

        def on_timer(self, ctx: Context, name: str) -> None:
            self.ticks += 1
            ctx.set_timer("tick")

    def wrong(nodes: Any) -> Broken | None:
        clock = nodes["a"]
        return Broken("ticks", "too many") if clock.ticks == 3 or (clock.lives, clock.ticks) == (4, 1) else None

    scenario = keepers(wrong, nodes={"a": Clock}, running="a")
    target, schedule = aimed(scenario, [Restart("a"), Restart("a"), Restart("a"), tick("a", 4)])
    assert alone(target, schedule) == schedule
