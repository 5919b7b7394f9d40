"""Registers, alone and as maps: what is read was written last."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from clew.errors import UsageError
from clew.histories.models.base import Model
from clew.histories.operations import Operation, Outcome
from clew.histories.values import Boolean, Value, show_value


def is_false(value: object) -> bool:
    """Tell whether an answer says "no", and is no number."""
    return isinstance(value, bool | Boolean) and not value


class Register(Model):
    """A value that is read, written, and compared and set.

    ``read`` returns the value, nil before the first write; ``write`` has it as its argument; ``cas`` has the pair
    of the expected and the new value.  A ``cas`` that finds another value fails, or returns false.
    """

    name = "register"
    functions = ("read", "write", "cas")
    reads = frozenset({"read"})
    silent = frozenset({"write"})

    def __init__(self, initial: Value = None) -> None:
        self.initial = initial

    def step(self, state: Any, op: Operation) -> list[Any] | None:
        if op.function == "read":
            return [state] if op.outcome is Outcome.UNKNOWN or state == op.result else None
        if op.function == "write":
            return [op.argument]
        expected, new = pair_of(op)
        if is_false(op.result):
            return None if state == expected else [state]
        # Also of unknown outcome: where it finds another value it changes nothing, which is the same as never.
        return [new] if state == expected else None

    def without_irrelevant(self, operations: Sequence[Operation]) -> list[Operation]:
        """Leave out unknown writes of values that nobody expects: what follows them must be another write."""
        # Whoever reads or compares names a value; a write of any other could only be overwritten unseen.
        expected: set[Value] = set()
        for op in operations:
            if op.function == "cas":
                expected.add(pair_of(op)[0])
                if is_false(op.result):  # satisfied by any other value
                    return super().without_irrelevant(operations)
            elif op.function == "read" and op.outcome is Outcome.OK:
                expected.add(op.result)
        return [
            op
            for op in super().without_irrelevant(operations)
            if op.outcome is not Outcome.UNKNOWN or _written_by(op) in expected
        ]


def _written_by(op: Operation) -> Value:
    return pair_of(op)[1] if op.function == "cas" else op.argument


def pair_of(op: Operation, names: str = "[expected, new]") -> tuple[Value, Value]:
    """Return the argument of an operation that takes two."""
    if not isinstance(op.argument, tuple) or len(op.argument) != 2:
        raise wrong_argument(op, names)
    return op.argument


def wrong_argument(op: Operation, expected: str) -> UsageError:
    """Return the error of an operation that has another argument than its function takes."""
    line = f"line {op.line}: " if op.line else ""
    return UsageError(
        f"{line}{op.function} takes {expected}, not {show_value(op.argument)}",
        remedy="docs/histories.md has the arguments and results of each model",
    )


class Map(Model):
    """Registers by key: ``put`` takes ``[key, value]``, ``get`` and ``delete`` a key; what is not there is nil.

    Each key is checked for itself, so a state is the value of one.
    """

    name = "map"
    functions = ("get", "put", "delete", "cas")
    reads = frozenset({"get"})
    silent = frozenset({"put", "delete"})

    def step(self, state: Any, op: Operation) -> list[Any] | None:
        raise NotImplementedError("a map is divided into registers")

    def part_of(self, operations: Sequence[Operation]) -> Sequence[tuple[Value, list[Operation], Model]]:
        parts: dict[Value, list[Operation]] = {}
        for op in operations:
            key, as_register = _as_of_register(op)
            parts.setdefault(key, []).append(as_register)
        # One for all keys: a model has no state of its own.
        register = Register()
        return [(key, part, register) for key, part in parts.items()]


def _as_of_register(op: Operation) -> tuple[Value, Operation]:
    match op.function, op.argument:
        case "put", (key, value):
            return key, op._replace(function="write", argument=value)
        case "put", _:
            raise wrong_argument(op, "[key, value]")
        case "cas", (key, expected, new):
            return key, op._replace(argument=(expected, new))
        case "cas", _:
            raise wrong_argument(op, "[key, expected, new]")
        case "delete", key:
            return key, op._replace(function="write", argument=None)
        case _, key:
            return key, op._replace(function="read", argument=None)
