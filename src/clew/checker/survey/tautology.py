"""Whether ``post`` follows from ``pre`` alone, so that nothing the protocol does could break the promise.

The rules of the assertions are kept, and everything that they read of the protocol becomes a free choice: any set
of rows, built from the constants of the assertions, from values that the protocol has, and from some that it does
not have: another protocol might.  If even so no row of ``pre`` lacks its ``post``, or none of ``never`` appears,
the promise says nothing about the protocol.  Most promises are broken at once with few values.  Only of the others
more is asked, and where that would be too much, it remains a suspicion.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import product
from math import prod

from clew.budgets.deadline import Deadline
from clew.checker.survey.sought_rows import add_sought_rows
from clew.engine.conditions import Occurrence, RuleConditions, find_occurrences
from clew.engine.encode import Relations
from clew.engine.ground import GroundProgram
from clew.engine.values import encode_value
from clew.errors import ProgramError
from clew.faults import FailureSpec
from clew.program.assertions import find_assertions, is_never, post_of
from clew.program.columns import ANYTHING, Columns
from clew.program.ir import BUILT_IN, Const, Program, Rule, Timing, Value, Var
from clew.program.outcomes import assertion_definitions, has_assertions, persists

# Both bounds are on what is tried, not on what is certified: beyond them a tautology remains a suspicion.
#: Rows that the protocol may be free to have; more are not tried: from some hundreds on the solver is slow.
_MOST_FREE_ROWS = 400
#: The same with the values that the protocol has, of which all pairs may matter.
_MOST_OCCURRING_ROWS = 130
#: So many values that nobody has are tried in every column beside those that the protocol has.
_MORE_FRESH = 3

#: A column of a relation.
_Column = tuple[str, int]
#: The rows that relations may have.
_Domain = Mapping[str, Sequence[tuple[Value, ...]]]


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
    return found


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
        self._groups = _join_groups([group for rule in self._rules for group in _group_by_variable(rule)])

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

    # -- questions -------------------------------------------------------------------------------------------

    def unbreakable_rules(self, domain: _Domain | None, eot: int, asked: Sequence[int]) -> dict[int, bool]:
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
        self, spec: FailureSpec, domain: _Domain, asked: list[int], *, alone: bool = False
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

    def _choices(self, relations: Relations, spec: FailureSpec, domain: _Domain) -> str:
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

    def few_values(self, fresh: int) -> _Domain | None:
        """Return rows of constants, two nodes, and so many values that nobody has."""
        return self._domain(fresh, self.soon)

    def more_values(self) -> _Domain | None:
        """Return rows with what the protocol has, too; without that, where it can make no difference."""
        found = self._domain(_MORE_FRESH, self._ground.spec.eot, occurring=True)
        if found is None and not any(r.aggregates or r.comparisons or r.calls for r in self._rules):
            found = self._domain(_MORE_FRESH, self._ground.spec.eot)
        return found

    def _domain(self, fresh: int, eot: int, *, occurring: bool = False) -> _Domain | None:
        """Return the rows that the free relations may have; None if there are too many."""
        values: dict[_Column, list[Value]] = {}
        for group in self._groups:
            values |= dict.fromkeys(group, self._values(group, fresh, occurring=occurring))
        domain: dict[str, list[tuple[Value, ...]]] = {}
        most = _MOST_OCCURRING_ROWS if occurring else _MOST_FREE_ROWS
        times = len(self._times(eot))
        for relation in self._free:
            places = [(relation, k) for k in range(self._ground.encoding.relations.arity(relation))]
            columns = [values.get(p) or self._values({p}, fresh, occurring=occurring) for p in places]
            if (prod(map(len, columns)) + sum(map(len, domain.values()))) * times > most:
                return None
            domain[relation] = list(product(*columns))
        return domain

    def _values(self, group: Collection[_Column], fresh: int, *, occurring: bool) -> list[Value]:
        found: set[Value] = {v for rule in self._rules for column, v in _constants(rule) if column in group}
        # Two nodes are enough at first: assertions mostly compare places, and two can be equal or different.
        if any(column == 0 and relation in self._free for relation, column in group):  # places are nodes
            nodes = self._ground.spec.nodes
            return sorted(found.union(nodes if occurring else nodes[:2]), key=repr)
        there: set[Value] = {value for column in group for value in self._occurring.get(column, ())}
        numbers = [value for value in {*found, *there} if isinstance(value, int)]
        kinds = [self._columns.at(*column) for column in sorted(group)]
        if any(kind.has_numbers for kind in kinds):
            found.update(max(numbers, default=0) + k for k in range(1, fresh + 1))
            found.add(min(numbers, default=0) - 1)
        if any(kind.has_names for kind in kinds):
            found.update(f"value {k}" for k in range(1, fresh + 1))
        # By repr, because numbers, names and tuples have no order of their own, and the text must not vary.
        return sorted({*found, *there} if occurring else found, key=repr)

    @cached_property
    def _columns(self) -> Columns:
        return Columns(self._ground.program, others=ANYTHING)

    @cached_property
    def _occurring(self) -> dict[_Column, set[Value]]:
        """Return the values that the protocol has at the end, in the columns of what the assertions read."""
        values: dict[_Column, set[Value]] = {}
        for relation in self._free:
            for row in self._ground.possible_rows(relation, self._ground.spec.eot):
                for k, value in enumerate(row):
                    values.setdefault((relation, k), set()).add(value)
        return values


def _can_match(one: Rule, other: Rule) -> bool:
    """Tell whether a row can be concluded by both: the heads have no different constants."""
    pairs = zip(one.args, other.args, strict=True)
    return not any(isinstance(a, Const) and isinstance(b, Const) and a != b for a, b in pairs)


def _constants(rule: Rule) -> Iterator[tuple[_Column, Value]]:
    for premise in rule.premises:
        for k, arg in enumerate(premise.args):
            if isinstance(arg, Const):
                yield (premise.relation, k), arg.value


def _group_by_variable(rule: Rule) -> list[set[_Column]]:
    """Return the columns of the rule that share a variable."""
    found: dict[Var, set[_Column]] = {}
    for premise in rule.premises:
        for k, arg in enumerate(premise.args):
            if isinstance(arg, Var):
                found.setdefault(arg, set()).add((premise.relation, k))
    for k, head in enumerate(rule.args):
        if isinstance(head, Var):
            found.setdefault(head, set()).add((rule.relation, k))
    return list(found.values())


def _join_groups(groups: Iterable[set[_Column]]) -> list[frozenset[_Column]]:
    """Return the groups of columns that are compared, if only by way of others."""
    joined: list[set[_Column]] = []
    for group in groups:
        apart = [other for other in joined if not other & group]
        joined = [*apart, group.union(*(other for other in joined if other & group))]
    return [frozenset(group) for group in joined]
