"""How candidates are tried: in order, and the first that reproduces the violation counts.

Everything that minimizes describes a family of candidates that it wants tried, in order, and gets the first
success.  That is all that a stage depends on, so that several processes can try candidates ahead, each making its
own from the description, and the result is still the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

from clew.budgets.deadline import Deadline
from clew.minimization.trial import Schedule, Target


class TrialResult(NamedTuple):
    """What a candidate came to, None if not to the violation; and how many schedules were executed to find out."""

    schedule: Schedule | None
    executed: int


class Candidate(Protocol):
    """Something to try: one schedule, or a small search of its own around one."""

    def evaluate(self, target: Target) -> TrialResult: ...


class Family(Protocol):
    """Candidates by their place: ``at`` depends on nothing but the family and the place."""

    def __len__(self) -> int: ...

    def at(self, place: int) -> Candidate: ...


class CandidateList(tuple[Candidate, ...]):
    """Candidates that are simply listed."""

    def at(self, place: int) -> Candidate:
        return self[place]


class Success(NamedTuple):
    """The ``place`` of the candidate that reproduced the violation, and what it came to."""

    place: int
    schedule: Schedule


class Search(Protocol):
    """Tries candidates; stops by raising ``BudgetExhaustedError``."""

    def first(self, family: Family) -> Success | None:
        """Return the first of the candidates that reproduces the violation."""


#: Told of every candidate, in order: how many schedules were executed for it, and what it came to.
Witness = Callable[[int, "Schedule | None"], None]


class SequentialSearch:
    """One candidate after the other, in this process."""

    def __init__(self, target: Target, deadline: Deadline, witness: Witness) -> None:
        self._target = target
        self._deadline = deadline
        self._witness = witness

    def first(self, family: Family) -> Success | None:
        for place in range(len(family)):
            # Between candidates, not within one: each is short, and a result must not depend on when the clock was
            # read.
            self._deadline.check()
            schedule, executed = family.at(place).evaluate(self._target)
            self._witness(executed, schedule)
            if schedule is not None:
                return Success(place, schedule)
        return None
