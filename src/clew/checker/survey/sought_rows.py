"""When what a rule for ``never`` looks for is there, without the condition that makes it wrong.

``never(X, Y) :- holds(X, S), holds(Y, S), X != Y;`` looks for holders.  Where nobody holds anything in any
execution, nothing is promised; that nobody holds it together with somebody else is the promise.  So of a rule only
what it reads *positively* is asked for, at one time and with its joins and constants: comparisons, negations and
what is computed are left out.  Relations that only define terms of the assertions, ``clash`` or
``number_of_holders``, say, are empty in a correct protocol, too, and are looked through: ``s<i>`` are their rows
if nothing but positive premises counted.  Columns whose values are computed are left out of ``s<i>``, as nobody
knows what they would be.

All this only makes a condition weaker: a rule that can fire is never said to look for nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from clew.engine.conditions import RuleConditions
from clew.engine.ground import GroundProgram
from clew.program.ir import Const, HeadArg, Premise, Program, Rule, Timing, Var, Wildcard
from clew.program.outcomes import assertion_definitions

#: Of relations that only define terms, the columns whose values are computed.
_Open = dict[str, frozenset[int]]


def add_sought_rows(ground: GroundProgram, rules: Iterable[int]) -> dict[int, str]:
    """Ground what these rules look for, by their number; return the condition that it is there at some time."""
    numbers = list(rules)
    terms = _find_terms(ground.program)
    lines = [_SoughtRows(ground, n, terms).line() for n in _behind(ground.program, numbers, terms)]
    ground.extend(f"sought{ground.next_part()}", "\n".join(lines))
    return {n: _SoughtRows(ground, n, terms).condition() for n in numbers}


class _SoughtRows(RuleConditions):
    """One rule, of which only positive premises count."""

    def __init__(self, ground: GroundProgram, index: int, terms: _Open) -> None:
        rule = ground.program.rules[index]
        self._terms = terms
        self._original = rule
        # A head that is bound in any case: what is concluded is written by ``line``.
        super().__init__(ground, index, replace(rule, args=(Const(0),), timing=Timing.SAME, body=rule.positive))
        self.names |= {p.at: "T" for p in rule.premises if isinstance(p.at, Var)}  # also those of negated premises

    def condition(self) -> str:
        return ", ".join(self.body())

    def line(self) -> str:
        """Return the rule for ``s<i>``."""
        body, relation = self.condition(), self._original.relation
        args = [self.expr(a) for a in _known(self._original.args, self._terms[relation])]
        return f"s{self.relations.number(relation)}({','.join([*args, 'T'])}) :- {body}."

    def _premise(self, premise: Premise) -> str:
        if premise.relation not in self._terms:
            return super()._premise(premise)
        time = premise.at if isinstance(premise.at, int) else "T"
        args = [self.expr(a) for a in _known(premise.args, self._terms[premise.relation])]
        return f"s{self.relations.number(premise.relation)}({','.join([*args, str(time)])})"


def _known(args: Iterable[HeadArg], computed: frozenset[int]) -> list[HeadArg]:
    return [arg for column, arg in enumerate(args) if column not in computed]


def _find_terms(program: Program) -> _Open:
    """Return the relations that only define terms of assertions, each with the columns that are computed."""
    given = {fact.relation for fact in (*program.facts, *program.given)} | program.open_rows
    given |= {rule.relation for rule in program.rules if rule.timing is not Timing.SAME}
    # Only what has rules: crashes that assertions alone look at are no term of theirs.
    defined = {rule.relation for rule in program.rules} & assertion_definitions(program)
    terms: _Open = dict.fromkeys(sorted(defined - given), frozenset())
    rules = [rule for rule in program.rules if rule.relation in terms]
    while True:
        # A column that is left out may have bound a variable of another.
        found = dict(terms)
        for rule in rules:
            bound = _bound(rule, terms)
            computed = (k for k, a in enumerate(rule.args) if not isinstance(a, Const) and a not in bound)
            found[rule.relation] = found[rule.relation].union(computed)
        if found == terms:
            return terms
        terms = found


def _bound(rule: Rule, terms: _Open) -> set[HeadArg]:
    """Return the variables that positive premises bind, or the time."""
    found: set[HeadArg] = {p.at for p in rule.premises if isinstance(p.at, Var)}
    for premise in rule.positive:
        known = _known(premise.args, terms.get(premise.relation, frozenset()))
        found.update(a for a in known if not isinstance(a, Const | Wildcard))
    return found


def _behind(program: Program, rules: Iterable[int], terms: _Open) -> list[int]:
    """Return the numbers of the rules for the terms that these rules rest on."""
    wanted = {p.relation for n in rules for p in program.rules[n].positive}
    found: dict[int, None] = {}
    while True:
        new = [n for n, r in enumerate(program.rules) if r.relation in wanted & terms.keys() and n not in found]
        if not new:
            return sorted(found)
        found.update(dict.fromkeys(new))
        wanted |= {p.relation for n in new for p in program.rules[n].positive}
