"""The question has no model exactly where the exact search certifies, and its models are the counterexamples."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import assume, given, note, settings
from hypothesis import strategies as st

from clew import parse_program
from clew.budgets.deadline import Deadline
from clew.checker.model import Model
from clew.dedalus.printer import print_program
from clew.faults import FailureSpec, FaultSet
from clew.program.checks import check_program
from clew.program.ir import Program
from clew.proof.archive import write_archive
from clew.proof.question import ground_question
from clew.proof.refuting import ContradictionError, NoRefutation, Refutation, refute
from clew.verify.verifying import verify
from generators import open_programs, open_specs, programs, tiny_specs
from proof.stable import violating_faults
from reference import violations
from search.test_sums import sums
from verify.parts import parts_of

#: The naive interpreter is slow, and so is listing all models.
FEW_FAULT_SETS = 40
FEW = settings().max_examples // 4


def _admissible(spec: FailureSpec) -> list[FaultSet]:
    possible = list(spec.possible_faults())
    sets = (FaultSet.of(c) for size in range(len(possible) + 1) for c in combinations(possible, size))
    return [faults for faults in sets if spec.admits(faults)]


@st.composite
def problems(draw: st.DrawFn) -> tuple[Program, FailureSpec]:
    program = draw(programs())
    spec = draw(tiny_specs(program))
    note(f"{spec}\n{print_program(program)}")
    return program, spec


@settings(max_examples=FEW)
@given(problems())
def test_models_of_the_question_are_the_counterexamples(problem: tuple[Program, FailureSpec]) -> None:
    program, spec = problem
    admissible = _admissible(spec)
    prepared = check_program(program).program
    if len(admissible) <= FEW_FAULT_SETS:
        expected = {faults for faults in admissible if violations(program, spec, faults)}
    else:
        model = Model(prepared, spec)
        expected = {faults for faults in admissible if model.run(faults).violations}
    assert violating_faults(ground_question(prepared, spec)) == expected


@st.composite
def open_problems(draw: st.DrawFn) -> tuple[Program, FailureSpec]:
    program = draw(open_programs())
    spec = draw(open_specs(program))
    note(f"{spec}\n{print_program(program)}")
    return program, spec


@settings(max_examples=FEW)
@given(open_problems())
def test_inputs_and_choices_are_open_in_the_question(problem: tuple[Program, FailureSpec]) -> None:
    program, spec = problem
    prepared = check_program(program).program
    given_rows = [fault for fault in Model(prepared, spec).faults if not fault.kind.is_failure]
    possible = [*spec.possible_faults(), *given_rows]
    assume(len(possible) <= 8)
    sets = (FaultSet.of(c) for size in range(9) for c in combinations(possible, size))
    expected = {faults for faults in sets if spec.admits(faults) and violations(program, spec, faults)}
    assert violating_faults(ground_question(prepared, spec)) == expected


@given(problems())
def test_a_certificate_has_a_proof_and_a_counterexample_has_none(problem: tuple[Program, FailureSpec]) -> None:
    program, spec = problem
    prepared = check_program(program).program
    certified = next(iter(Model(prepared, spec).ever_fewer_faults()), None) is None
    if not certified:
        with pytest.raises(ContradictionError):
            refute(prepared, spec, Deadline(None))
        return
    found = refute(prepared, spec, Deadline(None))
    assert isinstance(found, Refutation)
    verified = verify(parts_of(found))
    assert verified.clauses == len(found.clauses)


@settings(max_examples=FEW)
@given(sums(), st.integers(1, 3), st.integers(0, 1))
def test_sums_that_flow_back(text: str, eff: int, crashes: int) -> None:
    """Sums of negative numbers that flow back are ground to disjunctions and loops."""
    note(text)
    program = check_program(parse_program(text)).program
    spec = FailureSpec(("a", "b"), 4, eff, crashes)
    faults = violating_faults(ground_question(program, spec))
    model = Model(program, spec)
    assert faults == {f for f in _admissible(spec) if model.run(f).violations}
    if not faults:
        found = refute(program, spec, Deadline(None))
        assert isinstance(found, Refutation)
        assert verify(parts_of(found)).steps <= len(found.steps)


REACHING = """
link("a", "b")@1; link("b", "c")@1; link("c", "b")@1;
link(X, Y)@next :- link(X, Y);
told(Y, X)@async :- link(X, Y);
told(X, Y)@next :- told(X, Y);
reaches(X, Y) :- told(Y, X);
reaches(X, Z) :- reaches(X, Y), reaches(Y, Z);
pre(X, Y) :- reaches(X, Y);
post(X, Y) :- reaches(X, Y), told(Y, _);
"""


def test_circles_within_a_time_need_loop_formulas() -> None:
    program = check_program(parse_program(REACHING)).program
    spec = FailureSpec(("a", "b", "c"), 4, 3, 1)
    found = refute(program, spec, Deadline(None))
    assert isinstance(found, Refutation)
    loops = [line for line in found.definitions if line.startswith("loop")]
    assert loops
    assert verify(parts_of(found)).loops == len(loops)


def test_without_a_violation_that_is_possible_the_proof_is_one_step() -> None:
    program = check_program(parse_program('pre("a") :- p("a"); post("a") :- p("a"); p("a")@1;')).program
    found = refute(program, FailureSpec(("a",), 2, 0, 0), Deadline(None))
    assert isinstance(found, Refutation)
    assert found.steps == ("0",)
    assert verify(parts_of(found)).steps == 0


def test_what_is_too_large_has_no_proof() -> None:
    program = check_program(parse_program(REACHING)).program
    found = refute(program, FailureSpec(("a", "b", "c"), 4, 3, 1), Deadline(None), most_literals=1000)
    assert found == NoRefutation("the question has more than 1,000 literals")


def test_a_part_that_is_too_long_is_not_written(monkeypatch: pytest.MonkeyPatch) -> None:
    program = check_program(parse_program(REACHING)).program
    found = refute(program, FailureSpec(("a", "b", "c"), 4, 3, 1), Deadline(None))
    assert isinstance(found, Refutation)
    monkeypatch.setattr("clew.proof.archive.MOST_PART_BYTES", 1500)
    archive = write_archive(found)
    assert isinstance(archive, NoRefutation)
    assert "longer than" in archive.reason


def test_the_deadline_is_a_reason() -> None:
    program = check_program(parse_program(REACHING)).program
    found = refute(program, FailureSpec(("a", "b", "c"), 4, 3, 1), Deadline(0))
    assert found == NoRefutation("the time limit of 0 s ran out")
