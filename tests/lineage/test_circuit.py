"""Circuits: gates are numbered once, simplification never changes meaning, and renaming is what it says."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from circuits import Expression, build, expressions, means
from clew.faults import Crash, Fault, FaultSet
from clew.lineage.circuit import ALWAYS, NEVER, Absent, AllOf, AtLeast, Circuit, build_gate, inputs_of

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
    renamed = circuit.rename_faults(gate, turn.__getitem__, {})
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


# -- gates by hand ---------------------------------------------------------------------------------------------


def test_inputs_come_before_the_gates_that_need_them() -> None:
    circuit = Circuit()
    a, b = (circuit.absent(f) for f in FAULTS[:2])
    both = circuit.all_of([b, a])
    c = circuit.present(FAULTS[2])
    either = circuit.any_of([both, c])
    assert circuit[a] == Absent(FAULTS[0])
    assert circuit[both] == AllOf((a, b))
    assert inputs_of(circuit[both]) == (a, b)
    assert circuit.below([either]) == [a, b, both, c, either]
    assert circuit.below([either], known={both}) == [c, either]


def test_a_count_takes_what_is_certain_off_its_bound() -> None:
    circuit = Circuit()
    a, b, c = (circuit.absent(f) for f in FAULTS[:3])
    two_more = circuit.at_least(3, [a, ALWAYS, b, NEVER, c], [1, 1, 1, 5, 1])
    assert circuit[two_more] == AtLeast(2, (a, b, c), (1, 1, 1))
    assert circuit.at_least(2, [a, ALWAYS], [1, 2]) == ALWAYS
    assert circuit.at_least(3, [a, b], [3, 4]) == circuit.any_of([a, b])


def test_a_gate_holds_under_faults_of_both_kinds() -> None:
    """A retry arrives: the first message was lost, and the second was not."""
    circuit = Circuit()
    retried = circuit.all_of([circuit.present(FAULTS[0]), circuit.absent(FAULTS[1])])
    assert circuit.evaluate(retried, FaultSet.of(FAULTS[:1]))
    assert not circuit.evaluate(retried, FaultSet())
    assert not circuit.evaluate(retried, FaultSet.of(FAULTS[:2]))


def test_gates_of_another_circuit_keep_their_numbers_when_added_in_order() -> None:
    one, other = Circuit(), Circuit()
    one.any_of([one.all_of([one.absent(FAULTS[0]), one.absent(FAULTS[1])]), one.present(FAULTS[2])])
    assert [other.add(one[number]) for number in range(len(one))] == list(range(len(one)))


# -- building them depth first ---------------------------------------------------------------------------------


def test_what_a_node_needs_is_built_first_and_once() -> None:
    needs = {"goal": ["left", "right"], "left": ["leaf"], "right": ["leaf"], "leaf": []}
    gates: dict[str, int] = {}
    built: list[str] = []

    def plan(node: str) -> tuple[list[str], Callable[[], int]]:
        def finish() -> int:
            assert all(needed in gates for needed in needs[node])
            built.append(node)
            return len(built)

        return needs[node], finish

    assert build_gate("goal", gates, plan) == 4
    assert built == ["leaf", "right", "left", "goal"]


def test_gates_that_are_known_are_not_planned_again() -> None:
    gates = {"pre": ALWAYS}

    def plan(node: str) -> tuple[list[str], Callable[[], int]]:
        assert node == "goal"
        return ["pre"], lambda: gates["pre"]

    assert build_gate("goal", gates, plan) == ALWAYS


def test_lineage_may_be_deeper_than_the_stack() -> None:
    gates: dict[int, int] = {}
    depth = 50_000
    assert build_gate(depth, gates, lambda n: ([n - 1] if n else [], lambda: ALWAYS)) == ALWAYS
    assert len(gates) == depth + 1
