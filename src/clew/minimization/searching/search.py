"""How candidates are tried: in order, and the first that reproduces the violation counts.

Everything that minimizes describes a family of candidates that it wants tried, in order, and gets the first
success.  That is all that a stage depends on, so that several processes can try candidates ahead, each making its
own from the description, and the result is still the same.

What a schedule is, and what it is to be tried on, differs between executions in any order and those in virtual
time; nothing here depends on it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from clew.budgets.deadline import Deadline
from clew.simulation.scenario import Scenario

#: A schedule of plain tuples: pickled and read ten times as fast, and processes exchange one for each success.
Plain = tuple[Any, ...]

#: What is minimized, and what a candidate comes to.
T = TypeVar("T", bound="Minimizable[Any]")
T_contra = TypeVar("T_contra", contravariant=True)
T_co = TypeVar("T_co", covariant=True)
S = TypeVar("S")
S_co = TypeVar("S_co", covariant=True)


class Minimizable(Protocol[S]):
    """What is minimized: executions of a scenario; it knows how processes tell each other of a schedule."""

    @property
    def scenario(self) -> Scenario: ...

    def pack(self, schedule: S) -> Plain: ...

    def unpack(self, packed: Plain) -> S: ...


class TrialResult(NamedTuple, Generic[S]):
    """What a candidate came to, None if not to the violation; and how many schedules were executed to find out."""

    schedule: S | None
    executed: int


class Candidate(Protocol[T_contra, S]):
    """Something to try: one schedule, or a small search of its own around one."""

    def evaluate(self, target: T_contra) -> TrialResult[S]: ...


class Family(Protocol[T_contra, S]):
    """Candidates by their place: ``at`` depends on nothing but the family and the place."""

    def __len__(self) -> int: ...

    def at(self, place: int) -> Candidate[T_contra, S]: ...


class CandidateList(tuple[Candidate[T_contra, S], ...]):
    """Candidates that are simply listed."""

    def at(self, place: int) -> Candidate[T_contra, S]:
        return self[place]


class Success(NamedTuple, Generic[S]):
    """The ``place`` of the candidate that reproduced the violation, and what it came to."""

    place: int
    schedule: S


class Search(Protocol[T_co, S]):
    """Tries candidates; stops by raising ``BudgetExhaustedError``."""

    def first(self, family: Family[T_co, S]) -> Success[S] | None:
        """Return the first of the candidates that reproduces the violation."""


#: Told of every candidate, in order: how many schedules were executed for it, and what it came to.
Witness = Callable[[int, "S | None"], None]


class SequentialSearch(Generic[T, S]):
    """One candidate after the other, in this process."""

    def __init__(self, target: T, deadline: Deadline, witness: Witness[S]) -> None:
        self._target = target
        self._deadline = deadline
        self._witness = witness

    def first(self, family: Family[T, S]) -> Success[S] | None:
        for place in range(len(family)):
            # Between candidates, not within one: each is short, and a result must not depend on when the clock was
            # read.
            self._deadline.check()
            schedule, executed = family.at(place).evaluate(self._target)
            self._witness(executed, schedule)
            if schedule is not None:
                return Success(place, schedule)
        return None
