"""Every example with its exact verdict: the answer, the number of faults, and which faults.

``fewest`` lists every counterexample with the fewest faults; the exact search may show any of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from clew import Answer, FaultSet, check, check_grid, run
from clew.faults import Delay
from example_verdicts import verdict_of

EXAMPLES = Path(__file__).parents[2] / "examples"

#: Executions in Figures 12 and 13 of the paper; ours may be at most twice as many plus three.
PUBLISHED_EXECUTIONS = {
    "simple-deliv": 2,
    "retry-deliv": 3,
    "classic-deliv": 5,
    "2pc": 2,
    "2pc-ctp": 3,
    "3pc": 55,
    "kafka": 38,
    "redun-deliv": 11,
    "ack-deliv": 673,
    "paxos-synod": 173,
    "bully-le": 2,
    "flux": 187,
}


@dataclass(frozen=True)
class Broken:
    """An example with counterexamples: those with the fewest faults, how many are minimal, what they violate."""

    name: str
    fewest: frozenset[str]
    minimal: int
    violates: str


def late_confirmations(provider: str) -> Iterator[tuple[Delay, Delay]]:
    """The requests of times 1 and 2 to a provider of ``reservation``, neither confirmed before time 5."""
    first = [(Delay("T", provider, 1, 2),), (Delay(provider, "T", 2, 2),)]
    second = [Delay("T", provider, 2, 1), Delay("T", provider, 2, 2)]
    second += [Delay(provider, "T", 3, 1), Delay(provider, "T", 3, 2)]
    yield from ((late, again) for (late,) in first for again in second)
    # Both arrive at 3, and one message confirms them.
    yield from ((Delay("T", provider, 1, 1), Delay(provider, "T", 3, lag)) for lag in (1, 2))


BROKEN = [
    Broken("simple-deliv", frozenset({"O(a,b,1)", "O(a,c,1)"}), 2, "pre(a, data)"),
    Broken("retry-deliv", frozenset({"O(a,b,1) C(a,2)", "O(a,c,1) C(a,2)"}), 2, "data)"),
    Broken(
        "redun-deliv-late",
        frozenset(
            " ".join([*(f"O(a,b,{t}) O(a,c,{t})" for t in range(1, 9)), f"O(a,{lost},9)", "C(a,10)"])
            for lost in "bc"
        ),
        2,
        "data)",
    ),
    Broken("classic-deliv", frozenset({"O(a,b,1) O(a,c,1)"}), 3, "pre(a, data)"),
    Broken("2pc", frozenset({"C(C,2)", "C(C,3)"}), 2, "pre(termination, a, t1)"),
    Broken(
        "2pc-timeout",
        frozenset({"O(C,a,3) C(C,4)", "O(C,b,3) C(C,4)", "O(C,d,3) C(C,4)"}),
        3,
        "pre(agreement, a, t1)",
    ),
    Broken("2pc-ctp", frozenset({"C(C,2)", "C(C,3)"}), 2, "pre(termination, a, t1)"),
    Broken(
        "3pc",
        frozenset({f"O(C,{x},3) C(C,4)" for x in "abd"})
        | {f"O(C,{x},6) C({y},{t})" for x in "abd" for y in "abd" for t in (3, 4) if x != y},
        66,
        "pre(agreement, ",
    ),
    Broken("kafka", frozenset({"O(b,Z,1) O(c,Z,1) C(a,4)"}), 14, "pre(C, w1)"),
    Broken(
        "paxos-forgetful",
        frozenset(
            {f"{x} {y}" for x in ("O(a,b,1)", "O(b,a,2)") for y in ("C(c,1)", "C(c,2)")}
            | {"O(a,b,1) O(a,c,1)", "O(a,b,1) O(c,a,2)", "O(a,c,1) O(b,a,2)", "O(b,a,2) O(c,a,2)"}
        ),
        10,
        "pre(apple)",
    ),
    Broken("saga", frozenset({"D(o,p,3,1) D(p,o,5,1)"}), 4, "pre(x)"),
    Broken("flux-eager-ack", frozenset({"O(s,q,1)", "O(s,q,2)"}), 2, "sync)"),
    Broken("chain", frozenset({"O(t,m,2) O(m,t,3) O(t,m,3) O(m,t,4) O(t,m,4)"}), 4, "pre(C, w1)"),
    Broken(
        "reservation",
        frozenset(
            str(FaultSet.of([*late, Delay("T", p, 3, 2)])) for p in ("F", "H") for late in late_confirmations(p)
        ),
        100,
        "x)",
    ),
    Broken("raft-vote", frozenset({"R(c,4,5)", "R(c,4,6)", "R(a,5,6)", "R(c,5,6)"}), 4, "pre(b)"),
    Broken("lease", frozenset({"Z(a,3,8)"}), 1, "pre(S, 2)"),
    Broken(
        "lock-service",
        frozenset({f"Z(a,{since},{until})" for since in (4, 5) for until in (7, 8)}),
        10,
        "never(a, b) at time 7",
    ),
    Broken("abd", frozenset({f"O(s,a,5) R(w,3,{until})" for until in (4, 5, 6)}), 19, "pre(1, 0)"),
    Broken("2pc-recovery", frozenset({"O(C,a,4) R(C,5,6)", "O(C,b,4) R(C,5,6)"}), 2, "pre(a, b)"),
    Broken("queue", frozenset({"U(Q,w,1,4)"}), 2, "pre(j)"),
    Broken(
        "session",
        frozenset(
            f"O(p,s,{t + 1}) I(write(c, v1),{t}) I(read(c),{u}) K(get(c, v1, s),{u})"
            for t in (1, 2, 3)
            for u in range(t + 2, 6)
        ),
        6,
        "pre(c, v1)",
    ),
    Broken("dueling", frozenset({"O(p,a,1)", "O(a,p,2)", "O(p,a,3)"}), 3, "pre(q)"),
    Broken("primary-backup", frozenset({"P({b},1,5)", "P({b},1,6)", "P({b},2,6)"}), 23, "pre(x)"),
    Broken("two-copies", frozenset({"S(b,1)", "S(b,2)", "S(b,3)"}), 3, "pre(w)"),
]
CERTIFIED = [
    "redun-deliv",
    "ack-deliv",
    "paxos-synod",
    "paxos-synod-quorums",
    "bully-le",
    "flux",
    "raft-vote-durable",
    "lease-fenced",
    "abd-write-back",
    "2pc-recovery-durable",
    "queue-remembered",
    "primary-backup-witness",
    "session-sticky",
    "dueling-backoff",
    "two-copies-acked",
]
#: The lineage search agrees, after half a minute: clients that ask again have very many supports.
LONG_BY_LINEAGE = {"lock-service"}
#: And about these after some seconds: to list all counterexamples, or to certify more acceptors.
LONG_BY_LINEAGE |= {"3pc", "flux-eager-ack", "reservation", "paxos-forgetful", "paxos-synod-quorums"}
#: Refuted variants with thousands of minimal counterexamples: the fewest faults, and what they violate.
REFUTED = {"bully-le-lossy": (3, "pre(")}


def by_both(names: Sequence[str]) -> list[object]:
    """Each name with both strategies; in the long mode alone, where one takes long."""
    return [
        pytest.param(s, n, marks=pytest.mark.long if s == "lineage" and n in LONG_BY_LINEAGE else ())
        for n in names
        for s in ("exact", "lineage")
    ]


def path(name: str) -> Path:
    return EXAMPLES / f"{name}.ded"


def test_no_example_is_forgotten() -> None:
    named = {b.name for b in BROKEN} | set(CERTIFIED) | set(REFUTED)
    assert {p.stem for p in EXAMPLES.glob("*.ded")} == named


@pytest.mark.parametrize("broken", BROKEN, ids=lambda b: b.name)
def test_the_counterexample_has_the_fewest_faults(broken: Broken) -> None:
    found = verdict_of(broken.name)
    assert found.answer is Answer.COUNTEREXAMPLE
    (shown,) = found.counterexamples
    assert str(shown.faults) in broken.fewest
    assert any(broken.violates in str(v) for v in shown.violations)


@pytest.mark.parametrize(("strategy", "name"), by_both([b.name for b in BROKEN]))
def test_every_minimal_counterexample_is_listed(strategy: str, name: str) -> None:
    (broken,) = (b for b in BROKEN if b.name == name)
    found = verdict_of(name, strategy=strategy, find_all=True)
    fewest = len(found.counterexamples[0].faults)
    assert {str(c.faults) for c in found.counterexamples if len(c.faults) == fewest} == broken.fewest
    assert len(found.counterexamples) == broken.minimal


def test_lineage_finds_the_fewest_faults_soon_where_all_take_long() -> None:
    (broken,) = (b for b in BROKEN if b.name == "lock-service")
    (shown,) = verdict_of("lock-service", strategy="lineage").counterexamples
    assert str(shown.faults) in broken.fewest


@pytest.mark.parametrize("name", sorted(REFUTED))
def test_refuted_variants_stay_refuted(name: str) -> None:
    faults, violated = REFUTED[name]
    for strategy in ("exact", "lineage"):
        (shown,) = verdict_of(name, strategy=strategy).counterexamples
        assert len(shown.faults) == faults
        assert any(violated in str(v) for v in shown.violations)


@pytest.mark.parametrize(("strategy", "name"), by_both(CERTIFIED))
def test_correct_protocols_are_certified(strategy: str, name: str) -> None:
    found = verdict_of(name, strategy=strategy)
    assert (found.answer, found.reason) == (Answer.CERTIFIED, None)


def test_restarts_at_other_times_need_no_runs_of_their_own() -> None:
    """As long as a run taught only of the restarts that it had, this took thousands of runs and five minutes."""
    assert verdict_of("2pc-recovery-durable", strategy="lineage").runs < 400


@pytest.mark.parametrize("name", sorted(p.stem for p in EXAMPLES.glob("*.ded")))
def test_every_example_achieves_something_without_faults_and_needs_no_warning(name: str) -> None:
    found = verdict_of(name)
    assert not found.vacuous
    assert found.notices == ()
    assert run(path(name)).good


@pytest.mark.parametrize("name", sorted(PUBLISHED_EXECUTIONS))
def test_lineage_stays_within_reach_of_the_published_executions(name: str) -> None:
    assert verdict_of(name, strategy="lineage").runs <= 2 * PUBLISHED_EXECUTIONS[name] + 3


@pytest.mark.parametrize("broken", BROKEN, ids=lambda b: b.name)
def test_counterexamples_replay(broken: Broken) -> None:
    found = verdict_of(broken.name)
    for counterexample in found.counterexamples:
        again = run(path(broken.name), counterexample.faults, eot=found.spec.eot)
        assert again.violations == counterexample.violations
        assert again.faults == FaultSet.of(counterexample.faults)


@pytest.mark.parametrize("name", sorted(p.stem for p in EXAMPLES.glob("*.ded")))
def test_every_example_tells_its_story(name: str) -> None:
    """The defaults line first, then prose before the first clause."""
    lines = path(name).read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("//! nodes=")
    clause = next(k for k, line in enumerate(lines) if line and not line.startswith("//"))
    assert sum(1 for line in lines[1:clause] if len(line) > 20) >= 4


def test_three_phase_commit_survives_crashes_alone() -> None:
    """The synchronous, connected network that it was designed for: no losses, any number of crashes."""
    for crashes in (1, 2, 3, 4):
        assert check(path("3pc"), eff=0, crashes=crashes).answer is Answer.CERTIFIED


def test_three_phase_commit_breaks_without_any_fault_but_delays() -> None:
    found = check(path("3pc"), eff=0, crashes=0, delays=1)
    assert found.answer is Answer.COUNTEREXAMPLE
    assert len(found.counterexamples[0].faults.delays) == 3


def test_a_saga_that_knows_its_orders_charges_once(tmp_path: Path) -> None:
    """What its story says: for every attempt the same row, and neither delays nor losses nor crashes do harm."""
    text = path("saga").read_text(encoding="utf-8")
    rule, cure = "charged(P, X, N) :- charge(P, _, X, N);", "charged(P, X, 1) :- charge(P, _, X, _);"
    assert text.count(rule) == 1
    cured = tmp_path / "cured.ded"
    cured.write_text(text.replace(rule, cure), encoding="utf-8")
    assert check(cured).answer is Answer.CERTIFIED
    assert check(cured, eff=9, crashes=3, delays=3).answer is Answer.CERTIFIED


def test_paxos_is_safe_under_asynchrony() -> None:
    assert check(path("paxos-synod"), delays=2).answer is Answer.CERTIFIED
    assert check(path("paxos-synod"), eot=10, eff=9).answer is Answer.CERTIFIED


def test_paxos_breaks_exactly_where_a_quorum_is_at_most_half_of_the_acceptors() -> None:
    """What its story says, with the number of messages that have to get lost."""
    found = check_grid(path("paxos-synod-quorums"), {"acceptors": range(3, 6), "quorum": range(1, 4)})
    lost = {
        tuple(value for _, value in row.setting): len(row.verdict.counterexamples[0].faults)
        for row in found.rows
        if row.verdict is not None and row.verdict.counterexamples
    }
    assert lost == {(3, 1): 3, (4, 1): 4, (4, 2): 5, (5, 1): 5, (5, 2): 6}
    assert found.reason is None
    too_many = check(path("paxos-synod-quorums"), params={"acceptors": 2, "quorum": 3})
    assert (too_many.answer, too_many.ruled_out) == (Answer.INCOMPLETE, True)


@pytest.mark.parametrize(("crashes", "delays"), [(2, 0), (0, 2), (1, 2)])
def test_chain_replication_survives_crashes_and_delays_alone(crashes: int, delays: int) -> None:
    assert check(path("chain"), eff=0, crashes=crashes, delays=delays).answer is Answer.CERTIFIED


def test_every_counterexample_of_chain_replication_cuts_the_tail_off() -> None:
    """Its signs of life are lost three times in a row, and each write to it in the last two of these."""
    for found in verdict_of("chain", find_all=True).counterexamples:
        beats = [loss.time for loss in found.faults.losses if (loss.source, loss.target) == ("t", "m")]
        assert beats == [beats[0], beats[0] + 1, beats[0] + 2]
        assert {("m", "t", time) for time in beats[1:]} <= {loss.message for loss in found.faults.losses}


def test_a_reservation_is_safe_as_long_as_no_request_is_overtaken() -> None:
    assert check(path("reservation"), delays=1).answer is Answer.CERTIFIED
