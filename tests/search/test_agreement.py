"""Three ways to the same answer: exact, lineage and exhaustive search must agree on generated programs.

This is the project's strongest test.  When it fails, somebody's certificate would be wrong: find out why, and
leave the minimised program behind as a regression test.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

from clew.checker.model import Model
from clew.checker.traced import TracedModel
from clew.dedalus.printer import print_program
from clew.faults import FailureSpec, FaultSet
from clew.lineage.negation import Negation
from clew.program.checks import check_program
from clew.program.ir import Fact, Program, Rule, Value, rule_constants
from clew.search import exact, exhaustive, lineage
from clew.search.protocol import TracedRun
from clew.search.verdict import Answer, Findings, Ledger, conduct
from generators import programs, tiny_specs

#: Of properties that are expensive, or asked of several variants.
HALF = settings().max_examples // 2


class _Watched(TracedModel):
    """Checks of every run that its own supports hold under its own faults: what has been seen is explained."""

    def trace(self, faults: FaultSet) -> TracedRun:
        run = super().trace(faults)
        for goal, gate in run.supports.items():
            assert self.circuit.evaluate(gate, faults), f"{goal} is not supported in its own run under {faults}"
        return run


def _exact(program: Program, spec: FailureSpec) -> Findings:
    return conduct(lambda book: exact.search(Model(program, spec), book, find_all=True), Ledger())


def _exact_first(program: Program, spec: FailureSpec) -> Findings:
    return conduct(lambda book: exact.search(Model(program, spec), book), Ledger())


def _exhaustive(program: Program, spec: FailureSpec, *, symmetry: bool = False) -> Findings:
    system = Model(program, spec)
    symmetric = system if symmetry else None
    return conduct(lambda book: exhaustive.search(system, book, find_all=True, symmetric=symmetric), Ledger())


def _lineage(
    program: Program,
    spec: FailureSpec,
    negation: Negation,
    *,
    symmetry: bool = False,
    find_all: bool = True,
    most_conflicts: int = lineage.MOST_CONFLICTS,
) -> Findings:
    system = _Watched(program, spec, negation)
    symmetric = system if symmetry else None

    def search(book: Ledger) -> str | None:
        return lineage.search(system, book, find_all=find_all, symmetric=symmetric, most_conflicts=most_conflicts)

    return conduct(search, Ledger())


def _fault_sets(findings: Findings) -> set[FaultSet]:
    return {c.faults for c in findings.counterexamples}


#: Nodes may be numbers, and numbers may meet times.
AS_NUMBERS: dict[Value, int] = {"a": 1, "b": 2, "c": 3}


def _numbered(clause: Fact | Rule) -> Fact | Rule:
    if isinstance(clause, Fact):
        return replace(clause, args=tuple(AS_NUMBERS.get(v, v) for v in clause.args))
    return clause


@st.composite
def problems(draw: st.DrawFn) -> tuple[Program, FailureSpec]:
    program = draw(programs())
    spec = draw(tiny_specs(program))
    if draw(st.booleans()) and not set(AS_NUMBERS) & set(rule_constants(program)):
        program = Program(tuple(map(_numbered, program.clauses)))
        spec = replace(spec, nodes=tuple(AS_NUMBERS[n] for n in spec.nodes))
    note(f"{spec}\n{print_program(program)}")
    return check_program(program).program, spec


@given(problems())
def test_exact_finds_exactly_the_minimal_counterexamples_of_exhaustive(
    problem: tuple[Program, FailureSpec],
) -> None:
    oracle = _exhaustive(*problem)
    found = _exact(*problem)
    assert found.answer is oracle.answer
    assert _fault_sets(found) == _fault_sets(oracle)


@given(problems())
def test_the_exact_counterexample_has_the_fewest_faults(problem: tuple[Program, FailureSpec]) -> None:
    oracle = _exhaustive(*problem)
    first = _exact_first(*problem)
    assert [len(c.faults) for c in first.counterexamples] == [
        min(len(c.faults) for c in oracle.counterexamples) for _ in first.counterexamples
    ]
    assert first.answer is oracle.answer


@pytest.mark.parametrize("negation", [Negation.EXACT, Negation.CONSERVATIVE])
@settings(max_examples=HALF)
@given(problem=problems())
def test_lineage_finds_exactly_the_minimal_counterexamples_of_exhaustive(
    negation: Negation, problem: tuple[Program, FailureSpec]
) -> None:
    oracle = _exhaustive(*problem)
    found = _lineage(*problem, negation)
    assert found.answer is oracle.answer
    assert _fault_sets(found) == _fault_sets(oracle)


@pytest.mark.parametrize("negation", [Negation.EXACT, Negation.CONSERVATIVE])
@pytest.mark.parametrize("symmetry", [False, True])
@settings(max_examples=HALF)
@given(problem=problems(), most_conflicts=st.integers(0, 4))
def test_candidates_of_any_size_lead_to_a_smallest_counterexample_too(
    negation: Negation, symmetry: bool, problem: tuple[Program, FailureSpec], most_conflicts: int
) -> None:
    """Generated programs are never hard for the solver: here it gives up after the first few conflicts."""
    fewest = {len(c.faults) for c in _exact_first(*problem).counterexamples}
    found = _lineage(*problem, negation, symmetry=symmetry, find_all=False, most_conflicts=most_conflicts)
    assert {len(c.faults) for c in found.counterexamples} == fewest
    assert found.answer is (Answer.COUNTEREXAMPLE if fewest else Answer.CERTIFIED)


@given(problem=problems(), most_conflicts=st.integers(0, 4))
def test_candidates_of_any_size_lead_to_all_minimal_counterexamples_too(
    problem: tuple[Program, FailureSpec], most_conflicts: int
) -> None:
    oracle = _exhaustive(*problem)
    found = _lineage(*problem, Negation.EXACT, most_conflicts=most_conflicts)
    assert found.answer is oracle.answer
    assert _fault_sets(found) == _fault_sets(oracle)


@given(problems())
def test_lineage_that_ignores_negation_never_certifies(problem: tuple[Program, FailureSpec]) -> None:
    found = _lineage(*problem, Negation.IGNORE)
    system = Model(*problem)
    assert found.answer in (Answer.COUNTEREXAMPLE, Answer.INCOMPLETE)
    for faults in _fault_sets(found):
        assert system.run(faults).violations


@given(problems())
def test_symmetry_changes_no_answer(problem: tuple[Program, FailureSpec]) -> None:
    oracle = _exhaustive(*problem)
    for found in (
        _exhaustive(*problem, symmetry=True),
        _lineage(*problem, Negation.EXACT, symmetry=True),
    ):
        assert found.answer is oracle.answer
        assert _fault_sets(found) <= _fault_sets(oracle)
