"""Which values can be nodes: what the places of rows, messages and crashes can be, as far as the text tells.

Values flow from facts and constants through the columns of rules.  Times, conditions and faults are ignored, so
this is more than any execution has, never less: what is not among these values takes no part in any of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from clew.program.checks import assertion_relations
from clew.program.ir import (
    CRASH,
    Aggregate,
    BinOp,
    Const,
    HeadArg,
    Program,
    Rule,
    Timing,
    Value,
    Var,
)


@dataclass(frozen=True)
class Domain:
    """What a column can hold: these values; with ``numbers`` any number, with ``anything`` any value."""

    values: frozenset[Value] = field(default_factory=frozenset)
    numbers: bool = False
    anything: bool = False

    def __contains__(self, value: object) -> bool:
        return self.anything or value in self.values or (self.numbers and isinstance(value, int))

    def __or__(self, other: Domain) -> Domain:
        numbers, anything = self.numbers or other.numbers, self.anything or other.anything
        return Domain(self.values | other.values, numbers, anything)

    def __and__(self, other: Domain) -> Domain:
        """What is in both."""
        values = frozenset(v for v in self.values | other.values if v in self and v in other)
        anything = self.anything and other.anything
        numbers = (self.numbers or self.anything) and (other.numbers or other.anything)
        return Domain(values, numbers, anything)


_NOTHING, _NUMBERS, _ANYTHING = Domain(), Domain(numbers=True), Domain(anything=True)

#: The columns of crash(Observer, Node, Time) that name nodes.
_NODE_COLUMNS = 2


def possible_locations(program: Program) -> Domain:
    """Return what can be the place of a row, the end of a message, or a node whose crash is looked at.

    The program is one that was checked: its rules have names for the places they run at.
    """
    columns = _Columns(program)
    assertions = assertion_relations(program)
    found = [Domain(frozenset(f.args[0] for f in program.facts))]
    for rule in program.rules:
        variables = columns.variables(rule)
        found += [columns.of(place, variables) for place in _places(rule, rule.relation in assertions)]
    return _union(found)


def _places(rule: Rule, assertion: bool) -> Iterator[HeadArg]:
    """Yield what stands for a node in a rule.  The place of a premise is that of its rows, unless it is named."""
    if rule.timing is Timing.ASYNC:
        yield from (rule.location, rule.args[0])
    elif not assertion:  # the first column of an assertion says what must hold, not where
        yield rule.args[0]
    for premise in rule.premises:
        if premise.relation == CRASH:
            yield from premise.args[:_NODE_COLUMNS]
        elif isinstance(premise.args[0], Const):
            yield premise.args[0]


class _Columns:
    """What each column of each relation can hold."""

    def __init__(self, program: Program) -> None:
        given: dict[tuple[str, int], set[Value]] = {}
        for fact in program.facts:
            for column, value in enumerate(fact.args):
                given.setdefault((fact.relation, column), set()).add(value)
        self._found = {key: Domain(frozenset(values)) for key, values in given.items()}
        changed = True
        while changed:
            changed = False
            for rule in program.rules:
                variables = self.variables(rule)
                for column, arg in enumerate(rule.args):
                    before = self._found.get((rule.relation, column), _NOTHING)
                    after = before | self.of(arg, variables)
                    self._found[rule.relation, column] = after
                    changed |= after != before

    def variables(self, rule: Rule) -> dict[Var, Domain]:
        """Return what the variables of a rule can be: what all the premises that bind them allow."""
        found = {p.at: _NUMBERS for p in rule.premises if isinstance(p.at, Var)}
        for call in rule.calls:
            found.update(dict.fromkeys(call.results, _ANYTHING))
        for var, domain in self._occurrences(rule):
            found[var] = found[var] & domain if var in found else domain
        return found

    def _occurrences(self, rule: Rule) -> Iterator[tuple[Var, Domain]]:
        for premise in rule.positive:
            for column, arg in enumerate(premise.args):
                if isinstance(arg, Var) and premise.relation != CRASH:
                    yield arg, self._found.get((premise.relation, column), _NOTHING)
                elif isinstance(arg, Var) and column >= _NODE_COLUMNS:
                    yield arg, _NUMBERS

    def of(self, expr: HeadArg, variables: dict[Var, Domain]) -> Domain:
        match expr:
            case Const(value):
                return Domain(frozenset([value]))
            case Var():
                # Bound by 'crash' alone it is a node that is known already.
                return variables.get(expr, _NOTHING)
            case Aggregate(("min" | "max"), var):
                return variables.get(var, _NOTHING)
            case BinOp() | Aggregate():
                return _NUMBERS
        return _NOTHING  # a tuple is nobody's name


def _union(domains: Iterable[Domain]) -> Domain:
    found = _NOTHING
    for domain in domains:
        found |= domain
    return found
