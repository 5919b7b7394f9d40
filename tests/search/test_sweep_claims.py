"""What a sweep says about generated programs, against other searches and against the reference interpreter.

Every setting it lists must have the same answer when it is checked by itself, by another strategy; and what it
calls a counterexample must still be one long after the last fault.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

from hypothesis import event, given, note, reject, settings
from hypothesis import strategies as st

import reference
from clew.budgets.deadline import Deadline
from clew.budgets.effort import Effort
from clew.checker.model import Model
from clew.checker.strategies import STRATEGIES, Options, examine
from clew.checker.sweeping import ProgramSweep
from clew.dedalus.printer import print_program
from clew.engine.recurrence import LONGEST_PERIOD
from clew.errors import ProgramError
from clew.faults import FailureSpec, FaultSet
from clew.program.checks import check_program
from clew.program.ir import Fact, Program, Rule
from clew.program.outcomes import stated_outcomes
from clew.search import exhaustive
from clew.search.sweep import FURTHEST, Swept, sweep
from clew.search.verdict import Answer, Ledger, conduct
from generators import FEW_FAULTS, program_nodes, programs

#: Of properties that are expensive, or asked of several variants.
HALF = settings().max_examples // 2

#: For a few small settings; enough to follow what they show.
EFFORT = 12_000

#: With more possible faults, the reference would have to interpret too many executions.
MOST_INTERPRETED = 6


@st.composite
def swept_programs(draw: st.DrawFn) -> tuple[Program, FailureSpec]:
    program = check_program(draw(programs())).program
    base = FailureSpec(program_nodes(program), 1, crashes=draw(st.sampled_from([0, 1])))
    note(f"{base}\n{print_program(program)}")
    return program, base


def _sweep(program: Program, base: FailureSpec, *, find_all: bool = False, effort: int = EFFORT) -> Swept:
    deadline = Deadline(None, Effort(effort))
    system = ProgramSweep(program, base, STRATEGIES["exact"], Options(find_all=find_all), deadline)
    try:
        return sweep(system, base, None, Ledger(deadline))
    except ProgramError as error:  # a number that is doubled at every step, in a run that is followed for long
        assert "too large" in error.message
        event("refused: a number becomes too large")
        reject()


def _answer(program: Program, spec: FailureSpec) -> Answer:
    """By running everything where that is possible, and by lineage where not."""
    if sum(1 for _ in spec.possible_faults()) <= FEW_FAULTS:
        model = Model(program, spec)
        return conduct(lambda book: exhaustive.search(model, book), Ledger()).answer
    return examine(STRATEGIES["lineage"], program, spec, Options(), Ledger()).findings.answer


def _reference_answer(program: Program, spec: FailureSpec) -> Answer:
    """By interpreting every admissible execution."""
    possible = list(spec.possible_faults())
    for size in range(len(possible) + 1):
        for chosen in combinations(possible, size):
            faults = FaultSet.of(chosen)
            if spec.admits(faults) and reference.violations(program, spec, faults):
                return Answer.COUNTEREXAMPLE
    return Answer.CERTIFIED


@settings(max_examples=HALF)
@given(swept_programs(), st.integers(1_000, EFFORT))
def test_settings_have_that_answer_wherever_the_effort_ends(
    problem: tuple[Program, FailureSpec], effort: int
) -> None:
    """What was cut off is neither certified nor a counterexample; and it is cut off at the same place again."""
    program, base = problem
    if not stated_outcomes(program):
        return
    swept = _sweep(program, base, effort=effort)
    assert _sweep(program, base, effort=effort) == swept
    for setting in swept.settings:
        spec = replace(base, eot=setting.eot, eff=setting.eff)
        if setting.answer is not Answer.INCOMPLETE and sum(1 for _ in spec.possible_faults()) <= MOST_INTERPRETED:
            event(f"interpreted: {setting.answer.value}")
            note(f"{setting}")
            assert _reference_answer(program, spec) is setting.answer
    for found in (*swept.findings.counterexamples, *swept.findings.candidates):
        assert reference.violations(program, swept.spec, found.faults)


@settings(max_examples=HALF)
@given(swept_programs())
def test_every_setting_of_a_sweep_has_that_answer(problem: tuple[Program, FailureSpec]) -> None:
    program, base = problem
    if not stated_outcomes(program):
        return
    swept = _sweep(program, base)
    event(f"swept: {swept.findings.answer.value}")
    for setting in swept.settings:
        if setting.eot <= 5 and setting.answer is not Answer.INCOMPLETE:
            note(f"{setting}")
            assert _answer(program, replace(base, eot=setting.eot, eff=setting.eff)) is setting.answer
    certified = [(s.eot, s.eff) for s in swept.settings if s.answer is Answer.CERTIFIED]
    if swept.certified:
        assert swept.certified[:2] in certified
    match swept.findings.answer:
        case Answer.CERTIFIED:
            assert swept.certified and swept.certified[:2] == (swept.spec.eot, swept.spec.eff)
            assert not swept.findings.candidates and not swept.findings.counterexamples
        case Answer.COUNTEREXAMPLE:
            assert swept.findings.counterexamples and not swept.findings.candidates
        case Answer.INCOMPLETE:
            assert swept.findings.reason and not swept.findings.counterexamples


def _is_good(program: Program, base: FailureSpec, faults: FaultSet, until: int) -> list[bool]:
    """At each time, by the reference: something is asserted, and it holds."""
    spec = replace(base, eot=until, eff=until)
    run = reference.evaluate(program, spec, faults)
    if any(c.relation == "pre" for c in program.clauses):
        return [bool(run[t]["pre"]) and run[t]["pre"] <= run[t]["post"] for t in range(1, until + 1)]
    expected = reference.evaluate(program, spec, FaultSet())
    kept = reference.persistent_relations(program)
    return [all(expected[t][r] <= run[t][r] for r in kept) for t in range(1, until + 1)]


@settings(max_examples=HALF)
@given(swept_programs())
def test_counterexamples_of_a_sweep_last(problem: tuple[Program, FailureSpec]) -> None:
    """Far beyond where the run was followed to there is a time at which it is not good, in every period."""
    program, base = problem
    if not stated_outcomes(program):
        return
    swept = _sweep(program, base, find_all=True)
    far = FURTHEST + 2 * LONGEST_PERIOD if _is_small(program) else 2 * LONGEST_PERIOD + 8
    for counterexample in swept.findings.counterexamples[:2]:
        event("a lasting counterexample")
        good = _is_good(program, base, counterexample.faults, far)
        assert not good[swept.spec.eot - 1]
        assert not all(good[-LONGEST_PERIOD:])


def _is_small(program: Program) -> bool:
    """The reference tries every combination of rows: a few rules on few rows go far."""
    facts = sum(isinstance(c, Fact) for c in program.clauses)
    return facts <= 6 and max(len(c.body) for c in program.clauses if isinstance(c, Rule)) <= 3
