"""Whether a violation lasts: the run is executed further, with the same faults and no others.

Nothing more is given or chosen than what the counterexample says: after it, inputs stay away and rules with
``choose`` take what they take by themselves.  A crash is for good.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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

#: A run in which sums become part of what is summed is followed no further if it may have more rows at a time:
#: they have fifty values at one time and thousands one step later, and no limit reaches the grounder.
_MOST_ROWS = 50


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
    """The states of a run at times 1, 2, ... as far as it was followed, and where it repeats itself, if so.

    ``rows``: how many it may have at the last time, if they were counted.
    """

    states: tuple[State, ...]
    loop: Loop | None
    rows: int = 0


def follow_run(program: Program, spec: FailureSpec, faults: FaultSet, deadline: Deadline) -> Followed | Unfollowed:
    """Execute a run beyond the end of ``spec`` until it repeats itself, or the effort is spent."""
    if deadline.passed():
        return Unfollowed(_time_over(deadline))
    own = Deadline(deadline.remaining, Effort(FOLLOWING_EFFORT))
    explosive = _feeds_sums_back(program)
    known, failure = None, "executing the run further takes too long"
    try:
        with own.listening():
            for until in _horizons(spec.eot, step_by_step=explosive):
                if known is not None and known.rows > _MOST_ROWS:
                    failure = "the sums of the run grow too fast to execute it further"
                    break
                known = _follow(program, replace(spec, eot=until), faults, own, counting=explosive)
                # The first steps only tell how fast it grows: what is told of a run is not to depend on that.
                if known.loop is not None and until >= spec.eot + _FEW_STEPS:
                    break
    except EffortExhaustedError:
        pass  # what is known of the run so far is all that there is to tell
    except ProgramError as error:  # a number that grows leaves its range, and the program is refused
        failure = f"in a longer run {error.message}"
    except BudgetExhaustedError as limit:
        failure = str(limit)
    finally:
        deadline.interrupted = deadline.interrupted or own.interrupted
    # Up to the end alone nothing is known of what comes after it.
    return known if known is not None and len(known.states) > spec.eot else Unfollowed(failure)


def _time_over(deadline: Deadline) -> str:
    return "the search was interrupted" if deadline.interrupted else "no time was left to execute the run further"


def _feeds_sums_back(program: Program) -> bool:
    """Tell whether a sum can become part of what it sums up at a later time."""
    users: dict[str, set[str]] = {}
    for rule in program.rules:
        for premise in rule.positive:
            users.setdefault(premise.relation, set()).add(rule.relation)
    return any(
        premise.relation in _reachable(rule.relation, users)
        for rule in program.rules
        if any(aggregate.function in ("sum", "avg") for aggregate in rule.aggregates)
        for premise in rule.positive
    )


def _reachable(relation: str, users: Mapping[str, set[str]]) -> set[str]:
    found, work = {relation}, [relation]
    while work:
        new = users.get(work.pop(), set()) - found
        found |= new
        work += new
    return found


def _horizons(eot: int, *, step_by_step: bool) -> Iterator[int]:
    """Yield how far a run is followed: each attempt costs about half of the next."""
    if step_by_step:
        yield from range(eot, eot + _FEW_STEPS)
    yield from (eot + _FEW_STEPS, 2 * eot + 8, 4 * eot + 16)


def _follow(
    program: Program, spec: FailureSpec, faults: FaultSet, deadline: Deadline, *, counting: bool
) -> Followed:
    # With these faults alone almost everything is certain, and grounding takes a fraction of the time.
    ground = GroundProgram(program, spec, only=faults, expect_outcomes=False, deadline=deadline)
    states, found = observe_run(program, ground, faults, deadline.effort, pairs_only=True)
    if deadline.effort:
        deadline.effort.check()
    loop = None if found is None else Loop(found.time, found.period, found.grows)
    if not counting:
        return Followed(states, loop)
    return Followed(states, loop, _count_rows(ground, spec.eot))


def _count_rows(ground: GroundProgram, time: int) -> int:
    return sum(1 for name, _ in ground.encoding.relations.arities for _ in ground.possible_rows(name, time))
