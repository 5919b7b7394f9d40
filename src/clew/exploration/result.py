"""What an exploration comes to."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field

from clew.errors import Notice
from clew.exploration.plan import Bounds
from clew.exploration.timed.bounds import TimedBounds
from clew.names import harmless
from clew.results import HOLDS, INCOMPLETE, VIOLATED, Result
from clew.simulation.execution.steps import Step, size_of
from clew.simulation.execution.trace import Execution
from clew.simulation.recordings.recording import Recording
from clew.simulation.scenario import Broken
from clew.simulation.world import External


class ExplorationAnswer(enum.Enum):
    """``VIOLATION`` also where the exploration is not complete: what was found stands."""

    ALL_EXPLORED = "all explored"
    VIOLATION = "violation"
    INCOMPLETE = "incomplete"


_EXIT_CODES = {
    ExplorationAnswer.ALL_EXPLORED: HOLDS,
    ExplorationAnswer.VIOLATION: VIOLATED,
    ExplorationAnswer.INCOMPLETE: INCOMPLETE,
}


@dataclass(frozen=True)
class Found:
    """A violation: what broke, its identity, and the shortest schedule seen that leads to it.

    ``trace``: that of an exception.  ``labels``: what the message of each event is called, if not by its type.
    ``clocks``: in virtual time, how fast those clocks run that were asked.
    """

    broken: Broken
    identity: str
    steps: tuple[Step, ...] = field(repr=False)
    trace: str | None = field(default=None, repr=False)
    labels: tuple[str, ...] = field(default=(), repr=False)
    clocks: tuple[tuple[str, float], ...] = field(default=(), repr=False)

    def __str__(self) -> str:
        return harmless(f"{size_of(self.steps)}; broken: {self.broken}")

    @property
    def deliveries(self) -> int:
        """Count the messages that are delivered and the timers that go off on the way."""
        return size_of(self.steps).deliveries


@dataclass(frozen=True)
class Exploration(Result):
    """``schedules``: complete executions, no two of one class; in virtual time, no two that end in one situation.
    ``states``: global states that were looked at.

    ``events``: executed, also again.  ``blocked``: executions that were begun and led to nothing new.
    ``reasons``: why this is no certificate; none if it is, or if exploring ended at the first violation.
    ``found``: one for each identity.
    ``invariants``: the names of those that were looked at, in virtual time of promises, too; that no handler
    raises always is.
    ``drew``: nodes that draw random numbers, of which those of one seed are explored.
    ``undone``: events from outside that come in no schedule, mostly because what they wait for never comes.
    ``waiting``: how many of the schedules end while the next event from outside still waits.
    ``scenario``: as a command names it, "" for one made in Python.
    ``seed``: of what nodes draw.
    ``recording``: of the first of ``found``; ``execution``: all that happens in it, unless that ends its process.
    """

    answer: ExplorationAnswer
    schedules: int
    states: int
    events: int
    blocked: int
    bounds: Bounds | TimedBounds
    reasons: tuple[str, ...]
    found: tuple[Found, ...]
    invariants: tuple[str, ...]
    drew: tuple[str, ...]
    undone: tuple[External, ...]
    waiting: int
    scenario: str = ""
    seed: int = 0
    recording: Recording | None = field(default=None, repr=False)
    execution: Execution | None = field(default=None, repr=False, compare=False)

    @property
    def notices(self) -> tuple[Notice, ...]:
        """Return none: whatever limits an exploration is one of its ``reasons``."""
        return ()

    @property
    def exit_code(self) -> int:
        return _EXIT_CODES[self.answer]

    @property
    def reason(self) -> str | None:
        """Return all reasons in one sentence."""
        return "; ".join(self.reasons) or None
