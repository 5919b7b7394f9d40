"""What the Raft example promises, on made-up states: when it is broken, and at which nodes."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from clew.simulation import Broken
from clew.simulation.loading import load_scenario

load_scenario(f"{Path(__file__).parents[2] / 'examples' / 'raft' / 'raft_bugs.py'}:correct")
promised: Any = sys.modules["raft_invariants"]

FOUR = ("a", "b", "c", "d")


def _node(log: str = "", *, role: str = "follower", term: int = 0, committed: int = 0, **more: Any) -> Any:
    """A state; the log is written as terms with the commands, as in ``1x 1y 2z``."""
    entries = [(0, ""), *((int(entry[0]), entry[1:]) for entry in log.split())]
    return SimpleNamespace(
        **{
            "role": role,
            "term": term,
            "log": entries,
            "applied": entries[: committed + 1],
            "commit_index": committed,
            "commit_term": entries[committed][0],
            "won": {term} if role == "leader" else set(),
            "members": frozenset(FOUR),
            **more,
        }
    )


def test_election_safety() -> None:
    leader = _node(role="leader", term=2)
    assert promised.election_safety({"a": leader, "b": _node(role="leader", term=1), "c": _node(term=2)}) is None
    found = promised.election_safety({"c": _node(), "b": leader, "a": _node(role="leader", term=2)})
    assert found == Broken("election safety", "a and b won term 2", ("a", "b"))


def test_election_safety_remembers_who_led() -> None:
    found = promised.election_safety({"a": _node(term=5, won={1, 2}), "b": _node(role="leader", term=2)})
    assert found == Broken("election safety", "a and b won term 2", ("a", "b"))


def test_nodes_that_were_told_different_members_promise_each_other_nothing() -> None:
    other = frozenset("b")
    states = {"a": _node("1x 2y", role="leader", term=2, committed=1)}
    states["b"] = _node("1z 2y", role="leader", term=2, committed=1, members=other)
    assert [invariant(states) for invariant in promised.ALL] == [None] * 4
    states["b"].members = states["a"].members
    assert [invariant(states) is None for invariant in promised.ALL] == [False, False, False, False]


@pytest.mark.parametrize("log", ["", "1x", "1x 1y 2z", "1x 1y 3z", "1x 3u 3v 3w", "3x"])
def test_logs_that_match(log: str) -> None:
    assert promised.log_matching({"a": _node("1x 1y 2z"), "b": _node(log)}) is None


@pytest.mark.parametrize(
    ("log", "what"),
    [
        ("1x 1u", "a and b have an entry 2 of term 1, but differ at 2: (1, 'y') and (1, 'u')"),
        ("1u 3x 2z 4z", "a and b have an entry 3 of term 2, but differ at 1: (1, 'x') and (1, 'u')"),
    ],
)
def test_logs_that_do_not_match(log: str, what: str) -> None:
    found = promised.log_matching({"a": _node("1x 1y 2z"), "b": _node(log), "c": _node()})
    assert found == Broken("log matching", what, ("a", "b"))


def test_leader_completeness() -> None:
    committed = _node("1x 2y 2z", term=2, committed=2)
    assert promised.leader_completeness({"a": committed, "b": _node("1x", role="leader", term=2)}) is None
    assert promised.leader_completeness({"a": committed, "b": _node("1x 2y", role="leader", term=3)}) is None
    for log in ("1x", "1x 1y", "1x 2u"):
        found = promised.leader_completeness({"a": committed, "b": _node(log, role="leader", term=3)})
        what = "b leads in term 3 without entry 2, (2, 'y'), which a knew to be committed in term 2"
        assert found == Broken("leader completeness", what, ("b", "a"))


def test_a_leader_that_lost_what_it_applied_itself() -> None:
    leader = _node("1x 2y", role="leader", term=3, committed=2)
    leader.log = leader.log[:2]
    found = promised.leader_completeness({"a": leader})
    assert found is not None and found.nodes == ("a",)


def test_state_machine_safety() -> None:
    states = {"a": _node("1x 1y", committed=1), "b": _node("1x 2u 2v", committed=3), "c": _node()}
    assert promised.state_machine_safety(states) is None
    states["a"] = _node("1x 1y", committed=2)
    found = promised.state_machine_safety(states)
    assert found == Broken("state-machine safety", "entry 2 is (1, 'y') at a and (2, 'u') at b", ("a", "b"))
    assert promised.state_machine_safety({}) is None
