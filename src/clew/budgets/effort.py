"""Budgets that do not depend on the machine: work is counted, not timed.

A clock would make an answer depend on the load of the machine.  What is counted here (ground atoms, conflicts of a
solver, executions) is the same for the same input wherever it is done.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from clew.errors import EffortExhaustedError

# Prices, as measured on the examples: grounding takes 5 to 20 microseconds an atom, a conflict of clingo 25 to
# 270, tracing an execution 2 to 5 an atom, a propagation of the solver that chooses faults 0.1 to 0.2.  A unit is
# then 3 to 10 microseconds; see ``python -m benchmarks.sweeps``.
ATOM = 2
#: With lineage, the ground rules are recorded and made a graph in Python.
TRACED_ATOM = 4
#: When rules are added to a ground program.
ATOMS_SEEN_PER_UNIT = 2
#: What every ground program costs, however small it is.
GROUND_PROGRAM = 800
CONFLICT = 20
PROPAGATIONS_PER_UNIT = 30
EXECUTION = 4
EXECUTED_ATOMS_PER_UNIT = 30
TRACED_EXECUTED_ATOM = 0.7
#: Of an execution that is read in full.
READ_ATOM = 1

#: A program that is grounded for slightly larger bounds has not become larger by more than this.
_LARGEST_GROWTH = 20

USED_UP = "the effort of the sweep is used up"


class Effort:
    """A number of units that may be spent, and what has been spent so far."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.spent = 0
        self._largest_program = 0

    @property
    def exhausted(self) -> bool:
        return self.left <= 0

    @property
    def left(self) -> int:
        return self.most - self.spent

    @property
    def conflicts_left(self) -> int:
        """Return after how many conflicts the effort is exhausted; never 0, which would mean no limit."""
        return max(1, -(-self.left // CONFLICT))

    @property
    def propagations_left(self) -> int:
        """Return after how many propagations the effort is exhausted; never 0, either."""
        return max(1, self.left * PROPAGATIONS_PER_UNIT)

    def surely_suffices(self, units: int, largest_program: int) -> bool:
        """Tell whether work of this cost, done elsewhere, would have come to its end here in the same way."""
        # Not only the sum counts: where the effort may not suffice, the size of programs has a limit, too.
        largest = max(self._largest_program, largest_program)
        return bool(self._largest_program) and largest * _LARGEST_GROWTH <= self.left - units

    @property
    def may_not_suffice(self) -> bool:
        """Tell whether grounding the program for larger bounds could take more than is left."""
        return not self._largest_program or self._largest_program * _LARGEST_GROWTH > self.left

    def count(self, units: int) -> None:
        """Note work that has been done and whose result must not be lost."""
        self.spent += units

    @property
    def largest_program(self) -> int:
        return self._largest_program

    def count_again(self, units: int, largest_program: int) -> None:
        """Note work that was done before, in another process, and is not repeated."""
        self._largest_program = max(self._largest_program, largest_program)
        self.count(units)

    def count_program(self, units: int) -> None:
        """Note a ground program; its size is the best guess for the next."""
        self._largest_program = max(self._largest_program, units)
        self.count(units)

    def check(self) -> None:
        """Raise ``EffortExhaustedError`` if nothing is left."""
        if self.exhausted:
            raise EffortExhaustedError(USED_UP)

    def spend(self, units: int) -> None:
        """Note work that is worth nothing unless it can be finished."""
        self.count(units)
        self.check()

    def renew(self, least: int) -> Effort:
        """Return as much effort once more, or ``least``, for further questions about programs of known sizes."""
        again = Effort(max(self.most, least))
        again._largest_program = self._largest_program
        return again

    @contextmanager
    def reserve(self, units: int) -> Iterator[None]:
        """Allow at least this much to be spent while inside, even if there is less left."""
        before = self.most
        self.most = max(self.most, self.spent + units)
        try:
            yield
        finally:
            self.most = before
