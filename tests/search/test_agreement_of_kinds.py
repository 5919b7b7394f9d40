"""Faults of all kinds together: three searches, and brute force over the naive interpreter, give one answer.

As in ``test_agreement``, with restarts, pauses, partitions and duplicates beside losses, crashes and delays.
Brute force shares nothing with the searches but the list of single faults and which of them go together.
"""

from __future__ import annotations

from itertools import chain, combinations

import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

from clew.checker.model import Model
from clew.checker.traced import TracedModel
from clew.dedalus.printer import print_program
from clew.faults import FailureSpec, Fault, FaultSet
from clew.lineage.negation import Negation
from clew.program.checks import check_program
from clew.program.ir import Program
from clew.search import exact, exhaustive, lineage, random_faults
from clew.search.protocol import Run, TracedRun
from clew.search.symmetry import Symmetries
from clew.search.verdict import Answer, Findings, Ledger, conduct
from generators import few_mixed_specs, lasting_programs
from reference import violations

HALF = settings().max_examples // 2


class _Watched(TracedModel):
    """Checks of every run that its own supports hold under its own faults."""

    def trace(self, faults: FaultSet) -> TracedRun:
        run = super().trace(faults)
        for goal, gate in run.supports.items():
            assert self.circuit.evaluate(gate, faults), f"{goal} is not supported in its own run under {faults}"
        return run


@st.composite
def problems(draw: st.DrawFn, most_sets: int = 600) -> tuple[Program, FailureSpec]:
    program = draw(lasting_programs())
    spec = draw(few_mixed_specs(program, most_sets))
    note(f"{spec}\n{print_program(program)}\n{program.durable}")
    return check_program(program).program, spec


def _exhaustive(program: Program, spec: FailureSpec) -> Findings:
    return conduct(lambda book: exhaustive.search(Model(program, spec), book, find_all=True), Ledger())


def _minimal(findings: Findings) -> set[FaultSet]:
    return {c.faults for c in findings.counterexamples}


@given(problems())
def test_exact_finds_exactly_the_minimal_counterexamples_of_exhaustive(
    problem: tuple[Program, FailureSpec],
) -> None:
    oracle = _exhaustive(*problem)
    found = conduct(lambda book: exact.search(Model(*problem), book, find_all=True), Ledger())
    assert found.answer is oracle.answer
    assert _minimal(found) == _minimal(oracle)
    first = conduct(lambda book: exact.search(Model(*problem), book), Ledger())
    assert first.answer is oracle.answer
    assert {len(faults) for faults in _minimal(first)} == {
        min(map(len, _minimal(oracle))) for _ in _minimal(first)
    }


@pytest.mark.parametrize("negation", [Negation.EXACT, Negation.CONSERVATIVE])
@settings(max_examples=HALF)
@given(problem=problems())
def test_lineage_finds_exactly_the_minimal_counterexamples_of_exhaustive(
    negation: Negation, problem: tuple[Program, FailureSpec]
) -> None:
    oracle = _exhaustive(*problem)
    system = _Watched(*problem, negation)
    found = conduct(lambda book: lineage.search(system, book, find_all=True), Ledger())
    assert found.answer is oracle.answer
    assert _minimal(found) == _minimal(oracle)


@settings(max_examples=HALF)
@given(problem=problems())
def test_symmetry_leaves_the_minimal_counterexamples(
    problem: tuple[Program, FailureSpec],
) -> None:
    oracle = _exhaustive(*problem)
    system, traced = Model(*problem), _Watched(*problem, Negation.EXACT)
    tried = conduct(lambda book: exhaustive.search(system, book, find_all=True, symmetric=system), Ledger())
    followed = conduct(lambda book: lineage.search(traced, book, find_all=True, symmetric=traced), Ledger())
    assert tried.answer is followed.answer is oracle.answer
    assert _minimal(tried) <= _minimal(oracle)
    assert _minimal(followed) <= _minimal(oracle)
    symmetries = Symmetries(system.symmetries(), problem[1].nodes)
    for found in (tried, followed):
        known = _minimal(found)
        assert known | {image for faults in known for image in symmetries.images(faults)} == _minimal(oracle)


@settings(max_examples=HALF)
@given(problem=problems(most_sets=80))
def test_exhaustive_finds_what_brute_force_over_the_interpreter_finds(
    problem: tuple[Program, FailureSpec],
) -> None:
    program, spec = problem
    possible = list(spec.possible_faults())
    failing: list[set[Fault]] = []
    for faults in chain.from_iterable(combinations(possible, size) for size in range(len(possible) + 1)):
        if len(faults) > _most(spec, possible):
            break
        minimal = not any(known <= set(faults) for known in failing)
        if minimal and spec.admits(FaultSet.of(faults)) and violations(program, spec, FaultSet.of(faults)):
            failing.append(set(faults))
    assert _minimal(_exhaustive(*problem)) == {FaultSet.of(faults) for faults in failing}


def _most(spec: FailureSpec, possible: list[Fault]) -> int:
    """How many faults can happen at once at most."""
    kinds = {type(fault) for fault in possible}
    counts = [(kind.most(spec), sum(type(f) is kind for f in possible)) for kind in kinds]
    return sum(count if most is None else min(most, count) for most, count in counts)


@settings(max_examples=HALF)
@given(problem=problems(), seed=st.integers(0, 9))
def test_what_is_drawn_at_random_is_admissible_and_never_breaks_a_certified_program(
    problem: tuple[Program, FailureSpec], seed: int
) -> None:
    drawn: list[FaultSet] = []

    class Noted(Model):
        def run(self, faults: FaultSet) -> Run:
            drawn.append(faults)
            return super().run(faults)

    found = conduct(lambda book: random_faults.search(Noted(*problem), book, seed=seed, max_runs=20), Ledger())
    assert all(problem[1].admits(faults) for faults in drawn)
    if found.answer is Answer.COUNTEREXAMPLE:
        assert _exhaustive(*problem).answer is Answer.COUNTEREXAMPLE
