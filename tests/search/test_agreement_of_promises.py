"""Named pairs and what must never hold: every search, and brute force over the naive interpreter, give one answer.

Under faults of all kinds together.  Each promise is compared for itself: the fault sets that are minimal for it,
the fewest faults that break it, and that it holds where none do.
"""

from __future__ import annotations

from itertools import chain, combinations

import pytest
from hypothesis import assume, given, note, settings
from hypothesis import strategies as st

from clew.checker.model import Model
from clew.checker.strategies import STRATEGIES, Options, note_kept_promises
from clew.checker.traced import TracedModel
from clew.dedalus.loader import parse_program
from clew.dedalus.printer import print_program
from clew.faults import FailureSpec, Fault, FaultSet
from clew.lineage.negation import Negation
from clew.program.checks import check_program
from clew.program.ir import Program
from clew.search import exact, exhaustive, lineage, random_faults
from clew.search.protocol import TracedRun
from clew.search.symmetry import Symmetries
from clew.search.verdict import Answer, Findings, Ledger, conduct
from clew.violation import Violation
from generators import fault_sets, few_mixed_specs, mixed_specs, open_programs, open_specs
from named_promises import promise_names, promising_programs
from reference import broken_promises

#: Of what is expensive: there is one promise more in these programs than in those of the other comparisons.
SOME = settings().max_examples // 20 + 1


class _Watched(TracedModel):
    """Checks of every run that its own supports hold under its own faults."""

    def trace(self, faults: FaultSet) -> TracedRun:
        run = super().trace(faults)
        for goal, gate in run.supports.items():
            assert self.circuit.evaluate(gate, faults), f"{goal} is not supported in its own run under {faults}"
        return run


@st.composite
def problems(draw: st.DrawFn, most_sets: int = 300) -> tuple[Program, FailureSpec]:
    program = draw(promising_programs())
    spec = draw(few_mixed_specs(program, most_sets))
    note(f"{spec}\n{print_program(program)}\n{program.durable}")
    return check_program(program).program, spec


def _violations(program: Program, spec: FailureSpec, faults: FaultSet) -> set[Violation]:
    return {Violation(*found) for found in broken_promises(program, spec, faults)}


def _by_brute_force(program: Program, spec: FailureSpec) -> dict[str, set[FaultSet]]:
    """Return for each promise its minimal fault sets, by running the interpreter under every set."""
    possible = list(spec.possible_faults())
    failing: dict[str, list[set[Fault]]] = {name: [] for name in promise_names(program)}
    for faults in chain.from_iterable(combinations(possible, size) for size in range(len(possible) + 1)):
        if len(faults) > _most(spec, possible):
            break
        if spec.admits(FaultSet.of(faults)):
            for name in {v.relation for v in _violations(program, spec, FaultSet.of(faults))}:
                if not any(known <= set(faults) for known in failing[name]):
                    failing[name].append(set(faults))
    return {name: {FaultSet.of(faults) for faults in sets} for name, sets in failing.items()}


def _most(spec: FailureSpec, possible: list[Fault]) -> int:
    """How many faults can happen at once at most."""
    kinds = {type(fault) for fault in possible}
    counts = [(kind.most(spec), sum(type(f) is kind for f in possible)) for kind in kinds]
    return sum(count if most is None else min(most, count) for most, count in counts)


def _exhaustive(program: Program, spec: FailureSpec) -> Findings:
    system = Model(program, spec)
    return conduct(lambda book: exhaustive.search(system, book, find_all=True, promises=system.promises), Ledger())


def _exact(program: Program, spec: FailureSpec, *, find_all: bool) -> Findings:
    system = Model(program, spec)
    return conduct(lambda book: exact.search(system, book, find_all=find_all, promises=system.promises), Ledger())


def _minimal(findings: Findings) -> set[FaultSet]:
    return {c.faults for c in findings.counterexamples}


