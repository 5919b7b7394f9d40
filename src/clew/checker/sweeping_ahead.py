"""The next settings of a sweep are examined by workers while it decides about this one.

The sweep itself decides as it would alone: what it asks about a setting is answered with what a worker has found
there, and with the effort that took.  Handed out ahead are the settings that come next if nothing is found; where
something is found, that was in vain.  Where the effort gets short, or a worker says anything but that it came to
its end, the setting is examined here.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import NamedTuple

from clew.budgets.deadline import Deadline
from clew.budgets.effort import Effort
from clew.checker.strategies import STRATEGIES, Options
from clew.checker.sweeping import FoundAhead, ProgramSweep
from clew.faults import FailureSpec
from clew.program.ir import Program
from clew.search.sweep import FURTHEST, next_setting
from clew.search.verdict import Answer, Ledger
from clew.workers.crew import Crew, Done
from clew.workers.executors import ExecutorCrew, Team
from clew.workers.forks import ForkCrew
from clew.workers.processes import Serve
from clew.workers.tasks import Job

_POLL_SECONDS = 0.05


@dataclass(frozen=True)
class SweepJob:
    """What all settings of a sweep have in common, as it is sent; ``effort``: the units for all of them."""

    program: Program
    base: FailureSpec
    strategy: str
    options: Options
    effort: int | None


class _Request(NamedTuple):
    """A setting, and the largest program that was ground before it."""

    eot: int
    eff: int
    largest: int


@contextmanager
def examine_ahead(system: ProgramSweep, fixed_eff: int | None, team: Team | int) -> Iterator[ProgramSweep]:
    """Give the same program, whose settings are examined by a team, or by so many forks."""
    effort = system.deadline.effort
    job = SweepJob(
        system.program, system.base, system.strategy.name, system.options, None if effort is None else effort.most
    )
    with _start(job, team, system.deadline) as crew:
        yield replace(system, ahead=_Ahead(crew, fixed_eff, system.deadline))


def _start(job: SweepJob, team: Team | int, deadline: Deadline) -> Crew:
    if isinstance(team, int):
        return ForkCrew(team, open_sweep(job, None))
    return ExecutorCrew(team, Job.of(open_sweep, job), deadline)


class _Ahead:
    """What has been handed out, and what has come back."""

    def __init__(self, crew: Crew, fixed_eff: int | None, deadline: Deadline) -> None:
        self._crew = crew
        self._fixed_eff = fixed_eff
        self._deadline = deadline
        self._asked: dict[tuple[int, int], int] = {}
        self._done: dict[int, Done] = {}

    def find(self, spec: FailureSpec, ledger: Ledger) -> FoundAhead | None:
        """Return what a worker has found at a setting; None if it has to be examined here."""
        # Before the first program nobody knows how large programs are, so that effort could not be told.
        if ledger.max_runs is not None or (self._effort and not self._effort.largest_program):
            return None
        while True:
            self._hand_out(spec)
            number = self._asked.get((spec.eot, spec.eff))
            if number is not None and number in self._done:
                return self._read(self._done[number])
            self._deadline.check()
            self._done |= {done.number: done for done in self._crew.collect(_POLL_SECONDS)}

    @property
    def _effort(self) -> Effort | None:
        return self._deadline.effort

    def _hand_out(self, spec: FailureSpec) -> None:
        largest = self._effort.largest_program if self._effort else 0
        for each in takewhile(lambda each: each.eot <= FURTHEST, self._following(spec)):
            # No further ahead than that: the larger the settings, the likelier they are never asked for.
            if self._crew.room <= 0:
                return
            if (each.eot, each.eff) not in self._asked:
                number = self._asked[each.eot, each.eff] = len(self._asked)
                self._crew.ask(number, _Request(each.eot, each.eff, largest))

    def _following(self, spec: FailureSpec) -> Iterator[FailureSpec]:
        while True:
            yield spec
            spec = next_setting(spec, self._fixed_eff)

    def _read(self, done: Done) -> FoundAhead | None:
        found: FoundAhead | None = done.value
        if found is None or found.findings.answer is Answer.INCOMPLETE or found.findings.reason is not None:
            return None
        if self._effort is not None and not self._effort.surely_suffices(found.spent, found.largest):
            return None
        return found


def open_sweep(job: SweepJob, folder: str | None) -> Serve:
    """Return what examines settings, in a worker."""

    def serve(request: _Request) -> FoundAhead:
        effort = None if job.effort is None else Effort(job.effort)
        if effort is not None:
            # Known sizes need no watch over the grounding, which would take a third of its time.
            effort.count_again(0, request.largest)
        system = ProgramSweep(job.program, job.base, STRATEGIES[job.strategy], job.options, Deadline(None, effort))
        spec = replace(job.base, eot=request.eot, eff=request.eff)
        findings, vacuous = system.examine(spec, Ledger(system.deadline))
        spent, largest = (0, 0) if effort is None else (effort.spent, effort.largest_program)
        return FoundAhead(findings, vacuous, system.notices, system.solver(spec), spent, largest)

    return serve
