"""What a client did: an operation, from when it was asked for until its answer came.

Only the order of events counts, so times are the numbers of events: an operation is before another if its answer
came before the other was asked for.  What was shown as a time is kept for people.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from clew.errors import UsageError
from clew.histories.values import Value, show_value


class Outcome(enum.Enum):
    """How an operation ended: it took effect, it did not, or nobody knows."""

    OK = "ok"
    FAIL = "fail"
    UNKNOWN = "unknown"


class Operation(NamedTuple):
    """One call of a client.

    ``start`` and ``end`` are the numbers of its events; one without an answer has none, and may take effect at any
    time after ``start``, or never.  ``line``: where it begins in its file, 0 if there is none.
    """

    process: Value
    function: str
    argument: Value
    result: Value
    outcome: Outcome
    start: int
    end: int | None
    key: Value = None
    line: int = 0
    started: float | None = None
    ended: float | None = None


@dataclass(frozen=True)
class History:
    """Operations in the order in which they began; ``file``: where they are from, "" if from Python."""

    operations: tuple[Operation, ...]
    file: str = ""

    @property
    def processes(self) -> int:
        """Return how many clients there are."""
        return len({operation.process for operation in self.operations})

    def count(self, outcome: Outcome) -> int:
        """Count the operations that ended like this."""
        return sum(operation.outcome is outcome for operation in self.operations)


def split_by_key(operations: Iterable[Operation]) -> dict[Value, list[Operation]]:
    """Return the operations on each key, in the order in which the keys are first named."""
    by_key: dict[Value, list[Operation]] = {}
    for operation in operations:
        by_key.setdefault(operation.key, []).append(operation)
    return by_key


def order_operations(operations: Iterable[Operation], file: str = "") -> History:
    """Return the history of operations that have times.

    Calls come before answers of the same time: which of two came first, nobody knows, so the operations overlap.
    Two operations of one client may come to overlap by that, which claims less than is known, and never more.
    """
    unordered = list(operations)
    moments: list[tuple[float, bool, int]] = []
    # ``False`` sorts before ``True``: a call before an answer of the same time.
    for number, operation in enumerate(unordered):
        moments.append((_time(operation, operation.started), False, number))
        if operation.outcome is not Outcome.UNKNOWN:
            moments.append((_time(operation, operation.ended), True, number))
    places = {(number, is_end): place for place, (_, is_end, number) in enumerate(sorted(moments))}
    # Places instead of times from here on: no comparison of two numbers of a clock can mislead any more.
    placed = [
        operation._replace(start=places[number, False], end=places.get((number, True)))
        for number, operation in enumerate(unordered)
    ]
    return History(tuple(sorted(placed, key=lambda operation: operation.start)), file)


def _time(operation: Operation, time: float | None) -> float:
    if time is None:
        raise UsageError(
            f"an operation of client {show_value(operation.process)} has no time",
            remedy="let one recorder note all clients, or say at=... in each call",
        )
    return time
