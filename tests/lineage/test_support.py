"""Supports: what a run promises holds under every set of faults, and goals do not borrow each other's ``pre``."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, note, settings
from hypothesis import strategies as st

from clew.checker.model import Model
from clew.checker.traced import TracedModel
from clew.dedalus.printer import print_program
from clew.faults import FailureSpec, FaultSet
from clew.lineage.negation import Negation
from clew.program.checks import check_program
from clew.program.ir import Program
from clew.search.exhaustive import fault_sets
from generators import programs, tiny_specs

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
