"""Check a history for linearizability: key by key, with a shortcut where there is one, and within a budget."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from clew.errors import BudgetExhaustedError
from clew.histories.linearizability.machine import Machine
from clew.histories.linearizability.plan import make_plan
from clew.histories.linearizability.quick import find_contradiction
from clew.histories.linearizability.search import Budget, Search, start_of
from clew.histories.linearizability.windows import Window, find_window, window_of_contradiction
from clew.histories.models import Model
from clew.histories.operations import Operation, Outcome, split_by_key
from clew.histories.values import Value


class Part(NamedTuple):
    """The operations on one object, which can be checked without looking at any other."""

    key: tuple[Value, ...]
    operations: list[Operation]
    model: Model


@dataclass(frozen=True)
class Checked:
    """What became of one part: linearizable (in an ``order``, if one was searched for), not, or not known."""

    part: Part
    is_linearizable: bool | None
    order: tuple[Operation, ...] | None = None
    window: Window | None = None
    reason: str | None = None


def divide(operations: Sequence[Operation], model: Model) -> Iterator[Part]:
    """Yield the parts of a history; what failed never took effect and is left out."""
    effective = [op for op in operations if op.outcome is not Outcome.FAIL]
    for key, of_key in split_by_key(effective).items():
        outer = () if key is None else (key,)
        for inner, some, its_model in model.part_of(of_key):
            yield Part(outer if inner is None else (*outer, inner), some, its_model)


def check_part(part: Part, budget: Budget, *, shortcuts: bool = True) -> Checked:
    """Check one part; ``shortcuts`` are taken where there are any."""
    operations = part.model.without_irrelevant(part.operations)
    if shortcuts:
        contradiction = find_contradiction(operations, part.model)
        # The sweep proves both: that is why no search follows.
        if contradiction == ():
            return Checked(part, True)
        if contradiction:
            window = window_of_contradiction(contradiction, part.model, part.key)
            # Should the two ever disagree, the search decides, which is the simpler of them.
            if window is not None:
                return Checked(part, False, window=window)
    try:
        return _search(part, operations, budget)
    except BudgetExhaustedError as limit:
        return Checked(part, None, reason=str(limit))


def _search(part: Part, operations: Sequence[Operation], budget: Budget) -> Checked:
    machine = Machine(part.model)
    plan = make_plan(operations, machine)
    found = Search(plan, machine, budget).run(start_of(machine))
    if found.order is not None:
        return Checked(part, True, tuple(operations[number] for number in found.order))
    try:
        window = find_window(plan, machine, found.deepest, budget, part.key)
    except BudgetExhaustedError:
        # The answer stands without its picture: the operation that cannot be explained is known.
        culprit = plan.operations[plan.answers[found.deepest].number]
        window = Window(part.key, part.model.name, culprit, (culprit,), None, is_irreducible=False)
    return Checked(part, False, window=replace(window, is_settled=_is_settled(part, window.culprit)))


def _is_settled(part: Part, culprit: Operation) -> bool:
    """Tell whether nothing was under way, when an operation began, that could change the state."""
    return not any(
        op.start < culprit.start and (op.end is None or op.end > culprit.start)
        for op in part.operations
        if op.function not in part.model.reads
    )
