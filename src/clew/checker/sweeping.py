"""A program as the sweep sees it: followed over time, and examined at one setting."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple, Protocol

from clew.budgets.deadline import Deadline
from clew.checker.strategies import Examined, Options, Strategy, examine, note_kept_promises
from clew.engine.ground import GroundProgram, SolverFigures
from clew.engine.repetition.courses import observe_run
from clew.errors import Notice
from clew.faults import FailureSpec, FaultSet
from clew.program.ir import Program
from clew.program.outcomes import has_assertions, persistent_relations
from clew.search.sweep import Course
from clew.search.verdict import Answer, Findings, Ledger


class FoundAhead(NamedTuple):
    """What was found at a setting elsewhere, before it was asked for, and the effort that took."""

    findings: Findings
    vacuous: bool
    notices: tuple[Notice, ...]
    figures: SolverFigures | None
    spent: int
    largest: int


class Ahead(Protocol):
    """Who examines settings before they are asked for."""

    def find(self, spec: FailureSpec, ledger: Ledger) -> FoundAhead | None:
        """Return what was found at a setting; None if nothing is known of it."""


@dataclass(frozen=True)
class ProgramSweep:
    """The program of a sweep, with what its settings had to tell so far."""

    program: Program
    base: FailureSpec
    strategy: Strategy
    options: Options
    deadline: Deadline
    ahead: Ahead | None = None
    _told: dict[Notice, None] = field(default_factory=dict)
    _solved: dict[FailureSpec, SolverFigures] = field(default_factory=dict)

    @property
    def notices(self) -> tuple[Notice, ...]:
        """Return what the settings examined so far had to tell about the program, each notice once."""
        return tuple(self._told)

    def solver(self, spec: FailureSpec) -> SolverFigures | None:
        """Return what the search at this setting cost, if a solver answered there."""
        return self._solved.get(spec)

    def examine(self, spec: FailureSpec, ledger: Ledger) -> tuple[Findings, bool]:
        found = None if self.ahead is None else self.ahead.find(spec, ledger)
        if found is not None:
            return self._take(found, spec, ledger)
        examined = examine(self.strategy, self.program, spec, self.options, ledger)
        self.note(spec, examined.notices, examined.solver)
        # A setting that cannot fail is as hollow as one in which nothing is promised.
        return examined.findings, examined.vacuous or self._expects_nothing(examined)

    def _take(self, found: FoundAhead, spec: FailureSpec, ledger: Ledger) -> tuple[Findings, bool]:
        """Take what was found elsewhere for what would have been found here."""
        if self.deadline.effort is not None:
            self.deadline.effort.count_again(found.spent, found.largest)
        self.note(spec, found.notices, found.figures)
        # As the search would have left the ledger: the sweep reads its results there.
        ledger.runs += found.findings.runs
        ledger.executions.extend(found.findings.executions)
        ledger.counterexamples.extend(found.findings.counterexamples)
        return replace(found.findings, runs=ledger.runs), found.vacuous

    def note(self, spec: FailureSpec, notices: tuple[Notice, ...], solver: SolverFigures | None) -> None:
        """Keep what the search at one setting had to tell."""
        self._told.update(dict.fromkeys(notices))
        if solver:
            self._solved[spec] = solver

    def note_kept(self, findings: Findings) -> Findings:
        """Return findings of an earlier search with the promises that they show to hold."""
        return note_kept_promises(findings, self.strategy, self.program, self.options)

    def follow(self, faults: FaultSet, until: int) -> Course:
        """Run the faults until this time, and tell at each time whether what must hold does."""
        needed = FailureSpec(self.base.nodes, until)
        for fault in faults:
            needed = fault.widen(needed)
        # The least EFF: more possible faults would only make the ground program larger.
        spec = replace(self.base, eot=until, eff=needed.eff)
        ground = GroundProgram(self.program, spec, expect_outcomes=False, deadline=self.deadline)
        states, recurrence = observe_run(self.program, ground, faults, self.deadline.effort)
        return Course(states) if recurrence is None else Course(states, recurrence.time, recurrence.period)

    def _expects_nothing(self, examined: Examined) -> bool:
        """Tell whether, without assertions, nothing has to survive, so that a certificate would say nothing."""
        if has_assertions(self.program) or examined.findings.answer is not Answer.CERTIFIED:
            return False
        assert examined.ground is not None, "what is certified has been grounded"
        return not any(examined.ground.rows_at_end(relation) for relation in persistent_relations(self.program))
