"""Whether a violation lasts: the run is executed further, with the same faults and no others.

Nothing more is given or chosen than what the counterexample says: after it, inputs stay away and rules with
``choose`` take what they take by themselves.  A crash is for good.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from clew.budgets.deadline import Deadline
from clew.budgets.effort import Effort
from clew.duration import Duration, Loop, State, judge_course, never_followed, once_happened
from clew.engine.ground import GroundProgram
from clew.engine.repetition.courses import observe_run
from clew.errors import BudgetExhaustedError, EffortExhaustedError, ProgramError
from clew.faults import FailureSpec, FaultSet
from clew.program.ir import Program
from clew.violation import Violation

#: Units for following one run: a second or so on a usual machine, and the same answer on all of them.
FOLLOWING_EFFORT = 200_000

#: Steps beyond the end that are nearly always enough: most runs that are violated have come to rest by then.
_FEW_STEPS = 4

#: So many counterexamples of one list are followed; the others are open.
MOST_FOLLOWED = 200


def find_duration(
    program: Program, spec: FailureSpec, faults: FaultSet, deadline: Deadline, violations: Sequence[Violation] = ()
) -> Duration:
    """Follow a run that is violated at the end of ``spec``, and tell what becomes of the violation.

    What must never hold, and does according to these ``violations``, needs no following.
    """
    happened = [violation.time for violation in violations if violation.time is not None]
    if happened:
        return once_happened(spec.eot, min(happened))
    followed = follow_run(program, spec, faults, deadline)
    if isinstance(followed, Unfollowed):
        return never_followed(spec.eot, followed.reason)
    return judge_course(followed.states, spec.eot, followed.loop)


class Unfollowed(NamedTuple):
    """Why a run could not be executed beyond its end."""

    reason: str


class Followed(NamedTuple):
    """The states of a run at times 1, 2, ... as far as it was followed, and where it repeats itself, if so."""

    states: tuple[State, ...]
    loop: Loop | None


def follow_run(program: Program, spec: FailureSpec, faults: FaultSet, deadline: Deadline) -> Followed | Unfollowed:
    """Execute a run beyond the end of ``spec`` until it repeats itself, or the effort is spent."""
    if deadline.passed():
        return Unfollowed(_time_over(deadline))
    own = Deadline(deadline.remaining, Effort(FOLLOWING_EFFORT))
    known, failure = None, "executing the run further takes too long"
    try:
        with own.listening():
            for until in _horizons(spec.eot):
                known = _follow(program, replace(spec, eot=until), faults, own)
                if known.loop is not None:
                    break
    except EffortExhaustedError:
        pass  # what is known of the run so far is all that there is to tell
    except ProgramError as error:  # a number that grows leaves its range, and the program is refused
        failure = f"in a longer run {error.message}"
    except BudgetExhaustedError as limit:
        failure = str(limit)
    finally:
        deadline.interrupted = deadline.interrupted or own.interrupted
    return known or Unfollowed(failure)


def _time_over(deadline: Deadline) -> str:
    return "the search was interrupted" if deadline.interrupted else "no time was left to execute the run further"


def _horizons(eot: int) -> Iterator[int]:
    """Yield how far a run is followed: each attempt costs about half of the next."""
    yield from (eot + _FEW_STEPS, 2 * eot + 8, 4 * eot + 16)


def _follow(program: Program, spec: FailureSpec, faults: FaultSet, deadline: Deadline) -> Followed:
    # With these faults alone almost everything is certain, and grounding takes a fraction of the time.
    ground = GroundProgram(program, spec, only=faults, expect_outcomes=False, deadline=deadline)
    states, found = observe_run(program, ground, faults, deadline.effort, pairs_only=True)
    if deadline.effort:
        deadline.effort.check()
    return Followed(states, None if found is None else Loop(found.time, found.period, found.grows))
