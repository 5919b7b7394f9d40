"""The shortest bad window: where a history stops being linearizable, and the fewest operations that show it.

Operations cannot just be left out: a history that lacks a write may be wrong for that reason alone.  So a window
is

- an interval of time, from the call to the answer of the first operation that cannot be explained: all orders of
  what was answered before that fail at this answer;
- the *states* that were possible when it began: whatever orders there are of what came before, no other, but for
  what operations that were still under way then may already have done to them (those have their effect as late
  as they can here, which excludes nothing);
- of the operations that overlap it, those that are needed.  A read is left out; any other operation is *set free*
  instead: it may take effect at any time within the window, or never.  That allows more than the history does, so
  what is still contradictory is so in the history.

What is drawn is irreducible: set free any one of the operations but the first unexplained, and there is an order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from clew.errors import BudgetExhaustedError
from clew.histories.linearizability.machine import Machine
from clew.histories.linearizability.plan import Plan, make_plan
from clew.histories.linearizability.search import Budget, Configuration, Search, start_of
from clew.histories.models import Model
from clew.histories.operations import Operation
from clew.histories.values import Value


@dataclass(frozen=True)
class PossibleState:
    """A state in words, and an operation that may have led to it (None: it is the initial one)."""

    text: str
    after: Operation | None


@dataclass(frozen=True)
class Window:
    """What shows that a history is not linearizable.

    ``culprit``: the first operation that cannot be explained, ``operations``: all that are needed, itself
    included. ``states``: those that were possible when the window began; None where nothing before it matters.
    ``is_settled``: whether nothing that could change these states was under way then.  ``is_irreducible``: False
    where the budget ended before every operation was tried.
    """

    key: tuple[Value, ...]
    model: str
    culprit: Operation
    operations: tuple[Operation, ...]
    states: tuple[PossibleState, ...] | None
    is_settled: bool = True
    is_irreducible: bool = True


@dataclass(frozen=True)
class _Start:
    """A possible beginning of a window: the state, and what of the operations under way has taken effect."""

    state: int
    happened: frozenset[int]


def find_window(plan: Plan, machine: Machine, deepest: int, budget: Budget, key: tuple[Value, ...]) -> Window:
    """Return the window of a plan whose search came no farther than the answer ``deepest``."""
    number = plan.answers[deepest].number
    culprit = plan.operations[number]
    first = next(k for k, answer in enumerate(plan.answers) if _end(plan, answer.number) > culprit.start)
    # As expensive as the search that failed, at most: it goes the same ways, and ends earlier.
    reached = Search(plan, machine, budget).reach(start_of(machine), first)
    starts = list(dict.fromkeys(_Start(c.state, _happened(plan, first, c)) for c in reached))
    overlapping = [
        n
        for n, op in enumerate(plan.operations)
        if op.start < _end(plan, number) and (op.end is None or op.end > culprit.start)
    ]
    kept, is_irreducible = _shrink(plan, machine, starts, overlapping, number, budget)
    return Window(
        key,
        machine.model.name,
        culprit,
        tuple(plan.operations[n] for n in sorted(kept)),
        tuple(_states(plan, machine, reached)),
        is_irreducible=is_irreducible,
    )


def _end(plan: Plan, number: int) -> int:
    end = plan.operations[number].end
    assert end is not None, "only what has an answer is waited for"
    return end


def _happened(plan: Plan, position: int, here: Configuration) -> frozenset[int]:
    """Return which operations have taken effect before their answers came."""
    answer = plan.answers[position]
    done = {c.number for c in (*answer.writes, *answer.reads) if here.done & c.bit}
    used = {number for k, number in enumerate(plan.optional_numbers) if here.used >> k & 1}
    return frozenset(done | used)


def _states(plan: Plan, machine: Machine, reached: Sequence[Configuration]) -> Iterator[PossibleState]:
    """Yield the states of configurations, each with an operation that may have led to it."""
    seen: set[int] = set()
    for here in reached:
        if here.state in seen:
            continue
        seen.add(here.state)
        # Back to the last operation that can have changed the state; reads come after it, and did not.
        order, after = here.order, None
        while order is not None and after is None:
            order, number = order
            if plan.operations[number].function not in machine.model.reads:
                after = plan.operations[number]
        yield PossibleState(machine.model.show(machine.states[here.state]), after)


# -- which operations are needed ---------------------------------------------------------------------------------


def _shrink(
    plan: Plan,
    machine: Machine,
    starts: Sequence[_Start],
    overlapping: Sequence[int],
    culprit: int,
    budget: Budget,
) -> tuple[set[int], bool]:
    """Return the operations that are needed, and whether each was tried.

    Whatever is set free allows more, so one that is needed stays needed: going through them once is enough, large
    parts first.
    """
    kept = set(overlapping)
    others = [number for number in overlapping if number != culprit]
    # Nearly always all of them at once can go; otherwise halves, quarters, and in the end one by one.
    size = len(others)
    try:
        while size:
            for start in range(0, len(others), size):
                part = kept & set(others[start : start + size])
                if part and _is_contradictory(plan, machine, starts, overlapping, kept - part, culprit, budget):
                    kept -= part
            size //= 2
    except BudgetExhaustedError:
        return kept, False
    return kept, True


def _is_contradictory(
    plan: Plan,
    machine: Machine,
    starts: Sequence[_Start],
    overlapping: Sequence[int],
    kept: set[int],
    culprit: int,
    budget: Budget,
) -> bool:
    """Tell whether the window cannot be explained with only these operations as they are, the others set free."""
    begin, end = plan.operations[culprit].start, _end(plan, culprit)
    within: list[tuple[int, Operation]] = []
    for number in overlapping:
        op = plan.operations[number]
        if number not in kept:
            if op.function not in machine.model.reads:
                within.append((number, op._replace(start=begin - 1, end=None)))
        elif op.end is not None and op.end > end:
            within.append((number, op._replace(end=None)))
        else:
            within.append((number, op))
    # What was set free begins before the window: it may take effect before anything in it.
    within.sort(key=lambda pair: pair[1].start)
    part = make_plan([op for _, op in within], machine)
    numbers = {number: place for place, (number, _) in enumerate(within)}
    configurations = [_begin(part, start, numbers, kept) for start in starts]
    return Search(part, machine, budget).run(configurations).order is None


def _begin(part: Plan, start: _Start, numbers: dict[int, int], kept: set[int]) -> Configuration:
    """Return where the search of a window begins; what was set free has not happened yet."""
    happened = {numbers[number] for number in start.happened & kept if number in numbers}
    # What had begun before the window and was not over is under way at its first answer, the culprit at the
    # latest.
    answer = part.answers[0]
    done = sum(c.bit for c in (*answer.writes, *answer.reads) if c.number in happened)
    used = sum(1 << k for k, number in enumerate(part.optional_numbers) if number in happened)
    return Configuration(0, start.state, done, used)


def window_of_contradiction(
    operations: Sequence[Operation], model: Model, key: tuple[Value, ...]
) -> Window | None:
    """Return the window of operations that contradict each other by themselves; None if the search disagrees.

    Operations on one value are left out together with the value, and reads one by one: both are sound.
    """
    # A handful of operations: no budget is needed, and none of the caller's is spent.
    machine = Machine(model)

    def is_contradictory(some: Sequence[Operation]) -> bool:
        plan = make_plan(some, machine)
        return Search(plan, machine, Budget()).run(start_of(machine)).order is None

    kept = list(operations)
    if not is_contradictory(kept):
        return None
    for op in operations:
        less = [other for other in kept if other is not op]
        if op.function in model.reads and is_contradictory(less):
            kept = less
    culprit = max(kept, key=lambda op: -1 if op.end is None else op.end)
    return Window(key, model.name, culprit, tuple(kept), None)
