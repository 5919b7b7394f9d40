"""Rules that never fire, how often the others do, and relations that lead nowhere."""

from __future__ import annotations

from typing import Any

import pytest

from clew import Verdict, check, parse_program
from clew.engine.conditions import Occurrence
from command import ROOT, clew

#: What is misspelt in the fourth line is never read, so no account is ever found overdrawn.
BANK = """
balance(a, 5)@1;  balance(A, N)@next :- balance(A, N);  draw(a, b, 9)@1;
draw(A, B, N)@next :- draw(A, B, N);  paid(B, N)@async :- draw(A, B, N);  paid(B, N)@next :- paid(B, N);
overdraft(A) :- balance(A, N), draw(A, _, M), M > N;
overdrfat(A)@next :- overdraft(A);
refused(A)@next :- overdraft(A), balance(A, N), N < 0;
pre(B) :- paid(B, _);  post(B) :- paid(B, _), draw(_, B, _), notin wrong(B);
wrong(B) :- refused(B), paid(B, _);
"""


def bank(text: str = BANK, **options: Any) -> Verdict:
    return check(parse_program(text), nodes=["a", "b"], eot=4, eff=2, **options)


def test_a_misspelt_head_is_noticed_with_the_nearest_name() -> None:
    (notice,) = bank().notices
    assert str(notice) == (
        "<text>:5:1: warning: nothing reads 'overdrfat': what is concluded there changes nothing\n"
        "  remedy: did you mean 'overdraft'?"
    )
    assert bank(BANK.replace("overdrfat", "overdraft")).notices == ()


@pytest.mark.parametrize(
    ("more", "unread"),
    [
        ("log(a)@1;", ["log"]),  # a fact that nobody asks for
        ("seen(B)@next :- paid(B, _); seen(B)@next :- seen(B);", ["seen"]),  # its own rule is no reader
        ("old(B) :- paid(B, _); older(B) :- old(B);", ["older"]),  # 'old' leads somewhere, if only there
        ("", []),
    ],
)
def test_what_nothing_reads(more: str, unread: list[str]) -> None:
    found = bank(BANK.replace("overdrfat", "overdraft") + more).notices
    assert [n.message for n in found] == [
        f"nothing reads '{name}': what is concluded there changes nothing" for name in unread
    ]


def test_relations_that_only_read_each_other_lead_nowhere() -> None:
    more = "overdrfat(A)@next :- overdraft(A); overdrfat(A)@next :- kept(A); kept(A) :- overdrfat(A), paid(A, _);"
    (notice,) = bank(BANK.replace("overdrfat", "overdraft") + more).notices
    assert (notice.message, notice.remedy) == (
        "only rules for each other read 'overdrfat' and 'kept': what is concluded there changes nothing",
        "did you mean 'overdraft' by 'overdrfat'?",
    )


def test_a_cycle_that_something_else_reads_is_not_noticed() -> None:
    more = "x(A) :- y(A), paid(A, _); y(A)@next :- x(A); y(A) :- paid(A, _); overdraft(A) :- x(A), paid(A, 9);"
    assert bank(BANK.replace("overdrfat", "overdraft") + more).notices == ()


def test_without_assertions_what_persists_is_an_outcome() -> None:
    verdict = check(parse_program("n(a, b)@1; n(X, Y)@next :- n(X, Y); m(Y)@async :- n(X, Y);"), eot=3)
    assert [n.message for n in verdict.notices] == ["nothing reads 'm': what is concluded there changes nothing"]


def test_rules_that_never_fire_are_listed_but_not_those_that_tell_what_is_wrong() -> None:
    found = bank().survey
    assert found is not None
    assert [c.rule.relation for c in found.silent] == ["refused"]
    assert {c.rule.relation: c.fires for c in found.coverage}["wrong"] is Occurrence.NEVER


def test_a_rule_that_waits_for_a_fault_fires_under_faults() -> None:
    text = BANK + "lonely(B)@next :- draw(_, B, _), notin paid(B, _);  wrong(B) :- lonely(B), refused(B);"
    found = bank(text.replace("notin paid(B, _)", "notin paid(B, 9), crash(_, _, 2)"), crashes=1).survey
    assert found is not None
    assert {c.rule.relation: c.fires for c in found.coverage}["lonely"] is Occurrence.UNDER_FAULTS


def test_how_often_rules_fire_in_the_failure_free_run() -> None:
    found = bank(coverage=True).survey
    assert found is not None
    assert [(c.rule.relation, c.times) for c in found.coverage] == [
        ("balance", 3),
        ("draw", 3),
        ("paid", 3),
        ("paid", 2),
        ("overdraft", 4),
        ("overdrfat", 3),
        ("refused", 0),
        ("pre", 3),
        ("post", 3),
        ("wrong", 0),
    ]


#: A turn ends the waiting, and waiting makes the turn: stratified, but only through time.
WAITING = """
wait(a)@1;  wait(X)@next :- wait(X), notin turn(X);  turn(X) :- wait(X), late(X);
late(X)@next :- wait(X);  done(X)@next :- turn(X);  done(X)@next :- done(X);
pre(X) :- done(X);  post(X) :- done(X);
"""


def test_what_only_solving_decides_is_counted_as_it_happens() -> None:
    found = check(parse_program(WAITING), nodes=["a"], eot=6, coverage=True, allow_hollow=True).survey
    assert found is not None
    assert [(c.rule.relation, c.times) for c in found.coverage] == [
        ("wait", 1),
        ("turn", 1),
        ("late", 2),
        ("done", 1),
        ("done", 3),
        ("pre", 4),
        ("post", 4),
    ]


def test_coverage_is_printed_below_the_answer() -> None:
    done = clew("check", "examples/paxos-synod.ded", "--coverage", cwd=ROOT)
    assert done.returncode == 0
    answer, _, coverage = done.stdout.partition("coverage: ")
    assert "  2 rules never fire within these bounds:\n    examples/paxos-synod.ded:54: outbid(A, B) :- " in answer
    lines = coverage.splitlines()
    assert lines[0] == "how often each rule fires in the failure-free run, and if not there, when"
    assert [line.split()[0] for line in lines if "outbid(A, B) :-" in line] == ["never", "never"]


def test_a_statement_of_bloom_is_one_rule() -> None:
    verdict = check(ROOT / "examples" / "bloom" / "broadcast.py:Retry", coverage=True)
    assert verdict.survey is not None
    texts = [c.rule.text for c in verdict.survey.coverage]
    assert None not in texts and len(set(texts)) == len(texts)
