"""Python functions of programs, called while clingo grounds.

Every function is called twice with the same values: a checked execution must not depend on what else a function
looks at.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from clew.program.ir import (
    LARGEST_NUMBER,
    SMALLEST_NUMBER,
    Call,
    CannotCheckError,
    Function,
    Value,
    as_value,
)

#: A protocol's values are a few words; a rule that builds a longer one builds ever longer ones.
LARGEST_VALUE = 10_000

Rows = tuple[tuple[Value, ...], ...]


class NoResultError(Exception):
    """The function raised an exception: there is no result for these values."""


class Functions:
    """What the functions of one grounding gave."""

    def __init__(self) -> None:
        self._known: dict[tuple[Function, tuple[Value, ...]], Rows | NoResultError] = {}

    def rows(self, call: Call, args: tuple[Value, ...]) -> Rows:
        key = (call.function, args)
        if key not in self._known:
            first, second = _outcome(call, args), _outcome(call, args)
            if str(first) != str(second):
                raise CannotCheckError(
                    f"{call.function.name} gives {_shown(first)} and then {_shown(second)} for the same values",
                    "let it depend on its arguments only: no counters, no clock, no random numbers",
                )
            self._known[key] = first
        known = self._known[key]
        if isinstance(known, NoResultError):
            raise known
        return known


def _outcome(call: Call, args: tuple[Value, ...]) -> Rows | NoResultError:
    try:
        given = [tuple(row) for row in call.function.rows(args)]
    except (CannotCheckError, MemoryError):  # a certificate must not depend on how much memory there was
        raise
    except (Exception, GeneratorExit, SystemExit) as error:  # of the user's function, whatever it is
        return NoResultError(f"{type(error).__name__}: {error}")
    for row in given:
        if len(row) != len(call.results):
            return NoResultError(f"a row with {len(row)} values, where {len(call.results)} are expected: {row}")
    return tuple(dict.fromkeys(_checkable(call, row) for row in given))


def _checkable(call: Call, row: Sequence[object]) -> tuple[Value, ...]:
    try:
        made = tuple(as_value(value) for value in row)
    except ValueError as problem:
        raise CannotCheckError(
            f"{call.function.name} gives {problem}",
            f"checked programs use text, tuples, None and integers from {SMALLEST_NUMBER} to {LARGEST_NUMBER}",
        ) from None
    if _size(made) > LARGEST_VALUE:
        raise CannotCheckError(
            f"{call.function.name} gives a value with more than {LARGEST_VALUE} characters",
            "see that the rule does not make ever longer values of its own",
        )
    return made


def _size(values: Iterable[Value]) -> int:
    return sum(len(v) if isinstance(v, str) else 1 + _size(v) if isinstance(v, tuple) else 1 for v in values)


def _shown(outcome: Rows | NoResultError) -> str:
    return f"{str(outcome) if isinstance(outcome, NoResultError) else list(outcome)!r:.80}"
