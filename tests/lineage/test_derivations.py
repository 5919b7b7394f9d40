"""Derivations: which ground rules fired in an execution, and which would have, for what is missing."""

from __future__ import annotations

from clew.lineage.derivations import Derivations
from lineage.hand_made import HandMade

#: a reaches b over a link that can fail; b and c reach each other; c has a way in of its own.
REACHABLE = HandMade("""
    link :- not O(a,b,1).
    way :- not O(a,c,1).
    reach(b)@1 :- link.
    reach(b)@1 :- reach(c)@1.
    reach(c)@1 :- reach(b)@1.
    reach(c)@1 :- way.
""")


def fired(ground: HandMade, atom: str, *faults: str) -> list[str]:
    derivations = Derivations(ground.graph, ground.run(*faults))
    return [ground.rule_text(rule) for rule in derivations.of(ground.atom(atom))]


def missing(ground: HandMade, atom: str, *faults: str) -> list[str]:
    derivations = Derivations(ground.graph, ground.run(*faults))
    return [ground.rule_text(rule) for rule in derivations.against(ground.atom(atom))]


def test_a_rule_fired_if_its_body_holds() -> None:
    ground = HandMade("""
        link :- not O(a,b,1).
        log(b)@2 :- link.
        log(b)@2 :- old, not link.
        old.
    """)
    assert fired(ground, "log(b)@2") == ["log(b)@2 :- link."]
    assert fired(ground, "log(b)@2", "O(a,b,1)") == ["log(b)@2 :- old, not link."]


def test_a_literal_holds_by_its_sign() -> None:
    derivations = Derivations(REACHABLE.graph, REACHABLE.run("O(a,b,1)"))
    assert derivations.holds(REACHABLE.literal("not link"))
    assert not derivations.holds(REACHABLE.literal("link"))
    assert derivations.holds(REACHABLE.literal("O(a,b,1)"))


def test_no_goal_supports_itself() -> None:
    """With one way in, the rule that leads back from c to b has confirmed b, but not derived it."""
    assert fired(REACHABLE, "reach(b)@1", "O(a,c,1)") == ["reach(b)@1 :- link."]
    assert fired(REACHABLE, "reach(c)@1", "O(a,c,1)") == ["reach(c)@1 :- reach(b)@1."]


def test_of_two_ways_in_each_counts_where_it_leads_in() -> None:
    """Both are derived in the first round, so neither needed the other."""
    assert fired(REACHABLE, "reach(b)@1") == ["reach(b)@1 :- link."]
    assert fired(REACHABLE, "reach(c)@1") == ["reach(c)@1 :- way."]


def test_for_what_is_missing_every_rule_that_would_derive_it_is_asked() -> None:
    ground = HandMade("""
        link1 :- not O(a,b,1).
        link2 :- not O(a,b,2).
        log(b)@3 :- link1.
        log(b)@3 :- link2.
    """)
    assert missing(ground, "log(b)@3", "O(a,b,1)", "O(a,b,2)") == ["log(b)@3 :- link1.", "log(b)@3 :- link2."]


def test_atoms_that_could_only_support_each_other_are_missing_together() -> None:
    """That b is missing because c is, and c because b is, explains nothing: what counts are the ways in."""
    both = ["reach(b)@1 :- link.", "reach(c)@1 :- way."]
    assert missing(REACHABLE, "reach(b)@1", "O(a,b,1)", "O(a,c,1)") == both
    assert missing(REACHABLE, "reach(c)@1", "O(a,b,1)", "O(a,c,1)") == both


def test_a_sum_may_do_without_the_atoms_of_its_cycle() -> None:
    """Two of three are enough, so b can be derived before c; c is left out of the rule then."""
    ground = HandMade("""
        one :- not O(a,b,1).
        two :- not O(a,b,2).
        reach(b)@1 :- 2 { one, two, reach(c)@1 }.
        reach(c)@1 :- reach(b)@1.
    """)
    assert fired(ground, "reach(b)@1") == ["reach(b)@1 :- 2 { one, two }."]
    assert missing(ground, "reach(b)@1", "O(a,b,1)") == ["reach(b)@1 :- 2 { one, two }."]


def test_a_sum_that_needs_its_own_cycle_is_no_way_in() -> None:
    ground = HandMade("""
        one :- not O(a,b,1).
        reach(b)@1 :- 2 { one, reach(c)@1 }.
        reach(c)@1 :- reach(b)@1.
    """)
    assert missing(ground, "reach(b)@1") == []
