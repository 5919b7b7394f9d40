"""The three honest answers, and the record from which they are given.

"Not found" is not "unfinished": a search that a budget ended is incomplete, never a certificate.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, TypeVar

from clew.budgets.deadline import Deadline
from clew.duration import Duration
from clew.errors import BudgetExhaustedError, ResourcesExhaustedError
from clew.faults import AnyFault, Fault, FaultsOf
from clew.search.protocol import RunOf
from clew.violation import Violation

F = TypeVar("F", bound=AnyFault)


class Answer(enum.Enum):
    """What a search found out; the values are what JSON calls them."""

    COUNTEREXAMPLE = "counterexample"
    CERTIFIED = "certified"
    INCOMPLETE = "incomplete"


@dataclass(frozen=True)
class CounterexampleOf(Generic[F]):
    """Faults under which something that must hold does not, as a concrete execution has shown.

    ``duration``: whether that lasts; None where nobody has looked.
    """

    faults: FaultsOf[F]
    violations: tuple[Violation, ...]
    duration: Duration | None = field(default=None, compare=False)


@dataclass(frozen=True)
class FindingsOf(Generic[F]):
    """What a search brought: the answer, on what it rests, and why it is incomplete if it is.

    ``executions``: what was executed, in order; of a long search the beginning.  ``candidates``: faults under
    which something fails at the end, and a sweep does not know whether it would recover; only if incomplete.
    ``cautions``: what makes the absence of counterexamples mean less than it seems.
    ``kept``: where promises are told apart and some are broken, those that no faults within the bounds break.
    """

    answer: Answer
    counterexamples: tuple[CounterexampleOf[F], ...]
    runs: int
    reason: str | None = None
    executions: tuple[RunOf[F], ...] = ()
    candidates: tuple[CounterexampleOf[F], ...] = ()
    cautions: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()


class Setting(NamedTuple):
    """One step of a sweep: the bounds and the answer there."""

    eot: int
    eff: int
    answer: Answer


#: So many executions are remembered, for reports that show them; a search can have millions.
MOST_REMEMBERED = 1000

#: Called after every execution with the number of executions and a word on the current stage.
Progress = Callable[[int, str], None]


@dataclass
class LedgerOf(Generic[F]):
    """What a search has done so far; kept outside the strategy so that an interrupt loses nothing."""

    deadline: Deadline = field(default_factory=lambda: Deadline(None))
    max_runs: int | None = None
    progress: Progress | None = None
    runs: int = 0
    counterexamples: list[CounterexampleOf[F]] = field(default_factory=list)
    executions: list[RunOf[F]] = field(default_factory=list)
    cautions: list[str] = field(default_factory=list)
    stage: str = "grounding"
    starved: bool = False  # memory or stack ran out: with more of it, the search would have gone on

    def __post_init__(self) -> None:
        if self.progress:
            self.deadline.heartbeat = lambda: self.tell(self.stage)

    def before_run(self, stage: str) -> None:
        """Ask for permission to execute once more."""
        if self.max_runs is not None and self.runs >= self.max_runs:
            raise BudgetExhaustedError(f"the limit of {self.max_runs} runs was reached")
        self.deadline.check()
        if self.deadline.effort:
            self.deadline.effort.check()
        self.runs += 1  # before it is run: an interrupt in the middle of an execution has still used one
        self.tell(stage)

    def tell(self, stage: str) -> None:
        """Report progress."""
        self.stage = stage
        if self.progress:
            self.progress(self.runs, stage)

    def after_run(self, run: RunOf[F]) -> None:
        """Remember what was executed, for those who want to look at it."""
        if len(self.executions) < MOST_REMEMBERED:
            # A plain run, without the lineage that a traced one carries: that would keep everything alive.
            self.executions.append(RunOf(run.faults, run.violations))

    def record(self, run: RunOf[F]) -> None:
        """Keep a run that violates something."""
        self.counterexamples.append(CounterexampleOf(run.faults, run.violations))

    @property
    def cut_short(self) -> bool:
        """Tell whether the clock, an interrupt or the machine may have ended it, and not a bound of its own."""
        return self.starved or self.deadline.passed()

    def conclude(self, reason: str | None) -> FindingsOf[F]:
        """Give the answer; ``reason`` is None when everything within the bounds is covered."""
        if self.counterexamples:
            answer = Answer.COUNTEREXAMPLE
        else:
            answer = Answer.CERTIFIED if reason is None else Answer.INCOMPLETE
        # In the canonical order: which was found first depends on the strategy.
        found = sorted(self.counterexamples, key=lambda c: c.faults.sort_key())
        return FindingsOf(
            answer, tuple(found), self.runs, reason, tuple(self.executions), cautions=tuple(self.cautions)
        )


def conduct(search: Callable[[LedgerOf[F]], str | None], ledger: LedgerOf[F]) -> FindingsOf[F]:
    """Run a search to its end, its budget or an interrupt, and say honestly which it was."""
    try:
        with ledger.deadline.listening():
            reason = search(ledger)
    except BudgetExhaustedError as limit:
        reason = str(limit)
        ledger.starved = isinstance(limit, ResourcesExhaustedError)
    return ledger.conclude(reason)


#: What a search of a model has done and found; the others are for any faults, also of code.
Counterexample = CounterexampleOf[Fault]
Findings = FindingsOf[Fault]
Ledger = LedgerOf[Fault]
