"""One event of an explored execution: what it was, and what it came after.

Numbers stand for histories.  Equal ``local`` numbers: the same event at its node after the same events there, so
what it did is the same, too.  Equal ``whole`` numbers: the same event after the same events anywhere, in the same
order as far as that matters.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import NamedTuple

from clew.exploration.dependence import Footprint
from clew.simulation.execution.steps import Step
from clew.simulation.pool import Link
from clew.simulation.process import Failure
from clew.simulation.world import External

#: What names a message or timer: who sent it, and as its how many-th.
Name = tuple[str, int]


class Rank(enum.IntEnum):
    """The kinds of events, in the order in which they are tried."""

    OUTSIDE = 0
    DELIVER = 1
    TIMER = 2
    LOSE = 3
    DUPLICATE = 4


class Key(NamedTuple):
    """What can happen next, the same in all executions in which it can; from outside, ``nth`` counts from 0.

    ``again``: how often the message was duplicated before, for a duplicate.
    """

    rank: Rank
    source: str
    nth: int
    again: int = 0

    @property
    def name(self) -> Name:
        return (self.source, self.nth)

    @property
    def previous(self) -> Key | None:
        """The duplicate of the same message before this one."""
        return self._replace(again=self.again - 1) if self.again else None


class Event(NamedTuple):
    """``chain`` and ``nth``: events at one place form a chain, and this is the how many-th there.

    ``clock``: for each chain, how many of its events come before this one (itself included).
    ``node``: whose history it goes on with: a node's, that of what is sent from outside (""), or nobody's; a
    duplicate belongs to the history of the sender, whose numbers it shares.
    ``before``: the number of that history until then.
    ``created``: what it put on its way.  ``moves``: by how many the messages on a link became more or fewer.
    ``up``, ``held``: after an event from outside, the nodes that are up, and the links that are blocked.
    """

    key: Key
    step: Step | None
    gate: External | None
    node: str | None
    chain: int
    nth: int
    clock: tuple[int, ...]
    footprint: Footprint
    local: int
    before: int
    whole: int
    created: tuple[Name, ...]
    moves: tuple[tuple[Link, int], ...]
    failure: Failure | None
    up: tuple[str, ...]
    held: tuple[Link, ...]

    def is_after(self, other: Event) -> bool:
        """Whether this event happens after the other in every execution of the same class (or is it)."""
        return self.clock[other.chain] >= other.nth


def steps_of(events: Sequence[Event]) -> tuple[Step, ...]:
    """The schedule that these events are."""
    return tuple(step for e in events for step in (e.gate, e.step) if step is not None)
