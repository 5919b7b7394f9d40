"""Supports: what a run promises holds under every set of faults, and goals do not borrow each other's ``pre``.

First by hand, case by case of the walk from a goal back to the faults; then of generated programs.
"""

from __future__ import annotations

import pytest
from hypothesis import assume, given, note, settings
from hypothesis import strategies as st

from clew.checker.model import Model
from clew.checker.traced import TracedModel
from clew.dedalus.loader import parse_program
from clew.dedalus.printer import print_program
from clew.faults import FailureSpec, FaultSet
from clew.lineage.circuit import NEVER, Circuit
from clew.lineage.negation import Negation
from clew.lineage.reach import Reach
from clew.lineage.support import Supports
from clew.lineage.unfolding import Unfolding
from clew.program.checks import check_program
from clew.program.ir import Program
from clew.search.exhaustive import fault_sets
from generators import programs, tiny_specs
from lineage.hand_made import HandMade, gate_text
from lineage.hand_made import faults as fault_set

# -- by hand ---------------------------------------------------------------------------------------------------


def supports(
    text: str, *happening: str, negation: Negation = Negation.EXACT, program: str = "p(X) :- q(X);"
) -> dict[str, str]:
    """Return the gate of each violation that does not happen under these faults, as text."""
    ground = HandMade(text)
    circuit = Circuit()
    certain = Unfolding(ground.graph, circuit, on_cycle=NEVER)
    reach = Reach(parse_program(program), ground.graph, list(ground.graph.faults.values()))
    true = ground.run(*happening)
    found = Supports(ground.graph, circuit, certain, true, fault_set(*happening), negation, lambda: reach)
    return {str(violation): gate_text(circuit, gate) for violation, gate in found.goal_gates().items()}


#: The broadcast of section 3 of the paper, in small: a tells b, and again at time 2 if it has heard nothing.
RETRY = """
    link1 :- not O(a,b,1).
    link2 :- not O(a,b,2).
    log(b)@2 :- link1.
    m.log(b)@2 :- not log(b)@2.
    log(b)@3 :- log(b)@2.
    log(b)@3 :- m.log(b)@2, link2.
    pre(b)@3.
    bad(b) :- pre(b)@3, not log(b)@3.
"""


def test_a_goal_is_kept_by_the_rule_that_fired() -> None:
    """Only this rule: that a retry would have come, this run has not shown."""
    assert supports(RETRY) == {"pre(b)": "no O(a,b,1)"}


def test_a_support_names_faults_that_must_have_happened() -> None:
    """The retry exists because the first message was lost, and arrives because the second was not."""
    assert supports(RETRY, "O(a,b,1)") == {"pre(b)": "O(a,b,1) and no O(a,b,2)"}


def test_a_violation_that_happened_has_no_support() -> None:
    assert supports(RETRY, "O(a,b,1)", "O(a,b,2)") == {}


def test_every_rule_that_fired_is_a_support_of_its_own() -> None:
    """Redundancy in space: one message from a and one from c."""
    text = """
        link1 :- not O(a,b,1), not C(a,1).
        link2 :- not O(c,b,1).
        log(b)@2 :- link1.
        log(b)@2 :- link2.
        pre(b)@2.
        bad(b) :- pre(b)@2, not log(b)@2.
    """
    assert supports(text) == {"pre(b)": "(no C(a,1) and no O(a,b,1)) or no O(c,b,1)"}
    assert supports(text, "O(c,b,1)") == {"pre(b)": "no C(a,1) and no O(a,b,1)"}


def test_a_quorum_is_kept_by_enough_of_those_that_answered() -> None:
    text = """
        b :- not O(b,a,1).
        c :- not O(c,a,1).
        d :- not O(d,a,1).
        ack(b)@2 :- b.
        ack(c)@2 :- c.
        ack(d)@2 :- d.
        post(a)@2 :- 2 { ack(b)@2, ack(c)@2, ack(d)@2 }.
        pre(a)@2.
        bad(a) :- pre(a)@2, not post(a)@2.
    """
    assert supports(text) == {"pre(a)": "2 of {no O(b,a,1), no O(c,a,1), no O(d,a,1)}"}
    assert supports(text, "O(b,a,1)") == {"pre(a)": "2 of {no O(c,a,1), no O(d,a,1)}"}


#: ``pre`` says that a is up; then so is what it sends.
UP = """
    up(a)@2 :- not C(a,1).
    pre(b)@2 :- up(a)@2.
    link :- not O(a,b,1).
    log(b)@2 :- up(a)@2, link.
    bad(b) :- pre(b)@2, not log(b)@2.
"""


def test_what_pre_implies_needs_no_support() -> None:
    """The crash of a would undo ``log``, but ``pre`` with it: nothing would be violated, so it is not tried."""
    assert supports(UP) == {"pre(b)": "no O(a,b,1)"}


def test_without_pre_its_absence_is_what_keeps_the_violation_away() -> None:
    assert supports(UP, "C(a,1)") == {"pre(b)": "C(a,1)"}


def test_goals_do_not_borrow_what_the_pre_of_another_implies() -> None:
    text = (
        UP
        + """
        pre(c)@2.
        bad(c) :- pre(c)@2, not log(b)@2.
    """
    )
    assert supports(text) == {"pre(b)": "no O(a,b,1)", "pre(c)": "no C(a,1) and no O(a,b,1)"}


