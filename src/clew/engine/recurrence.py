"""When an execution repeats itself, so that its future is known without executing it.

What holds at a time decides what holds at the next, once all faults and given facts are past.  So an execution
whose rows at time ``t + p`` are those at ``t`` goes on like that forever.  The clock, timers and sequence numbers
never come back to where they were, though: here rows may also differ by numbers that have all grown by the same
``d``, if the program cannot tell the difference.  It cannot when

- it computes with such numbers only by adding constants, takes no sums of them, and compares them with nothing
  that is computed in other ways;
- there is a wide gap between the numbers that grow and all others, to which the constants of the program belong:
  then every comparison comes out as before, and adding a constant does not lead across the gap.

Renaming the numbers that grow then commutes with every rule, and so, by induction, with every later step.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from clew.engine.execution import Execution, Row
from clew.faults import FaultSet
from clew.program.ir import (
    BUILT_IN,
    Aggregate,
    BinOp,
    Const,
    HeadArg,
    Nested,
    Program,
    Rule,
    Value,
    Var,
    expr_vars,
    rule_constants,
)

#: Longer periods are not looked for: protocols repeat themselves after a few steps, and each period is compared.
LONGEST_PERIOD = 16

#: A relation and the number of one of its columns.
Column = tuple[str, int]

#: The rows of one time: one table for each relation of each execution.
State = tuple[frozenset[Row], ...]


@dataclass(frozen=True)
class Recurrence:
    """From ``time`` on, what happens happens again every ``period`` steps; ``grows``: but for numbers that do."""

    time: int
    period: int
    grows: bool = field(default=False, compare=False)


def find_recurrence(
    program: Program, outcomes: Iterable[str], faults: FaultSet, executions: Sequence[Execution]
) -> Recurrence | None:
    """Return where executions with at most these faults begin to repeat themselves, all of them together.

    Only relations on which ``outcomes`` depend are looked at.  None if that cannot be said.
    """
    return _Search(program, outcomes, faults, executions).first()


class _Search:
    def __init__(
        self, program: Program, outcomes: Iterable[str], faults: FaultSet, executions: Sequence[Execution]
    ) -> None:
        relevant = find_dependencies(program, outcomes)
        self._executions = executions
        self._eot = executions[0].spec.eot
        self._relations = [r for r in executions[0].tables if r in relevant]
        self._rules = [rule for rule in program.rules if rule.relation in relevant]
        self._reads_clock = any(isinstance(p.at, Var) for r in self._rules for p in r.premises)
        self._reach = max((_reach(e) or 0 for r in self._rules for e in _expressions(r)), default=0)
        self._constant = max(self._constants(program, faults), default=0)
        self._computed = [c for r in self._rules for c in _fixed_columns(r)]
        # Before that, a repetition proves nothing: a fault or a fact that is still to come would end it.
        start = first_quiet_time(program, self._rules, faults)
        self._states = {t: self._state(t) for t in range(start, self._eot + 1)}
        self._seen_numbers: dict[int, frozenset[int]] = {}
        self._sizes = {t: tuple(map(len, state)) for t, state in self._states.items()}

    def first(self) -> Recurrence | None:
        for time in self._states:
            for period in range(1, min(LONGEST_PERIOD, self._eot - time) + 1):
                # The sizes of tables first: most pairs of times differ there already.
                if self._sizes[time] == self._sizes[time + period] and self._recurs(time, period):
                    grows = self._reads_clock or self._states[time] != self._states[time + period]
                    return Recurrence(time, period, grows)
        return None

    def _state(self, time: int) -> State:
        return tuple(frozenset(e.rows(relation, time)) for e in self._executions for relation in self._relations)

    def _constants(self, program: Program, faults: FaultSet) -> Iterator[int]:
        """Yield numbers that stay as they are: those in rules, nodes, times of crashes, rows of a fixed time."""
        yield from _numbers(rule_constants(program))
        yield from _numbers(self._executions[0].spec.nodes)
        # A time that programs can see is a number to them; that of other faults they never meet.
        yield from (fault.time for fault in faults if fault.observable)
        for premise in (p for r in self._rules for p in r.premises):
            if isinstance(premise.at, int) and premise.at <= self._eot and premise.relation not in BUILT_IN:
                for execution in self._executions:
                    yield from _numbers(execution.rows(premise.relation, premise.at))

    def _recurs(self, time: int, period: int) -> bool:
        before, after = self._states[time], self._states[time + period]
        if before == after and not self._reads_clock:
            return True
        # The clock grows by one in each step, and so must everything that grows with it.
        growth = period if self._reads_clock else _largest(after) - _largest(before)
        return growth > 0 and any(
            after == tuple(frozenset(_grow(row, least, growth) for row in table) for table in before)
            and self._cannot_tell(time, period, least)
            for least in self._gaps(time, period)
        )

    def _gaps(self, time: int, period: int) -> Iterator[int]:
        """Yield the number above each gap that is wide enough at all times of a period."""
        window = range(time, time + period + 1)
        numbers = {n for t in window for n in self._numbers_at(t)}
        if self._reads_clock:
            numbers |= set(window)
        # Numbers that do not grow must lie below the gap, and so must all that is computed in other ways.
        small = max((self._constant, *(n for t in window for n in self._fixed_numbers(t))))
        for below, above in pairwise(sorted(numbers | {small})):
            clock_grows = not self._reads_clock or above <= time
            if below >= small and above - below > 2 * self._reach and clock_grows:
                yield above

    def _numbers_at(self, time: int) -> frozenset[int]:
        # Remembered: every window that a time is in asks for them, and to collect them takes longer than all else.
        if time not in self._seen_numbers:
            self._seen_numbers[time] = frozenset(n for table in self._states[time] for n in _numbers(table))
        return self._seen_numbers[time]

    def _fixed_numbers(self, time: int) -> Iterator[int]:
        for execution in self._executions:
            for relation, column in self._computed:
                yield from _numbers(row[column] for row in execution.rows(relation, time))

    def _cannot_tell(self, time: int, period: int, least: int) -> bool:
        """Tell whether no rule treats numbers from ``least`` on differently when they have grown."""
        growing = {
            (relation, column)
            for execution in self._executions
            for relation in self._relations
            for t in range(time, time + period + 1)
            for row in execution.rows(relation, t)
            for column, value in enumerate(row)
            if any(n >= least for n in _numbers([value]))
        }
        return all(_is_blind(rule, growing) for rule in self._rules)


def find_dependencies(program: Program, outcomes: Iterable[str]) -> frozenset[str]:
    """Return the relations that the outcomes depend on, themselves included."""
    found: set[str] = set()
    waiting = list(outcomes)
    while waiting:
        relation = waiting.pop()
        if relation not in found:
            found.add(relation)
            waiting += [p.relation for r in program.rules if r.relation == relation for p in r.premises]
    return frozenset(found)


def first_quiet_time(program: Program, rules: Sequence[Rule], faults: FaultSet) -> int:
    """Return the first time at which nothing is given or goes wrong, and nothing that is late is still to come."""
    looked_at = (p.at for r in rules for p in r.premises if isinstance(p.at, int))
    given = (fact.time for fact in (*program.facts, *program.given))
    failing = (fault.last for fault in faults)
    return 1 + max((0, *looked_at, *given, *failing))


# -- what rules do with numbers --------------------------------------------------------------------------------


def _is_blind(rule: Rule, growing: Collection[Column]) -> bool:
    """Tell whether a rule only moves and compares the numbers that grow: those in these columns, and the clock."""
    grows = _growing_variables(rule, growing)
    if rule.calls:
        return False  # nobody knows what a function does with a number
    for arg in rule.args:
        if isinstance(arg, Aggregate):
            if arg.function in ("sum", "avg") and arg.var in grows:
                return False
        elif grows & set(expr_vars(arg)) and _reach(arg) is None:
            return False
    for c in rule.comparisons:
        if grows & {*expr_vars(c.left), *expr_vars(c.right)} and None in (_reach(c.left), _reach(c.right)):
            return False
    return True


def _growing_variables(rule: Rule, growing: Collection[Column]) -> set[Var]:
    """Return the variables whose value can be a number that grows: at every place of the body that binds them."""
    found = {p.at for p in rule.premises if isinstance(p.at, Var)}
    never: set[Var] = set()
    for premise in rule.positive:
        for column, arg in enumerate(premise.args):
            if isinstance(arg, Var):
                fixed = isinstance(premise.at, int) or (premise.relation, column) not in growing
                (never if fixed else found).add(arg)
    return found - never


def _expressions(rule: Rule) -> Iterator[HeadArg]:
    yield from rule.args
    for comparison in rule.comparisons:
        yield comparison.left
        yield comparison.right


def _reach(expr: HeadArg) -> int | None:
    """Return how far an expression moves a number by adding constants; None if it does anything else."""
    match expr:
        case BinOp("+" | "-", operand, Const(int(constant))) | BinOp("+", Const(int(constant)), operand):
            below = _reach(operand)
            return None if below is None else below + abs(constant)
        case BinOp():
            return None
        case Nested(items):
            reaches = [_reach(item) for item in items]
            return None if None in reaches else max((r for r in reaches if r is not None), default=0)
        case _:
            return 0


def _fixed_columns(rule: Rule) -> Iterator[Column]:
    """Yield the columns whose numbers do not grow when those do that they are computed from."""
    for column, arg in enumerate(rule.args):
        if arg.function in ("count", "sum", "avg") if isinstance(arg, Aggregate) else _reach(arg) is None:
            yield rule.relation, column


# -- numbers ---------------------------------------------------------------------------------------------------


def _numbers(values: Iterable[Value]) -> Iterator[int]:
    for value in values:
        if isinstance(value, int):
            yield value
        elif isinstance(value, tuple):
            yield from _numbers(value)


def _largest(state: State) -> int:
    return max((n for table in state for n in _numbers(table)), default=0)


def _grow(row: Row, least: int, growth: int) -> Row:
    return tuple(_grow_value(value, least, growth) for value in row)


def _grow_value(value: Value, least: int, growth: int) -> Value:
    if isinstance(value, tuple):
        return _grow(value, least, growth)
    return value + growth if isinstance(value, int) and value >= least else value
