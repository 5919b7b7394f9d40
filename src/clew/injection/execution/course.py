"""What a run under faults came to: every event, when and why, and what is broken at its end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, assert_never

from clew.injection.execution.flow import Flow
from clew.injection.execution.world import InjectedWorld
from clew.injection.faults import (
    CodeFault,
    MessageCopy,
    MessageLoss,
    MessageName,
    NetworkPartition,
    NodeCrash,
    NodeRestart,
)
from clew.simulation.execution.steps import Step
from clew.simulation.pool import Envelope
from clew.simulation.scenario import Broken, Scenario
from clew.simulation.world import External


class NodeMoment(NamedTuple):
    """A moment at which a fault can stop a node: after its ``nth`` event, which is the one with this number.

    ``nth`` is 0 before its first event; ``is_idle``: that event changed nothing.
    """

    number: int
    node: str
    nth: int
    time: int
    is_idle: bool


class Occurrence(NamedTuple):
    """One event of a run: where and when, the ``nth`` of its node, and on what it rests directly.

    ``cause``: the number of the event that sent or set it, -1 if there is none.  ``nth`` is 0 for what is no event
    of a node, such as its end.
    """

    number: int
    node: str
    nth: int
    what: External | Envelope
    fate: str
    cause: int
    time: int


@dataclass(frozen=True)
class Course:
    """What a run came to.

    ``struck``: of each fault that took effect, the number of the first event that is another because of it.
    ``broken``: the invariant or promise that does not hold.  ``is_over``: it came to its end, and neither ran out
    of steps nor waits for ever; ``is_vacuous``: at that end nothing had been promised.  ``idle``: the events that
    changed nothing.  ``moments``: when nodes can be stopped.  ``to_come``: how many events from outside did not
    happen.
    """

    faults: tuple[CodeFault, ...]
    world: InjectedWorld
    occurrences: Sequence[Occurrence]
    struck: dict[CodeFault, int]
    broken: Broken | None
    is_over: bool
    is_vacuous: bool
    steps: Sequence[Step]
    flow: Flow | None
    moments: Sequence[NodeMoment]
    idle: frozenset[int]
    to_come: int

    def is_within(self, limit: int) -> bool:
        """Tell whether every fault that struck began until a time.

        Faults are named by what they hit: in another run, that may happen later.
        """
        return all(self._began(fault) <= limit for fault in self.struck)

    def _began(self, fault: CodeFault) -> int:
        match fault:
            case NodeCrash() | NodeRestart():
                return self.occurrences[self.struck[fault]].time
            case NetworkPartition(_, first, _):
                return first
            case MessageLoss() | MessageCopy():
                what = self.occurrences[self.struck[fault]].what
                # A loss begins when the message is sent, which may be long before it would arrive.
                assert isinstance(what, Envelope)
                return self.world.sent_at(what)
            case _:
                assert_never(fault)

    def times_of(self, faults: Iterable[CodeFault]) -> tuple[int | None, ...]:
        """Return when each of the faults struck; None where it did not."""
        return tuple(
            self.occurrences[self.struck[fault]].time if fault in self.struck else None for fault in faults
        )

    def message_of(self, occurrence: Occurrence) -> MessageName | None:
        """Return the name of what was delivered, lost or duplicated, if faults can hit it."""
        what = occurrence.what
        return self.world.name_of(what) if isinstance(what, Envelope) else None


def explain_no_end(scenario: Scenario, course: Course) -> str:
    """Return why a run did not come to its end, and what to do."""
    return scenario.explain_hang(course.world) or f"{scenario.steps} events were not enough: give it more steps"
