"""Random executions: the same for the same seed, and what comes from outside comes when it should."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

import pytest

from clew.errors import UsageError
from clew.simulation import (
    Broken,
    CodeBlock,
    Context,
    External,
    Network,
    Node,
    Scenario,
    Send,
    Start,
    WaitCondition,
    WaitQuiescence,
    World,
)
from clew.simulation.execution.steps import Act, Do
from clew.simulation.fuzzing.random_run import RandomRun, Run, random_run
from clew.simulation.loading import load_scenario
from scenario_files import TOKENS, scenario_file


class Ticker(Node):
    """Has a timer that is always set."""

    def on_start(self, ctx: Context) -> None:
        self.ticks = 0
        self.got: list[Any] = []
        ctx.set_timer()

    def on_message(self, ctx: Context, sender: str, message: Any) -> None:
        self.got.append(message)
        if isinstance(message, int) and message > 0:
            ctx.send(ctx.me, message - 1)

    def on_timer(self, ctx: Context, name: str) -> None:
        self.ticks += 1
        ctx.set_timer(name)


def ticking(**more: Any) -> Scenario:
    return Scenario(nodes={"a": Ticker}, running=["a"], **more)


def kinds(run: Run) -> list[str]:
    return [step.do.value if isinstance(step, Act) else type(step).__name__ for step in run.steps]


def test_a_seed_is_an_execution_recorded_or_not(tmp_path: Path) -> None:
    scenario = load_scenario(scenario_file(tmp_path, TOKENS)).scenario
    for seed in range(20):
        plain, kept = random_run(scenario, seed), random_run(scenario, seed, recording=True)
        assert plain.steps == []
        assert (plain.world.events, plain.deliveries, plain.broken) == (
            kept.world.events,
            kept.deliveries,
            kept.broken,
        )
        assert kept.steps == random_run(scenario, seed, recording=True).steps
    assert random_run(scenario, 0, recording=True).steps != random_run(scenario, 1, recording=True).steps


def test_an_execution_ends_at_quiescence_although_timers_are_set() -> None:
    run = random_run(ticking(before=[Send("a", 5)], timers=0.3), 0, recording=True)
    node = run.world.nodes["a"]
    assert isinstance(node, Ticker) and node.got == [5, 4, 3, 2, 1, 0]
    assert run.deliveries == 6 + node.ticks < 30


def test_without_something_to_wait_for_it_goes_on_for_all_steps() -> None:
    run = random_run(ticking(before=[Send("a", 5)], after=[], steps=50), 0)
    assert run.world.events == 50


def test_what_comes_after_a_wait_comes_when_it_is_over() -> None:
    ready = WaitCondition("two", lambda world: len(vars(world.nodes["a"])["got"]) >= 2)
    before = [Send("a", 3), ready, Send("a", "late"), WaitQuiescence(), Send("a", "last")]
    run = random_run(ticking(before=before, timers=0.0), 0, recording=True)
    node = run.world.nodes["a"]
    assert isinstance(node, Ticker)
    assert [m for m in node.got if isinstance(m, int)] == [3, 2, 1, 0]
    assert node.got.index("late") >= 2 and node.got[-1] == "last"
    assert Counter(kinds(run)) == {
        "Send": 3,
        "WaitCondition": 1,
        "WaitQuiescence": 2,
        "deliver": 6,
    }


def test_events_are_drawn_as_often_as_asked_for() -> None:
    def maker(random: Random, world: World) -> External | None:
        return Send("a", "drawn")

    def never(random: Random, world: World) -> External | None:
        raise AssertionError

    run = random_run(ticking(events=[(1, maker), (0, never)], count=40, steps=200), 3, recording=True)
    assert kinds(run).count("Send") == 40


def test_a_maker_may_wait() -> None:
    def maker(random: Random, world: World) -> External | None:
        return WaitQuiescence()

    run = random_run(ticking(events=[(1, maker)], count=3, steps=50), 0, recording=True)
    assert kinds(run).count("WaitQuiescence") == 4
    assert run.world.events == len(run.steps) - 4


def test_loss_and_duplication_happen() -> None:
    scenario = ticking(
        before=[Send("a", "x")] * 200, loss=0.2, duplication=0.2, timers=0.0, network=Network.REORDERING
    )
    run = random_run(scenario, 1, recording=True)
    fates = Counter(step.do for step in run.steps if isinstance(step, Act))
    assert fates[Do.LOSE] + fates[Do.DELIVER] == 200 + fates[Do.DUPLICATE]
    assert 30 < fates[Do.LOSE] < 80 and 30 < fates[Do.DUPLICATE] < 100


def test_what_a_node_sends_itself_is_never_lost_nor_duplicated() -> None:
    scenario = ticking(before=[Send("a", 50)], loss=0.5, duplication=0.2, timers=0.0)
    runs = [random_run(scenario, seed) for seed in range(30)]
    nodes: list[Any] = [run.world.nodes["a"] for run in runs]
    arrived = [node.got for node in nodes if node.got]
    assert 0 < len(arrived) < 30, "what comes from outside is lost"
    assert all(sorted(set(got), reverse=True) == list(range(50, -1, -1)) for got in arrived)


def test_a_rare_timer_goes_off_when_there_is_nothing_else_to_do() -> None:
    scenario = ticking(before=[Send("a", 100)], timers=0.5, rare={"timer": 0.0}, after=[], steps=150)
    run = random_run(scenario, 0)
    node = run.world.nodes["a"]
    assert isinstance(node, Ticker)
    assert (len(node.got), node.ticks) == (101, 48)


def test_invariants_are_looked_at_every_so_many_events_and_at_the_end() -> None:
    def few(nodes: Mapping[str, Any]) -> Broken | None:
        return Broken("few", "many", ("a",)) if len(nodes["a"].got) >= 3 else None

    for every, events in ((1, 4), (5, 5), (100, 7)):
        run = random_run(ticking(before=[Send("a", 5)], timers=0.0, invariants=[few], check_every=every), 0)
        assert run.broken == Broken("few", "many", ("a",))
        assert run.world.events == events


# -- the beginning and the end -----------------------------------------------------------------------------------


def got_something(nodes: Mapping[str, Any]) -> str | None:
    return None if nodes["a"].got else "nothing yet"


@pytest.mark.parametrize("every", [1, 5, 100])
def test_invariants_are_looked_at_before_the_first_event(every: int) -> None:
    run = RandomRun(ticking(before=[Send("a", 5)], invariants=[got_something], check_every=every), 0)
    assert run.broken == Broken("got_something", "nothing yet")
    assert (run.go_on(10), run.world.events, run.steps) == (False, 0, [])


def finished(scenario: Scenario, seed: int = 0) -> RandomRun:
    run = RandomRun(scenario, seed, recording=True)
    run.finish()
    return run


def ticked(times: int) -> WaitCondition:
    return WaitCondition(f"{times} ticks", lambda world: vars(world.nodes["a"])["ticks"] >= times)


@pytest.mark.parametrize("times", [0, 1, 7])
def test_a_condition_at_the_end_ends_the_execution_when_it_holds(times: int) -> None:
    run = finished(ticking(after=[ticked(times)], steps=50))
    assert (run.world.events, run.describe_unfinished()) == (times, None)


def test_a_condition_at_the_end_that_comes_to_hold_in_the_last_step() -> None:
    assert finished(ticking(after=[ticked(7)], steps=7)).describe_unfinished() is None


def test_a_condition_at_the_end_that_never_holds() -> None:
    run = finished(ticking(after=[ticked(7)], steps=6))
    assert (run.world.events, run.describe_unfinished()) == (6, "'7 ticks' did not hold at the end")


def test_an_execution_in_which_nothing_can_happen_any_more_ends() -> None:
    asked = []

    def never(world: World) -> bool:
        asked.append(world.events)
        return False

    silent = Scenario(nodes={"a": Node}, running=["a"], before=[WaitCondition("never", never), Send("a", 1)])
    run = finished(silent)
    assert (run.world.events, asked) == (0, [0])
    assert (
        run.describe_unfinished()
        == "'never' did not hold at the end, so that what comes after that did not happen"
    )


def test_what_comes_after_a_wait_that_is_over_already_comes_at_once() -> None:
    before = [ticked(0), WaitQuiescence(), Send("a", "x"), ticked(0), Send("a", "y")]
    run = finished(ticking(before=before, timers=1.0, steps=2, after=[]))
    assert kinds(run.result()) == ["WaitCondition", "WaitQuiescence", "Send", "WaitCondition", "Send"]


def test_events_that_the_steps_did_not_suffice_for() -> None:
    run = finished(ticking(before=[Send("a", "x")] * 3, steps=2))
    assert run.describe_unfinished() == "events from outside were still to come after 2 steps"
    drawn = finished(ticking(before=[Send("a", "x")], events=[(1, lambda random, world: None)], count=3, steps=1))
    assert drawn.describe_unfinished() == "events from outside were still to come after 1 step"


def test_messages_that_the_steps_did_not_suffice_for() -> None:
    run = finished(ticking(before=[Send("a", 10)], timers=0.0, steps=5))
    assert run.describe_unfinished() == "messages were still under way after 5 steps"
    waiting = finished(ticking(before=[Send("a", 10), WaitQuiescence(), Send("a", 1)], timers=0.0, steps=5))
    assert waiting.describe_unfinished() == (
        "messages were still under way after 5 steps, so that what comes after that did not happen"
    )


@pytest.mark.parametrize(
    "more", [{}, {"after": []}, {"after": [Send("a", 1)]}, {"after": [ticked(1), WaitQuiescence()]}], ids=str
)
def test_an_execution_that_came_to_its_end(more: dict[str, Any]) -> None:
    assert finished(ticking(before=[Send("a", 3)], timers=0.3, steps=50, **more)).describe_unfinished() is None


@pytest.mark.parametrize("after", [None, [WaitQuiescence()], [Start("a"), WaitQuiescence()]])
def test_with_nothing_but_timers_it_goes_on_for_all_steps(after: list[External] | None) -> None:
    run = finished(ticking(steps=50, **({} if after is None else {"after": after})))
    assert (run.world.events, run.driven_by_timers, run.describe_unfinished()) == (50, True, None)


def test_with_nothing_but_timers_it_ends_when_none_is_set_any_more() -> None:
    class Once(Ticker):
        def on_timer(self, ctx: Context, name: str) -> None:
            self.ticks += 1

    run = finished(Scenario(nodes={"a": Once}, running=["a"]))
    assert (run.world.events, run.driven_by_timers, run.describe_unfinished()) == (1, True, None)


@pytest.mark.parametrize("messages", [1, 3])
def test_once_something_was_delivered_quiescence_is_the_end(messages: int) -> None:
    run = finished(ticking(before=[Send("a", "x")] * messages, timers=0.0, steps=50))
    assert (run.deliveries, run.driven_by_timers) == (messages, False)


@pytest.mark.parametrize("kind", ["maker", "condition"])
def test_what_only_looks_must_not_change_the_world(kind: str) -> None:
    def change(*arguments: Any) -> Any:
        arguments[-1].inject(Start("a"))

    if kind == "maker":
        scenario, what = ticking(events=[(1, change)], count=1, steps=1), "the maker of events change"
    else:
        scenario, what = ticking(before=[WaitCondition("changed", change)]), "the condition 'changed'"
    with pytest.raises(UsageError) as caught:
        finished(scenario)
    assert (caught.value.message, caught.value.remedy) == (
        f"{what} has changed the world",
        "let it look only; what changes the world is a code block",
    )


def raising(*arguments: Any) -> Any:
    raise ZeroDivisionError("oh")


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (
            {"before": [], "events": [(1, raising)], "count": 1, "steps": 1},
            "the maker of events raising raised ZeroDivisionError: oh",
        ),
        ({"before": [WaitCondition("c", raising)]}, "the condition 'c' raised ZeroDivisionError: oh"),
        ({"before": [CodeBlock("b", raising)]}, "the code block 'b' raised ZeroDivisionError: oh"),
        ({"invariants": [raising]}, "after 0 events, the invariant raising raised ZeroDivisionError: oh"),
        ({"fingerprint": raising}, "the scenario's fingerprint of a int raised ZeroDivisionError: oh"),
    ],
    ids=lambda value: "" if isinstance(value, str) else list(value)[-1],
)
def test_functions_of_the_scenario_that_raise(more: dict[str, Any], says: str) -> None:
    scenario = ticking(**{"before": [Send("a", 1), Start("a")], **more})
    with pytest.raises(UsageError) as caught:
        random_run(scenario, 0, recording=True)
    assert caught.value.message == says and caught.value.remedy
    assert caught.value.position is not None and caught.value.position.file == __file__


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"nodes": {}}, "the scenario has no node, or one without a name"),
        ({"steps": 0}, "steps is 0, check_every 1 and count 0"),
        ({"count": 3}, "count is 3, but there is nothing to draw from"),
        ({"loss": 1.5}, "loss is 1.5"),
        ({"rare": {"tick": -1}}, "tick is -1"),
        ({"step_seconds": 0}, "step_seconds is 0"),
        ({"expect": "certified"}, "expect is 'certified', what a check answers, and that needs virtual time"),
        ({"expect": "certifed"}, "expect is 'certifed'"),
        ({"expect_faults": 2}, "expect_faults is the size of a counterexample, and there is no expect"),
        (
            {"expect": "violation", "expect_faults": 2},
            "expect_faults is the size of a counterexample, and there is expect=violation",
        ),
        ({"expect": "counterexample", "expect_faults": True}, "expect_faults is True"),
        ({"expect": "no violations"}, "expect is 'no violations'"),
        ({"expect": True}, "expect is True"),
        ({"expect_runs": 0}, "expect_runs is 0"),
        ({"expect_runs": 2.5}, "expect_runs is 2.5"),
        ({"expect_runs": True}, "expect_runs is True"),
        ({"expect_seed": -1}, "expect_seed is -1"),
    ],
    ids=str,
)
def test_scenarios_that_make_no_sense(more: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError) as caught:
        Scenario(**{"nodes": {"a": Ticker}, **more})
    assert caught.value.message == says and caught.value.remedy
