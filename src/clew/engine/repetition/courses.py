"""One run seen at every time: whether what must hold does, and from when on it repeats itself.

One long run is enough: its prefix up to a time is the run with that EOT, since no rule knows EOT.
"""

from __future__ import annotations

from typing import NamedTuple

from clew.budgets.effort import READ_ATOM, Effort
from clew.duration import State
from clew.engine.execution import Execution
from clew.engine.ground import GroundProgram
from clew.engine.recurrence import Recurrence, find_recurrence
from clew.faults import FaultSet
from clew.program.ir import Program
from clew.program.outcomes import POST, PRE, has_assertions, persistent_relations


class Observed(NamedTuple):
    """The state of a run at times 1, 2, ..., and where it repeats itself, if it was seen to."""

    states: tuple[State, ...]
    recurrence: Recurrence | None


def observe_run(program: Program, ground: GroundProgram, faults: FaultSet, effort: Effort | None) -> Observed:
    """Execute with these faults, and look at every time."""
    run = ground.run(faults)
    # The run is read in full, row by row, which the meter of the ground program does not see.
    if effort:
        effort.count(READ_ATOM * (len(ground.row_atoms) + len(ground.sent_atoms)))
    # Without assertions, what must hold at a time is what the failure-free run has then.
    expected = None if has_assertions(program) else ground.run(FaultSet())
    states = tuple(state_at(program, run, expected, time) for time in range(1, run.spec.eot + 1))
    if expected is None:
        return Observed(states, find_recurrence(program, (PRE, POST), faults, [run]))
    # What is expected may still change when the run does not, and any message is an achievement.
    return Observed(states, find_recurrence(program, run.tables, faults, [run, expected]))


def state_at(program: Program, run: Execution, expected: Execution | None, time: int) -> State:
    """Return how things stand at a time; ``expected`` is the failure-free run of a program without assertions."""
    if expected is None:
        pre, post = run.rows(PRE, time), set(run.rows(POST, time))
        achieved = bool(pre)
        missing = any(row not in post for row in pre)
    else:
        wanted = [(r, row) for r in persistent_relations(program) for row in expected.rows(r, time)]
        # Rows that no message had to bring survive any fault: until one arrived, nothing is achieved.
        arrived = any(m.arrived is not None and m.arrived <= time for m in expected.messages)
        achieved = bool(wanted) and arrived
        missing = any(row not in set(run.rows(relation, time)) for relation, row in wanted)
    if missing:
        return State.BAD
    return State.GOOD if achieved else State.VACUOUS
