"""Inputs and choices: the engine, three searches and the naive interpreter agree on generated programs.

The interpreter reads ``choose`` as it is written, and knows nothing of the rules that it is expanded to; which
rows may be given, and what there is to choose, it finds out for itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from hypothesis import assume, given, note
from hypothesis import strategies as st

from clew.checker.model import Model
from clew.checker.traced import TracedModel
from clew.dedalus.loader import parse_program
from clew.dedalus.printer import print_program
from clew.engine.ground import GroundProgram
from clew.faults import FailureSpec, Fault, FaultSet, Input
from clew.lineage.negation import Negation
from clew.program.checks import check_program
from clew.program.ir import Program
from clew.search import exact, exhaustive, lineage
from clew.search.verdict import Ledger
from generators import lasting_programs, open_programs, open_specs
from reference import evaluate, offered_inputs, violations, violations_by_choice

#: Larger problems are left out: brute force goes through every subset.
MOST_FAULTS = 9


@st.composite
def open_problems(
    draw: st.DrawFn, *, lasting: bool = False, mixed: bool = False
) -> tuple[Program, Program, FailureSpec]:
    """A program as it is written, the same as it is checked, and bounds."""
    written = draw(open_programs(lasting_programs() if lasting else None))
    spec = draw(open_specs(written, mixed=mixed))
    note(f"{spec}\n{print_program(written)}")
    return written, check_program(written).program, spec


@st.composite
def runs_of(draw: st.DrawFn) -> tuple[Program, Program, FailureSpec, FaultSet]:
    written, program, spec = draw(open_problems(lasting=draw(st.booleans()), mixed=True))
    possible = GroundProgram(program, spec).relevant_faults()
    chosen: list[Fault] = []
    if possible:
        for fault in draw(st.lists(st.sampled_from(possible), max_size=6, unique=True)):
            if spec.admits(FaultSet.of([*chosen, fault])):
                chosen.append(fault)
    note(str(chosen))
    return written, program, spec, FaultSet.of(chosen)


@given(runs_of())
def test_an_execution_is_what_the_naive_interpreter_says(
    run: tuple[Program, Program, FailureSpec, FaultSet],
) -> None:
    written, program, spec, faults = run
    execution = GroundProgram(program, spec).run(faults)
    expected = evaluate(written, spec, faults)
    for time, tables in expected.items():
        for relation, rows in tables.items():
            if relation in execution.tables:
                assert set(execution.rows(relation, time)) == rows, (relation, time)
            else:
                assert relation in ("crash", "down")
    assert {v.row for v in execution.violations} == violations(written, spec, faults)
    # Grounded with these faults alone, as for explanations and partitions of many nodes, it is the same execution.
    assert GroundProgram(program, spec, only=faults).run(faults).tables == execution.tables


@given(open_problems())
def test_what_may_be_given_is_what_facts_say(problem: tuple[Program, Program, FailureSpec]) -> None:
    written, program, spec = problem
    possible = {f for f in GroundProgram(program, spec).fault_atoms if isinstance(f, Input)}
    assert possible == (offered_inputs(written, spec.eot) if spec.inputs != 0 else possible)


def failure_sets(model: Model) -> Iterator[FaultSet]:
    failures = [f for f in model.faults if f.kind.is_failure]
    for size in range(len(failures) + 1):
        yield from (s for s in map(FaultSet.of, combinations(failures, size)) if model.spec.admits(s))


def least_weight(written: Program, model: Model) -> int | None:
    """The fewest failures that break it, for all subsets of inputs and every way to choose."""
    inputs = sorted(offered_inputs(written, model.spec.eot), key=str)
    most = len(inputs) if model.spec.inputs is None else min(len(inputs), model.spec.inputs)
    for failures in failure_sets(model):
        for number in range(most + 1):
            for chosen in combinations(inputs, number):
                faults = FaultSet.of((*failures, *chosen))
                if any(violations_by_choice(written, model.spec, faults)):
                    return len(failures)
    return None


@given(open_problems())
def test_three_searches_and_brute_force_agree(problem: tuple[Program, Program, FailureSpec]) -> None:
    written, program, spec = problem
    model = Model(program, spec)
    assume(len(model.faults) <= MOST_FAULTS)
    found = {}
    for name, search in (("exact", exact.search), ("exhaustive", exhaustive.search)):
        ledger = Ledger()
        assert search(model, ledger) is None
        found[name] = [c.faults for c in ledger.counterexamples]
    ledger = Ledger()
    assert lineage.search(TracedModel(program, spec, Negation.EXACT), ledger) is None
    found["lineage"] = [c.faults for c in ledger.counterexamples]
    weights = {name: [faults.weight for faults in sets] for name, sets in found.items()}
    assert weights["exact"] == weights["exhaustive"] == weights["lineage"]
    least = least_weight(written, model)
    assert [failures for failures, _ in weights["exact"]] == ([] if least is None else [least])
    for sets in found.values():
        for faults in sets:
            assert violations(written, spec, faults)


@given(open_problems())
def test_all_minimal_sets_are_those_of_brute_force(problem: tuple[Program, Program, FailureSpec]) -> None:
    _, program, spec = problem
    model = Model(program, spec)
    assume(len(model.faults) <= MOST_FAULTS)
    expected: list[frozenset[Fault]] = []
    for size in range(len(model.faults) + 1):
        for chosen in combinations(model.faults, size):
            faults = FaultSet.of(chosen)
            known = any(smaller <= set(chosen) for smaller in expected)
            if not known and spec.admits(faults) and model.run(faults).violations:
                expected.append(frozenset(chosen))
    assert {frozenset(faults) for faults in model.minimal_faults()} == set(expected)
    for negation in (Negation.EXACT, Negation.CONSERVATIVE):
        ledger = Ledger()
        assert lineage.search(TracedModel(program, spec, negation), ledger, find_all=True) is None
        assert {frozenset(c.faults) for c in ledger.counterexamples} == set(expected)


def test_inputs_that_the_bounds_do_not_allow_are_not_tried_one_by_one() -> None:
    """Forty of them have a million million subsets, of which one input alone leaves 41."""
    text = """
        p(a, 1..5); persist[p]; peer(a, b); persist[peer];
        input go(X, V)@T :- p(X, V);
        m(Y, V)@async :- go(X, V), peer(X, Y);
        pre(X) :- p(X, _); post(X) :- p(X, _), notin m(_, 6);
    """
    program = check_program(parse_program(text)).program
    for most, number in ((0, 1), (1, 41), (2, 41 + 40 * 39 // 2)):
        sets = list(exhaustive.fault_sets(Model(program, FailureSpec(("a", "b"), 8, 0, inputs=most))))
        assert (len(sets), len(set(sets))) == (number, number)
