"""What an exploration comes to."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from clew.exploration.plan import Bounds
from clew.simulation.scenario import Broken
from clew.simulation.steps import Step


class Answer(enum.Enum):
    """``VIOLATION`` also where the exploration is not complete: what was found stands."""

    ALL_EXPLORED = "all explored"
    VIOLATION = "violation"
    INCOMPLETE = "incomplete"


@dataclass(frozen=True)
class Found:
    """A violation: what broke, its identity, and the shortest schedule seen that leads to it."""

    broken: Broken
    identity: str
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class Exploration:
    """``schedules``: complete executions, no two of one class.  ``states``: global states that were looked at.

    ``events``: executed, also again.  ``blocked``: executions that were begun and led to nothing new.
    ``reason``: why not everything is explored, None if it is.  ``found``: one for each identity.
    """

    answer: Answer
    schedules: int
    states: int
    events: int
    blocked: int
    bounds: Bounds
    reason: str | None
    found: tuple[Found, ...]
