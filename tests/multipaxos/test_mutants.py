"""Executions and their oracle have the power to find mistakes: each of these is found, in the execution named."""

from __future__ import annotations

import pytest

from multipaxos.faulty_cluster import run_execution
from multipaxos.judging import judge
from multipaxos.ledger import Ledger
from multipaxos.mutants import MUTANTS

#: The first execution in which it shows.  There are many; one is enough, and costs a quarter of a second.
SEEDS = {
    "ForgetsPromises": 62,
    "ForgetsVotes": 20,
    "ForgetsLog": 16,
    "ForgetsSessions": 4,
    "SharesViews": 8,
    "IgnoresConstraints": 6,
    "TakesAnyConstraint": 12,
    "TrustsHalfPromises": 8,
    "VotesAgainstPromises": 14,
    "TakesAnyVote": 2,
    "CountsOneVote": 0,
    "DoesAllTwice": 0,
    "InstallsOldStates": 0,
    "InstallsHalfStates": 0,
    "MixesStates": 0,
    "ForgetsVotesOfOthers": 0,
}


@pytest.mark.parametrize("kind", [kind for kind in MUTANTS if kind.__name__ in SEEDS])
def test_a_mistake_in_the_protocol_is_found(kind: type[Ledger]) -> None:
    assert _problem(kind, SEEDS[kind.__name__]) is not None


@pytest.mark.parametrize("seed", sorted(set(SEEDS.values())))
def test_it_is_the_mistake_that_is_found(seed: int) -> None:
    assert _problem(Ledger, seed) is None


def _problem(kind: type[Ledger], seed: int) -> str | None:
    try:
        problems = judge(run_execution(kind, seed))
    except AssertionError as error:  # a node refuses a row, or there is no end
        return str(error)
    return problems[0] if problems else None
