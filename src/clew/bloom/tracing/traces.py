"""``trace``: a record of each row that chosen rules derive, with the time, and where it goes."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from clew.bloom.ir.program import BloomProgram, Op
from clew.bloom.ir.schema import Kind
from clew.bloom.runtime.node import Node, has_begun
from clew.bloom.runtime.tap import Observed, observing
from clew.bloom.tracing.rule_names import name_rules, select_rules
from clew.bloom.values import Row, sort_rows, spell
from clew.errors import UsageError

_log = logging.getLogger("clew.bloom")


@dataclass(frozen=True)
class TraceRecord:
    """A firing: a row that a rule derived in a step of a node.

    ``rule`` is its place, ``operator`` one of ``<= <+ <- <~``.  ``step`` counts the steps of the node from 1;
    ``time`` is the clock's.  ``to``: the node that the row goes to over the network, None for one that stays.
    """

    rule: str
    collection: str
    operator: str
    row: Row
    node: str
    step: int
    time: float
    to: Any = None

    @property
    def is_sent(self) -> bool:
        """Tell whether it goes over the network."""
        return self.to is not None

    def __str__(self) -> str:
        row = f"({', '.join(map(spell, self.row))})"
        goes = f", to {self.to}" if self.is_sent else ""
        return f"{self.node} step {self.step}: {self.collection} {self.operator} {row}{goes} ({self.rule})"


class NodeTrace:
    """Makes records of the steps of one node, and gives them to ``to``."""

    def __init__(
        self,
        program: BloomProgram,
        address: str,
        wanted: Sequence[str],
        clock: Callable[[], float],
        to: Callable[[TraceRecord], object],
    ) -> None:
        self.rules = select_rules(program, wanted)
        self._program = program
        self._places = [name.place for name in name_rules(program)]
        self._address = address
        self._clock = clock
        self._to = to

    def hear(self, step: Observed) -> None:
        """Record the firings of a step, in the order of the rules and in canonical order of the rows."""
        # One time for the whole step, which is atomic; a clock costs more than an empty step.
        now = self._clock() if step.firings else 0.0
        for number, rows in step.firings:
            rule = self._program.rules[number]
            is_sent = rule.op is Op.SEND and self._program.by_name[rule.target].kind is Kind.CHANNEL
            for row in sort_rows(rows):
                # What a node sends to itself takes no network.
                target = self._program.destination(rule.target, row) if is_sent else None
                to = None if target == self._address else target
                place, address = self._places[number], self._address
                self._give(TraceRecord(place, rule.target, rule.op.value, row, address, step.number, now, to))

    def _give(self, record: TraceRecord) -> None:
        try:
            self._to(record)
        except Exception:
            # As with callbacks: the step of the node is more than what somebody makes of its trace.
            _log.exception("a function for traces failed")


class Tracing:
    """What is traced: ``records``, unless a function takes them."""

    def __init__(
        self,
        program: type[Node] | Node,
        rules: Sequence[str],
        clock: Callable[[], float],
        to: Callable[[TraceRecord], object] | None,
    ) -> None:
        self.records: list[TraceRecord] = []
        self._program = program
        self._rules = tuple(rules)
        self._clock = clock
        self._to = to

    def listen(self, node: Any, program: BloomProgram, address: str) -> NodeTrace | None:
        """Return what makes records of a node, if it is one of those that are traced."""
        wanted = self._program
        if not (isinstance(node, wanted) if isinstance(wanted, type) else node is wanted):
            return None
        return NodeTrace(program, address, self._rules, self._clock, self._to or self.records.append)


@contextmanager
def trace(
    program: type[Node] | Node,
    rules: Sequence[str] = (),
    *,
    to: Callable[[TraceRecord], object] | None = None,
    clock: Callable[[], float] = time.time,
) -> Iterator[Tracing]:
    """Trace the rules of a class, or of one node, that starts in this block; it is traced as long as it lives.

    ``rules``: blocks (``"Store.server"``), what they derive (``"kvstate"``), or lines (``"12"``); all, if none is
    given.  ``to`` is called with each record, in the thread of the node; otherwise they are in ``records``.
    """
    # A text is a sequence of letters, each of which would be taken for a rule.
    if isinstance(rules, str):
        raise UsageError(f"'rules' is the text {rules!r}", remedy=f"give a list: rules=[{rules!r}]")
    if isinstance(program, Node) and has_begun(program):
        raise UsageError(
            f"the {type(program).__name__} that is to be traced has begun", remedy="trace it before it is used"
        )
    tracing = Tracing(program, rules, clock, to)
    with observing(tracing):
        yield tracing
