"""Every example of code that is checked, with its exact answer: which faults, and after how many executions.

How many executions it takes is what lineage is for; a change that needs more of them shows here.
"""

from __future__ import annotations

from dataclasses import dataclass

import pytest

import clew
from command import ROOT


@dataclass(frozen=True)
class Found:
    """What is broken by which faults, by lineage: the executions of the search, and those to leave out faults."""

    scenario: str
    faults: str
    breaks: str
    runs: int
    shrinking: int


FOUND = [
    Found(
        "replication/replication.py:lossy",
        "O(b,coordinator,Report,2) O(c,coordinator,Report,2) C(a,6)",
        "acknowledged_writes_survive",
        7,
        3,
    ),
    Found(
        "replication/replication.py:busy",
        "O(b,coordinator,Report,2) O(c,coordinator,Report,2) C(a,32)",
        "acknowledged_writes_survive",
        6,
        3,
    ),
    Found(
        "jobs/jobs.py:cached",
        "O(bob,queue,Done,1) R(payments,2,1 s)",
        "accepted_orders_are_done_once",
        14,
        2,
    ),
    Found("lease/lease_restarts.py:forgetful", "R(server,13,0.2 s)", "one at work", 8, 1),
    Found("raft/raft_timed.py:timed42", "P({a},0.425 s,0.925 s)", "leader completeness", 13, 1),
    Found(
        "raft/raft_timed.py:timed56",
        "P({a,b},0.425 s,0.925 s) P({b},0.425 s,0.925 s)",
        "election safety",
        68,
        2,
    ),
    Found("raft/raft_timed.py:timed58b", "P({a},0.26 s,0.76 s)", "state-machine safety", 23, 1),
]

#: What no single fault within the bounds that it states breaks: all executions, and those that promise nothing.
#: That no two do takes thousands, and is what ``clew test examples`` finds.
CERTIFIED = {
    "replication/replication.py:careful": (78, 10),
    "jobs/jobs.py:durable": (134, 6),
    "lease/lease_restarts.py:waiting": (80, 0),
    "raft/raft_timed.py:correct": (37, 7),
}


@pytest.fixture(autouse=True)
def at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


@pytest.mark.parametrize("example", FOUND, ids=lambda example: example.scenario)
def test_the_bug_is_found_by_lineage(example: Found) -> None:
    verdict = clew.check_scenario(f"examples/{example.scenario}")
    found = verdict.counterexample
    assert found is not None and verdict.answer is clew.Answer.COUNTEREXAMPLE
    assert (str(found.faults), found.broken.invariant) == (example.faults, example.breaks)
    assert (verdict.runs, verdict.shrinking) == (example.runs, example.shrinking)


@pytest.mark.parametrize("scenario", CERTIFIED)
def test_the_cure_is_certified_by_exhaustion(scenario: str) -> None:
    verdict = clew.check_scenario(f"examples/{scenario}", strategy="exhaustive", faults=1)
    assert verdict.answer is clew.Answer.CERTIFIED, verdict.reason
    assert (verdict.runs, verdict.vacuous) == CERTIFIED[scenario]


def test_lineage_never_certifies() -> None:
    """It comes to its end, and still says that this is no proof."""
    verdict = clew.check_scenario("examples/replication/replication.py:careful", restarts=0)
    assert verdict.answer is clew.Answer.INCOMPLETE
    assert (verdict.reason or "").startswith("nothing was found by cutting what helped")
