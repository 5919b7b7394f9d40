"""How far a certified program is from failing: the fewest faults outside its budget that break something.

Every row counts that some execution within EOT can promise, whatever is lost and whoever crashes in it, not only
those of the failure-free run: a timeout may make a promise that nobody makes without faults.  EOT, the nodes and
the longest delay stay as they are; nothing is said about larger ones.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from functools import cached_property

from clew.budgets.deadline import Deadline
from clew.engine.extremes import MOST_CONFLICTS, BeyondBudget, Cheapest, Exceeding
from clew.errors import BudgetExhaustedError
from clew.faults import FailureSpec
from clew.program.ir import Program
from clew.violation import Violation

#: The questions about all rows together matter most, and are asked only once.
MOST_CONFLICTS_TOGETHER = 10 * MOST_CONFLICTS


class Undecided(enum.Enum):
    """The answer to a question that was too hard."""

    UNDECIDED = "not decided"


#: The faults that answer a question; None: it is proven that no faults do.
Way = Cheapest | Undecided | None


@dataclass(frozen=True)
class Distance:
    """What it takes to break at least one of some rows within EOT.

    ``cheapest``: the faults with the fewest outside the budget.  ``by_losses``: those that leave it only by losses
    at EFF or later, with the least EFF.  ``by_crashes``: those that leave it only by more crashes, the fewest.
    """

    cheapest: Way
    by_losses: Way
    by_crashes: Way


class Distances:
    """The distances to failure of one program within one failure spec."""

    def __init__(self, program: Program, spec: FailureSpec, deadline: Deadline) -> None:
        self._beyond = BeyondBudget(program, spec, deadline)
        self._deadline = deadline

    @property
    def rows(self) -> Collection[Violation]:
        """Return every row that could be broken, as far as grounding can tell; only a question tells if it is."""
        return self._beyond.violation_atoms.keys()

    @cached_property
    def together(self) -> Distance:
        """Measure how far it is until anything at all breaks."""
        return _ask_all(lambda only: self._ask(self.rows, only, MOST_CONFLICTS_TOGETHER))

    def of(self, rows: Collection[Violation]) -> Distance:
        """Measure how far it is until one of these rows breaks."""
        known = self.together
        answers = {None: known.cheapest, Exceeding.LOSSES: known.by_losses, Exceeding.CRASHES: known.by_crashes}
        return _ask_all(lambda only: self._ask_about_some(rows, only, answers[only]))

    def _ask_about_some(self, rows: Collection[Violation], only: Exceeding | None, known: Way) -> Way:
        """Use what is ``known`` about all rows: what breaks none, and what is best wherever it breaks some."""
        if known is None:  # what breaks none of all rows breaks none of some
            return None
        # The best for all rows is the best for each row that it breaks: most rows need no question of their own.
        if isinstance(known, Cheapest) and known.proven:
            violated = tuple(v for v in known.violated if v in rows)
            if violated:
                return replace(known, violated=violated)
        return self._ask(rows, only, MOST_CONFLICTS)

    def _ask(self, rows: Collection[Violation], only: Exceeding | None, most_conflicts: int) -> Way:
        # Each question has its own limit: one that is too hard must not take the time of the others.
        self._deadline.check()
        try:
            return self._beyond.cheapest(rows, only, most_conflicts)
        except BudgetExhaustedError:
            self._deadline.check()  # being out of time is not the same as a question that is too hard
            return Undecided.UNDECIDED


def _ask_all(ask: Callable[[Exceeding | None], Way]) -> Distance:
    return Distance(ask(None), ask(Exceeding.LOSSES), ask(Exceeding.CRASHES))
