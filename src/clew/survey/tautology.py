"""Whether ``post`` follows from ``pre`` alone, so that nothing the protocol does could break the promise.

The rules of the assertions are kept, and everything that they read of the protocol becomes a free choice: any set
of rows, built from the values that occur in the columns it is compared with.  If even so no row of ``pre`` lacks
its ``post``, the promise says nothing about the protocol.  More rows can only bring more ways to break it, so a
domain that is too large to be tried is given up rather than cut down.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import prod

from clew.engine.conditions import RuleConditions
from clew.engine.encode import Relations, encode_value
from clew.engine.ground import GroundProgram
from clew.engine.occurrence import Occurrence, find_occurrences
from clew.errors import ProgramError
from clew.faults import FailureSpec
from clew.interrupt import Deadline
from clew.program.ir import CRASH, Const, Program, Rule, Timing, Value, Var
from clew.program.outcomes import POST, PRE, has_assertions
from clew.survey.definitions import assertion_definitions

#: Rows that the protocol may be free to have; with more, nothing is said.
_MOST_FREE_ROWS = 5_000

#: A column of a relation.
_Column = tuple[str, int]
#: The rows that relations may have.
_Domain = Mapping[str, Sequence[tuple[Value, ...]]]


def following_rules(ground: GroundProgram, deadline: Deadline) -> dict[int, bool]:
    """Return for the rules of ``pre``, by number, whether ``post`` follows from them, as far as that is known."""
    program = ground.program
    if not has_assertions(program) or not _judges_the_end_only(program):
        return {}
    kept = assertion_definitions(program)
    values = _column_values(ground, kept)
    try:
        # Two values of a column and crashes at the start are mostly enough to break what can be, and soon tried.
        short = replace(ground.spec, eot=min(2, ground.spec.eot))
        found = _unbreakable_rules(ground, short, kept, _domain(ground, kept, values, 2), deadline)
        if any(found.values()):
            found = _unbreakable_rules(ground, ground.spec, kept, _domain(ground, kept, values, None), deadline)
        return found
    except ProgramError:  # free rows may lead to arithmetic that the protocol never does
        return {}


def _rules(program: Program, kept: frozenset[str]) -> list[Rule]:
    return [rule for rule in program.rules if rule.relation in kept]


def _judges_the_end_only(program: Program) -> bool:
    """Whether the assertions look at one time: a history of free rows would be too large a domain."""
    kept = assertion_definitions(program)
    timeless = all(
        rule.timing is Timing.SAME and all(p.at is None for p in rule.premises) for rule in _rules(program, kept)
    )
    return timeless and not any(fact.relation in (PRE, POST) for fact in program.facts)


def _unbreakable_rules(
    ground: GroundProgram, spec: FailureSpec, kept: frozenset[str], domain: _Domain | None, deadline: Deadline
) -> dict[int, bool]:
    """Ask for a choice of rows under which a rule of ``pre`` applies and ``post`` does not."""
    if domain is None:
        return {}
    original = ground.program
    numbers = [index for index, rule in enumerate(original.rules) if rule.relation in kept]
    assertions = Program(tuple(original.rules[index] for index in numbers), original.helpers)
    relations = Relations.of(assertions)
    choices = "\n".join(
        f"{{ r{relations.number(relation)}({','.join(map(encode_value, row))},{spec.eot}) }}."
        for relation, rows in domain.items()
        for row in rows
    )
    anything = replace(spec, crashes=len(spec.nodes), eff=0, delays=0)
    free = GroundProgram(assertions, anything, expect_outcomes=False, choices=choices, deadline=deadline)
    found = find_occurrences(
        free,
        {
            numbers[index]: [RuleConditions(free, index).breaks_promise()]
            for index, rule in enumerate(assertions.rules)
            if rule.relation == PRE and not rule.aggregates
        },
    )
    return {index: when is Occurrence.NEVER for index, when in found.items() if when is not Occurrence.UNKNOWN}


def _domain(
    ground: GroundProgram, kept: frozenset[str], values: Mapping[_Column, set[Value]], most: int | None
) -> _Domain | None:
    """Return the rows that the free relations may have, with ``most`` values a column; None if too many."""
    relations = ground.encoding.relations
    read = dict.fromkeys(p.relation for rule in _rules(ground.program, kept) for p in rule.premises)
    domain: dict[str, list[tuple[Value, ...]]] = {}
    for relation in (r for r in read if r not in kept and r != CRASH):
        places = [(relation, k) for k in range(relations.arity(relation))]
        columns = [sorted(values.get(place, ()), key=repr)[:most] for place in places]
        size = prod(map(len, columns))
        if size == 0 or size + sum(map(len, domain.values())) > _MOST_FREE_ROWS:
            return None
        domain[relation] = list(product(*columns))
    return domain


def _column_values(ground: GroundProgram, kept: frozenset[str]) -> dict[_Column, set[Value]]:
    """Return for every column the values that occur in it or in a column that it is compared with."""
    values: dict[_Column, set[Value]] = {}
    rules = _rules(ground.program, kept)
    for relation in dict.fromkeys(p.relation for rule in rules for p in rule.premises if p.relation != CRASH):
        for row in ground.possible_rows(relation, ground.spec.eot):
            for k, value in enumerate(row):
                values.setdefault((relation, k), set()).add(value)
    for rule in rules:
        for column, constant in _constants(rule):
            values.setdefault(column, set()).add(constant)
    groups = [group for rule in rules for group in _compared(rule)]
    changed = True
    while changed:
        changed = False
        for group in groups:
            union = set().union(*(values.get(column, set()) for column in group))
            for column in group:
                if values.setdefault(column, set()) != union:
                    values[column] = set(union)
                    changed = True
    return values


def _constants(rule: Rule) -> Iterator[tuple[_Column, Value]]:
    for premise in rule.premises:
        for k, arg in enumerate(premise.args):
            if isinstance(arg, Const):
                yield (premise.relation, k), arg.value


def _compared(rule: Rule) -> list[list[_Column]]:
    """Return the columns of the rule that share a variable."""
    found: dict[Var, list[_Column]] = {}
    for premise in rule.premises:
        for k, arg in enumerate(premise.args):
            if isinstance(arg, Var):
                found.setdefault(arg, []).append((premise.relation, k))
    for k, head in enumerate(rule.args):
        if isinstance(head, Var):
            found.setdefault(head, []).append((rule.relation, k))
    return list(found.values())
