"""A program as the sweep sees it: followed over time, and examined at one setting."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from clew.budgets.deadline import Deadline
from clew.budgets.effort import READ_ATOM
from clew.checker.strategies import Examined, Options, Strategy, examine, note_kept_promises
from clew.engine.execution import Execution
from clew.engine.ground import GroundProgram, SolverFigures
from clew.engine.recurrence import find_recurrence
from clew.errors import Notice
from clew.faults import FailureSpec, FaultSet
from clew.program.assertions import Assertion, assertion_names, find_assertions
from clew.program.ir import Program
from clew.program.outcomes import has_assertions, persistent_relations
from clew.search.sweep import Course, State
from clew.search.verdict import Answer, Findings, Ledger


@dataclass(frozen=True)
class ProgramSweep:
    """The program of a sweep, with what its settings had to tell so far."""

    program: Program
    base: FailureSpec
    strategy: Strategy
    options: Options
    deadline: Deadline
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
        examined = examine(self.strategy, self.program, spec, self.options, ledger)
        self.note(spec, examined.notices, examined.solver)
        return examined.findings, examined.vacuous or self._expects_nothing(examined)

    def note(self, spec: FailureSpec, notices: tuple[Notice, ...], solver: SolverFigures | None) -> None:
        """Keep what the search at one setting had to tell."""
        self._told.update(dict.fromkeys(notices))
        if solver:
            self._solved[spec] = solver

    def note_kept(self, findings: Findings) -> Findings:
        """Return findings of an earlier search with the promises that they show to hold."""
        return note_kept_promises(findings, self.strategy, self.program, self.options)

    def follow(self, faults: FaultSet, until: int) -> Course:
        """Run the faults until this time, and tell at each time whether what must hold does.

        One long run is enough: its prefix up to a time is the run with that EOT, since no rule knows EOT.
        """
        needed = FailureSpec(self.base.nodes, until)
        for fault in faults:
            needed = fault.widen(needed)
        # The least EFF: more possible faults would only make the ground program larger.
        spec = replace(self.base, eot=until, eff=needed.eff)
        ground = GroundProgram(self.program, spec, expect_outcomes=False, deadline=self.deadline)
        run = ground.run(faults)
        # The run is read in full, row by row, which the meter of the ground program does not see.
        if self.deadline.effort:
            self.deadline.effort.count(READ_ATOM * (len(ground.row_atoms) + len(ground.sent_atoms)))
        # Without assertions, what must hold at a time is what the failure-free run has then.
        expected = None if has_assertions(self.program) else ground.run(FaultSet())
        if expected is None:
            states = tuple(_asserted_states(run, find_assertions(self.program)))
            recurrence = find_recurrence(self.program, assertion_names(self.program), faults, [run])
        else:  # what is expected may still change when the run does not, and any message is an achievement
            states = tuple(self._state(run, expected, time) for time in range(1, until + 1))
            recurrence = find_recurrence(self.program, run.tables, faults, [run, expected])
        return Course(states) if recurrence is None else Course(states, recurrence.time, recurrence.period)

    def _expects_nothing(self, examined: Examined) -> bool:
        """Tell whether, without assertions, nothing has to survive, so that a certificate would say nothing."""
        if has_assertions(self.program) or examined.findings.answer is not Answer.CERTIFIED:
            return False
        assert examined.ground is not None, "what is certified has been grounded"
        return not any(examined.ground.rows_at_end(relation) for relation in persistent_relations(self.program))

    def _state(self, run: Execution, expected: Execution, time: int) -> State:
        wanted = [(r, row) for r in persistent_relations(self.program) for row in expected.rows(r, time)]
        if any(row not in set(run.rows(relation, time)) for relation, row in wanted):
            return State.BAD
        # Rows that no message had to bring survive any fault: until one arrived, nothing is achieved.
        arrived = any(m.arrived is not None and m.arrived <= time for m in expected.messages)
        return State.GOOD if wanted and arrived else State.VACUOUS


def _asserted_states(run: Execution, assertions: Sequence[Assertion]) -> Iterator[State]:
    """Yield how things stand at each time, as if the execution ended there."""
    pairs = [(a.relation, a.post) for a in assertions if a.post is not None]
    nevers = [a.relation for a in assertions if a.post is None]
    happened = False
    for time in range(1, run.spec.eot + 1):
        # What must never hold, and has held, is not made good by what comes after.
        happened = happened or any(run.rows(relation, time) for relation in nevers)
        if happened or any(not set(run.rows(pre, time)) <= set(run.rows(post, time)) for pre, post in pairs):
            yield State.BAD
        else:
            # A promise that something never happens applies from the beginning: there is nothing to wait for.
            achieved = not pairs or any(run.rows(pre, time) for pre, _ in pairs)
            yield State.GOOD if achieved else State.VACUOUS
