"""All ways to check code agree with brute force that shares no code with them; see also ``injection.__main__``."""

from __future__ import annotations

from pathlib import Path

import pytest

from clew.faults import FaultsOf
from clew.injection.checking import complete_bounds
from clew.injection.searching.system import CodeSystem
from clew.simulation import Faults
from injection.comparing import Counts, compare
from injection.naive import NaiveRun, cuts, groups, is_admissible
from injection.systems import draw_system, scenario_of

#: How many systems: in the suite, and with ``--thorough``.
FEW, MANY = 120, 3_000


@pytest.fixture
def number(request: pytest.FixtureRequest) -> int:
    return MANY if request.config.getoption("--thorough") else FEW


def test_all_checks_agree_with_brute_force(number: int, tmp_path: Path) -> None:
    counts = Counts()
    for system in range(1_000_000, 1_000_000 + number):
        counts.add(compare(system))
    # Enough of each kind that agreement says something.
    assert counts.systems + counts.too_large == number
    assert counts.systems > number * 3 // 4
    assert counts.certified > number // 5
    assert counts.broken > number // 12
    assert counts.plainly > number // 8


def test_what_is_printed_is_executed_again_in_other_processes(tmp_path: Path) -> None:
    assert compare(60 * 3, tmp_path).commands == 1


def test_what_is_drawn_is_executed_the_same_again() -> None:
    scenario = scenario_of(draw_system(3))
    bounds = complete_bounds(scenario, Faults())
    one = CodeSystem(scenario, bounds).execute(FaultsOf())
    other = CodeSystem(scenario, bounds).execute(FaultsOf(), tracing=True, observing=True)
    assert [o[:3] + o[4:] for o in one.occurrences] == [o[:3] + o[4:] for o in other.occurrences]


def test_the_naive_rules_are_the_documented_ones() -> None:
    system = draw_system(0)
    assert list(groups(("a", "b", "c"))) == [("a",), ("b",), ("a", "b")]
    assert cuts(("partition", ("a",), 10, 20), "a", "b", 10)
    assert not cuts(("partition", ("a",), 10, 20), "b", "a", 20)
    assert not is_admissible(system, [("crash", "a", 1), ("restart", "a", 2, 5)] * 3)
    assert NaiveRun(system).effective == set()
