"""Numbered problems: a generated program with bounds, and one execution of it within larger ones.

The draws are those of the property tests, under a seed of Hypothesis that is the number, so that a number is the
same problem everywhere.  Nothing else of Hypothesis is used: neither a time limit, nor a database, nor what was
drawn before decides what is compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import comb
from typing import Any, NamedTuple

from hypothesis import HealthCheck, Phase, assume, given, seed, settings
from hypothesis import strategies as st

from clew.checker.model import Model
from clew.faults import KINDS, FailureSpec, Fault, FaultSet
from clew.program.checks import check_program
from clew.program.ir import Program
from generators import (
    fault_sets,
    few_mixed_specs,
    lasting_programs,
    mixed_specs,
    open_programs,
    open_specs,
    program_nodes,
)
from named_promises import promise_names, promising_programs
from reference import broken_promises

#: So many sets of faults are tried at most.
MOST_SETS = 400
#: Without inputs and choices so many, by the number of nodes: with three, fewer leave room for nothing but losses.
_MOST_FAILURES = {2: 96, 3: 260}


class Problem(NamedTuple):
    """A program as it is ``written``, and as it is checked; the bounds of the search, and one execution.

    ``possible``: the faults, inputs and picks of which all sets are tried.
    """

    written: Program
    program: Program
    spec: FailureSpec
    possible: tuple[Fault, ...]
    wide: FailureSpec
    faults: FaultSet


def make_problem(number: int) -> Problem:
    """Return the problem with this number."""
    found: list[Problem] = []

    # The first example is the simplest there is, whatever the seed; the second is drawn at random.
    @seed(number)
    @settings(
        max_examples=2,
        database=None,
        deadline=None,
        derandomize=False,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(_problems(is_open=number % 3 == 0))
    def collect(problem: Problem) -> None:
        found.append(problem)

    collect()
    return found[-1]


@st.composite
def _problems(draw: st.DrawFn, *, is_open: bool) -> Problem:
    base = draw(st.sampled_from((lasting_programs(), promising_programs())))
    written = draw(open_programs(base) if is_open else base)
    if draw(st.sampled_from((True, True, True, False))):
        written = _without_idle_promises(written)
    program = check_program(written).program
    if is_open:
        spec = without_idle_bounds(written, draw(open_specs(written, mixed=True)))
        possible = tuple(Model(program, spec).faults)
        assume(possible and count_sets(possible, spec) <= MOST_SETS)
    else:
        most = _MOST_FAILURES[len(program_nodes(written))]
        spec = without_idle_bounds(written, draw(few_mixed_specs(written, most)))
        possible = tuple(spec.possible_faults())
    wide = without_idle_bounds(written, draw(mixed_specs(written)))
    faults = draw(_wide_faults(program, wide) if is_open else fault_sets(wide))
    return Problem(written, program, spec, possible, wide, faults)


def count_sets(possible: Sequence[Fault], spec: FailureSpec) -> int:
    """Return how many sets of these there are within the bounds, at most."""
    number = 1
    for kind in KINDS:
        count, most = sum(isinstance(fault, kind) for fault in possible), kind.most(spec)
        number *= 2**count if most is None else sum(comb(count, k) for k in range(most + 1))
    return number


def _without_idle_promises(program: Program) -> Program:
    """Return the program without what it breaks by itself, unless it promises nothing else: no fault is needed."""
    broken = {name for name, *_ in broken_promises(program, FailureSpec(program_nodes(program), 4), FaultSet())}
    broken |= {"post" + name[3:] for name in broken if name.startswith("pre")}
    kept = tuple(clause for clause in program.clauses if clause.relation not in broken)
    rest = replace(program, clauses=kept)
    return rest if promise_names(rest) else program


@st.composite
def _wide_faults(draw: st.DrawFn, program: Program, spec: FailureSpec) -> FaultSet:
    """Faults, inputs and picks within the bounds."""
    possible = Model(program, spec).faults
    chosen: list[Fault] = []
    if possible:
        for fault in draw(st.lists(st.sampled_from(possible), max_size=8, unique=True)):
            if spec.admits(FaultSet.of([*chosen, fault])):
                chosen.append(fault)
    return FaultSet.of(chosen)


def without_idle_bounds(program: Program, spec: FailureSpec) -> FailureSpec:
    """Return the bounds without those that allow nothing, which the command line refuses."""
    idle: dict[str, Any] = {
        kind.kind.plural: 0
        for kind in KINDS
        if kind.kind.is_failure and kind.name != "loss" and next(iter(kind.possible(spec)), None) is None
    }
    spec = replace(spec, eff=min(spec.eff, spec.eot), **idle)
    return spec if program.inputs else replace(spec, inputs=None)
