"""One concrete run: the rows at every time, the messages, and whether what must hold does."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import NamedTuple

from clew.duration import Duration
from clew.errors import Notice
from clew.faults import FailureSpec, FaultSet, NodeName
from clew.names import show
from clew.program.ir import Program, Value
from clew.results import HOLDS, VIOLATED, Result
from clew.violation import Violation

Row = tuple[Value, ...]


class Message(NamedTuple):
    """A row on its way; ``arrived`` is None when it was lost (or arrives after the end).

    ``again``: when it arrived a second time, if it did.
    """

    relation: str
    row: Row
    source: NodeName
    target: NodeName
    sent: int
    arrived: int | None
    again: int | None = None


class ExecutionAnswer(enum.Enum):
    """Whether what must hold does at the end of an execution."""

    HOLDS = "holds"
    VIOLATED = "violated"


@dataclass(frozen=True)
class Execution(Result):
    """What happened under one set of faults.

    ``tables[relation][time - 1]`` are the rows at that time, sorted; every relation of the ``program`` is there.
    ``files``: those of the program as they were given, none for one made in Python.  ``duration``: whether the
    violation lasts, if there is one.
    """

    spec: FailureSpec
    faults: FaultSet
    tables: dict[str, tuple[tuple[Row, ...], ...]]
    messages: tuple[Message, ...]
    violations: tuple[Violation, ...]
    notices: tuple[Notice, ...] = ()
    program: Program | None = field(default=None, repr=False, compare=False)
    files: tuple[str, ...] = field(default=(), repr=False, compare=False)
    duration: Duration | None = field(default=None, repr=False, compare=False)

    @property
    def good(self) -> bool:
        """Tell whether nothing is violated."""
        return not self.violations

    @property
    def answer(self) -> ExecutionAnswer:
        return ExecutionAnswer.HOLDS if self.good else ExecutionAnswer.VIOLATED

    @property
    def reason(self) -> None:
        """Return None: one execution is performed to its end, or raises."""
        return None

    @property
    def exit_code(self) -> int:
        return HOLDS if self.good else VIOLATED

    def rows(self, relation: str, time: int | None = None) -> tuple[Row, ...]:
        """Return the rows of a relation at a time (by default at the end of time)."""
        when = self.spec.eot if time is None else time
        return self.tables[relation][when - 1]


def row_text(row: Row) -> str:
    """Return a row as people see it, without its relation."""
    return ", ".join(map(show, row))


def row_key(row: Row) -> tuple[tuple[int, object], ...]:
    """Return a sort key for rows that mix numbers, strings and tuples, which Python does not compare."""
    return tuple(map(_value_key, row))


def violation_key(violation: Violation) -> tuple[object, ...]:
    """Return a sort key for violations: of what must never hold, what went wrong first comes first."""
    return violation.relation, violation.time or 0, row_key(violation.row)


def _value_key(value: Value) -> tuple[int, object]:
    match value:
        case int():
            return 0, value
        case str():
            return 1, value
        case None:
            return 2, 0
        case tuple():
            return 3, row_key(value)
