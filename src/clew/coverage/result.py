"""What came of a command: what the rules of a class did."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from clew.bloom.tracing.counters import CollectionCounts, RuleCounts
from clew.bloom.tracing.record_lines import RecordLine
from clew.coverage.running import describe_end
from clew.errors import Notice, Position
from clew.results import HOLDS, INCOMPLETE, VIOLATED, Result


class CoverAnswer(enum.Enum):
    """What coverage comes to; the values are words for machines."""

    COUNTED = "counted"
    COMMAND_FAILED = "command failed"
    TOO_FEW_RULES = "too few rules"
    DEAD_RULES = "dead rules"
    NOTHING_RAN = "nothing ran"
    INCOMPLETE = "incomplete"


_EXIT_CODES = {
    CoverAnswer.COUNTED: HOLDS,
    CoverAnswer.NOTHING_RAN: INCOMPLETE,
    CoverAnswer.INCOMPLETE: INCOMPLETE,
}


@dataclass(frozen=True)
class RuleCoverage:
    """A rule and what it did.  ``is_invariant``: of ``die``; ``is_sent``: its rows go to a channel."""

    place: str
    position: Position | None
    text: str
    target: str
    operator: str
    is_invariant: bool
    is_sent: bool
    counts: RuleCounts

    @property
    def has_fired(self) -> bool:
        return self.counts.firings > 0


@dataclass(frozen=True)
class CollectionCoverage:
    """A collection and what it had; ``counts_rows``: not of lattices, whose rows are no rows of steps."""

    name: str
    kind: str
    counts_rows: bool
    counts: CollectionCounts


@dataclass(frozen=True)
class BloomCoverage(Result):
    """What the rules of a class did while ``command`` ran, which ended with ``command_exit`` (negative: a signal).

    ``all_rules`` are in the order of the program, with those of ``die``.  ``fail_under``: the least percentage of
    rules; ``fail_on_dead``: whether a rule that never fired is a finding.  ``records``: of the rules that were
    traced.  ``late``: the seconds of the time limit, if the command was ended by it.
    """

    source: str
    program: str
    command: tuple[str, ...]
    command_exit: int
    processes: int
    nodes: int
    steps: int
    all_rules: tuple[RuleCoverage, ...]
    collections: tuple[CollectionCoverage, ...]
    notices: tuple[Notice, ...] = ()
    fail_under: float | None = None
    fail_on_dead: bool = False
    records: tuple[RecordLine, ...] = ()
    late: float | None = None

    @property
    def rules(self) -> tuple[RuleCoverage, ...]:
        """Return the rules that should fire: all but invariants."""
        # A rule of ``die`` that fires is a failure, and one that never does is no dead code.
        return tuple(rule for rule in self.all_rules if not rule.is_invariant)

    @property
    def invariants(self) -> tuple[RuleCoverage, ...]:
        """Return the rules of ``die``, which should not."""
        return tuple(rule for rule in self.all_rules if rule.is_invariant)

    @property
    def dead(self) -> tuple[RuleCoverage, ...]:
        """Return the rules that never fired."""
        return tuple(rule for rule in self.rules if not rule.has_fired)

    @property
    def percentage(self) -> float:
        """Return how many of a hundred rules fired; all of none are all."""
        return 100.0 * (len(self.rules) - len(self.dead)) / len(self.rules) if self.rules else 100.0

    @property
    def answer(self) -> CoverAnswer:
        """Return the first of these that is the case."""
        # A command that was ended says nothing about its rules, nor by how it ended.
        if self.late is not None:
            return CoverAnswer.INCOMPLETE
        if self.command_exit != 0:
            return CoverAnswer.COMMAND_FAILED
        if not self.steps:
            return CoverAnswer.NOTHING_RAN
        # Thresholds last: they are about a command that did what it was to do.
        if self.fail_under is not None and self.percentage < self.fail_under:
            return CoverAnswer.TOO_FEW_RULES
        if self.fail_on_dead and self.dead:
            return CoverAnswer.DEAD_RULES
        return CoverAnswer.COUNTED

    @property
    def reason(self) -> str | None:
        """Return why the answer is no better."""
        match self.answer:
            case CoverAnswer.INCOMPLETE:
                return f"the time limit of {self.late:g} s ended the command"
            case CoverAnswer.COMMAND_FAILED:
                return f"the command {describe_end(self.command_exit)}"
            case CoverAnswer.NOTHING_RAN:
                return f"no node of {self.program} took a step"
            case CoverAnswer.TOO_FEW_RULES:
                return f"{self.percentage:.1f} % of the rules fired, and {self.fail_under:g} % are asked for"
            case CoverAnswer.DEAD_RULES:
                return f"{len(self.dead)} of {len(self.rules)} rules never fired"
        return None

    @property
    def exit_code(self) -> int:
        return _EXIT_CODES.get(self.answer, VIOLATED)
