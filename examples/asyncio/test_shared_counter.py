"""The counter of ``shared_counter.py`` as a suite: ``pytest examples/asyncio/test_shared_counter.py``."""

from __future__ import annotations

import clew
import clew.aio


@clew.scenario_test("shared_counter_scenarios.py:comparing", by="fuzz", runs=50)
def test_compare_and_set_loses_no_update() -> None:
    """In fifty orders of what the workers do."""


@clew.scenario_test("shared_counter_scenarios.py:careless", by="fuzz", runs=50, expect="counterexample")
def test_an_update_is_lost(clew_result: clew.Fuzzed) -> None:
    assert clew_result.run == 3
