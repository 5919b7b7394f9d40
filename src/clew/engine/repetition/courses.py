"""One run seen at every time: whether what must hold does, and from when on it repeats itself.

One long run is enough: its prefix up to a time is the run with that EOT, since no rule knows EOT.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from clew.budgets.effort import READ_ATOM, Effort
from clew.duration import State
from clew.engine.execution import Execution
from clew.engine.ground import GroundProgram
from clew.engine.recurrence import Recurrence, find_recurrence
from clew.faults import FaultSet
from clew.program.assertions import Assertion, assertion_names, find_assertions
from clew.program.ir import Program
from clew.program.outcomes import has_assertions, persistent_relations


class Observed(NamedTuple):
    """The state of a run at times 1, 2, ..., and where it repeats itself, if it was seen to."""

    states: tuple[State, ...]
    recurrence: Recurrence | None


def observe_run(
    program: Program, ground: GroundProgram, faults: FaultSet, effort: Effort | None, *, pairs_only: bool = False
) -> Observed:
    """Execute with these faults, and look at every time; ``pairs_only``: what must never hold is left aside."""
    run = ground.run(faults)
    # The run is read in full, row by row, which the meter of the ground program does not see.
    if effort:
        effort.count(READ_ATOM * (len(ground.row_atoms) + len(ground.sent_atoms)))
    # Without assertions, what must hold at a time is what the failure-free run has then.
    expected = None if has_assertions(program) else ground.run(FaultSet())
    if expected is None:
        stated = find_assertions(program)
        states = tuple(_asserted_states(run, [a for a in stated if a.post is not None or not pairs_only]))
        return Observed(states, find_recurrence(program, assertion_names(program), faults, [run]))
    states = tuple(state_at(program, run, expected, time) for time in range(1, run.spec.eot + 1))
    # What is expected may still change when the run does not, and any message is an achievement.
    return Observed(states, find_recurrence(program, run.tables, faults, [run, expected]))


def _asserted_states(run: Execution, assertions: Sequence[Assertion]) -> Iterator[State]:
    """Yield how things stand at each time, as if the execution ended there."""
    nevers = [assertion.relation for assertion in assertions if assertion.post is None]
    happened = False
    for time in range(1, run.spec.eot + 1):
        # What must never hold, and has held, is not made good by what comes after.
        happened = happened or any(run.rows(relation, time) for relation in nevers)
        yield State.BAD if happened else _state_of_pairs(run, assertions, time)


def _state_of_pairs(run: Execution, assertions: Sequence[Assertion], time: int) -> State:
    pairs = [(assertion.relation, assertion.post) for assertion in assertions if assertion.post is not None]
    if any(not set(run.rows(pre, time)) <= set(run.rows(post, time)) for pre, post in pairs):
        return State.BAD
    # A promise that something never happens applies from the beginning: there is nothing to wait for.
    achieved = not pairs or any(run.rows(pre, time) for pre, _ in pairs)
    return State.GOOD if achieved else State.VACUOUS


def state_at(program: Program, run: Execution, expected: Execution | None, time: int) -> State:
    """Return how things stand at a time, what must never hold left aside.

    ``expected`` is the failure-free run of a program without assertions.
    """
    if expected is None:
        return _state_of_pairs(run, find_assertions(program), time)
    wanted = [(r, row) for r in persistent_relations(program) for row in expected.rows(r, time)]
    if any(row not in set(run.rows(relation, time)) for relation, row in wanted):
        return State.BAD
    # Rows that no message had to bring survive any fault: until one arrived, nothing is achieved.
    arrived = any(m.arrived is not None and m.arrived <= time for m in expected.messages)
    return State.GOOD if wanted and arrived else State.VACUOUS