def test_atoms_that_could_only_support_each_other_stay_away_together() -> None:
    """The token is at neither b nor c, which pass it on to each other, while no way leads in."""
    text = """
        lost1 :- O(a,b,1).
        lost2 :- O(a,c,1).
        stale(b)@2 :- lost1.
        stale(b)@2 :- stale(c)@2.
        stale(c)@2 :- stale(b)@2.
        stale(c)@2 :- lost2.
        pre(b)@2.
        post(b)@2 :- not stale(b)@2.
        bad(b) :- pre(b)@2, not post(b)@2.
    """
    assert supports(text) == {"pre(b)": "no O(a,b,1) and no O(a,c,1)"}


def test_exact_negation_asks_for_one_false_premise_of_every_rule() -> None:
    """No retry is sent: an acknowledgement came from b, and c is down."""
    text = """
        acked :- not O(b,a,1).
        ack(a)@2 :- acked.
        retry(b)@2 :- not ack(a)@2.
        retry(b)@2 :- up(c)@1.
        up(c)@1 :- not C(c,1).
        pre(b)@2.
        post(b)@2 :- not retry(b)@2.
        bad(b) :- pre(b)@2, not post(b)@2.
    """
    assert supports(text, "C(c,1)") == {"pre(b)": "C(c,1) and no O(b,a,1)"}


#: As ground rules and as a program, from which conservative negation tells what could bring a retry about.
ACKED = """
    acked :- not O(b,a,1).
    ack(a)@2 :- acked.
    retry(a)@2 :- asked(a)@2, not ack(a)@2.
    asked(a)@2 :- not O(c,a,1).
    pre(a)@2.
    post(a)@2 :- not retry(a)@2.
    bad(a) :- pre(a)@2, not post(a)@2.
"""
ACKED_PROGRAM = "ack(Y)@async :- b(X, Y);  asked(Y)@async :- c(X, Y);  retry(X) :- asked(X), notin ack(X);"


def test_exact_negation_knows_which_premise_was_missing() -> None:
    assert supports(ACKED, "O(c,a,1)") == {"pre(a)": "O(c,a,1) or no O(b,a,1)"}


def test_conservative_negation_keeps_every_cause_and_the_faults_of_the_run() -> None:
    """Either would be enough; by the text alone, nobody knows which, so both are asked for."""
    found = supports(ACKED, "O(c,a,1)", negation=Negation.CONSERVATIVE, program=ACKED_PROGRAM)
    assert found == {"pre(a)": "O(c,a,1) and no O(b,a,1)"}


def test_negation_that_is_ignored_asks_for_nothing() -> None:
    """Not even where ``pre`` was missing: that goal is left out, or no faults could ever violate it."""
    assert supports(ACKED, negation=Negation.IGNORE) == {"pre(a)": "always"}
    assert supports(UP, "C(a,1)", negation=Negation.IGNORE) == {}


# -- of generated programs -------------------------------------------------------------------------------------

#: Of properties that are expensive, or asked of several variants.
HALF = settings().max_examples // 2


@st.composite
def runs(draw: st.DrawFn) -> tuple[Program, FailureSpec, list[FaultSet], list[FaultSet]]:
    """A program, all sets of faults, and some of them to be run one after the other."""
    program = draw(programs())
    spec = draw(tiny_specs(program))
    note(f"{spec}\n{print_program(program)}")
    program = check_program(program).program
    every = list(fault_sets(Model(program, spec)))
    return program, spec, every, draw(st.lists(st.sampled_from(every), min_size=1, max_size=4, unique=True))


@pytest.mark.parametrize("negation", [Negation.EXACT, Negation.CONSERVATIVE])
@settings(max_examples=HALF)
@given(drawn=runs())
def test_while_a_gate_holds_its_violation_does_not_happen(
    negation: Negation, drawn: tuple[Program, FailureSpec, list[FaultSet], list[FaultSet]]
) -> None:
    program, spec, every, executed = drawn
    model = Model(program, spec)
    violated = {faults: set(model.run(faults).violations) for faults in every}
    system = TracedModel(program, spec, negation)
    for faults in executed:
        run = system.trace(faults)
        assert set(run.violations) == violated[faults]
        assert run.supports.keys() == system.graph.goals.keys() - violated[faults]
        for goal, gate in run.supports.items():
            holding = [other for other in every if system.circuit.evaluate(gate, other)]
            assert faults in holding
            assert [other for other in holding if goal in violated[other]] == []


@pytest.mark.parametrize("negation", list(Negation))
@settings(max_examples=HALF)
@given(drawn=runs())
def test_a_goal_is_explained_beside_others_as_it_is_alone(
    negation: Negation, drawn: tuple[Program, FailureSpec, list[FaultSet], list[FaultSet]]
) -> None:
    program, spec, every, executed = drawn
    together, alone = TracedModel(program, spec, negation), TracedModel(program, spec, negation)
    goals = dict(alone.graph.goals)
    assume(len(goals) > 1)

    for faults in executed:
        explained = together.trace(faults).supports
        for goal, atom in goals.items():
            alone.graph.goals = {goal: atom}
            apart = alone.trace(faults).supports
            assert (goal in apart) == (goal in explained)
            if goal in apart:
                assert [together.circuit.evaluate(explained[goal], f) for f in every] == [
                    alone.circuit.evaluate(apart[goal], f) for f in every
                ]
