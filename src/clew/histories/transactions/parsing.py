"""Transactions from operations: ``txn`` with a list of appends and reads, as Jepsen's list-append has them.

    {"process": 0, "type": "invoke", "f": "txn", "value": [["append", "x", 1], ["r", "x", null]]}
    {"process": 0, "type": "ok",     "f": "txn", "value": [["append", "x", 1], ["r", "x", [1]]]}

What a list holds says who appended it only if nobody appends the same value to the same key twice, so a history
in which somebody does is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, NoReturn

from clew.errors import Position, UsageError
from clew.histories.inputs.events import word_of
from clew.histories.operations import Operation, Outcome
from clew.histories.values import Value, show_value

FUNCTIONS = ("txn",)
_READS, _APPENDS = ("r", "read"), ("append",)


class Step(NamedTuple):
    """An append of ``value``, or a read that returned ``values``; None where nobody knows what it returned."""

    key: Value
    is_append: bool
    value: Value = None
    values: tuple[Value, ...] | None = None


@dataclass(frozen=True)
class Transaction:
    """What a client did at once; ``number`` is its place among the transactions, from 1 on."""

    number: int
    operation: Operation
    steps: tuple[Step, ...]

    @property
    def name(self) -> str:
        """Return what it is called."""
        return f"T{self.number}"

    @property
    def outcome(self) -> Outcome:
        """Return whether it was committed."""
        return self.operation.outcome

    def last_append(self, key: Value) -> Value:
        """Return what it appended last to a key to which it appended something."""
        return next(step.value for step in reversed(self.steps) if step.is_append and step.key == key)


def parse_transactions(operations: Iterable[Operation], file: str = "") -> list[Transaction]:
    """Return the transactions in the order in which they began."""
    made = [
        Transaction(number, operation, tuple(_steps(operation, file)))
        for number, operation in enumerate(operations, 1)
    ]
    _refuse_same_appends(made, file)
    return made


def _steps(op: Operation, file: str) -> Iterable[Step]:
    if op.function not in FUNCTIONS:
        _refuse(op, file, f"expected 'txn' as 'f', found {op.function!r}")
    # Without an answer, what was asked for is all that is known: the appends, and no reads.
    told = op.result if op.outcome is Outcome.OK else op.argument
    if not isinstance(told, tuple):
        _refuse(op, file, f"expected a list of appends and reads, found {show_value(told)}")
    for step in told:
        if not isinstance(step, tuple) or len(step) != 3:
            _refuse(op, file, f'expected ["append", key, value] or ["r", key, list], found {show_value(step)}')
        word, key, value = word_of(step[0]), step[1], step[2]
        if word in _APPENDS:
            yield Step(key, True, value)
        elif word not in _READS:
            _refuse(op, file, f"expected append or r, found {show_value(step[0])}")
        elif value is not None and not isinstance(value, tuple):
            _refuse(op, file, f"expected the list that was read, found {show_value(value)}")
        else:
            # An answer of nil is that of a key to which nobody has appended.
            yield Step(key, False, None, (value or ()) if op.outcome is Outcome.OK else None)


def _refuse_same_appends(transactions: Sequence[Transaction], file: str) -> None:
    # Also those that failed: a value of theirs that is read must be theirs.
    seen: dict[tuple[Value, Value], Transaction] = {}
    for transaction in transactions:
        for step in transaction.steps:
            if step.is_append:
                first = seen.setdefault((step.key, step.value), transaction)
                if first is not transaction or transaction.steps.count(step) > 1:
                    what = f"{show_value(step.value)} is appended to {show_value(step.key)} twice"
                    remedy = (
                        "let each append have a value of its own: who wrote what is read cannot be told otherwise"
                    )
                    _refuse(transaction.operation, file, what, remedy)


def _refuse(op: Operation, file: str, message: str, remedy: str = "") -> NoReturn:
    position = Position(file, op.line, 1) if op.line else None
    raise UsageError(message, position=position, remedy=remedy or "docs/histories.md has the form of transactions")
