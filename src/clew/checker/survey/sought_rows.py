"""When what a rule for ``never`` looks for is there, without the condition that makes it wrong.

``never(X, Y) :- holds(X, S), holds(Y, S), X != Y;`` looks for holders.  Where nobody holds anything in any
execution, nothing is promised; that nobody holds it together with somebody else is the promise.  So of a rule only
what it reads *positively* is asked for, each premise by itself: a row of its relation at some time, all of them in
one execution.  That they meet, at one time and with the same values, may be just what is wrong, as in
``never(S) :- granted(S, a), granted(S, b);``, and so may a constant, as in ``never(X) :- state(X, corrupt)``.

Relations that only define terms of the assertions, ``clash`` or ``number_of_holders``, say, are empty in a correct
protocol, too, and are looked through: ``s<i>`` says that what some rule for them looks for is there.

What no rows can satisfy, because a column never has the constant or two columns never have a value in common, is
told by the text of the program (``_names_impossible_rows``): that is a slip, not a promise.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from clew.engine.conditions import RuleConditions
from clew.engine.ground import GroundProgram
from clew.program.columns import NOTHING, Columns
from clew.program.ir import BUILT_IN, Const, Premise, Program, Rule, Timing, Wildcard
from clew.program.outcomes import assertion_definitions


def add_sought_rows(ground: GroundProgram, rules: Iterable[int], columns: Columns | None = None) -> dict[int, str]:
    """Ground what these rules look for, by their number; return the condition that it is there at some time.

    ``columns``: what the columns of the program can have, where that is known.
    """
    numbers, part = list(rules), ground.next_part()
    terms = _find_terms(ground.program)
    sought = {n: _SoughtRows(ground, n, terms, part, columns) for n in numbers}
    behind = {n: _SoughtRows(ground, n, terms, part, columns) for n in _behind(ground.program, numbers, terms)}
    # A rule that is asked about may stand behind another one as well: it is written once.
    lines = [line for one in (behind | sought).values() for line in one.lines()]
    ground.extend(f"sought{part}", "\n".join([*lines, *(one.conclusion() for one in behind.values())]))
    return {n: one.condition() for n, one in sought.items()}


class _SoughtRows:
    """The positive premises of one rule, each of which is there or not."""

    def __init__(
        self, ground: GroundProgram, index: int, terms: frozenset[str], part: int, columns: Columns | None
    ) -> None:
        self._ground = ground
        self._index = index
        self._terms = terms
        self._part = part
        self._rule = ground.program.rules[index]
        self._is_impossible = columns is not None and _names_impossible_rows(self._rule, columns)

    def lines(self) -> list[str]:
        """Return, for each premise, the rule that it is there at some time."""
        return [f"{self._name(k)} :- {self._body(p)}." for k, p in enumerate(self._rule.positive)]

    def condition(self) -> str:
        if self._is_impossible:
            return "#false"
        return ", ".join(self._name(k) for k in range(len(self._rule.positive))) or "#true"

    def conclusion(self) -> str:
        """Return the rule for ``s<i>``: one rule for a term that finds what it looks for is enough."""
        return f"{self._term(self._rule.relation)} :- {self.condition()}."

    def _body(self, premise: Premise) -> str:
        if premise.relation in self._terms:
            return self._term(premise.relation)
        anything = replace(premise, args=(Wildcard(),) * len(premise.args))
        # A head that is bound in any case: what is concluded is written by ``lines``.
        alone = replace(self._rule, args=(Const(0),), timing=Timing.SAME, body=(anything,))
        return ", ".join(RuleConditions(self._ground, self._index, alone).body())

    def _name(self, premise: int) -> str:
        return f"sought({self._part},{self._index},{premise})"

    def _term(self, relation: str) -> str:
        return f"s{self._ground.encoding.relations.number(relation)}({self._part})"


def _names_impossible_rows(rule: Rule, columns: Columns) -> bool:
    """Tell whether the columns of what a rule reads can never have the values that it wants in them."""
    constants = (
        arg.value not in columns.at(premise.relation, k)
        for premise in rule.positive
        if premise.relation not in BUILT_IN
        for k, arg in enumerate(premise.args)
        if isinstance(arg, Const)
    )
    return any(constants) or any(domain == NOTHING for domain in columns.variables(rule).values())


def _find_terms(program: Program) -> frozenset[str]:
    """Return the relations that only define terms of assertions."""
    given = {fact.relation for fact in (*program.facts, *program.given)} | program.open_rows
    given |= {rule.relation for rule in program.rules if rule.timing is not Timing.SAME}
    # Only what has rules: crashes that assertions alone look at are no term of theirs.
    return (assertion_definitions(program) & {rule.relation for rule in program.rules}) - given


def _behind(program: Program, rules: Iterable[int], terms: frozenset[str]) -> list[int]:
    """Return the numbers of the rules for the terms that these rules rest on."""
    wanted = {p.relation for n in rules for p in program.rules[n].positive}
    found: dict[int, None] = {}
    while True:
        new = [n for n, r in enumerate(program.rules) if r.relation in wanted & terms and n not in found]
        if not new:
            return sorted(found)
        found.update(dict.fromkeys(new))
        wanted |= {p.relation for n in new for p in program.rules[n].positive}
