"""Every example on asyncio, with its exact answer: which faults, and after how many executions.

The programs are unmodified, so this is what a user of them would see.  Those that need more libraries than the
development environment has are behind ``make example-asyncio``.
"""

from __future__ import annotations

from dataclasses import dataclass

import pytest

import clew
from command import ROOT

EXAMPLES = "examples/asyncio"


@dataclass(frozen=True)
class Found:
    """What is broken by which faults, by lineage: the executions of the search, and those to leave out faults."""

    scenario: str
    faults: str
    breaks: str
    runs: int
    shrinking: int


THREE_CONNECTIONS = "O(a,b,connection,1) O(a,b,connection,2) O(client,a,connection,2)"

CHARGED, REPEATED = "an order is charged at most once", "nothing that ann says is repeated"

FOUND = [
    Found("streams_store_scenarios.py:read_one", THREE_CONNECTIONS, "an acknowledged write is read", 11, 3),
    Found("streams_store_scenarios.py:busy", THREE_CONNECTIONS, "an acknowledged write is read", 11, 3),
    Found("aiohttp_shop_scenarios.py:retrying", "O(payments,shop,reply,1)", CHARGED, 8, 1),
    Found("websocket_chat_scenarios.py:insistent", "O(room,ann,reply,3)", REPEATED, 35, 1),
]


@pytest.fixture(autouse=True)
def at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


@pytest.mark.parametrize("example", FOUND, ids=lambda example: example.scenario)
def test_the_bug_is_found_by_lineage(example: Found) -> None:
    verdict = clew.check_scenario(f"{EXAMPLES}/{example.scenario}")
    found = verdict.counterexample
    assert found is not None and verdict.answer is clew.Answer.COUNTEREXAMPLE
    assert (str(found.faults), found.broken.invariant) == (example.faults, example.breaks)
    assert (verdict.runs, verdict.shrinking) == (example.runs, example.shrinking)


def test_kademlia_raises_where_nobody_answers() -> None:
    """One partition, just before the value is put."""
    faults = clew.check_scenario(f"{EXAMPLES}/kademlia_scenarios.py:put").counterexample
    assert faults is not None
    assert faults.broken.what == "ValueError: max() arg is an empty sequence (in put)"
    assert str(faults.faults) == "P({client},0.06 s,20.06 s)"


def test_the_fix_of_the_store_is_certified() -> None:
    verdict = clew.check_scenario(
        f"{EXAMPLES}/streams_store_scenarios.py:read_two", crashes=0, strategy="exhaustive"
    )
    assert verdict.answer is clew.Answer.CERTIFIED, verdict.reason
    assert (verdict.runs, verdict.vacuous) == (54, 14)


def test_a_lost_update_is_found_by_chance() -> None:
    careless = clew.fuzz(f"{EXAMPLES}/shared_counter_scenarios.py:careless")
    assert careless.recording is not None and careless.run == 3
    assert clew.fuzz(f"{EXAMPLES}/shared_counter_scenarios.py:comparing", runs=50).recording is None
