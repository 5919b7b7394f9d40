"""Finding the bounds: the sweep of section 2.1.1.

Grow EOT until the failure-free run achieves something, then EFF until something breaks or EFF reaches EOT,
then both.  What breaks may only lack the time to recover: the same faults are followed further, and if
the outcome becomes good, EOT is raised to that point.  Only a run whose future is known, because it repeats
itself, and which is not good for good ends the sweep with a counterexample.

Where a sweep ends without one, its own bounds (effort, and the length of executions) leave the largest setting
certified: they are the same on every machine.  A limit of the user's, a clock above all, leaves it incomplete.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Protocol

from clew.budgets.effort import USED_UP, Effort
from clew.duration import State
from clew.errors import BudgetExhaustedError, EffortExhaustedError, ResourcesExhaustedError
from clew.faults import FailureSpec, FaultSet
from clew.search.verdict import Answer, Counterexample, Findings, Ledger, Setting

#: How far a run is followed in the hope that it repeats itself, and how far a sweep goes.
FURTHEST = 64

#: Units of effort for following the counterexamples of one setting, when fewer than these are left.
FOLLOWING_EFFORT = 200_000

_GO_ON = "to go on, give a larger --effort (1 is the usual one), or --eot and --eff"


@dataclass(frozen=True)
class Course:
    """A run followed over time: its state at times 1, 2, ..., and from when on it is settled (None: not yet).

    A settled run goes through its last ``period`` states again and again.
    """

    states: tuple[State, ...]
    settled: int | None = None
    period: int = 1

    def times(self, state: State) -> list[int]:
        """Return the times at which the run is in a state."""
        return [time for time, seen in enumerate(self.states, start=1) if seen is state]


class Sweepable(Protocol):
    """What the sweep needs of a program."""

    def follow(self, faults: FaultSet, until: int) -> Course:
        """Follow one run, seen at every time up to ``until``."""

    def examine(self, spec: FailureSpec, ledger: Ledger) -> tuple[Findings, bool]:
        """Search at one setting; also tell whether its failure-free run achieves nothing there."""


@dataclass(frozen=True)
class Swept:
    """Where the sweep ended: the findings at ``spec``, and the way there.

    ``certified``: the largest setting that was, and whose failure-free run achieves something.
    """

    spec: FailureSpec
    findings: Findings
    settings: tuple[Setting, ...]
    vacuous: bool
    certified: Setting | None


@dataclass(frozen=True)
class _Fates:
    """What becomes of counterexamples when their runs go on.

    ``recovery``: the first time at which one of them is good for good.  ``followed``: to this time at least.
    """

    lasting: tuple[Counterexample, ...]
    unknown: tuple[Counterexample, ...]
    recovery: int
    followed: int


class _Sweep:
    def __init__(self, system: Sweepable, base: FailureSpec, fixed_eff: int | None, ledger: Ledger) -> None:
        self._system = system
        self._spec = replace(base, eff=fixed_eff or 0)
        self._fixed_eff = fixed_eff
        self._ledger = ledger
        self._settings: list[Setting] = []
        self._vacuous = False
        self._pending: tuple[Counterexample, ...] = ()
        self._best: tuple[FailureSpec, Findings] | None = None

    def conduct(self) -> Swept:
        try:
            with self._ledger.deadline.listening():
                return self._conduct()
        except EffortExhaustedError as limit:
            return self._end(f"{limit} at {_setting_text(self._spec)}", _GO_ON)
        except BudgetExhaustedError as limit:
            self._ledger.starved = self._ledger.starved or isinstance(limit, ResourcesExhaustedError)
            return self._stop(f"{limit} at {_setting_text(self._spec)}")

    def _conduct(self) -> Swept:
        # Executions too short to achieve anything are certified for nothing.
        start = self._first_achievement()
        self._spec = replace(self._spec, eot=max(start, self._spec.eff + 1))
        while self._spec.eot <= FURTHEST:
            self._check_budgets()
            self._ledger.tell(_setting_text(self._spec))
            self._ledger.executions.clear()  # the report shows those of the setting that it is about
            findings, vacuous = self._system.examine(self._spec, self._ledger)
            self._settings.append(Setting(self._spec.eot, self._spec.eff, findings.answer))
            match findings.answer:
                case Answer.INCOMPLETE:
                    raise self._limit(findings)
                case Answer.COUNTEREXAMPLE:
                    fates = self._follow_all(findings.counterexamples)
                    # One that lasts is enough: the others would only be more of the same answer.
                    if fates.lasting:
                        return self._swept(self._spec, replace(findings, counterexamples=fates.lasting))
                    if fates.unknown:
                        return self._unsure(fates.unknown, f"its run still changes after {fates.followed} steps")
                    # All recover: only EOT was too small, and with EFF as it is the search begins anew there.
                    self._spec = replace(self._spec, eot=fates.recovery)
                case Answer.CERTIFIED:
                    # Nothing could have been violated in a vacuous setting, so it is no certificate to report.
                    if not vacuous or self._vacuous:
                        self._best = (self._spec, findings)
                    self._spec = next_setting(self._spec, self._fixed_eff)
        return self._end(f"a sweep goes up to {FURTHEST} steps", "for longer executions, give --eot and --eff")

    def _check_budgets(self) -> None:
        self._ledger.deadline.check()
        if self._effort:
            self._effort.check()

    def _limit(self, findings: Findings) -> BudgetExhaustedError:
        """Tell which budget ended a search: the effort, whatever else may have come at the same time."""
        # Effort is the same on every machine and the clock is not: the answer should not depend on which was
        # first.
        if self._effort and self._effort.exhausted:
            return EffortExhaustedError(USED_UP)
        return BudgetExhaustedError(findings.reason or "the search was not finished")

    # -- following runs ------------------------------------------------------------------------------------

    def _first_achievement(self) -> int:
        """Return the first time at which the failure-free run is good and not vacuous.

        If it never is: a time at which it is bad, for good if that is known; if it is never that either, where it
        settles, because it may take faults to achieve something.
        """
        course = Course(())
        for course in self._follow(FaultSet()):
            good = [t for t in course.times(State.GOOD) if t > 1]  # within one step no message arrives
            if good:
                return good[0]
        bad = course.times(State.BAD)
        self._vacuous = not bad
        if not bad:
            return max(2, course.settled or 2)
        return next((t for t in bad if course.settled is not None and t >= course.settled), bad[-1])

    def _follow_all(self, found: tuple[Counterexample, ...]) -> _Fates:
        self._pending = found
        lasting, unknown, recoveries, followed = [], [], [], FURTHEST
        with self._following_effort():
            for counterexample in found:
                *_, course = self._follow(counterexample.faults)
                recovery = self._recovery(course)
                if recovery is not None:
                    recoveries.append(recovery)
                elif course.settled is not None:
                    lasting.append(counterexample)
                else:
                    unknown.append(counterexample)
                    followed = len(course.states)
        self._pending = ()
        self._ledger.counterexamples.clear()
        recovery = min(recoveries, default=self._spec.eot + 1)
        return _Fates(tuple(lasting), tuple(unknown), recovery, followed)

    def _recovery(self, course: Course) -> int | None:
        """Return the time from which on a run is good for good; None if it never is, or nobody knows.

        A run that becomes vacuous has not recovered, and neither has one that is bad again and again.  Of a run
        that has not settled, half of it is taken for the rest: that only raises EOT, where it is examined anew.
        """
        # Up to EOT it has failed in any case: it is a counterexample there.
        last_failure = max((*course.times(State.BAD), *course.times(State.VACUOUS), self._spec.eot))
        good_for = len(course.states) - last_failure
        long_enough = course.period if course.settled is not None else max(1, len(course.states) // 2)
        return last_failure + 1 if good_for >= long_enough else None

    def _follow(self, faults: FaultSet) -> Iterator[Course]:
        """Follow a run further and further until it settles; the last course is all that is known of it."""
        # Doubled each time, so following a run costs about twice its last and longest attempt.
        until = max(8, 2 * self._spec.eot)
        while True:
            self._ledger.deadline.check()
            course = self._system.follow(faults, until)
            yield course
            if course.settled is not None or until >= FURTHEST:
                return
            until *= 2

    @property
    def _effort(self) -> Effort | None:
        return self._ledger.deadline.effort

    def _following_effort(self) -> AbstractContextManager[None]:
        """Set some effort aside, so that what was found with the last of it is not lost for want of more."""
        return self._effort.reserve(FOLLOWING_EFFORT) if self._effort else nullcontext()

    # -- how it ends ---------------------------------------------------------------------------------------

    def _end(self, bound: str, remedy: str) -> Swept:
        """End at a bound of the sweep itself: the largest setting that is certified is the answer."""
        if self._pending or self._vacuous or self._best is None:
            return self._stop(bound, remedy)
        spec, findings = self._best
        return self._swept(spec, replace(findings, reason=f"{bound}; {remedy}"))

    def _stop(self, limit: str, remedy: str | None = None) -> Swept:
        """End for any other reason: nobody should take the largest setting so far for the answer."""
        if self._pending:
            return self._unsure(self._pending, limit)
        if self._vacuous and self._best:
            spec, findings = self._best
            reason = (
                "without faults 'pre' stays empty, or, without 'pre', what must survive: "
                "does a rule p(..)@next :- p(..); keep what it needs?"
            )
            return self._swept(spec, replace(findings, answer=Answer.INCOMPLETE, reason=reason))
        reason = "; ".join((limit, self._certified_text(), *([remedy] if remedy else ())))
        spec, findings = self._best or (self._last_examined(), self._ledger.conclude(reason))
        return self._swept(spec, replace(findings, answer=Answer.INCOMPLETE, reason=reason))

    def _last_examined(self) -> FailureSpec:
        if not self._settings:
            return self._spec
        return replace(self._spec, eot=self._settings[-1].eot, eff=self._settings[-1].eff)

    def _unsure(self, candidates: tuple[Counterexample, ...], why: str) -> Swept:
        reason = f"{why}, so it may only lack the time to recover; {self._certified_text()}"
        findings = replace(self._ledger.conclude(reason), answer=Answer.INCOMPLETE, counterexamples=())
        return self._swept(self._spec, replace(findings, candidates=candidates))

    def _largest_certified(self) -> Setting | None:
        if self._best is None or self._vacuous:
            return None
        spec, findings = self._best
        return Setting(spec.eot, spec.eff, findings.answer)

    def _certified_text(self) -> str:
        largest = self._largest_certified()
        return f"certified up to EOT {largest.eot}, EFF {largest.eff}" if largest else "nothing is certified"

    def _swept(self, spec: FailureSpec, findings: Findings) -> Swept:
        return Swept(spec, findings, tuple(self._settings), self._vacuous, self._largest_certified())


def next_setting(spec: FailureSpec, fixed_eff: int | None) -> FailureSpec:
    """Return the bounds that a sweep examines after those that it has certified."""
    if fixed_eff is None and spec.eff < spec.eot - 1:
        return replace(spec, eff=max(2, spec.eff + 1) if spec.eot > 2 else 1)
    return replace(spec, eot=spec.eot + 1, eff=spec.eff if fixed_eff is not None else spec.eff + 1)


def _setting_text(spec: FailureSpec) -> str:
    return f"EOT {spec.eot}, EFF {spec.eff}"


def sweep(system: Sweepable, base: FailureSpec, fixed_eff: int | None, ledger: Ledger) -> Swept:
    """Sweep from small to large until a counterexample persists or a budget ends."""
    return _Sweep(system, base, fixed_eff, ledger).conduct()
