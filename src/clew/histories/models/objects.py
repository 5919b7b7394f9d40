"""Queues, locks, counters and sets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from clew.histories.models.base import Model
from clew.histories.models.registers import is_false, wrong_argument
from clew.histories.operations import Operation, Outcome
from clew.histories.values import Boolean, Value, show_value


class Queue(Model):
    """First in, first out: ``enqueue`` takes a value, ``dequeue`` returns one, or nil if the queue is empty."""

    name = "queue"
    functions = ("enqueue", "dequeue")
    silent = frozenset({"enqueue"})
    initial: tuple[Value, ...] = ()

    def step(self, state: Any, op: Operation) -> list[Any] | None:
        if op.function == "enqueue":
            return [(*state, op.argument)]
        # Whichever value it was: nobody knows the answer.  Of an empty queue it takes nothing, which is never.
        if op.outcome is Outcome.UNKNOWN:
            return [state[1:]] if state else None
        if op.result is None:
            return None if state else [state]
        return [state[1:]] if state and state[0] == op.result else None

    def without_irrelevant(self, operations: Sequence[Operation]) -> list[Operation]:
        """Leave out unknown enqueues of what is never dequeued: what is behind it could not be dequeued either."""
        # An unknown dequeue could take it away again, and then neither of the two makes a difference.
        seen = {op.result for op in operations if op.function == "dequeue" and op.outcome is Outcome.OK}
        return [
            op
            for op in operations
            if op.outcome is not Outcome.UNKNOWN or op.function != "enqueue" or op.argument in seen
        ]


class Lock(Model):
    """A lock: ``acquire`` gets it when nobody has it, ``release`` is done by who has it."""

    name = "lock"
    functions = ("acquire", "release")
    by_process = True

    def step(self, state: Any, op: Operation) -> list[Any] | None:
        if op.function == "acquire":
            return [(op.process,)] if state is None else None
        # In a tuple, since a process may be called None.
        return [None] if state == (op.process,) else None

    def show(self, state: Any) -> str:
        return "free" if state is None else f"held by {show_value(state[0])}"


class Counter(Model):
    """A number: ``add`` takes what is added, ``increment`` and ``decrement`` add 1 and -1, ``read`` returns it."""

    name = "counter"
    functions = ("add", "increment", "decrement", "read")
    reads = frozenset({"read"})
    silent = frozenset({"add", "increment", "decrement"})

    def __init__(self, initial: int = 0) -> None:
        self.initial = initial

    def step(self, state: Any, op: Operation) -> list[Any] | None:
        if op.function == "read":
            return [state] if op.outcome is Outcome.UNKNOWN or state == op.result else None
        if op.function != "add":
            return [state + 1 if op.function == "increment" else state - 1]
        if not isinstance(op.argument, int | float) or isinstance(op.argument, bool):
            raise wrong_argument(op, "a number")
        return [state + op.argument]


class Set(Model):
    """A set: ``add``, ``remove`` and ``contains`` take an element, ``read`` returns all of them."""

    name = "set"
    functions = ("add", "remove", "contains", "read")
    reads = frozenset({"contains", "read"})
    silent = frozenset({"add", "remove"})
    initial: frozenset[Value] = frozenset()

    def step(self, state: Any, op: Operation) -> list[Any] | None:
        if op.function == "add":
            return [state | {op.argument}]
        if op.function == "remove":
            return [state - {op.argument}]
        if op.outcome is Outcome.UNKNOWN:
            return [state]
        if op.function == "contains":
            return [state] if _says(op) is (op.argument in state) else None
        return [state] if _elements(op) == state else None

    def part_of(self, operations: Sequence[Operation]) -> Sequence[tuple[Value, list[Operation], Model]]:
        """Look at each element for itself, unless somebody reads the whole set."""
        # A read of all elements ties them together: parts could each have an order, and the whole none.
        if any(op.function == "read" and op.outcome is Outcome.OK for op in operations):
            return [(None, list(operations), self)]
        parts: dict[Value, list[Operation]] = {}
        for op in operations:
            if op.function != "read":
                parts.setdefault(op.argument, []).append(op)
        return [(element, part, self) for element, part in parts.items()]

    def without_irrelevant(self, operations: Sequence[Operation]) -> list[Operation]:
        """Leave out unknown additions of what nobody looks for or sees, and removals of what nobody looks for.

        They would only have to be undone before the next answer that could show them.
        """
        asked = {op.argument for op in operations if op.function == "contains" and op.outcome is Outcome.OK}
        reads = [_elements(op) for op in operations if op.function == "read" and op.outcome is Outcome.OK]
        seen = frozenset[Value]().union(*reads)
        return [
            op
            for op in super().without_irrelevant(operations)
            if op.outcome is not Outcome.UNKNOWN
            or op.argument in asked
            or (reads and (op.function == "remove" or op.argument in seen))
        ]


def _says(op: Operation) -> bool:
    if not isinstance(op.result, bool | Boolean):
        raise wrong_argument(op._replace(argument=op.result), "an element and returns true or false")
    return not is_false(op.result)


def _elements(op: Operation) -> frozenset[Value]:
    match op.result:
        case frozenset() | tuple():
            return frozenset(op.result)
        case None:
            return frozenset()
        case _:
            raise wrong_argument(op._replace(argument=op.result), "nothing and returns the elements")
