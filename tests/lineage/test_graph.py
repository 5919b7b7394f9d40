"""The rule/goal graph: what could derive what, in any execution, and what follows from that alone."""

from __future__ import annotations

from lineage.hand_made import HandMade, fault

#: A message to b at time 1, and another at time 2 if b has not acknowledged the first.
RETRY = HandMade("""
    link1 :- not O(a,b,1), not C(a,1).
    link2 :- not O(a,b,2), not down2.
    down2 :- C(a,1).
    down2 :- C(a,2).
    m.log(b)@1.
    log(b)@2 :- m.log(b)@1, link1.
    m.log(b)@2 :- not log(b)@2.
    log(b)@3 :- log(b)@2.
    log(b)@3 :- m.log(b)@2, link2.
    pre(b)@3 :- seen(a)@3.
    seen(a)@3 :- asked(a)@1, not down2.
    bad(b) :- pre(b)@3, not log(b)@3.
""")


def test_every_rule_is_found_by_its_head() -> None:
    rules = RETRY.graph.rules_for(RETRY.atom("log(b)@3"))
    assert [RETRY.rule_text(rule) for rule in rules] == [
        "log(b)@3 :- log(b)@2.",
        "log(b)@3 :- m.log(b)@2, link2.",
    ]
    assert RETRY.graph.rules_for(RETRY.atom("O(a,b,1)")) == ()


def test_rows_and_messages_are_told_from_helpers_of_the_encoding() -> None:
    rows = {
        name for name in ("log(b)@2", "m.log(b)@1", "link1", "O(a,b,1)") if RETRY.graph.is_row(RETRY.atom(name))
    }
    assert rows == {"log(b)@2", "m.log(b)@1"}
    assert RETRY.graph.rows[RETRY.atom("log(b)@2")] == ("log", 2)


def test_faults_are_known_by_their_atoms() -> None:
    assert RETRY.graph.faults[RETRY.atom("C(a,2)")] == fault("C(a,2)")


def test_what_faults_alone_determine_rests_on_no_row() -> None:
    assert RETRY.names(RETRY.graph.fault_determined) == {
        *("O(a,b,1)", "O(a,b,2)", "C(a,1)", "C(a,2)"),
        *("link1", "link2", "down2"),
    }


def test_what_pre_implies_is_its_only_way_to_come_about() -> None:
    """``down2`` is known to be false, but not why: two rules could have made it true."""
    implied = RETRY.graph.implied_by_pre(RETRY.atom("bad(b)"))
    assert {RETRY.names([atom]).pop(): holds for atom, holds in implied.items()} == {
        "pre(b)@3": True,
        "seen(a)@3": True,
        "asked(a)@1": True,
        "down2": False,
    }


def test_with_two_rules_nothing_behind_pre_is_implied() -> None:
    ground = HandMade("""
        pre(x)@1 :- one.
        pre(x)@1 :- other.
        bad(x) :- pre(x)@1, not post(x)@1.
    """)
    implied = ground.graph.implied_by_pre(ground.atom("bad(x)"))
    assert ground.names(implied) == {"pre(x)@1"}


def test_a_sum_implies_none_of_its_parts() -> None:
    ground = HandMade("""
        pre(x)@1 :- 1 { one }.
        bad(x) :- pre(x)@1, not post(x)@1.
    """)
    assert ground.names(ground.graph.implied_by_pre(ground.atom("bad(x)"))) == {"pre(x)@1"}


def test_what_depends_on_pre_leads_there_through_rows() -> None:
    """``link2`` rests on ``down2``, too, but faults alone explain it, whatever ``pre`` says."""
    depending = RETRY.graph.depending_on_pre(RETRY.atom("bad(b)"))
    assert RETRY.names(depending) == {"pre(b)@3", "seen(a)@3", "asked(a)@1", "down2", "bad(b)"}


def test_atoms_on_a_cycle_know_their_companions() -> None:
    ground = HandMade("""
        reach(b)@1 :- link, reach(c)@1.
        reach(c)@1 :- reach(b)@1.
        reach(b)@1 :- start.
        again(x)@1 :- again(x)@1.
        link :- not O(a,b,1).
    """)
    cycles = {ground.names([atom]).pop(): ground.names(members) for atom, members in ground.graph.cycles.items()}
    assert cycles == {
        "reach(b)@1": {"reach(b)@1", "reach(c)@1"},
        "reach(c)@1": {"reach(b)@1", "reach(c)@1"},
        "again(x)@1": {"again(x)@1"},
    }
