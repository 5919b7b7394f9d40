"""A program as the sweep sees it: followed over time, and examined at one setting."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from clew.engine.execution import Execution, Row
from clew.engine.ground import GroundProgram, SolverFigures
from clew.errors import Notice
from clew.faults import FailureSpec, FaultSet
from clew.interrupt import Deadline
from clew.program.ir import Program, Var
from clew.program.outcomes import POST, PRE, has_assertions, persistent_relations
from clew.search.sweep import Course, State
from clew.search.verdict import Findings, Ledger
from clew.strategies import Options, Strategy, examine


@dataclass(frozen=True)
class ProgramSweep:
    program: Program
    base: FailureSpec
    strategy: Strategy
    options: Options
    deadline: Deadline
    _told: dict[Notice, None] = field(default_factory=dict)
    _solved: list[SolverFigures] = field(default_factory=list)

    @property
    def notices(self) -> tuple[Notice, ...]:
        """What the settings examined so far had to tell about the program."""
        return tuple(self._told)

    @property
    def solver(self) -> SolverFigures | None:
        """What the last setting cost."""
        return self._solved[0] if self._solved else None

    def examine(self, spec: FailureSpec, ledger: Ledger) -> tuple[Findings, bool]:
        examined = examine(self.strategy, self.program, spec, self.options, ledger)
        self._told.update(dict.fromkeys(examined.notices))
        self._solved[:] = [examined.solver] if examined.solver else []
        return examined.findings, examined.vacuous

    def follow(self, faults: FaultSet, until: int) -> Course:
        """One long run: its prefix up to a time is the run with that EOT, since no rule knows EOT."""
        eff = max((f.time + 1 for f in faults.losses), default=0)
        spec = replace(self.base, eot=until, eff=eff)
        ground = GroundProgram(self.program, spec, expect_outcomes=False, deadline=self.deadline)
        run = ground.run(faults)
        expected = None if has_assertions(self.program) else ground.run(FaultSet())
        states = tuple(self._state(run, expected, time) for time in range(1, until + 1))
        return Course(states, self._settled(run, faults))

    def _state(self, run: Execution, expected: Execution | None, time: int) -> State:
        if expected is None:
            pre, post = run.rows(PRE, time), set(run.rows(POST, time))
            achieved = bool(pre)
            missing = any(row not in post for row in pre)
        else:
            achieved = any(m.arrived is not None and m.arrived <= time for m in expected.messages)
            missing = any(
                row not in set(run.rows(relation, time))
                for relation in persistent_relations(self.program)
                for row in expected.rows(relation, time)
            )
        if missing:
            return State.BAD
        return State.GOOD if achieved else State.VACUOUS

    def _settled(self, run: Execution, faults: FaultSet) -> int | None:
        """The first time from which on nothing changes; None if that cannot be said.

        What holds at a time decides what holds at the next, unless faults, late facts or rules that look at
        the clock interfere.
        """
        if _looks_at_the_clock(self.program):
            return None
        looked_at = (p.at for r in self.program.rules for p in r.premises if isinstance(p.at, int))
        disturbed = max((1, *(f.time + 1 for f in faults), *(f.time + 1 for f in self.program.facts), *looked_at))
        lag = max((d.lag for d in faults.delays), default=0)
        for time in range(disturbed + lag, run.spec.eot):
            if _rows_at(run, time) == _rows_at(run, time + 1):
                return time
        return None


def _rows_at(run: Execution, time: int) -> dict[str, tuple[Row, ...]]:
    return {relation: run.rows(relation, time) for relation in run.tables if run.rows(relation, time)}


def _looks_at_the_clock(program: Program) -> bool:
    return any(isinstance(p.at, Var) for rule in program.rules for p in rule.premises)
