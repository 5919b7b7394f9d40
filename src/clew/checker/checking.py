"""A check while it goes on: a search at one setting, or a sweep, and the survey of what its answer rests on."""

from __future__ import annotations

import time
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from clew.budgets.deadline import Deadline
from clew.budgets.effort import Effort
from clew.budgets.whereabouts import time_left
from clew.checker.result import Verdict
from clew.checker.strategies import Examined, Options, Strategy, examine
from clew.checker.survey.judging import Demands, judge
from clew.duration import never_followed
from clew.engine.repetition.lasso import find_horizon
from clew.faults import FailureSpec
from clew.program.checks import CheckedProgram
from clew.program.outcomes import outcomes_of
from clew.search.verdict import Answer, Counterexample, Ledger

if TYPE_CHECKING:
    from clew.checker.remembered.sweep import RememberedSweep
    from clew.checker.sweeping import ProgramSweep
    from clew.files.checkpoints import Checkpoint
    from clew.workers.executors import Team

#: What a sweep may spend when nothing else is said: for a hard program about ten seconds on a usual machine.
DEFAULT_SWEEP_EFFORT = 1_500_000

#: Seconds to look up what the answer of a sweep rests on, if it had a limit of time.
_SURVEY_SECONDS = 10.0
#: Seconds that are kept for telling the answer, if the process is going to be ended.
_TELLING_SECONDS = 3.0


@dataclass(frozen=True)
class Check:
    """What is checked and how, what is demanded of a certificate, and when the check began.

    ``team``: who takes part in a sweep, or how many forks do.
    """

    prepared: CheckedProgram
    strategy: Strategy
    options: Options
    demands: Demands
    started: float
    team: Team | int | None = None

    def examine(self, spec: FailureSpec, ledger: Ledger) -> Verdict:
        """Search within bounds."""
        examined = examine(self.strategy, self.prepared.program, spec, self.options, ledger)
        return self.conclude(spec, examined, ledger.deadline)

    def sweep(self, spec: FailureSpec, fixed_eff: int | None, ledger: Ledger) -> Verdict:
        """Search with one EOT after another, for as long as the deadline admits."""
        # Imported here: most checks do not sweep, and a cold start should not pay for it.
        from clew.checker.sweeping import ProgramSweep
        from clew.search.sweep import sweep

        # Raises where nothing must hold: at every setting a sweep would find that out again.
        outcomes_of(self.prepared.program)
        deadline, checkpoint = ledger.deadline, self.options.checkpoint
        # EFF grows with EOT, unless a flag fixes it; one that the program states goes with the EOT it states.
        base = replace(spec, eot=1, eff=0)
        # What is saved of a sweep are its settings; the search within one does not know of it.
        system = ProgramSweep(
            self.prepared.program, base, self.strategy, self.options._replace(checkpoint=None), deadline
        )
        with self._share(system, fixed_eff) as shared:
            known = shared if checkpoint is None else _resume_sweep(shared, checkpoint)
            swept = sweep(known, base, fixed_eff, ledger)
        findings = replace(swept.findings, runs=ledger.runs)
        examined = Examined(findings, swept.vacuous, system.notices, system.solver(swept.spec))
        # The effort of the sweep may be spent: what it has certified is looked up with an effort of its own.
        verdict = self.conclude(swept.spec, examined, _survey_deadline(deadline))
        # Where the survey takes the certificate back, the largest setting is none either.
        certified = None if swept.findings.answer is Answer.CERTIFIED is not verdict.answer else swept.certified
        candidates = self._tell_durations(findings.candidates, swept.spec, _survey_deadline(deadline))
        return replace(verdict, swept=swept.settings, certified=certified, candidates=candidates)

    def _share(self, system: ProgramSweep, fixed_eff: int | None) -> AbstractContextManager[ProgramSweep]:
        """Let others examine settings, too, if they are to."""
        if self.team is None:
            return nullcontext(system)
        from clew.checker.sweeping_ahead import examine_ahead

        return examine_ahead(system, fixed_eff, self.team)

    def give_up(self, spec: FailureSpec, reason: str, deadline: Deadline) -> Verdict:
        """Conclude before anything could be searched."""
        return self.conclude(spec, Examined(Ledger(deadline).conclude(reason), False, ()), deadline)

    def conclude(self, spec: FailureSpec, examined: Examined, deadline: Deadline) -> Verdict:
        """Look up what an answer rests on, and give it together with that."""
        findings = examined.findings
        judged = judge(self.prepared.program, spec, examined, self.demands, deadline)
        return Verdict(
            judged.answer,
            spec,
            self.strategy.name,
            self._tell_durations(findings.counterexamples, spec, deadline),
            findings.runs,
            time.monotonic() - self.started,
            judged.reason,
            examined.vacuous,
            (*self.prepared.notices, *examined.notices, *(judged.survey.notices if judged.survey else ())),
            # A sweep goes beyond the setting that it answers for, and its ledger has those runs, too.
            executions=tuple(run for run in findings.executions if spec.admits(run.faults)),
            solver=examined.solver,
            survey=judged.survey,
            ruled_out=findings.answer is Answer.CERTIFIED,
            kept=findings.kept,
            cautions=judged.cautions,
            remarks=judged.remarks,
            program=self.prepared.program,
            lasting=self.options.lasting,
            horizon=find_horizon(examined.ground) if self.options.lasting and examined.ground else None,
        )

    def _tell_durations(
        self, found: tuple[Counterexample, ...], spec: FailureSpec, deadline: Deadline
    ) -> tuple[Counterexample, ...]:
        """Add to each counterexample whether it lasts; of a long list, to as many as are likely to be read."""
        if not found:
            return found
        from clew.checker.durations import MOST_FOLLOWED, find_duration  # a certificate does not pay for it

        program, told = self.prepared.program, []
        for number, each in enumerate(found):
            if number < MOST_FOLLOWED:
                duration = find_duration(program, spec, each.faults, deadline, each.violations)
            else:
                duration = never_followed(spec.eot, f"only the first {MOST_FOLLOWED} runs are executed further")
            told.append(replace(each, duration=duration))
        return tuple(told)


def _resume_sweep(system: ProgramSweep, checkpoint: Checkpoint) -> RememberedSweep:
    from clew.checker.remembered.sweep import RememberedSweep

    return RememberedSweep(system, checkpoint)


def search_deadline(
    effort: float | None, sweep_seconds: float | None, time_limit: float | None, *, sweeps: bool
) -> Deadline:
    """Return when a search ends: by the clock where that is asked for, a sweep otherwise by its effort."""
    seconds = min((s for s in (sweep_seconds, time_limit) if s is not None), default=None)
    # By effort, unless the clock is asked for: the same question then has the same answer on every machine.
    counted = Effort(round(DEFAULT_SWEEP_EFFORT * (effort or 1))) if sweeps and sweep_seconds is None else None
    return Deadline(seconds, counted)


def _survey_deadline(swept: Deadline) -> Deadline:
    """Return a deadline for looking up what a sweep has certified: by the clock only if the sweep had one, too."""
    if swept.interrupted:
        return Deadline(0)
    seconds = None if swept.remaining is None else max(swept.remaining, _SURVEY_SECONDS)
    if seconds is not None and (left := time_left()) is not None:
        seconds = min(seconds, max(0.0, left - _TELLING_SECONDS))
    return Deadline(seconds, swept.effort.renew(DEFAULT_SWEEP_EFFORT) if swept.effort else None)
