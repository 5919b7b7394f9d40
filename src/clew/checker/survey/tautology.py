"""Whether ``post`` follows from ``pre`` alone, so that nothing the protocol does could break the promise.

The rules of the assertions are kept, and everything that they read of the protocol becomes a free choice: any set
of rows, built from the constants of the assertions, from values that the protocol has, and from some that it does
not have: another protocol might.  If even so no row of ``pre`` lacks its ``post``, or none of ``never`` appears,
the promise says nothing about the protocol.  Most promises are broken at once with few values.  Only of the others
more is asked, and where that would be too much, it remains a suspicion.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from clew.budgets.deadline import Deadline
from clew.checker.survey.free_rows import FreeRows, RowsTried
from clew.checker.survey.sought_rows import add_sought_rows
from clew.engine.conditions import Occurrence, RuleConditions, find_occurrences
from clew.engine.encode import Relations
from clew.engine.ground import GroundProgram
from clew.engine.values import encode_value
from clew.errors import ProgramError
from clew.faults import FailureSpec
from clew.program.assertions import find_assertions, is_never, post_of
from clew.program.ir import BUILT_IN, Const, Program, Rule, Timing
from clew.program.outcomes import assertion_definitions, has_assertions, persists

#: So many values that nobody has are tried in every column beside those that the protocol has.
_MORE_FRESH = 3


def find_tautologies(ground: GroundProgram, deadline: Deadline) -> dict[int, bool | None]:
    """Return for the rules of each ``pre``, by number, whether ``post`` follows; of ``never``, that none can fire.

    None where it seems so, and was not found out; a rule of which nothing is known is left out.
    """
    if not has_assertions(ground.program):
        return {}
    free = _FreeProtocol(ground, deadline)
    found: dict[int, bool | None] = {n: False for n in free.promising if free.is_evidently_breakable(n)}
    try:
        found |= free.unbreakable_rules(
            free.few_values(1), free.soon, [n for n in free.promising if n not in found]
        )
        # One value that nobody has cannot tell "equal" from "different", two can.  Only what survives both is
        # tried with all values of the protocol, which costs most.
        for fresh in (2, None):
            suspected = [n for n, follows in found.items() if follows is not False]
            if not suspected:
                break
            domain, eot = (free.few_values(fresh), free.soon) if fresh else (free.more_values(), ground.spec.eot)
            found |= dict.fromkeys(suspected) | free.unbreakable_rules(domain, eot, suspected)
    except ProgramError:  # free rows may lead to arithmetic that the protocol never does
        return {n: follows for n, follows in found.items() if follows is False}
    return {n: None if follows and not free.is_decided_by_samples(n) else follows for n, follows in found.items()}


class _FreeProtocol:
    """The assertions of a program, about a protocol that may do anything."""

    def __init__(self, ground: GroundProgram, deadline: Deadline) -> None:
        self._ground = ground
        self._deadline = deadline
        self._kept = assertion_definitions(ground.program)
        self._numbers = [n for n, rule in enumerate(ground.program.rules) if rule.relation in self._kept]
        self._rules = [ground.program.rules[number] for number in self._numbers]
        read = dict.fromkeys(p.relation for rule in self._rules for p in rule.premises)
        self._free = [relation for relation in read if relation not in self._kept and relation not in BUILT_IN]
        self._asserted = find_assertions(ground.program)
        self._rows = FreeRows(ground, self._rules, self._free)

    # -- at a glance -----------------------------------------------------------------------------------------

    def is_evidently_breakable(self, number: int) -> bool:
        """Tell whether ``post`` needs a relation that the rule does not look at, and that may as well be empty.

        A rule for ``never`` is broken by the rows that it looks for, if it asks for nothing else.
        """
        rule = self._rule(number)
        if is_never(rule.relation):
            plain = not (rule.negative or rule.comparisons or rule.calls or rule.aggregates)
            return plain and all(p.relation in self._free for p in rule.positive)
        looked_at = self._behind([p.relation for p in rule.premises])
        post = post_of(rule.relation)
        matching = [r for r in self._rules if r.relation == post and _can_match(rule, r) and not persists(r)]
        unseen = [relation for relation in self._free if relation not in looked_at]
        given = any(fact.relation == post for fact in self._ground.program.facts)
        return not given and all(any(p.relation in unseen for p in r.positive) for r in matching)

    def _behind(self, relations: Sequence[str]) -> set[str]:
        """Return these relations and those that they are defined by."""
        found = list(dict.fromkeys(relations))
        for relation in found:
            for rule in self._rules:
                if rule.relation == relation:
                    found += [p.relation for p in rule.premises if p.relation not in found]
        return set(found)

    def is_decided_by_samples(self, number: int) -> bool:
        """Tell whether a promise that no rows tried here break cannot be broken by any."""
        rule = self._rule(number)
        stated = [] if is_never(rule.relation) else [post_of(rule.relation)]
        behind = self._behind([*stated, *(p.relation for p in rule.premises)])
        return self._rows.stand_for_all([rule, *(r for r in self._rules if r.relation in behind)])

    # -- questions -------------------------------------------------------------------------------------------

    def unbreakable_rules(self, domain: RowsTried | None, eot: int, asked: Sequence[int]) -> dict[int, bool]:
        """Ask for a choice of rows under which a rule of ``pre`` applies and ``post`` does not.

        A rule that applies under none of them, because there is not the time, say, is left out.
        """
        if domain is None or not asked:
            return {}
        # Crashes are what assertions can look at; of other faults they only see what becomes of the rows.
        nodes = self._ground.spec.nodes
        spec = FailureSpec(nodes, eot, crashes=len(nodes))
        plain = [n for n in asked if not self._rule(n).aggregates and not self._remembers]
        found = self._ask(spec, domain, plain)
        for number in asked:
            if number not in plain:
                found |= self._ask(spec, domain, [number], alone=True)
        return {index: when is Occurrence.NEVER for index, when in found.items() if when is not Occurrence.UNKNOWN}

    @property
    def promising(self) -> list[int]:
        """Return the rules of promises that bring about rows of ``pre`` or ``never``, by number."""
        stated = [assertion.relation for assertion in self._asserted]
        return [n for n in self._numbers if self._rule(n).relation in stated and not persists(self._rule(n))]

    @property
    def _remembers(self) -> bool:
        """Tell whether the assertions keep rows, so that what was matters as well as what is."""
        return any(rule.timing is not Timing.SAME for rule in self._rules)

    def _rule(self, number: int) -> Rule:
        return self._ground.program.rules[number]

    def _ask(
        self, spec: FailureSpec, domain: RowsTried, asked: list[int], *, alone: bool = False
    ) -> dict[int, Occurrence]:
        """Look for a broken promise of each rule; leave out the rules that do not apply.

        ``alone``: there are no other rules for ``pre``, so that a row of it says which one applies.
        """
        if not asked:
            return {}
        relations = {self._rule(n).relation for n in asked}
        others = {n for n in self.promising if self._rule(n).relation in relations and n not in asked and alone}
        numbers = [n for n in self._numbers if n not in others]
        original = self._ground.program
        left_out = relations if alone else set()
        facts = [f for f in original.facts if f.relation in self._stated_names and f.relation not in left_out]
        assertions = Program((*facts, *map(self._rule, numbers)), original.helpers)
        choices = self._choices(Relations.of(assertions), spec, domain)
        free = GroundProgram(assertions, spec, expect_outcomes=False, choices=choices, deadline=self._deadline)
        rules = {n: RuleConditions(free, numbers.index(n)) for n in asked}
        broken = find_occurrences(
            free, {n: [rule.promise_broken() if alone else rule.breaks_promise()] for n, rule in rules.items()}
        )
        unbroken = [n for n, when in broken.items() if when is Occurrence.NEVER]
        applies = find_occurrences(free, self._applying(free, numbers, unbroken)) if unbroken else {}
        return {n: when for n, when in broken.items() if applies.get(n) is not Occurrence.NEVER}

    def _applying(self, free: GroundProgram, numbers: list[int], asked: list[int]) -> dict[int, list[str]]:
        """Return when rules apply: one of ``pre`` concludes a row, one of ``never`` finds what it looks for."""
        nevers = [n for n in asked if is_never(self._rule(n).relation)]
        sought = add_sought_rows(free, [numbers.index(n) for n in nevers])
        found = {n: [sought[numbers.index(n)]] for n in nevers}
        others = (n for n in asked if n not in nevers)
        return found | {n: RuleConditions(free, numbers.index(n)).concludes_at_end() for n in others}

    @cached_property
    def _stated_names(self) -> frozenset[str]:
        return frozenset(name for a in self._asserted for name in (a.relation, a.post) if name)

    def _choices(self, relations: Relations, spec: FailureSpec, domain: RowsTried) -> str:
        return "\n".join(
            f"{{ r{relations.number(relation)}({','.join(map(encode_value, row))},{time}) }}."
            for relation, rows in domain.items()
            if relation in dict(relations.arities)
            for row in rows
            for time in self._times(spec.eot)
        )

    @property
    def soon(self) -> int:
        """Return a time that can be the end at first: short, if rows are free to differ from time to time."""
        return min(
            self._ground.spec.eot, max([2, *self._fixed_times()]) if self._remembers else self._ground.spec.eot
        )

    def _fixed_times(self) -> list[int]:
        """Return the times that the assertions look at by their number."""
        return [p.at for rule in self._rules for p in rule.premises if isinstance(p.at, int)]

    def _times(self, eot: int) -> Sequence[int]:
        """Return the times at which rows matter: mostly the end alone."""
        if self._remembers:
            return range(1, eot + 1)
        return sorted({eot, *(time for time in self._fixed_times() if 1 <= time <= eot)})

    # -- values ----------------------------------------------------------------------------------------------

    def few_values(self, fresh: int) -> RowsTried | None:
        """Return rows of constants, two nodes, and so many values that nobody has."""
        return self._rows.made_of(fresh, len(self._times(self.soon)))

    def more_values(self) -> RowsTried | None:
        """Return rows with what the protocol has, too; without that, where it can make no difference."""
        times = len(self._times(self._ground.spec.eot))
        found = self._rows.made_of(_MORE_FRESH, times, occurring=True)
        if found is None and not any(r.aggregates or r.comparisons or r.calls for r in self._rules):
            found = self._rows.made_of(_MORE_FRESH, times)
        return found


def _can_match(one: Rule, other: Rule) -> bool:
    """Tell whether a row can be concluded by both: the heads have no different constants."""
    pairs = zip(one.args, other.args, strict=True)
    return not any(isinstance(a, Const) and isinstance(b, Const) and a != b for a, b in pairs)
