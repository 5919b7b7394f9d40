"""The lease of ``lease.py`` as a suite of pytest: ``pytest examples/lease``.

It relies on clocks, so its tests draw them: random executions, each with other clocks and latencies.
"""

from __future__ import annotations

import clew


@clew.scenario_test("lease.py:bounded", by="fuzz", runs=50)
def test_nobody_works_twice_while_clocks_are_about_right() -> None:
    """No run of fifty breaks it."""


@clew.scenario_test("lease.py:bounded", losses=1, crashes=1, until=3.0)
def test_nor_if_a_message_is_lost_and_a_node_crashes() -> None:
    """Nor does anything that cuts what helped, in the first three seconds."""


@clew.scenario_test("lease.py:drifting", by="fuzz", expect="counterexample")
def test_clocks_that_drift_too_much_let_two_work(clew_result: clew.Fuzzed) -> None:
    assert clew_result.recording is not None
    assert clew_result.recording.seed == 4
