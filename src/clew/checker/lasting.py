"""``--lasting``: the search for violations that last for ever, which is liveness under finite failures.

A counterexample is a run that comes back to itself by EOT, after all that happens to it, and is violated at
every time of what it repeats; or one in which something holds that must never hold, which nothing undoes.  That
there is none proves little by itself: a run that takes longer than EOT to come back to itself may still be
violated for ever, or break such a promise later.  So a certificate demands that there is no such run either,
whatever fails, is given or is chosen up to the horizon (EFF, in general).  The future of every run is known then:
none is violated throughout, and what has not happened by EOT never does.  Where there is such a run it is told,
with the EOT that would do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from clew.budgets.deadline import Deadline
from clew.checker.durations import Unfollowed, follow_run
from clew.checker.model import Model
from clew.duration import State
from clew.engine.fewest import ever_fewer_faults, minimal_faults
from clew.engine.repetition.courses import state_at
from clew.engine.repetition.lasso import (
    LASTS,
    RECURS,
    UNCOVERED,
    effective_faults,
    encode_lasso,
    encode_uncovered,
    find_clock_reader,
    find_horizon,
    find_loop,
)
from clew.errors import ProgramError, UsageError
from clew.faults import FailureSpec, FaultSet
from clew.program.ir import Program
from clew.program.outcomes import has_assertions
from clew.search import exact
from clew.search.protocol import Run
from clew.search.verdict import Ledger

#: Fewer leave no time at which something could fail and be over.
_LEAST_EFF = 2

#: Which model a search takes.
Take = Callable[[Model], None]


class LastingModel(Model):
    """A program of which a run fails only if it is violated for ever.

    What the solver says is confirmed by executions, whose rows are compared here: the two must agree.
    ``unsettled``: the first of the executed fault sets, if any, with which the run has not come back to itself by
    EOT, though all was over by the horizon; ``recurring``: with which the violation comes and goes for ever.
    """

    def __init__(self, program: Program, spec: FailureSpec, deadline: Deadline) -> None:
        super().__init__(program, spec, deadline=deadline)
        self.horizon = find_horizon(self.ground)
        if self.horizon < _LEAST_EFF and any(fault.time > self.horizon for fault in self.ground.fault_atoms):
            raise UsageError(
                f"with --lasting, all that happens is over by EFF, and EFF {spec.eff} leaves no room for inputs",
                remedy=f"give --eff {_LEAST_EFF} or more, or bound the times of inputs, as in T <= 3",
            )
        self.unsettled: FaultSet | None = None
        self.recurring: FaultSet | None = None
        # Without assertions, what must hold at a time is what the failure-free run has then.
        self._expected = None if has_assertions(program) else self.ground.run(FaultSet())
        self.ground.extend("lasting", encode_lasso(self.ground, self._expected))

    def run(self, faults: FaultSet) -> Run:
        execution = self.ground.run(faults)
        runs = [execution] if self._expected is None else [execution, self._expected]
        happened = tuple(violation for violation in execution.violations if violation.time is not None)
        effective = effective_faults(execution)
        loop = find_loop(self.program, effective, runs)
        if loop is None:
            if not happened and self.unsettled is None and all(f.last <= self.horizon for f in effective):
                self.unsettled = faults
            return Run(faults, happened)
        repeated = range(loop.first, loop.again)
        bad = [state_at(self.program, execution, self._expected, time) is State.BAD for time in repeated]
        if any(bad) and not all(bad) and self.recurring is None:
            self.recurring = faults
        return Run(faults, execution.violations if all(bad) else happened)

    @property
    def promises(self) -> Sequence[str]:
        """Return nothing: what lasts is that something is violated at every time, whichever promise it is."""
        return ()

    def ever_fewer_faults(self, promise: str | None = None) -> Iterator[FaultSet]:
        return ever_fewer_faults(self.ground, LASTS)

    def minimal_faults(self, promise: str | None = None) -> Iterator[FaultSet]:
        return minimal_faults(self.ground, LASTS)

    def ask_unsettled(self, found: Sequence[FaultSet]) -> None:
        """Let the solver look for a run that has not come back to itself, and for one violated now and then.

        Not with the faults of one of those that are ``found``: more of them would be no further counterexample.
        """
        self.ground.extend("uncovered", encode_uncovered(found))
        *_, self.unsettled = (None, *ever_fewer_faults(self.ground, UNCOVERED))
        if self.unsettled is None and not found:
            *_, self.recurring = (None, *ever_fewer_faults(self.ground, RECURS))


def refuse_lasting(program: Program, spec: FailureSpec) -> None:
    """Refuse a program that never comes back to itself, and bounds that leave out what they seem to allow."""
    found = find_clock_reader(program)
    if found is not None:
        rule, premise = found
        raise ProgramError(
            f"{program.describe(rule)} reads the clock, so that no run comes back to itself",
            position=premise.position or rule.position,
            remedy="leave --lasting out, as every counterexample says whether it lasts; or count up to a bound",
        )
    needing = {
        "crashes": spec.crashes,
        "stops": spec.stops,
        "delays": spec.delays,
        "choices": len(program.choices),
    }
    named = [name for name, number in needing.items() if number]
    if named and spec.eff < _LEAST_EFF:
        raise UsageError(
            f"with --lasting, all that happens is over by EFF, and EFF {spec.eff} leaves no room for {named[0]}",
            remedy=f"give --eff {_LEAST_EFF} or more",
        )


def search_exactly(
    program: Program, spec: FailureSpec, ledger: Ledger, take: Take, *, find_all: bool
) -> str | None:
    """Ask the solver for a violation that lasts; without one, for a run whose future is not known."""
    take(system := LastingModel(program, spec, ledger.deadline))
    stopped = exact.search(system, ledger, find_all=find_all)
    if stopped is None:
        system.ask_unsettled([counterexample.faults for counterexample in ledger.counterexamples])
        return _conclude(system, ledger, find_all=find_all)
    return stopped


def search_exhaustively(
    program: Program, spec: FailureSpec, ledger: Ledger, take: Take, *, find_all: bool, symmetry: bool
) -> str | None:
    """Execute every fault set, and look at what each run repeats."""
    from clew.search import exhaustive

    take(system := LastingModel(program, spec, ledger.deadline))
    exhaustive.search(system, ledger, find_all=find_all, symmetric=system if symmetry else None)
    return _conclude(system, ledger, find_all=find_all)


def _conclude(system: LastingModel, ledger: Ledger, *, find_all: bool) -> str | None:
    """Return why there may be more than what was found; None if the future of every run that matters is known."""
    found = [counterexample.faults.weight for counterexample in ledger.counterexamples]
    unsettled = system.unsettled
    if unsettled is not None and (find_all or not found or unsettled.weight < min(found)):
        told = _tell_unsettled(system, unsettled, ledger.deadline)
        return told if not found else f"{told}; {'there may be more' if find_all else 'fewer faults may do'}"
    if system.recurring is not None and not found:
        faults = system.recurring or "no fault"
        ledger.cautions.append(f"with {faults} something is violated again and again for ever, if not throughout")
    return None


def _tell_unsettled(system: LastingModel, faults: FaultSet, deadline: Deadline) -> str:
    """Say which run has not come back to itself by EOT, and what EOT would do."""
    spec = system.spec
    told = f"with {faults or 'no fault'} the run has not come back to itself by EOT {spec.eot}"
    if system.horizon >= spec.eot - 1:
        return f"{told}: what happens up to time {system.horizon} leaves it no time; give a larger --eot"
    followed = follow_run(system.program, spec, faults, deadline)
    if isinstance(followed, Unfollowed):
        return f"{told}; give a larger --eot"
    states, loop = followed.states, followed.loop
    if loop is None or loop.grows:
        why = "numbers in it grow" if loop else f"it still changes at time {len(states)}"
        remedy = "let it come back, as a counter does that ends at a bound"
        return f"{told}, and no larger one is known to do: {why}; {remedy}"
    repeated = states[loop.first - 1 : loop.again - 1]
    lasts = ", violated throughout" if all(state is State.BAD for state in repeated) else ""
    return f"{told}, but from time {loop.first} on{lasts}; give --eot {loop.again} or more"
