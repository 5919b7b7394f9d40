"""Which rows a protocol that may do anything is given, so that it breaks a promise if any protocol could.

They are made of the constants of the assertions, of values that the protocol has, and of some that it does not
have: another protocol might.  Where a value is compared with a number, the numbers beside it are tried; where
values are counted, one more than the number that the count is compared with.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import product
from math import prod

from clew.engine.ground import GroundProgram
from clew.program.columns import ANYTHING, Columns
from clew.program.ir import Aggregate, BinOp, Comparison, Const, Rule, Value, Var, expr_constants, expr_vars

# Both bounds are on what is tried, not on what is certified: beyond them a tautology remains a suspicion.
#: Rows that the protocol may be free to have; more are not tried: from some hundreds on the solver is slow.
_MOST_FREE_ROWS = 400
#: The same with the values that the protocol has, of which all pairs may matter.
_MOST_OCCURRING_ROWS = 130
#: So many values may be counted: every set of them is an execution.
_MOST_COUNTED = 12

#: A column of a relation.
_Column = tuple[str, int]
#: The rows that relations may have.
RowsTried = Mapping[str, Sequence[tuple[Value, ...]]]


class FreeRows:
    """The rows that the ``free`` relations, which the rules of assertions read, may have."""

    def __init__(self, ground: GroundProgram, rules: Sequence[Rule], free: Sequence[str]) -> None:
        self._ground = ground
        self._rules = rules
        self._free = free
        self._groups = _join_groups([group for rule in rules for group in _group_by_variable(rule)])
        self._constants = [pair for rule in rules for pair in _constants(rule)]

    def stand_for_all(self, rules: Iterable[Rule]) -> bool:
        """Tell whether no rows break a promise that is made by these rules, if none that are tried here do.

        Where values are only compared, with each other and with numbers, some in every order to each other and to
        those numbers stand for all.  Where they are computed with, only trying all would tell.
        """
        return not any(
            rule.calls
            or any(isinstance(arg, BinOp) for arg in rule.args)
            or any(self._is_beyond(column, arg) for column, arg in _aggregates(rule))
            or any(_is_beyond_order(comparison) for comparison in rule.comparisons)
            for rule in rules
        )

    def _is_beyond(self, column: _Column, aggregate: Aggregate) -> bool:
        """Tell whether the result is compared with a number that the values tried may not come to."""
        match aggregate.function:
            case "min" | "max":
                return False
            case "count":
                return max(self._numbers_at(column), default=0) > _MOST_COUNTED
            case _:
                return bool(self._numbers_at(column))

    def _numbers_at(self, column: _Column) -> list[int]:
        """Return the numbers that a column is compared with, if only by way of others."""
        group = next((g for g in self._groups if column in g), frozenset([column]))
        return [value for other, value in self._constants if other in group and isinstance(value, int)]

    def made_of(self, fresh: int, times: int, *, occurring: bool = False) -> RowsTried | None:
        """Return rows of constants, nodes and so many values that nobody has; None if there are too many.

        ``times``: at how many of them each may be there; ``occurring``: all that the protocol has are tried, too.
        """
        values: dict[_Column, list[Value]] = {}
        for group in self._groups:
            values |= dict.fromkeys(group, self._values(group, fresh, occurring=occurring))
        found: dict[str, list[tuple[Value, ...]]] = {}
        most = _MOST_OCCURRING_ROWS if occurring else _MOST_FREE_ROWS
        for relation in self._free:
            places = [(relation, k) for k in range(self._ground.encoding.relations.arity(relation))]
            columns = [values.get(p) or self._values(frozenset([p]), fresh, occurring=occurring) for p in places]
            if (prod(map(len, columns)) + sum(map(len, found.values()))) * times > most:
                return None
            found[relation] = list(product(*columns))
        return found

    def _values(self, group: frozenset[_Column], fresh: int, *, occurring: bool) -> list[Value]:
        found = {value for column, value in self._constants if column in group}
        fresh = max(fresh, self._most_counted(group))
        # Two nodes are enough at first: assertions mostly compare places, and two can be equal or different.
        if any(column == 0 and relation in self._free for relation, column in group):  # places are nodes
            nodes = self._ground.spec.nodes
            return sorted(found.union(nodes if occurring else nodes[: max(2, fresh)]), key=repr)
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

    def _most_counted(self, group: Collection[_Column]) -> int:
        """Return how many values of these columns are counted, one more than what counts are compared with."""
        numbers = [
            number
            for rule in self._rules
            for column, aggregate in _aggregates(rule)
            if aggregate.function == "count" and _columns_of(aggregate.var, rule) & set(group)
            for number in self._numbers_at(column)
        ]
        return min(max(numbers, default=0), _MOST_COUNTED)

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


def _aggregates(rule: Rule) -> Iterator[tuple[_Column, Aggregate]]:
    for k, arg in enumerate(rule.args):
        if isinstance(arg, Aggregate):
            yield (rule.relation, k), arg


def _is_beyond_order(comparison: Comparison) -> bool:
    """Tell whether a comparison is about more than which of two values, or of a value and a number, is greater."""
    sides = (comparison.left, comparison.right)
    if any(isinstance(side, BinOp) for side in sides):
        return True
    names = [v for side in sides for v in expr_constants(side) if not isinstance(v, int)]
    return bool(names) and comparison.op not in ("==", "!=")


def _constants(rule: Rule) -> Iterator[tuple[_Column, Value]]:
    """Yield the constants that columns are compared with, and the numbers beside those that decide an order."""
    for premise in rule.premises:
        for k, arg in enumerate(premise.args):
            if isinstance(arg, Const):
                yield (premise.relation, k), arg.value
    for comparison in rule.comparisons:
        sides = (comparison.left, comparison.right)
        near = {n for side in sides for value in expr_constants(side) for n in _beside(value)}
        for variable in dict.fromkeys(v for side in sides for v in expr_vars(side)):
            yield from product(sorted(_columns_of(variable, rule)), sorted(near, key=repr))


def _beside(value: Value) -> Iterator[Value]:
    yield value
    if isinstance(value, int):
        # Negative, too: less than zero is written as 0 - 5, and what is taken away can be more than there is.
        yield from (value - 1, value + 1, -value - 1, -value, -value + 1)


def _columns_of(variable: Var, rule: Rule) -> set[_Column]:
    """Return the columns whose values a variable of the rule has, or takes part in."""
    read = {(p.relation, k) for p in rule.premises for k, arg in enumerate(p.args) if arg == variable}
    return read | {(rule.relation, k) for k, arg in enumerate(rule.args) if _passes_on(arg, variable)}


def _passes_on(arg: object, variable: Var) -> bool:
    """Tell whether what is concluded is of the kind of the variable: it, or computed from it; a count is not."""
    match arg:
        case Aggregate(function, var, _):
            return function != "count" and var == variable
        case Var() | BinOp():
            return variable in expr_vars(arg)
        case _:
            return False


def _group_by_variable(rule: Rule) -> list[set[_Column]]:
    """Return the columns of the rule that share a variable."""
    variables = dict.fromkeys(a for p in rule.premises for a in p.args if isinstance(a, Var))
    return [_columns_of(variable, rule) for variable in variables]


def _join_groups(groups: Iterable[set[_Column]]) -> list[frozenset[_Column]]:
    """Return the groups of columns that are compared, if only by way of others."""
    joined: list[set[_Column]] = []
    for group in groups:
        apart = [other for other in joined if not other & group]
        joined = [*apart, group.union(*(other for other in joined if other & group))]
    return [frozenset(group) for group in joined]
