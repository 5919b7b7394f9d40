"""One concrete run: the rows at every time, the messages, and whether what must hold does."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from clew.errors import Notice
from clew.faults import FailureSpec, FaultSet, Node
from clew.names import show
from clew.program.ir import Program, Value
from clew.violation import Violation

Row = tuple[Value, ...]


class Message(NamedTuple):
    """A row on its way; ``arrived`` is None when it was lost (or arrives after the end)."""

    relation: str
    row: Row
    source: Node
    target: Node
    sent: int
    arrived: int | None


@dataclass(frozen=True)
class Execution:
    """What happened under one set of faults.

    ``tables[relation][time - 1]`` are the rows at that time, sorted; every relation of the ``program`` is there.
    """

    spec: FailureSpec
    faults: FaultSet
    tables: dict[str, tuple[tuple[Row, ...], ...]]
    messages: tuple[Message, ...]
    violations: tuple[Violation, ...]
    notices: tuple[Notice, ...] = ()
    program: Program | None = field(default=None, repr=False, compare=False)

    @property
    def good(self) -> bool:
        return not self.violations

    def rows(self, relation: str, time: int | None = None) -> tuple[Row, ...]:
        """The rows of a relation at a time (by default at the end of time)."""
        when = self.spec.eot if time is None else time
        return self.tables[relation][when - 1]


def row_text(row: Row) -> str:
    return ", ".join(map(show, row))


def row_key(row: Row) -> tuple[tuple[int, object], ...]:
    """Sort key for rows that mix numbers, strings and tuples."""
    return tuple(map(_value_key, row))


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


class Arrivals:
    """When messages arrive under some faults; made once for all messages of an execution."""

    def __init__(self, spec: FailureSpec, faults: FaultSet) -> None:
        self._eot = spec.eot
        self._nodes = frozenset(spec.nodes)
        self._lost = frozenset(loss.message for loss in faults.losses)
        self._crashed = {crash.node: crash.time for crash in reversed(faults.crashes)}  # the first counts
        self._lags = {delay.message: delay.lag for delay in faults.delays}

    def time_of(self, source: Node, target: Node, sent: int) -> int | None:
        """Return the time at which a message becomes a row; None if it never does."""
        if source == target:
            return sent + 1
        message = source, target, sent
        lost = source not in self._nodes or target not in self._nodes or message in self._lost
        if lost or self._crashed.get(source, sent + 1) <= sent:
            return None
        arrival = sent + 1 + self._lags.get(message, 0)
        return arrival if arrival <= self._eot else None
