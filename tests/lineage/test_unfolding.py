"""Unfolding: an atom as a function of the faults, without any execution."""

from __future__ import annotations

from clew.lineage.circuit import ALWAYS, NEVER, Circuit
from clew.lineage.unfolding import Unfolding
from lineage.hand_made import HandMade, gate_text, violation

#: a is down from the time of its crash on; a link works if neither its message nor its sender is lost.
LINKS = HandMade("""
    down2 :- C(a,1).
    down2 :- C(a,2).
    link :- not O(a,b,2), not down2.
    served :- up.
    up.
""")


def unfolded(ground: HandMade, atom: str, *, holds: bool, on_cycle: int = NEVER) -> str:
    circuit = Circuit()
    gate = Unfolding(ground.graph, circuit, on_cycle=on_cycle).gate(ground.atom(atom), holds=holds)
    return gate_text(circuit, gate)


def test_a_fault_is_its_own_condition() -> None:
    assert unfolded(LINKS, "C(a,1)", holds=True) == "C(a,1)"
    assert unfolded(LINKS, "C(a,1)", holds=False) == "no C(a,1)"


def test_an_atom_holds_by_any_of_its_rules_and_a_rule_by_all_of_its_premises() -> None:
    assert unfolded(LINKS, "down2", holds=True) == "C(a,1) or C(a,2)"
    assert unfolded(LINKS, "link", holds=True) == "(no C(a,1) and no C(a,2)) and no O(a,b,2)"


def test_an_atom_stays_away_while_every_rule_keeps_a_false_premise() -> None:
    assert unfolded(LINKS, "down2", holds=False) == "no C(a,1) and no C(a,2)"
    assert unfolded(LINKS, "link", holds=False) == "(C(a,1) or C(a,2)) or O(a,b,2)"


def test_what_is_certain_is_a_constant() -> None:
    assert unfolded(LINKS, "served", holds=True) == "always"
    assert unfolded(LINKS, "served", holds=False) == "never"
    assert unfolded(LINKS, "underivable", holds=True) == "never"
    assert unfolded(LINKS, "underivable", holds=False) == "always"


def test_a_count_needs_its_bound_and_is_blocked_by_what_is_then_too_few() -> None:
    ground = HandMade("""
        first :- not O(b,a,1).
        second :- not O(c,a,1).
        third :- not O(d,a,1).
        quorum :- 2 { first, second, third }.
    """)
    assert unfolded(ground, "quorum", holds=True) == "2 of {no O(b,a,1), no O(c,a,1), no O(d,a,1)}"
    assert unfolded(ground, "quorum", holds=False) == "2 of {O(b,a,1), O(c,a,1), O(d,a,1)}"


def test_a_sum_counts_by_weights() -> None:
    ground = HandMade("""
        big :- not O(b,a,1).
        small :- not O(c,a,1).
        tiny :- not O(d,a,1).
        total :- 4 { big=3, small=2, tiny=1 }.
    """)
    assert unfolded(ground, "total", holds=True) == "4 of {no O(b,a,1) * 3, no O(c,a,1) * 2, no O(d,a,1)}"
    assert unfolded(ground, "total", holds=False) == "3 of {O(b,a,1) * 3, O(c,a,1) * 2, O(d,a,1)}"


def test_on_a_cycle_it_errs_on_the_side_that_was_asked_for() -> None:
    ground = HandMade("""
        reach(b)@1 :- reach(c)@1.
        reach(c)@1 :- reach(b)@1.
        reach(b)@1 :- link.
        link :- not O(a,b,1).
        told :- reach(c)@1, not C(c,1).
    """)
    assert unfolded(ground, "told", holds=True, on_cycle=NEVER) == "never"
    assert unfolded(ground, "told", holds=True, on_cycle=ALWAYS) == "no C(c,1)"


def test_hazards_are_the_faults_under_which_pre_holds() -> None:
    """``post`` has no part in them: whether it holds is for the runs to tell."""
    ground = HandMade("""
        pre(x)@3 :- not C(a,1).
        post(x)@3 :- not O(a,b,1).
        bad(x) :- pre(x)@3, not post(x)@3.
        bad(y) :- not post(x)@3.
    """)
    circuit = Circuit()
    hazards = Unfolding(ground.graph, circuit, on_cycle=ALWAYS).hazards()
    assert {goal: gate_text(circuit, gate) for goal, gate in hazards.items()} == {
        violation("x"): "no C(a,1)",
        violation("y"): "always",
    }
