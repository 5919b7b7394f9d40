"""What the columns of relations can hold, and so which values can be nodes, as far as the text tells.

Values flow from facts and constants through the columns of rules.  Times, conditions and faults are ignored, so
this is more than any execution has, never less: what is not among these values takes no part in any of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from clew.program.ir import (
    BUILT_IN,
    Aggregate,
    BinOp,
    Const,
    HeadArg,
    InputRule,
    Program,
    Rule,
    Timing,
    Value,
    Var,
)
from clew.program.outcomes import assertion_relations


@dataclass(frozen=True)
class Domain:
    """What a column can hold: these values; with ``numbers`` any number, with ``anything`` any value."""

    values: frozenset[Value] = field(default_factory=frozenset)
    numbers: bool = False
    anything: bool = False

    def __contains__(self, value: object) -> bool:
        return self.anything or value in self.values or (self.numbers and isinstance(value, int))

    @property
    def has_numbers(self) -> bool:
        """Tell whether it can hold a number."""
        return self.anything or self.numbers or any(isinstance(value, int) for value in self.values)

    @property
    def has_names(self) -> bool:
        """Tell whether it can hold anything but numbers."""
        return self.anything or any(not isinstance(value, int) for value in self.values)

    def __or__(self, other: Domain) -> Domain:
        numbers, anything = self.numbers or other.numbers, self.anything or other.anything
        return Domain(self.values | other.values, numbers, anything)

    def __and__(self, other: Domain) -> Domain:
        """Return what is in both."""
        # Not the intersection of the sets: a value of one may be among the numbers of the other.
        values = frozenset(v for v in self.values | other.values if v in self and v in other)
        # ``anything`` includes all numbers, so it does not make the other side's numbers go away.
        anything = self.anything and other.anything
        numbers = (self.numbers or self.anything) and (other.numbers or other.anything)
        return Domain(values, numbers, anything)


NOTHING, _NUMBERS, ANYTHING = Domain(), Domain(numbers=True), Domain(anything=True)

#: The columns of crash(Observer, Node, Time) that name nodes.
NODE_COLUMNS = 2


class Columns:
    """What each column of each relation can hold.

    ``others``: what is taken for tuples, and for nodes that only ``crash`` names.  They bring no new names.
    """

    def __init__(self, program: Program, others: Domain = NOTHING) -> None:
        self._others = others
        given: dict[tuple[str, int], set[Value]] = {}
        for fact in (*program.facts, *program.given):
            for column, value in enumerate(fact.args):
                given.setdefault((fact.relation, column), set()).add(value)
        self._found = {key: Domain(frozenset(values)) for key, values in given.items()}
        # Inputs may or may not be given; here all of them are, for more than any execution has is asked for.
        rules = (*program.rules, *map(_as_rule, program.inputs))
        # To the fixpoint.  It ends: numbers that are computed are one flag, so no column can grow without end.
        changed = True
        while changed:
            changed = False
            for rule in rules:
                variables = self.variables(rule)
                for column, arg in enumerate(rule.args):
                    before = self._found.get((rule.relation, column), NOTHING)
                    after = before | self.of(arg, variables)
                    self._found[rule.relation, column] = after
                    changed |= after != before

    def at(self, relation: str, column: int) -> Domain:
        """Return what a column can hold."""
        return self._found.get((relation, column), NOTHING)

    def variables(self, rule: Rule) -> dict[Var, Domain]:
        """Return what the variables of a rule can be: what all the premises that bind them allow."""
        found = {p.at: _NUMBERS for p in rule.premises if isinstance(p.at, Var)}
        for call in rule.calls:
            # Nobody knows what a Python function returns before it is called.
            found.update(dict.fromkeys(call.results, ANYTHING))
        # Every premise must hold, so a variable is only what all of them allow.
        for var, domain in self._occurrences(rule):
            found[var] = found[var] & domain if var in found else domain
        return found

    def _occurrences(self, rule: Rule) -> Iterator[tuple[Var, Domain]]:
        for premise in rule.positive:
            for column, arg in enumerate(premise.args):
                if isinstance(arg, Var) and premise.relation not in BUILT_IN:
                    yield arg, self.at(premise.relation, column)
                # Nodes that only ``crash`` names bring no values: which nodes there are is what callers ask.
                elif isinstance(arg, Var) and column >= NODE_COLUMNS:
                    yield arg, _NUMBERS

    def of(self, expr: HeadArg, variables: dict[Var, Domain]) -> Domain:
        """Return what an expression can be where its variables are these."""
        match expr:
            case Const(value):
                return Domain(frozenset([value]))
            case Var():
                return variables.get(expr, self._others)
            case Aggregate(("min" | "max"), var):  # one of the values; other aggregates are computed
                return variables.get(var, self._others)
            # Not evaluated: the flag for all numbers is what makes the fixpoint end.
            case BinOp() | Aggregate():
                return _NUMBERS
        return self._others


def possible_locations(program: Program) -> Domain:
    """Return what can be the place of a row, the end of a message, or a node whose crash is looked at.

    The program is one that was checked: its rules have names for the places they run at.
    """
    columns = Columns(program)
    assertions = assertion_relations(program)  # what they state need not be at any place
    found = Domain(frozenset(f.args[0] for f in program.facts if f.relation not in program.ranges))
    for declared in program.inputs:
        found |= columns.of(declared.args[0], columns.variables(_as_rule(declared)))
    for rule in program.rules:
        variables = columns.variables(rule)
        for place in _places(rule, rule.relation in assertions):
            found |= columns.of(place, variables)
    return found


def _as_rule(declared: InputRule) -> Rule:
    """Return a rule that concludes all that a declaration offers; its time is that of a premise: a number."""
    if isinstance(declared.time, int) or not declared.rule.positive:
        return declared.rule
    first = declared.rule.positive[0]
    timed = replace(first, at=declared.time)
    return replace(declared.rule, body=tuple(timed if b is first else b for b in declared.rule.body))


def _places(rule: Rule, assertion: bool) -> Iterator[HeadArg]:
    """Yield what stands for a node in a rule.  The place of a premise is that of its rows, unless it is named."""
    if rule.timing is Timing.ASYNC:
        yield from (rule.location, rule.args[0])
    elif not assertion:  # the first column of an assertion says what must hold, not where
        yield rule.args[0]
    for premise in rule.premises:
        if premise.relation in BUILT_IN:
            yield from premise.args[:NODE_COLUMNS]
        elif isinstance(premise.args[0], Const):
            yield premise.args[0]
