"""The replication of ``replication.py`` as a suite of pytest: ``pytest examples/replication``.

Which faults there may be, the scenarios say; a test may say otherwise, and what has to come of it.
"""

from __future__ import annotations

import clew


@clew.scenario_test("replication.py:careful")
def test_acknowledged_writes_survive() -> None:
    """No counterexample by lineage: the usual test, which takes a second."""


@clew.scenario_test("replication.py:careful", faults=1, strategy="exhaustive")
def test_a_single_fault_is_certified_to_do_no_harm() -> None:
    """By exhaustion: no loss, crash or restart alone breaks it, on this schedule."""


@clew.scenario_test("replication.py:lossy", losses=3, crashes=1, expect="counterexample")
def test_the_bug_of_kafka_is_found(clew_result: clew.CodeVerdict) -> None:
    found = clew_result.counterexample
    assert found is not None
    assert str(found.faults) == "O(b,coordinator,Report,2) O(c,coordinator,Report,2) C(a,6)"