def _minimal_by_promise(findings: Findings, names: dict[str, set[FaultSet]]) -> dict[str, set[FaultSet]]:
    """Return the sets that are minimal for each promise, among all that were found."""
    found: dict[str, set[FaultSet]] = {}
    for name in names:
        breaking = [c.faults for c in findings.counterexamples if any(v.relation == name for v in c.violations)]
        found[name] = {f for f in breaking if not any(set(o) < set(f) for o in breaking)}
    return found


@settings(max_examples=SOME)
@given(problem=promising_programs().flatmap(lambda p: st.tuples(st.just(p), mixed_specs(p))), data=st.data())
def test_a_run_violates_what_the_interpreter_says_and_when(
    problem: tuple[Program, FailureSpec], data: st.DataObject
) -> None:
    program, spec = check_program(problem[0]).program, problem[1]
    faults = data.draw(fault_sets(spec))
    note(f"{spec} {faults}\n{print_program(program)}\n{program.durable}")
    model = Model(program, spec)
    expected = _violations(program, spec, faults)
    assert set(model.run(faults).violations) == expected
    assert set(model.ground.run(faults).violations) == expected
    assert set(_Watched(program, spec, Negation.EXACT).trace(faults).violations) == expected


@settings(max_examples=SOME)
@given(problems(most_sets=80))
def test_every_search_finds_the_minimal_faults_of_each_promise(problem: tuple[Program, FailureSpec]) -> None:
    oracle = _by_brute_force(*problem)
    everything = set().union(*oracle.values())
    for found in (_exhaustive(*problem), _exact(*problem, find_all=True)):
        assert _minimal(found) == everything
        assert _minimal_by_promise(found, oracle) == oracle
    fewest = _exact(*problem, find_all=False)
    assert fewest.answer is (Answer.COUNTEREXAMPLE if everything else Answer.CERTIFIED)
    for name, sets in oracle.items():
        broken_by = [c.faults for c in fewest.counterexamples if any(v.relation == name for v in c.violations)]
        assert min(map(len, broken_by), default=None) == min(map(len, sets), default=None), name
    kept = note_kept_promises(fewest, STRATEGIES["exact"], problem[0], Options()).kept
    several = len(oracle) > 1 and bool(everything)
    assert set(kept) == ({name for name, sets in oracle.items() if not sets} if several else set())


@pytest.mark.parametrize("negation", [Negation.EXACT, Negation.CONSERVATIVE])
@settings(max_examples=SOME)
@given(problem=problems())
def test_lineage_finds_the_minimal_faults_of_each_promise(
    negation: Negation, problem: tuple[Program, FailureSpec]
) -> None:
    oracle = _exhaustive(*problem)
    system = _Watched(*problem, negation)
    found = conduct(lambda book: lineage.search(system, book, find_all=True, promises=system.promises), Ledger())
    assert found.answer is oracle.answer
    assert _minimal(found) == _minimal(oracle)
    first = _Watched(*problem, negation)
    one = conduct(lambda book: lineage.search(first, book, promises=first.promises), Ledger())
    assert one.answer is oracle.answer
    assert {len(f) for f in _minimal(one)} == {min(map(len, _minimal(oracle))) for _ in _minimal(one)}


@settings(max_examples=SOME)
@given(problem=problems(), most_conflicts=st.integers(0, 4))
def test_candidates_of_any_size_and_symmetry_lead_to_the_same(
    problem: tuple[Program, FailureSpec], most_conflicts: int
) -> None:
    oracle = _exhaustive(*problem)
    system = _Watched(*problem, Negation.EXACT)
    found = conduct(
        lambda book: lineage.search(
            system, book, find_all=True, promises=system.promises, most_conflicts=most_conflicts
        ),
        Ledger(),
    )
    assert _minimal(found) == _minimal(oracle)
    plain, traced = Model(*problem), _Watched(*problem, Negation.EXACT)
    symmetries = Symmetries(plain.symmetries(), problem[1].nodes)
    for halved in (
        conduct(
            lambda book: exhaustive.search(plain, book, find_all=True, symmetric=plain, promises=plain.promises),
            Ledger(),
        ),
        conduct(
            lambda book: lineage.search(traced, book, find_all=True, symmetric=traced, promises=traced.promises),
            Ledger(),
        ),
    ):
        known = _minimal(halved)
        assert known | {image for faults in known for image in symmetries.images(faults)} == _minimal(oracle)


