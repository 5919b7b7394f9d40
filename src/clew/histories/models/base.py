"""What a sequential model is: an initial state, and what each operation makes of a state.

    class Counter:
        initial = 0

        def step(self, state, op):
            if op.function == "add":
                return [state + op.argument]
            return [state] if op.result == state else None

``step`` returns a list of the states that may follow, or None (or an empty list) where the operation cannot happen
in this state, or not with this result.  States are hashable.  An operation whose outcome is unknown has the result
None, and ``op.outcome`` says so: ``step`` returns what it may have done, whatever the answer would have been.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from typing import Any, Protocol, runtime_checkable

from clew.histories.operations import Operation, Outcome
from clew.histories.values import Value, show_value

State = Hashable


@runtime_checkable
class SequentialModel(Protocol):
    """What every model has, and all that one of a user needs."""

    @property
    def initial(self) -> Any:
        """Return the state before the first operation."""

    def step(self, state: Any, op: Operation) -> list[Any] | None:
        """Return the states that an operation may lead to; nothing if it cannot happen here."""


class Model:
    """A sequential model that says more of itself, so that less has to be searched.

    ``functions``: the names that operations may have; none means any.
    ``reads``: those that never change the state.
    ``silent``: those whose answers say nothing, so that a history of nothing else is no evidence.
    ``by_process``: whether it matters who calls.
    """

    name = "model"
    initial: Any = None
    functions: Collection[str] = ()
    reads: frozenset[str] = frozenset()
    silent: frozenset[str] = frozenset()
    # With more processes than states, a model that asks who calls has a transition for each of them.
    by_process = False

    def step(self, state: Any, op: Operation) -> list[Any] | None:
        """Return the states that an operation may lead to; nothing if it cannot happen here."""
        raise NotImplementedError

    def part_of(self, operations: Sequence[Operation]) -> Sequence[tuple[Value, list[Operation], Model]]:
        """Divide operations into parts that are independent of each other, with the model of each (Herlihy, Wing).

        A history of several objects is linearizable if and only if that of each object is.
        """
        return [(None, list(operations), self)]

    def without_irrelevant(self, operations: Sequence[Operation]) -> list[Operation]:
        """Leave out unknown operations that can explain nothing: with or without them, the answer is the same."""
        return [op for op in operations if op.outcome is not Outcome.UNKNOWN or op.function not in self.reads]

    def show(self, state: Any) -> str:
        """Return a state in words."""
        return show_value(state)
