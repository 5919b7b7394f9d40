"""Circuits: simplification never changes meaning, and renaming is what it says."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from circuits import Expression, build, expressions, means
from clew.faults import Crash, Fault, FaultSet
from clew.lineage.circuit import ALWAYS, NEVER, Circuit

FAULTS: list[Fault] = [Crash(n, 1) for n in "abcd"]


def holds(expression: Expression, faults: set[Fault]) -> bool:
    return means(expression, lambda present, fault: (fault in faults) == present)


@given(expressions(FAULTS), st.sets(st.sampled_from(FAULTS)))
def test_a_gate_means_what_it_was_built_from(expression: Expression, faults: set[Fault]) -> None:
    circuit = Circuit()
    gate = build(circuit, expression)
    assert circuit.evaluate(gate, FaultSet.of(faults)) == holds(expression, faults)


@given(expressions(FAULTS), st.sets(st.sampled_from(FAULTS)))
def test_renaming_faults_renames_the_condition(expression: Expression, faults: set[Fault]) -> None:
    circuit = Circuit()
    gate = build(circuit, expression)
    turn = dict(zip(FAULTS, [*FAULTS[1:], FAULTS[0]], strict=True))
    renamed = circuit.renamed(gate, turn.__getitem__, {})
    image = FaultSet.of(turn[f] for f in faults)
    assert circuit.evaluate(renamed, image) == circuit.evaluate(gate, FaultSet.of(faults))


def test_equal_gates_are_the_same() -> None:
    circuit = Circuit()
    a, b, c = (circuit.present(f) for f in FAULTS[:3])
    assert circuit.all_of([a, b]) == circuit.all_of([b, a, ALWAYS])
    assert circuit.any_of([a, ALWAYS]) == ALWAYS
    assert circuit.all_of([a, NEVER]) == NEVER
    assert circuit.any_of([a]) == a
    assert circuit.at_least(1, [a, b, c], [1, 1, 1]) == circuit.any_of([a, b, c])
    assert circuit.at_least(4, [a, b, c], [1, 1, 1]) == NEVER


def test_gates_of_different_kinds_are_different_though_their_inputs_are_equal() -> None:
    circuit = Circuit()
    leaves = [circuit.absent(fault) for fault in FAULTS[:2]]
    assert circuit.present(FAULTS[0]) != leaves[0]
    assert circuit.all_of(leaves) != circuit.any_of(leaves)
    assert circuit.all_of([]) != circuit.any_of([])
