"""Generated programs in virtual time: what is explored is what all executions, made one by one, come to."""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from clew.exploration import ExplorationAnswer, explore
from clew.simulation.scenario import Scenario
from exploration.brute import TooManyError
from exploration.timed_brute import Grid, reach
from exploration.timed_programs import random_timed_scenario
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


def _agree(scenario: Scenario, grid: Grid) -> bool:
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


@few(40)
@given(st.integers(0, 10**9))
def test_all_situations_ends_and_violations_are_those_of_all_executions(seed: int) -> None:
    _agree(*_draw(seed))
