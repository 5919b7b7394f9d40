"""The job queue of ``jobs.py`` as a suite of pytest: ``pytest examples/jobs``."""

from __future__ import annotations

import clew


@clew.scenario_test("jobs.py:cached", expect="counterexample")
def test_keys_that_are_kept_in_memory_are_forgotten(clew_result: clew.CodeVerdict) -> None:
    """The service has to restart first, and then the queue must not hear that it was done."""
    found = clew_result.counterexample
    assert found is not None
    assert str(found.faults) == "O(bob,queue,Done,1) R(payments,2,1 s)"


@clew.scenario_test("jobs.py:durable", faults=1, strategy="exhaustive")
def test_a_single_fault_is_certified_to_charge_nobody_twice() -> None:
    """By exhaustion: no loss or restart alone breaks it, on this schedule."""
