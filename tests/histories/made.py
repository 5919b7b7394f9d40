"""Histories in a short notation, for tests that need one to the last detail."""

from __future__ import annotations

from typing import Any

from clew.histories import History, Operation, Outcome


def op(
    process: object,
    function: str,
    argument: Any = None,
    result: Any = None,
    *,
    at: tuple[int, int | None],
    outcome: Outcome | None = None,
    key: Any = None,
) -> Operation:
    """Return an operation between two events; one without a second is unknown."""
    ended = Outcome.UNKNOWN if at[1] is None else Outcome.OK
    return Operation(process, function, argument, result, outcome or ended, at[0], at[1], key)


def history(*operations: Operation) -> History:
    """Return a history of operations in the order in which they began."""
    return History(tuple(sorted(operations, key=lambda operation: operation.start)))


def txn(process: object, *steps: Any, at: tuple[int, int | None], outcome: Outcome | None = None) -> Operation:
    """Return a transaction; a step is ``("append", key, value)`` or ``("r", key, list)``."""
    asked = tuple((f, k, v) if f == "append" else (f, k, None) for f, k, v in steps)
    told = tuple((f, k, tuple(v) if f == "r" else v) for f, k, v in steps)
    made = op(process, "txn", asked, told, at=at, outcome=outcome)
    return made if made.outcome is Outcome.OK else made._replace(result=None)
