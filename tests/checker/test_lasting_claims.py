"""What is said about how long violations last, against the reference interpreter running on for a long time.

Two kinds of programs: small protocols, most of which come to rest, and machines of a few states that send each
other on, which go round in circles of all lengths, with violations that last, pass, and come and go.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

from hypothesis import assume, event, given, note, settings
from hypothesis import strategies as st

import reference
from clew.budgets.deadline import Deadline
from clew.checker.durations import find_duration
from clew.checker.lasting import refuse_lasting
from clew.checker.strategies import STRATEGIES, Options, examine
from clew.dedalus.loader import parse_program
from clew.dedalus.printer import print_program
from clew.duration import Duration, Persistence
from clew.errors import ProgramError, UsageError
from clew.faults import FailureSpec, FaultSet
from clew.program.checks import check_program
from clew.program.ir import Program
from clew.search.verdict import Answer, Findings, Ledger
from generators import fault_sets, lasting_programs, mixed_specs, problems

#: So many steps more are interpreted than Clew has looked at.
LONG = 24
#: Of properties that execute every fault set, or interpret long runs.
HALF, SOME = settings().max_examples // 2, settings().max_examples // 5


def _violated(program: Program, spec: FailureSpec, faults: FaultSet) -> list[bool]:
    """Whether something is violated at times 1, 2, ... up to EOT."""
    run = reference.evaluate(program, spec, faults)
    if any(clause.relation in ("pre", "post") for clause in program.clauses):
        empty: frozenset[reference.Row] = frozenset()
        return [bool(run[t].get("pre", empty) - run[t].get("post", empty)) for t in run]
    expected = reference.evaluate(program, spec, FaultSet())
    names = reference.persistent_relations(program)
    return [any(expected[t][name] - run[t][name] for name in names) for t in run]


def _confirm(duration: Duration, violated: list[bool], eot: int) -> None:
    """Hold what is said against what the reference sees; ``violated`` is of time 1 on."""
    bad = {time for time, is_bad in enumerate(violated, start=1) if is_bad}
    end, loop = len(violated), duration.loop
    match duration.persistence:
        case Persistence.LASTING:
            assert duration.since is not None and loop is not None
            assert bad >= set(range(duration.since, end + 1))
            assert duration.since - 1 not in bad
        case Persistence.TRANSIENT:
            assert duration.since is not None and duration.since > eot
            assert duration.since - 1 in bad
            until = end if loop is not None else duration.followed
            assert not bad & set(range(duration.since, until + 1))
        case Persistence.RECURRING:
            assert duration.kept is not None and duration.again is not None and loop is not None
            assert duration.kept not in bad and duration.again in bad
            assert bad >= set(range(eot, duration.kept)) and not bad & set(range(duration.kept, duration.again))
            repeated = range(loop.first, end + 1 - loop.period)
            assert all((t in bad) == (t + loop.period in bad) for t in repeated)
        case Persistence.OPEN:
            assert duration.reason
    event(duration.persistence.value)


def _follow(program: Program, spec: FailureSpec, faults: FaultSet) -> None:
    assume(_violated(program, spec, faults)[-1])
    duration = find_duration(program, spec, faults, Deadline(None))
    note(f"{faults}: {duration}")
    longer = replace(spec, eot=duration.followed + LONG)
    _confirm(duration, _violated(program, longer, faults), spec.eot)


@st.composite
def machines(draw: st.DrawFn, *, never: bool = False) -> tuple[Program, FailureSpec]:
    """Nodes a and b in one of a few states: each step leads to another, some tell the other node to go to one.

    ``never``: they must not be in some two states at the same time.
    """
    states = range(draw(st.integers(2, 4)))
    lines = ["node(a, b); node(b, a); node(X, Y)@next :- node(X, Y);", "at(a, 0); at(b, 0);"]
    for node in "ab":
        for state in states:
            goal = draw(st.sampled_from([None, *states, *states]))
            if goal is not None:
                lines.append(f"at({node}, {goal})@next :- at({node}, {state}), node({node}, _);")
            if draw(st.integers(0, 2)) == 0:
                told = draw(st.sampled_from(states))
                unless = f", notin at({node}, {draw(st.sampled_from(states))})" if draw(st.booleans()) else ""
                lines.append(f"at(Y, {told})@async :- at({node}, {state}), node({node}, Y){unless};")
    fine = draw(st.lists(st.sampled_from(states), min_size=1, max_size=len(states) - 1, unique=True))
    lines.append("pre(X) :- node(X, _);")
    lines += [f"post(X) :- at(X, {state});" for state in fine]
    if never:
        together = draw(st.sampled_from(states)), draw(st.sampled_from(states))
        lines.append(f"never(X) :- at(X, {together[0]}), node(X, Y), at(Y, {together[1]});")
    lines.append(draw(st.sampled_from(["durable;", "durable at;"])))
    program = check_program(parse_program("\n".join(lines))).program
    names = ("crashes", "delays", "pauses", "duplicates", "restarts", "partitions", "stops")
    kinds = draw(st.sampled_from([{}, *({name: 1} for name in names)]))
    spec = FailureSpec(("a", "b"), eot=draw(st.integers(4, 8)), eff=draw(st.integers(2, 3)), **kinds)
    note(f"{spec}\n{print_program(program)}")
    return program, spec


@settings(max_examples=HALF)
@given(machines(), st.data())
def test_what_is_said_of_machines_is_so(problem: tuple[Program, FailureSpec], data: st.DataObject) -> None:
    program, spec = problem
    _follow(program, spec, data.draw(fault_sets(spec)))


@settings(max_examples=SOME)
@given(problems(), st.data())
def test_what_is_said_of_protocols_is_so(problem: tuple[Program, FailureSpec], data: st.DataObject) -> None:
    program, spec = problem
    _follow(program, spec, data.draw(fault_sets(spec)))


@settings(max_examples=SOME)
@given(st.data())
def test_what_is_said_is_so_after_faults_that_pass(data: st.DataObject) -> None:
    program = check_program(data.draw(lasting_programs())).program
    spec = data.draw(mixed_specs(program))
    note(f"{spec}\n{print_program(program)}")
    _follow(program, spec, data.draw(fault_sets(spec)))


# -- the search ------------------------------------------------------------------------------------------------


def _search(program: Program, spec: FailureSpec, strategy: str, *, find_all: bool = False) -> Findings:
    options = Options(find_all=find_all, lasting=True)
    return examine(STRATEGIES[strategy], program, spec, options, Ledger()).findings


def _admissible(spec: FailureSpec) -> list[FaultSet]:
    possible = list(spec.possible_faults())
    sets = (FaultSet.of(chosen) for size in range(3) for chosen in combinations(possible, size))
    return [faults for faults in sets if spec.admits(faults)]


@settings(max_examples=HALF)
@given(machines())
def test_the_search_for_what_lasts_is_exact(problem: tuple[Program, FailureSpec]) -> None:
    program, spec = problem
    spec = replace(spec, eff=2)
    found, executed = _search(program, spec, "exact"), _search(program, spec, "exhaustive")
    assert (found.answer, bool(found.reason)) == (executed.answer, bool(executed.reason))
    assert [len(c.faults) for c in found.counterexamples] == [len(c.faults) for c in executed.counterexamples]
    event(found.answer.value)
    longer = replace(spec, eot=spec.eot + LONG)
    for counterexample in found.counterexamples:
        assert all(_violated(program, longer, counterexample.faults)[spec.eot - 1 :])
    if found.answer is Answer.CERTIFIED:
        for faults in _admissible(spec):
            if all(fault.last <= spec.eff for fault in faults):
                assert not all(_violated(program, longer, faults)[spec.eot - 1 :]), faults


@settings(max_examples=HALF)
@given(machines(never=True))
def test_the_search_for_what_lasts_is_exact_for_what_must_never_hold(problem: tuple[Program, FailureSpec]) -> None:
    program, spec = problem
    spec = replace(spec, eff=2)
    found, executed = (_search(program, spec, strategy, find_all=True) for strategy in ("exact", "exhaustive"))
    assert (found.answer, bool(found.reason)) == (executed.answer, bool(executed.reason))
    assert {c.faults for c in found.counterexamples} == {c.faults for c in executed.counterexamples}
    event(found.answer.value)
    longer = replace(spec, eot=spec.eot + LONG)
    for counterexample in found.counterexamples:
        happened = _happens(program, spec, counterexample.faults)
        assert any(v.time is not None for v in counterexample.violations) is happened
        assert happened or all(_violated(program, longer, counterexample.faults)[spec.eot - 1 :])
    if found.answer is Answer.CERTIFIED:
        for faults in _admissible(spec):
            if all(fault.last <= spec.eff for fault in faults):
                assert not _happens(program, longer, faults), faults


def _happens(program: Program, spec: FailureSpec, faults: FaultSet) -> bool:
    """Whether something holds that must never hold."""
    return any(tables["never"] for tables in reference.evaluate(program, spec, faults).values())


@settings(max_examples=SOME)
@given(problems())
def test_the_search_for_what_lasts_is_exact_for_protocols(problem: tuple[Program, FailureSpec]) -> None:
    program, spec = problem
    spec = replace(spec, eot=spec.eot + 2)
    try:
        refuse_lasting(program, spec)
    except (ProgramError, UsageError):
        assume(False)
    found, executed = (_search(program, spec, strategy, find_all=True) for strategy in ("exact", "exhaustive"))
    assert {c.faults for c in found.counterexamples} == {c.faults for c in executed.counterexamples}
    assert (found.answer, bool(found.reason)) == (executed.answer, bool(executed.reason))
    event(found.answer.value)
    longer = replace(spec, eot=spec.eot + LONG // 2)
    for counterexample in found.counterexamples[:3]:
        assert all(_violated(program, longer, counterexample.faults)[spec.eot - 1 :])
