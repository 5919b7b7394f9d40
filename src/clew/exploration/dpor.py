"""Every class of executions once: optimal dynamic partial-order reduction (Abdulla et al., POPL 2014).

An execution is made to its end; for each race in it, a sequence of events that turns the race round is added to
the tree of what is to be explored from where the race began.  Events that were explored from a place sleep there
until one that is dependent on them happens: executions in which they still could come first are known.

In the paper no event can prevent another.  Here it can, so the sequence contains everything in the execution that
depends on neither event of the race, not only what happened before the later one: an event that sleeps may be
unrelated to the race and yet prevent what is to follow.

What is still to be explored from a place is a wakeup tree: each branch begins with something that was not explored
there yet, and a sequence is added only if no branch leads to the same executions already.  So every branch that is
followed leads to executions that were never seen.

Worlds are not copied: what came before is executed again for each execution.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from clew.budgets.deadline import Deadline
from clew.exploration.driver import Driver, Race
from clew.exploration.event import Event, Footprint, Key, independent
from clew.exploration.system import System

#: Events in their order, each with its footprint.
Sequence = list[tuple[Key, Footprint]]


@dataclass
class Branch:
    """An event, and what is to follow it: anything, if nothing is said."""

    key: Key
    footprint: Footprint
    children: list[Branch] = field(default_factory=list)


def can_begin(key: Key, footprint: Footprint, sequence: Sequence) -> bool:
    """Tell whether an event can come first in an execution that contains the sequence in its order."""
    for other, its_footprint in sequence:
        if other == key:
            return True
        if not independent(footprint, its_footprint):
            return False
    return True


def insert(tree: list[Branch], sequence: Sequence) -> None:
    """Add a sequence, unless a branch leads to it already."""
    while sequence:
        branch = next((b for b in tree if can_begin(b.key, b.footprint, sequence)), None)
        if branch is None:
            for key, footprint in sequence:
                tree.append(Branch(key, footprint))
                tree = tree[-1].children
            return
        # A leaf stands for any continuation, so also for this one.
        if not branch.children:
            return
        # The rest of the sequence after what the branch begins with; it need not be the first of the sequence,
        # only independent of all before it.
        sequence = [(key, footprint) for key, footprint in sequence if key != branch.key]
        tree = branch.children


class End(enum.Enum):
    """Nothing is left to do; the scenario's bound on steps is reached; what is left leads to nothing new."""

    COMPLETE = "complete"
    CUT_SHORT = "cut short"
    REDUNDANT = "redundant"


class ExploredExecution(NamedTuple):
    """An execution that was made; its events from ``new`` on were not executed after the same events before."""

    driver: Driver
    new: int
    end: End


@dataclass
class _Fork:
    """A place in an execution: what was explored from here or need not be, and what is still to be."""

    sleep: dict[Key, Footprint]
    tree: list[Branch]
    chosen: Event | None = None


class Dpor:
    """All executions that begin with the events of ``prefix``, and stop before what looks at everything."""

    def __init__(self, system: System, prefix: tuple[Event, ...], deadline: Deadline) -> None:
        self._system = system
        self._prefix = prefix
        self._deadline = deadline
        self._forks: list[_Fork] = []

    def executions(self) -> Iterator[ExploredExecution]:
        base = len(self._prefix)
        events = list(self._prefix)
        races: list[Race] = []
        next_fork: _Fork | None = _Fork({}, [])
        while next_fork is not None:
            driver = Driver(self._system, events, base)
            new = len(events)
            end = self._finish(driver, next_fork)
            # Those that came to light in the part that this execution shares with the one before; they are turned
            # round again, for the rest of the execution, which goes into the sequence, is another.
            races = [race for race in races if race.seen < new] + driver.races
            for race in races:
                self._reverse_race(driver, race)
            yield ExploredExecution(driver, new, end)
            next_fork = self._backtrack()
            events = driver.events[: base + len(self._forks)]

    def _finish(self, driver: Driver, fork: _Fork) -> End:
        """Go on to the end of the execution."""
        while possible := driver.possible():
            self._deadline.check()
            if len(driver.events) >= self._system.scenario.steps:
                return End.CUT_SHORT
            if not fork.tree:
                # Everything that is possible sleeps: what could follow is a part of executions that were explored
                # already.
                awake = next((key for key in possible if key not in fork.sleep), None)
                if awake is None:
                    return End.REDUNDANT
                key, rest = awake, []
            else:
                branch = fork.tree.pop(0)
                key, rest = branch.key, branch.children
            event = fork.chosen = driver.do(key)
            self._forks.append(fork)
            # What is dependent on the event wakes up: after it, the two are in another order than what was
            # explored.
            still_asleep = {k: f for k, f in fork.sleep.items() if independent(f, event.footprint)}
            fork = _Fork(still_asleep, rest)
        return End.COMPLETE

    def _backtrack(self) -> _Fork | None:
        """Go back to the last place from where something is still to be explored."""
        while self._forks:
            fork = self._forks.pop()
            assert fork.chosen is not None
            # All executions that begin with it from here have been made.
            fork.sleep[fork.chosen.key] = fork.chosen.footprint
            if fork.tree:
                return fork
        return None

    def _reverse_race(self, driver: Driver, race: Race) -> None:
        between = driver.reversal(race)
        footprint = self._footprint(driver, race, between)
        sequence = [*((e.key, e.footprint) for e in between), (race.key, footprint)]
        fork = self._forks[race.early - len(self._prefix)]
        # An execution of that class was made from here already.
        if not any(can_begin(key, mark, sequence) for key, mark in fork.sleep.items()):
            insert(fork.tree, sequence)

    def _footprint(self, driver: Driver, race: Race, between: list[Event]) -> Footprint:
        """Return what the later event of a race does when it comes first; if that was never seen, try it out."""
        known = self._system.footprints
        local = driver.local_of(race, between)
        # A footprint depends on the local history only, so most are known from other executions.
        if local not in known:
            trial = Driver(self._system, [*driver.events[: race.early], *between], len(self._prefix))
            tried = trial.do(race.key)
            assert tried.local == local
        return known[local]
