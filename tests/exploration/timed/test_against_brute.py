"""Generated programs in virtual time: what is explored is what all executions, made one by one, come to."""

from __future__ import annotations

import itertools
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from clew.exploration import ExplorationAnswer, explore
from clew.exploration.timed.bounds import choose_bounds
from clew.exploration.timed.run import Choice, TimedRun
from clew.exploration.timed.system import TimedSystem
from clew.simulation.recordings.replaying import ReplayOutcome, replay
from clew.simulation.scenario import Scenario
from exploration.brute import TooManyError
from exploration.timed.brute import Grid, reach
from exploration.timed.programs import random_timed_scenario
from long_mode import few

#: Programs with more executions are left out: they would take too long.
_MOST = 100


def _draw(seed: int) -> tuple[Scenario, Grid]:
    random = Random(seed)
    scenario = random_timed_scenario(random)
    losses, duplicates = random.choice((0, 0, 1)), random.choice((0, 0, 1))
    return scenario, Grid(
        latencies=random.choice((2, 2, 3)),
        clocks=random.choice((2, 3)),
        losses=losses if scenario.loss else 0,
        duplicates=duplicates if scenario.duplication else 0,
    )


def agree(scenario: Scenario, grid: Grid) -> bool:
    """Compare an exploration with all executions; False if these are too many."""
    try:
        reached = reach(scenario, grid, _MOST)
    except TooManyError:
        return False
    explored = explore(
        scenario,
        latencies=grid.latencies,
        clocks=grid.clocks,
        losses=grid.losses,
        duplicates=grid.duplicates,
        stop_at_first=False,
        in_process=True,
    )
    assert {found.identity for found in explored.found} == reached.violations
    if explored.recording is not None:
        assert replay(explored.recording, scenario, in_process=True).outcome is ReplayOutcome.SAME
    assert (explored.states, explored.schedules) == (len(reached.states), len(reached.ends))
    stopped = explore(
        scenario,
        latencies=grid.latencies,
        clocks=grid.clocks,
        losses=grid.losses,
        duplicates=grid.duplicates,
        in_process=True,
    )
    assert (stopped.answer is ExplorationAnswer.VIOLATION) == bool(reached.violations)
    return True


@few(25)
@given(st.integers(0, 10**9))
def test_all_situations_ends_and_violations_are_those_of_all_executions(seed: int) -> None:
    agree(*_draw(seed))


def _name(choice: Choice) -> tuple[str, int]:
    return choice.source, choice.nth


def _pairs_trade_places(scenario: Scenario, grid: Grid, random: Random) -> int:
    """Walk through an execution, exchange what is due at one time at different nodes, and count the pairs."""
    bounds = choose_bounds(
        scenario, 0, latencies=grid.latencies, clocks=grid.clocks, losses=grid.losses, duplicates=grid.duplicates
    )
    system = TimedSystem(scenario, bounds, 0)
    path: list[Choice] = []
    traded = 0
    while (run := _walk(system, path)).world.failure is None and (possible := run.possible()):
        # Where code may look at the numbers of events, it sees in which order they came.
        if not system.shows_everything(run.item):
            for one, other in itertools.combinations(possible, 2):
                if _name(one) != _name(other) and run.find(one).target != run.find(other).target:
                    ways = [_walk(system, [*path, *pair]) for pair in ((one, other), (other, one))]
                    assert len({(way.digest(), way.world.failure is None) for way in ways}) == 1
                    traded += 1
        path.append(random.choice(possible))
    return traded


def _walk(system: TimedSystem, path: list[Choice]) -> TimedRun:
    run = TimedRun(system)
    run.settle()
    for choice in path:
        run.do(choice)
        run.settle()
    return run


@few(40)
@given(st.integers(0, 10**9))
def test_what_happens_at_different_nodes_at_one_time_trades_places(seed: int) -> None:
    _pairs_trade_places(*_draw(seed), Random(seed))


def test_there_are_pairs_that_trade_places() -> None:
    assert sum(_pairs_trade_places(*_draw(seed), Random(seed)) for seed in range(12)) > 30
