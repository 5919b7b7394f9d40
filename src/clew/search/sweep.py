"""Finding the bounds: the sweep of section 2.1.1.

Grow EOT until the failure-free run achieves something, then EFF until something breaks or EFF reaches EOT,
then both.  What breaks may only lack the time to recover: the same faults are followed further, and if
the outcome becomes good, EOT is raised to that point.  Only a run that has settled (nothing changes
any more) and is still bad ends the sweep.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, replace
from typing import Protocol

from clew.errors import BudgetExhaustedError
from clew.faults import FailureSpec, FaultSet
from clew.search.verdict import Answer, Counterexample, Findings, Ledger, Setting

#: How far a run is followed in the hope that it settles, and how far a sweep goes.
FURTHEST = 64


class State(enum.Enum):
    """How things stand at one time of a run."""

    VACUOUS = "vacuous"
    BAD = "bad"
    GOOD = "good"


@dataclass(frozen=True)
class Course:
    """A run followed over time: its state at times 1, 2, ..., and when it settled (None: not yet)."""

    states: tuple[State, ...]
    settled: int | None


class Sweepable(Protocol):
    """What the sweep needs of a program."""

    def follow(self, faults: FaultSet, until: int) -> Course:
        """One run, seen at every time up to ``until``."""

    def examine(self, spec: FailureSpec, ledger: Ledger) -> tuple[Findings, bool]:
        """Search at one setting; and whether its failure-free run achieves nothing there."""


@dataclass(frozen=True)
class Swept:
    """Where the sweep ended: the findings at ``spec``, and the way there."""

    spec: FailureSpec
    findings: Findings
    settings: tuple[Setting, ...]
    vacuous: bool


class _Sweep:
    def __init__(self, system: Sweepable, base: FailureSpec, fixed_eff: int | None, ledger: Ledger) -> None:
        self._system = system
        self._spec = replace(base, eff=fixed_eff or 0)
        self._fixed_eff = fixed_eff
        self._ledger = ledger
        self._settings: list[Setting] = []
        self._vacuous = False
        self._pending: Findings | None = None
        self._best: tuple[FailureSpec, Findings] | None = None

    def conduct(self) -> Swept:
        try:
            with self._ledger.deadline.listening():
                return self._conduct()
        except BudgetExhaustedError as limit:
            return self._stopped(str(limit))

    def _conduct(self) -> Swept:
        start = self._first_achievement()
        self._spec = replace(self._spec, eot=max(start, self._spec.eff + 1))
        while True:
            self._ledger.deadline.check()
            self._ledger.tell(f"EOT {self._spec.eot}, EFF {self._spec.eff}")
            self._ledger.executions.clear()
            findings, vacuous = self._system.examine(self._spec, self._ledger)
            self._settings.append(Setting(self._spec.eot, self._spec.eff, findings.answer))
            if findings.answer is Answer.INCOMPLETE:
                raise BudgetExhaustedError(findings.reason or "the budget ran out")
            if findings.answer is Answer.COUNTEREXAMPLE:
                self._pending = findings
                lasting, recovery = self._lasting(findings)
                if lasting:
                    return self._swept(self._spec, replace(findings, counterexamples=lasting))
                self._pending = None
                self._spec = replace(self._spec, eot=recovery)
            else:
                if not vacuous or self._vacuous:
                    self._best = (self._spec, findings)
                self._spec = self._larger(self._spec)
            if self._spec.eot > FURTHEST:
                raise BudgetExhaustedError(f"executions of {FURTHEST} steps were reached")

    def _swept(self, spec: FailureSpec, findings: Findings) -> Swept:
        return Swept(spec, findings, tuple(self._settings), self._vacuous)

    def _larger(self, spec: FailureSpec) -> FailureSpec:
        if self._fixed_eff is None and spec.eff < spec.eot - 1:
            return replace(spec, eff=max(2, spec.eff + 1) if spec.eot > 2 else 1)
        return replace(spec, eot=spec.eot + 1, eff=spec.eff if self._fixed_eff is not None else spec.eff + 1)

    def _first_achievement(self) -> int:
        """The first time at which the failure-free run is good and not vacuous; if there is none, where it
        settles: it may take faults to achieve something, or to need none to fail."""
        course = self._follow(FaultSet())
        for time, state in enumerate(course.states, start=1):
            if state is State.GOOD and time > 1:
                return time
        self._vacuous = all(state is State.VACUOUS for state in course.states)
        return max(2, course.settled or 2) if self._vacuous else len(course.states)

    def _lasting(self, findings: Findings) -> tuple[tuple[Counterexample, ...], int]:
        """The counterexamples that stay bad when their runs go on, and when the first of the others recovers."""
        lasting, recoveries = [], []
        for counterexample in findings.counterexamples:
            recovery = self._recovery(self._follow(counterexample.faults))
            if recovery is None:
                lasting.append(counterexample)
            else:
                recoveries.append(recovery)
        self._ledger.counterexamples.clear()
        return tuple(lasting), min(recoveries, default=self._spec.eot + 1)

    def _recovery(self, course: Course) -> int | None:
        """The time from which on a run is good for good, as far as it can be seen.

        A run that becomes vacuous has not recovered, and neither has one that is bad again and again.
        """
        bad = [t for t, state in enumerate(course.states, start=1) if state is State.BAD]
        last_bad = max(bad, default=self._spec.eot)
        tail = course.states[last_bad:]
        long_enough = course.settled is not None or len(tail) >= len(course.states) // 2
        return last_bad + 1 if tail and long_enough and State.VACUOUS not in tail else None

    def _follow(self, faults: FaultSet) -> Course:
        until = max(8, 2 * self._spec.eot)
        while True:
            self._ledger.deadline.check()
            course = self._system.follow(faults, until)
            if course.settled is not None or until >= FURTHEST:
                return course
            until *= 2

    def _stopped(self, reason: str) -> Swept:
        """The end of the budget ends a sweep with what is certified; an interrupt leaves it incomplete, and so
        does a program whose failure-free run never achieves anything."""
        if self._pending is not None:
            unsure = replace(self._pending, reason=f"{reason}; it may only lack the time to recover")
            return self._swept(self._spec, unsure)
        if self._best is None:
            return self._swept(self._spec, self._ledger.conclude(reason))
        spec, findings = self._best
        if self._vacuous:
            reason = "without faults 'pre' stays empty: does a rule p(..)@next :- p(..); keep what it needs?"
        if self._vacuous or self._ledger.deadline.interrupted:
            findings = replace(findings, answer=Answer.INCOMPLETE, reason=reason)
        return self._swept(spec, findings)


def sweep(system: Sweepable, base: FailureSpec, fixed_eff: int | None, ledger: Ledger) -> Swept:
    """Sweep from small to large until a counterexample persists or the budget ends."""
    return _Sweep(system, base, fixed_eff, ledger).conduct()
