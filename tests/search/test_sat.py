"""The fault solver: smallest solutions, within the bounds, for any circuit."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.faults import Crash, Delay, FailureSpec, Fault, FaultSet, Loss
from clew.lineage.circuit import Circuit
from clew.search.sat import FaultSolver, TooManyConflictsError

SPEC = FailureSpec(("a", "b"), eot=3, eff=3, crashes=1, delays=1)
FAULTS: list[Fault] = [
    Loss("a", "b", 1),
    Loss("b", "a", 1),
    Loss("a", "b", 2),
    Crash("a", 1),
    Crash("a", 2),
    Crash("b", 1),
    Delay("a", "b", 1, 1),
]


def admissible() -> list[FaultSet]:
    every = (FaultSet.of(c) for k in range(len(FAULTS) + 1) for c in combinations(FAULTS, k))
    return [faults for faults in every if SPEC.admits(faults)]


@st.composite
def gates(draw: st.DrawFn) -> tuple[Circuit, int]:
    circuit = Circuit()
    known = [leaf(f) for f in FAULTS for leaf in (circuit.present, circuit.absent)]
    for _ in range(draw(st.integers(1, 6))):
        inputs = draw(st.lists(st.sampled_from(known), min_size=1, max_size=4))
        kind = draw(st.sampled_from(["all", "any", "least"]))
        if kind == "all":
            known.append(circuit.all_of(inputs))
        elif kind == "any":
            known.append(circuit.any_of(inputs))
        else:
            weights = draw(st.lists(st.integers(1, 4), min_size=len(inputs), max_size=len(inputs)))
            known.append(circuit.at_least(draw(st.integers(1, 8)), inputs, weights))
    return circuit, known[-1]


@pytest.mark.parametrize("demanded", [True, False])
@given(built=gates())
def test_a_smallest_admissible_fault_set_that_meets_or_avoids_a_gate(
    demanded: bool, built: tuple[Circuit, int]
) -> None:
    circuit, gate = built
    solver = FaultSolver(SPEC, FAULTS, circuit)
    solver.require(solver.implies(gate) if demanded else -solver.follows(gate))
    found = solver.smallest([])
    solver.close()
    wanted = [f for f in admissible() if circuit.evaluate(gate, f) == demanded]
    if found is None:
        assert wanted == []
    else:
        assert found in wanted
        assert len(found) == min(map(len, wanted))


@given(built=gates(), below=st.integers(0, 4))
def test_any_fault_set_below_a_size_is_found_if_there_is_one(built: tuple[Circuit, int], below: int) -> None:
    circuit, gate = built
    wanted = [f for f in admissible() if len(f) < below and circuit.evaluate(gate, f)]
    solver = FaultSolver(SPEC, FAULTS, circuit)
    solver.require(solver.implies(gate))
    found = solver.any_size([], (below, 0))
    assert found in wanted if wanted else found is None
    least = solver.smallest([], (below, 0))
    solver.close()
    assert least in wanted if wanted else least is None
    assert least is None or len(least) == min(map(len, wanted))


def test_a_size_that_takes_too_many_conflicts_is_given_up_and_can_be_asked_for_again() -> None:
    solver = FaultSolver(SPEC, FAULTS, Circuit())
    solver.require(*(solver.happens(f) for f in FAULTS))
    with pytest.raises(TooManyConflictsError):
        solver.smallest([], most_conflicts=0)
    found = solver.smallest([])
    solver.close()
    assert found is not None and len(found) == 1


def test_every_admissible_set_comes_once_and_by_size() -> None:
    solver = FaultSolver(SPEC, FAULTS, Circuit())
    seen = []
    while (found := solver.smallest([])) is not None:
        seen.append(found)
        solver.require(*(-solver.happens(f) if f in found else solver.happens(f) for f in FAULTS))
    solver.close()
    assert sorted(map(len, seen)) == list(map(len, seen))
    assert set(seen) == set(admissible())
    assert len(seen) == len(admissible())
