"""Circuits: simplification never changes meaning, and renaming is what it says."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from clew.faults import Crash, Fault, FaultSet
from clew.lineage.circuit import ALWAYS, NEVER, Circuit

FAULTS: list[Fault] = [Crash(n, 1) for n in "abcd"]

Expression = tuple[str, Any]


def expressions() -> st.SearchStrategy[Expression]:
    leaves: st.SearchStrategy[Expression] = st.one_of(
        st.tuples(st.just("present"), st.sampled_from(FAULTS)),
        st.tuples(st.just("absent"), st.sampled_from(FAULTS)),
        st.tuples(st.just("constant"), st.booleans()),
    )
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.tuples(st.just("all"), st.lists(inner, max_size=4)),
            st.tuples(st.just("any"), st.lists(inner, max_size=4)),
            st.tuples(
                st.just("least"),
                st.tuples(st.integers(0, 7), st.lists(st.tuples(inner, st.integers(1, 3)), max_size=4)),
            ),
        ),
        max_leaves=12,
    )


def build(circuit: Circuit, expression: Expression) -> int:
    match expression:
        case ("present", fault):
            return circuit.present(fault)
        case ("absent", fault):
            return circuit.absent(fault)
        case ("constant", value):
            return ALWAYS if value else NEVER
        case ("all", parts):
            return circuit.all_of(build(circuit, p) for p in parts)
        case ("any", parts):
            return circuit.any_of(build(circuit, p) for p in parts)
        case ("least", (bound, weighted)):
            return circuit.at_least(bound, [build(circuit, p) for p, _ in weighted], [w for _, w in weighted])
    raise AssertionError(expression)


def holds(expression: Expression, faults: set[Fault]) -> bool:
    match expression:
        case ("present", fault):
            return fault in faults
        case ("absent", fault):
            return fault not in faults
        case ("constant", value):
            return bool(value)
        case ("all", parts):
            return all(holds(p, faults) for p in parts)
        case ("any", parts):
            return any(holds(p, faults) for p in parts)
        case ("least", (bound, weighted)):
            return bool(sum(w for p, w in weighted if holds(p, faults)) >= bound)
    raise AssertionError(expression)


@given(expressions(), st.sets(st.sampled_from(FAULTS)))
def test_a_gate_means_what_it_was_built_from(expression: Expression, faults: set[Fault]) -> None:
    circuit = Circuit()
    gate = build(circuit, expression)
    assert circuit.evaluate(gate, FaultSet.of(faults)) == holds(expression, faults)


@given(expressions(), st.sets(st.sampled_from(FAULTS)))
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
