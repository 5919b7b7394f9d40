"""Raft in virtual time, ``raft_timed.py``, as a suite of pytest: ``pytest examples/raft``."""

from __future__ import annotations

import clew


@clew.scenario_test("raft_timed.py:correct", faults=1, strategy="exhaustive")
def test_one_partition_is_certified_to_break_nothing() -> None:
    """By exhaustion: whoever is cut off, and from whichever message on, on this schedule."""


@clew.scenario_test("raft_timed.py:timed42", expect="counterexample")
def test_a_leader_that_is_cut_off_commits_alone(clew_result: clew.CodeVerdict) -> None:
    found = clew_result.counterexample
    assert found is not None
    assert (len(found.faults), found.broken.invariant) == (1, "leader completeness")


@clew.scenario_test("raft_timed.py:timed58b", expect="counterexample")
def test_who_comes_back_takes_over_too_little(clew_result: clew.CodeVerdict) -> None:
    found = clew_result.counterexample
    assert found is not None
    assert (len(found.faults), found.broken.invariant) == (1, "state-machine safety")
