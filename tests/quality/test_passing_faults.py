"""What the stories of the examples with faults beyond the paper's say beside their verdicts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from clew import Answer, Crash, Pause, Stop, Verdict, check, run
from command import clew
from counterexamples import EXAMPLES

#: The broken examples of each kind, how many faults it takes at least, and how many without that kind (None: no
#: number is enough).
FEWEST = {
    "raft-vote": ("restarts", 1, None),
    "lease": ("pauses", 1, None),
    "abd": ("restarts", 2, 3),
    "2pc-recovery": ("restarts", 2, None),
    "queue": ("duplicates", 1, 2),
    "primary-backup": ("partitions", 1, 6),
    "two-copies": ("stops", 1, None),
}
CURED = [
    "raft-vote-durable",
    "lease-fenced",
    "abd-write-back",
    "2pc-recovery-durable",
    "queue-remembered",
    "primary-backup-witness",
    "two-copies-acked",
]


def path(name: str) -> Path:
    return EXAMPLES / f"{name}.ded"


def faults(verdict: Verdict) -> int | None:
    return len(verdict.counterexamples[0].faults) if verdict.counterexamples else None


def changed(tmp_path: Path, name: str, old: str, new: str) -> Path:
    text = path(name).read_text(encoding="utf-8")
    assert text.count(old) == 1
    (tmp_path / "changed.ded").write_text(text.replace(old, new), encoding="utf-8")
    return tmp_path / "changed.ded"


@pytest.mark.parametrize("name", FEWEST)
def test_the_kind_of_fault_is_what_breaks_it_soonest(name: str) -> None:
    kind, fewest, without = FEWEST[name]
    assert faults(check(path(name))) == fewest
    bounds: dict[str, Any] = {kind: 0}
    assert faults(check(path(name), **bounds)) == without


@pytest.mark.parametrize("name", FEWEST)
def test_the_printed_command_replays_it(name: str) -> None:
    text = str(check(path(name)))
    (command,) = (line.split("clew ", 1)[1] for line in text.splitlines() if "replay: " in line)
    done = clew(*command.split())
    assert done.returncode == 1, done.stderr
    assert "VIOLATED: pre(" in done.stdout


@pytest.mark.parametrize("name", FEWEST)
def test_trying_all_faults_finds_as_few(name: str) -> None:
    found = check(path(name), strategy="exhaustive")
    assert faults(found) == FEWEST[name][1]


@pytest.mark.parametrize("name", CURED)
def test_certificates_promise_something(name: str) -> None:
    found = check(path(name), strict=True)
    assert (found.answer, found.reason, found.vacuous, found.cautions) == (Answer.CERTIFIED, None, False, ())


def test_a_backup_that_has_crashed_still_receives_its_copy_and_one_that_has_stopped_does_not() -> None:
    assert check(path("two-copies"), crashes=1, stops=0).answer is Answer.CERTIFIED
    for fault, copies in ((Crash("b", 3), {"p", "b"}), (Stop("b", 3), {"p"})):
        assert {row[0] for row in run(path("two-copies"), [fault]).rows("log")} == copies


def test_who_remembers_for_good_may_restart() -> None:
    assert check(path("queue-remembered"), restarts=1).answer is Answer.CERTIFIED


def test_a_coordinator_that_crashes_for_good_blocks() -> None:
    assert faults(check(path("2pc-recovery-durable"), crashes=1)) == 1


def test_two_hold_the_lock_and_both_have_had_it() -> None:
    """Of two promises one is broken by a pause and the other holds; without pauses both do."""
    found = check(path("lock-service"))
    assert [(a.assertion.title, a.standing.value) for a in found.promises] == [
        ("never stays empty", "violated"),
        ("pre_served implies post_served", "certified"),
    ]
    assert [str(v) for v in found.counterexamples[0].violations] == ["never(a, b) at time 7"]
    # It is seen while a is paused and runs no rule, not only when it goes on.
    paused = run(path("lock-service"), [Pause("a", 4, 8)])
    assert [str(v) for v in paused.violations] == ["never(a, b) at time 7"]
    cured = check(path("lock-service"), pauses=0, strict=True)
    assert [a.standing.value for a in cured.promises] == ["certified", "certified"]
    assert cured.answer is Answer.CERTIFIED


def test_who_has_voted_from_memory_breaks_the_election_by_a_restart() -> None:
    """The cure names the votes alone: all else may be forgotten."""
    assert check(path("raft-vote"), crashes=2, restarts=0).answer is Answer.CERTIFIED
    found = check(path("raft-vote"), find_all=True)
    assert {f.nodes for c in found.counterexamples for f in c.faults} == {("a",), ("c",)}


def test_a_record_that_is_forgotten_hides_what_it_was_to_show(tmp_path: Path) -> None:
    forgetful = changed(tmp_path, "raft-vote", "durable elected;", "durable;")
    found = check(forgetful, find_all=True)
    assert {f.nodes for c in found.counterexamples for f in c.faults} == {("c",)}  # and not a
    (notice,) = found.notices
    assert notice.message == "only the assertions look at 'elected', and it is forgotten when its node restarts"
    assert notice.remedy == "if it is the record of an observer, add: durable elected;"
    assert check(path("raft-vote")).notices == ()


def test_a_replica_that_forgets_takes_the_majority_away(tmp_path: Path) -> None:
    forgetful = changed(tmp_path, "abd-write-back", "durable has, value, found;", "durable value, found;")
    found = check(forgetful, crashes=0)
    assert sorted(f.name for f in found.counterexamples[0].faults) == ["loss"] * 3 + ["restart"]


def test_a_longer_memory_of_the_worker_only_takes_a_later_duplicate(tmp_path: Path) -> None:
    longer = changed(tmp_path, "queue", "recent(W, J, 3)@next", "recent(W, J, 4)@next")
    assert str(check(longer, eot=10, eff=7).counterexamples[0].faults) == "U(Q,w,1,5)"