@settings(max_examples=SOME)
@given(problem=problems(), seed=st.integers(0, 9))
def test_neither_chance_nor_ignored_negation_certifies(problem: tuple[Program, FailureSpec], seed: int) -> None:
    oracle = _exhaustive(*problem)
    drawn = conduct(lambda book: random_faults.search(Model(*problem), book, seed=seed, max_runs=10), Ledger())
    ignoring = _Watched(*problem, Negation.IGNORE)
    ignored = conduct(lambda book: lineage.search(ignoring, book, promises=ignoring.promises), Ledger())
    for found in (drawn, ignored):
        assert found.answer is not Answer.CERTIFIED
        for counterexample in found.counterexamples:
            assert oracle.answer is Answer.COUNTEREXAMPLE
            assert set(counterexample.violations) == _violations(*problem, counterexample.faults)


@st.composite
def open_problems(draw: st.DrawFn) -> tuple[Program, Program, FailureSpec]:
    """A program with inputs and choices and several promises as it is written, as it is checked, and bounds."""
    written = draw(open_programs(promising_programs()))
    spec = draw(open_specs(written, mixed=draw(st.booleans())))
    note(f"{spec}\n{print_program(written)}\n{written.durable}")
    return written, check_program(written).program, spec


@settings(max_examples=SOME)
@given(problem=open_problems(), data=st.data())
def test_what_is_given_and_chosen_violates_what_the_interpreter_says_and_when(
    problem: tuple[Program, Program, FailureSpec], data: st.DataObject
) -> None:
    written, program, spec = problem
    model = Model(program, spec)
    assume(model.faults)
    chosen: list[Fault] = []
    for fault in data.draw(st.lists(st.sampled_from(model.faults), max_size=6, unique=True)):
        if spec.admits(FaultSet.of([*chosen, fault])):
            chosen.append(fault)
    faults = FaultSet.of(chosen)
    note(str(faults))
    expected = _violations(written, spec, faults)
    assert set(model.run(faults).violations) == expected
    assert set(_Watched(program, spec, Negation.EXACT).trace(faults).violations) == expected


@settings(max_examples=SOME)
@given(problem=open_problems())
def test_with_inputs_and_choices_every_search_finds_the_minimal_faults_of_each_promise(
    problem: tuple[Program, Program, FailureSpec],
) -> None:
    written, program, spec = problem
    model = Model(program, spec)
    assume(len(model.faults) <= 9)
    oracle: dict[str, set[FaultSet]] = {name: set() for name in promise_names(written)}
    for faults in chain.from_iterable(combinations(model.faults, n) for n in range(len(model.faults) + 1)):
        if spec.admits(FaultSet.of(faults)):
            for name in {v.relation for v in _violations(written, spec, FaultSet.of(faults))}:
                if not any(set(known) <= set(faults) for known in oracle[name]):
                    oracle[name].add(FaultSet.of(faults))
    traced = TracedModel(program, spec, Negation.EXACT)
    by_lineage = conduct(
        lambda book: lineage.search(traced, book, find_all=True, promises=traced.promises), Ledger()
    )
    for found in (by_lineage, _exact(program, spec, find_all=True), _exhaustive(program, spec)):
        assert _minimal(found) == set().union(*oracle.values())
        assert _minimal_by_promise(found, oracle) == oracle


def test_a_goal_keeps_its_time_when_nodes_trade_places() -> None:
    text = 'p("a", "b"); p("b", "a"); never(X, Y) :- p(X, Y), notin p(Y, X);'
    model = Model(check_program(parse_program(text)).program, FailureSpec(("a", "b"), 3))
    (swapped,) = model.symmetries()
    assert model.rename_goal(Violation("never", ("a", "b"), 2), swapped) == Violation("never", ("b", "a"), 2)
