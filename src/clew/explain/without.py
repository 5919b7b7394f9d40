"""What each fault of a counterexample does: the failing run beside the run without this one fault.

The faults of a minimal counterexample are all needed: without one of them the violation does not happen.  The two
runs differ in that fault alone, so that whatever else differs, down to the outcome, does so because of it.
"""

from __future__ import annotations

from typing import NamedTuple

from clew.engine.atoms import RowAtom
from clew.engine.runs import Runs
from clew.explain.difference import Difference, Link, Topic
from clew.explain.steps import RowStep, Step, steps_of
from clew.faults import Fault, FaultSet
from clew.program.assertions import is_never
from clew.violation import Violation


class Without(NamedTuple):
    """One fault.  ``needed``: without it the violation does not happen, and the ``steps`` tell why.

    They lead from the fault to ``outcome``, a row which the run without it has (``holds``) or lacks at the end.
    """

    fault: Fault
    needed: bool
    outcome: Violation
    holds: bool
    steps: tuple[Step, ...]


class Account(NamedTuple):
    """A violation, fault by fault.

    ``needed``: these are enough for it, and without any one of them it does not happen.  For a minimal
    counterexample that is all its faults; otherwise the runs that are compared have none of the others.
    """

    violation: Violation
    needed: FaultSet
    without: tuple[Without, ...]


class Comparison:
    """A failing run and those with fewer of its faults."""

    def __init__(self, runs: Runs) -> None:
        self.runs = runs
        self.faults = runs.faults
        self._differences: dict[tuple[FaultSet, Fault], Difference] = {}

    def account(self, violation: Violation) -> Account:
        """Return what each of the faults does to a violation, which happens when all of them do."""
        goal = self.runs.goal(violation)
        needed = self._find_needed(goal)
        without = tuple(
            self._compare(goal, needed, fault) if fault in needed else Without(fault, False, violation, False, ())
            for fault in self.faults
        )
        return Account(violation, needed, without)

    def _find_needed(self, goal: int) -> FaultSet:
        """Leave out one fault after the other as long as the violation stays.

        Begun anew whenever one was left out: where rules ask for absence, it may have made another one necessary.
        """
        kept = self.faults
        # One by one, and not by delta debugging: counterexamples have a handful of faults.
        while True:
            spare = next((f for f in kept if goal in self.runs.true(_all_but(f, kept))), None)
            if spare is None:
                return kept
            kept = _all_but(spare, kept)

    def _compare(self, goal: int, faults: FaultSet, fault: Fault) -> Without:
        """Compare with the run without a fault: follow ``post`` back if it makes the difference, else ``pre``."""
        end = self._find_outcome(goal, self.runs.true(_all_but(fault, faults)))
        row = self.runs.describe(end.atom)
        assert isinstance(row, RowAtom), "a violation is about a row"
        both = faults, _all_but(fault, faults)
        steps = steps_of(self._difference(faults, fault).reason(end), fault, self.runs, both)
        outcome = RowStep(row.relation, row.row, row.time, end.there)
        # All outcomes are about the end but what must never hold, of which the time is a part.
        missed = Violation(row.relation, row.row, row.time if is_never(row.relation) else None)
        return Without(fault, True, missed, end.there, tuple(s for s in steps if s != outcome))

    def _find_outcome(self, goal: int, there: frozenset[int]) -> Link:
        # Sorted puts ``not post``, a negative number, first: that ``post`` fails is the better story if both
        # differ.
        premises = (literal for rule in self.runs.rules[goal] for literal in sorted(rule.body))
        changed = next(literal for literal in premises if (abs(literal) in there) == (literal < 0))
        return Link(abs(changed), changed < 0)

    def _difference(self, faults: FaultSet, fault: Fault) -> Difference:
        # Remembered: all rows that the same faults violate are compared with the same runs.
        key = faults, fault
        if key not in self._differences:
            here, there = self.runs.true(faults), self.runs.true(_all_but(fault, faults))
            self._differences[key] = Difference(self.runs.rules, here, there, self._topic)
        return self._differences[key]

    def _topic(self, atom: int) -> Topic | None:
        row = self.runs.describe(atom)
        if not isinstance(row, RowAtom) or row.relation in self.runs.program.helpers:
            return None
        return Topic((row.relation, row.row), row.time)


def _all_but(fault: Fault, faults: FaultSet) -> FaultSet:
    return FaultSet(tuple(f for f in faults if f != fault))
