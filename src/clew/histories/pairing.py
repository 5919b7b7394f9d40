"""Events become operations: what a client invoked is matched with the answer that it got.

A client has at most one operation under way.  An event of another kind than it can be next is a defect of the
history, and reported with the place of both events: guessing which one is missing would guess the answer.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable
from typing import NamedTuple

from clew.errors import Position, UsageError
from clew.histories.operations import History, Operation, Outcome
from clew.histories.values import Value, show_value


class Kind(enum.Enum):
    """What an event is: a call, or one of three answers."""

    INVOKE = "invoke"
    OK = "ok"
    FAIL = "fail"
    UNKNOWN = "unknown"


class Event(NamedTuple):
    """One line of a history.  ``value`` is the argument of a call, and the result in an answer."""

    process: Value
    kind: Kind
    function: str
    value: Value
    key: Value = None
    time: float | None = None
    line: int = 0


class _Open(NamedTuple):
    """A call whose answer has not come, and the number of its event."""

    event: Event
    number: int


_REMEDY = "each client has one operation at a time: invoke, then ok, fail or unknown"
_OUTCOMES = {Kind.OK: Outcome.OK, Kind.FAIL: Outcome.FAIL, Kind.UNKNOWN: Outcome.UNKNOWN}


def pair_events(events: Iterable[Event], file: str = "") -> History:
    """Return the operations that events are about; what has no answer is unknown."""
    open_calls: dict[Value, _Open] = {}
    found: list[Operation] = []
    for number, event in enumerate(events):
        # Taken away whatever comes next: after an answer nothing is under way, and after a second call the history
        # is refused.
        called = open_calls.pop(event.process, None)
        if event.kind is Kind.INVOKE:
            if called is not None:
                raise _defect(file, event, f"invokes {event.function}", called)
            open_calls[event.process] = _Open(event, number)
        elif called is None:
            raise _defect(file, event, f"gets an answer to {event.function}", None)
        elif called.event.function != event.function or event.key not in (None, called.event.key):
            raise _defect(file, event, f"gets an answer to {event.function}", called)
        else:
            found.append(_operation(called, event, number))
    # A history that is cut off, or a client that crashed: what was under way may take effect for ever after.
    found += [_operation(called, None, 0) for called in open_calls.values()]
    return History(tuple(sorted(found, key=lambda operation: operation.start)), file)


def _operation(called: _Open, answer: Event | None, number: int) -> Operation:
    event = called.event
    outcome = Outcome.UNKNOWN if answer is None else _OUTCOMES[answer.kind]
    # That nobody knows the outcome is no end: the time of ``info`` is when the client gave up, and not when the
    # operation did.
    ended = outcome is not Outcome.UNKNOWN
    return Operation(
        event.process,
        event.function,
        event.value,
        answer.value if answer is not None and outcome is Outcome.OK else None,
        outcome,
        called.number,
        number if ended else None,
        event.key,
        event.line,
        event.time,
        answer.time if answer is not None and ended else None,
    )


def _defect(file: str, event: Event, what: str, called: _Open | None) -> UsageError:
    state = "has nothing under way"
    if called is not None:
        line = f" of line {called.event.line}" if called.event.line else ""
        state = f"has {called.event.function}{line} under way"
        if called.event.key is not None:
            state += f", of the key {show_value(called.event.key)}"
    message = f"client {show_value(event.process)} {what}, but {state}"
    position = Position(file, event.line, 1) if event.line else None
    return UsageError(message, position=position, remedy=_REMEDY)
