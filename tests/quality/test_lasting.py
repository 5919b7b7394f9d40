"""How long the counterexamples of the examples last, and the livelock of two proposers."""

from __future__ import annotations

from pathlib import Path

import pytest

from clew import Answer, Verdict, check
from clew.duration import Duration, Loop, Persistence
from example_verdicts import verdict_of

EXAMPLES = Path(__file__).parents[2] / "examples"

#: Since when each is violated for good, and where its run repeats itself.
LASTING = {
    "simple-deliv": (1, Loop(2, 1)),
    "retry-deliv": (2, Loop(3, 1)),
    "classic-deliv": (1, Loop(2, 1)),
    "2pc": (2, Loop(7, 1, grows=True)),
    "3pc": (2, Loop(10, 1, grows=True)),
    "kafka": (4, Loop(6, 1)),
    "2pc-recovery": (3, Loop(10, 1)),
    "primary-backup": (2, Loop(7, 1)),
    "raft-vote": (7, Loop(8, 1)),
    "lease": (10, Loop(10, 1, grows=True)),
    "flux-eager-ack": (5, Loop(22, 7, grows=True)),
    "dueling": (1, Loop(9, 4)),
}
#: When the others recover: EOT was too short.
TRANSIENT = {"redun-deliv-late": 12, "bully-le-lossy": 12}


def _duration(found: Verdict) -> Duration:
    (counterexample,) = found.counterexamples
    assert counterexample.duration is not None
    return counterexample.duration


@pytest.mark.parametrize("name", sorted(LASTING))
def test_most_examples_break_for_good(name: str) -> None:
    duration = _duration(verdict_of(name))
    assert (duration.persistence, duration.since, duration.loop) == (Persistence.LASTING, *LASTING[name])


@pytest.mark.parametrize("name", sorted(TRANSIENT))
def test_some_only_need_more_time(name: str) -> None:
    duration = _duration(verdict_of(name))
    assert (duration.persistence, duration.since) == (Persistence.TRANSIENT, TRANSIENT[name])


@pytest.mark.parametrize("strategy", ["exact", "exhaustive"])
def test_duelling_proposers_are_a_livelock(strategy: str) -> None:
    found = check(EXAMPLES / "dueling.ded", strategy=strategy, lasting=True)
    assert str(found.counterexamples[0].faults) in {"O(p,a,1)", "O(a,p,2)", "O(p,a,3)"}
    assert _duration(found).loop == Loop(9, 4)


def test_every_way_into_the_livelock_is_listed() -> None:
    found = check(EXAMPLES / "dueling.ded", lasting=True, find_all=True)
    assert [str(c.faults) for c in found.counterexamples] == ["O(p,a,1)", "O(a,p,2)", "O(p,a,3)"]
    assert all(c.duration and c.duration.loop == Loop(9, 4) for c in found.counterexamples)


def test_patience_cures_the_livelock() -> None:
    found = check(EXAMPLES / "dueling-backoff.ded", lasting=True)
    assert (found.answer, found.reason, found.horizon, found.cautions) == (Answer.CERTIFIED, None, 8, ())


def test_programs_in_bloom_last_or_recover_like_others() -> None:
    store = f"{EXAMPLES}/bloom/restarting_store.py"
    found = check(f"{store}:InMemory", lasting=True)
    assert [str(c.faults) for c in found.counterexamples] == ["R(s,4,5)"]
    assert _duration(found).loop == Loop(6, 1)
    assert check(f"{store}:OnDisk", lasting=True, eot=14).answer is Answer.CERTIFIED


def test_with_less_time_the_cure_is_late_and_never_called_lasting() -> None:
    late = check(EXAMPLES / "dueling-backoff.ded", eot=12)
    duration = _duration(late)
    assert (duration.persistence, duration.since, duration.loop) == (Persistence.TRANSIENT, 14, Loop(20, 1))
    short = check(EXAMPLES / "dueling-backoff.ded", eot=12, lasting=True)
    assert short.answer is Answer.INCOMPLETE
    assert short.reason == (
        "with O(p,a,3) the run has not come back to itself by EOT 12, but from time 16 on; give --eot 17 or more"
    )
