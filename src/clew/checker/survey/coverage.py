"""Which rules ever fire, and how often in the failure-free run."""

from __future__ import annotations

from dataclasses import dataclass

from clew.budgets.deadline import Deadline
from clew.engine.conditions import Occurrence, RuleConditions, find_failure_free, find_occurrences
from clew.engine.ground import GroundProgram
from clew.errors import Position
from clew.faults import FailureSpec, FaultSet
from clew.program.assertions import assertion_names, is_never
from clew.program.ir import Program, Rule
from clew.program.outcomes import assertion_definitions, persists

#: A rule as its author knows it: one statement of Bloom can be several rules.
_Statement = tuple[Position | None, str | None, int | None]


@dataclass(frozen=True)
class RuleCoverage:
    """When a rule fires; ``times``: in how many ways in the failure-free run, if that was counted.

    ``expected``: that it does not fire tells nothing.  The rule is for a relation that the assertions want to be
    empty, or it keeps rows that are not there, because the rules for them do not fire either.
    """

    rule: Rule
    fires: Occurrence
    expected: bool = False
    times: int | None = None


def find_coverage(ground: GroundProgram) -> tuple[RuleCoverage, ...]:
    """Return when each rule that the program's author wrote fires."""
    rules, statements = ground.program.rules, _statements(ground.program)
    evident = _find_evident(ground)
    conditions = {
        key: [RuleConditions(ground, k).fires() for k in numbers]
        for key, numbers in statements.items()
        if evident.isdisjoint(numbers)
    }
    # Most rules fire without faults soon after the start or in the end.  To look there first saves the grounder
    # most of its work, which for all times is as much as for the program itself.
    soon_or_late = {
        key: [f"{body}, {times}" for body in bodies for times in ("T<=3", f"T>{ground.spec.eot - 2}")]
        for key, bodies in conditions.items()
    }
    at_once = find_failure_free(ground, soon_or_late)
    found = dict.fromkeys(statements.keys() - (conditions.keys() - at_once), Occurrence.FAILURE_FREE)
    found |= find_occurrences(ground, {key: c for key, c in conditions.items() if key not in at_once})
    alarms = _alarms(ground.program)
    first = {key: rules[numbers[0]] for key, numbers in statements.items()}
    return tuple(
        RuleCoverage(rule, found[key], rule.relation in alarms or persists(rule)) for key, rule in first.items()
    )


def _find_evident(ground: GroundProgram) -> frozenset[int]:
    """Return the numbers of rules that fire in the failure-free run because of what it has: nothing to look up.

    A row is there that only one rule can bring about, or one that has to be kept.
    """
    program, times = ground.program, ground.times_of_rows()
    keeping = {n for n, rule in enumerate(program.rules) if persists(rule)}
    founding: dict[str, list[int]] = {}
    for number, rule in enumerate(program.rules):
        if number not in keeping:
            founding.setdefault(rule.relation, []).append(number)
    given = {fact.relation for fact in program.facts} | program.open_rows
    only = {n for relation, (n, *more) in founding.items() if relation in times.keys() - given and not more}
    kept = {n for n in keeping if times.get(program.rules[n].relation, ground.spec.eot) < ground.spec.eot}
    return frozenset(only | kept)


def _alarms(program: Program) -> frozenset[str]:
    """Return the relations of the assertions that are only read with ``notin``, or by what must never hold."""
    # A relation like "conflict", read as "notin conflict(...)": that its rules never fire is what one hopes for.
    definitions, names = assertion_definitions(program), assertion_names(program)
    readers: dict[str, set[str]] = {}
    for rule in program.rules:
        for premise in rule.positive:
            readers.setdefault(premise.relation, set()).add(rule.relation)
    alarms = {name for name in names if is_never(name)}
    grows = bool(alarms)
    while grows:  # and so are the terms in which it says what must never hold
        more = {d for d in definitions - names - alarms if d in readers and readers[d] - {d} <= alarms}
        alarms |= more
        grows = bool(more)
    return (definitions - readers.keys() - names) | alarms


def count_firings(program: Program, spec: FailureSpec, deadline: Deadline) -> dict[Rule, int]:
    """Return for each rule in how many ways it fires in the failure-free run, times counted apart."""
    # Without any possible fault, so that most is certain.  Not all: what is stratified only through time is
    # decided by solving, and the grounder alone would count firings that never happen.
    quiet = FailureSpec(spec.nodes, spec.eot)
    ground = GroundProgram(program, quiet, expect_outcomes=False, deadline=deadline)
    firings: dict[Rule, list[int]] = {}
    for indices in _statements(program).values():
        every = firings[program.rules[indices[0]]] = []
        for index in indices:
            instances = RuleConditions(ground, index).instances()
            ground.extend(instances.name, instances.text)
            every += [literal for literal, _ in ground.atoms(instances.name, instances.arity)]
    # What is certain shares one literal, so that the model is asked for each, and each is counted.
    true = ground.truth(FaultSet(), [literal for every in firings.values() for literal in every])
    return {rule: sum(literal in true for literal in every) for rule, every in firings.items()}


def _statements(program: Program) -> dict[_Statement, list[int]]:
    """Return the numbers of the rules that conclude what each statement of the author concludes."""
    every: dict[_Statement, list[int]] = {}
    for index, rule in enumerate(program.rules):
        if rule.text is None and rule.relation in program.helpers:
            continue  # what a rule with choose is expanded to
        if rule.text is None:
            every[rule.position, None, index] = [index]
        elif rule.position is not None:  # otherwise nobody wrote it
            every.setdefault((rule.position, rule.text, None), []).append(index)
    return {key: _concluding(program, indices) for key, indices in every.items()}


def _concluding(program: Program, indices: list[int]) -> list[int]:
    """Leave out rules for relations that only serve the others of their statement."""
    return [k for k in indices if program.rules[k].relation not in program.helpers] or indices
