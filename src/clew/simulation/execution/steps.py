"""Schedules: what is done next, written down so that it can be done again.

A ``Step`` is an event from outside or an ``Act``: what to do with which message or timer that is on its way.  With
virtual time, ``At`` says when: nothing is drawn when it is done again.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from clew.simulation.events import Elapse, Heal, Partition, Restart, Send, Start, Stop, WaitQuiescence
from clew.simulation.pool import OUTSIDE, Envelope
from clew.simulation.scenario import Scenario
from clew.simulation.timing import show_time
from clew.simulation.world import CodeBlock, External, Wait, WaitCondition, World


class Do(enum.Enum):
    """What becomes of something that is on its way."""

    DELIVER = "deliver"
    LOSE = "lose"
    DUPLICATE = "duplicate"


class Act(NamedTuple):
    """``source`` and ``nth`` name the envelope; the rest says what it is in other executions, too.

    ``kind`` is the type of the message or the name of the timer, ``fingerprint`` what of the message matters.
    """

    do: Do
    source: str
    nth: int
    target: str
    timer: bool
    kind: str
    fingerprint: str

    def __str__(self) -> str:
        return self.describe()

    def describe(self, label: str = "") -> str:
        """Say what is done; ``label``: what the message is called, if not by its type."""
        if self.timer:
            return f"timer {self.kind} at {self.target}"
        return f"{self.do.value} {label or self.kind} from {self.source or 'outside'} to {self.target}"


@dataclass(frozen=True)
class At:
    """The virtual time comes to this, in microseconds; what follows happens then.  It is no event."""

    time: int


@dataclass(frozen=True)
class Ended:
    """The execution has come to its end: what was promised must be kept now.  It is no event."""


Step = External | Act | At | Ended

#: Steps that are no events.
Pause = Wait | At | Ended


@dataclass(frozen=True)
class Size:
    """How big an execution is: deliveries of messages and timers, and events from outside."""

    deliveries: int
    externals: int

    def __str__(self) -> str:
        deliveries = f"{self.deliveries} {'delivery' if self.deliveries == 1 else 'deliveries'}"
        return f"{deliveries}, {self.externals} event{'' if self.externals == 1 else 's'} from outside"


def size_of(steps: Iterable[Step]) -> Size:
    """Measure a schedule: messages from outside count when delivered, others from outside when they happen.

    What the network does of itself, a loss or a copy, comes from outside, too.  All that is said about sizes, in
    tables, pages and documents, is counted here.
    """
    deliveries = externals = 0
    for step in steps:
        if not isinstance(step, Act):
            # Counting a message twice, when it is sent and when it arrives, would make the cluster look busier.
            externals += not isinstance(step, Send | Pause)
        elif step.do is Do.DELIVER:
            deliveries += 1
            externals += step.source == OUTSIDE
        else:
            externals += 1
    return Size(deliveries, externals)


def describe(step: Step, label: str = "") -> str:
    """Describe a step in words; ``label``: what its message is called, if not by its type."""
    match step:
        case Act():
            return step.describe(label)
        case Start(node):
            return f"start {node}"
        case Stop(node):
            return f"stop {node}"
        case Restart(node):
            return f"restart {node}"
        case Send(node, message):
            return f"send {label or type(message).__qualname__} to {node}"
        case Partition(source, target, one_way):
            return f"partition {source} from {target}{', one way' if one_way else ''}"
        case Heal(source, target):
            return f"heal {source} and {target}" if source else "heal all partitions"
        case WaitQuiescence():
            return "wait until no message is left"
        case WaitCondition(name, _):
            return f"wait for {name}"
        case Elapse(seconds):
            return f"let {seconds:g} s pass"
        case CodeBlock(name, _):
            return f"code block {name}"
        case At(time):
            return f"at {show_time(time)}"
        case Ended():
            return "the end: what was promised must be kept"


def act_of(scenario: Scenario, envelope: Envelope, do: Do = Do.DELIVER) -> Act:
    """Write down what is done with an envelope."""
    kind = envelope.kind
    mark = kind if envelope.timer else scenario.fingerprint_of(envelope.payload)
    return Act(do, envelope.source, envelope.nth, envelope.target, envelope.timer, kind, mark)


def perform(world: World, envelope: Envelope, do: Do) -> None:
    if do is Do.DELIVER:
        world.deliver(envelope)
    elif do is Do.LOSE:
        world.lose(envelope)
    else:
        world.duplicate(envelope)
