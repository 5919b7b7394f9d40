"""An execution as all formats see it: events with their causes, and the states between them.

What a handler or a step does is split into events, so that each can have a vector clock: a message is sent in one
event and arrives in another.  Events are in an order in which causes come before their effects; program order at a
node is the order of its events here.

``of_model`` and ``of_code`` make it; nothing in it refers to programs, scenarios or solvers.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

#: Where events happen that happen at no node: what comes from outside, and what the network does.
NOWHERE = ""

#: A value in the form of ``clew.simulation.values.to_json``.
Document = Any


class Unit(enum.Enum):
    """What times count."""

    MICROSECOND = "microseconds of virtual time"
    EVENT = "events of the execution"
    STEP = "steps of the model"


class Kind(enum.Enum):
    """What an event is; the values are what documents call it."""

    LOCAL = "local"
    SEND = "send"
    RECEIVE = "receive"
    LOST = "lost"
    TAKEN = "taken"  # off its way by a code block, which may have delivered it
    DUPLICATE = "duplicate"
    TIMER = "timer"
    START = "start"
    CRASH = "crash"
    RESTART = "restart"
    PAUSE = "pause"
    RESUME = "resume"
    PARTITION = "partition"
    HEAL = "heal"
    VIOLATION = "violation"

    @property
    def is_fault(self) -> bool:
        return self in _FAULTS


_FAULTS = frozenset(
    {
        *(Kind.LOST, Kind.DUPLICATE, Kind.CRASH, Kind.RESTART, Kind.PAUSE, Kind.RESUME),
        *(Kind.PARTITION, Kind.HEAL),
    }
)


class Change(NamedTuple):
    """A variable of a node before and after an event, as text; None where there is none of that name."""

    name: str
    before: str | None
    after: str | None


@dataclass(frozen=True)
class Event:
    """One event at one node, or ``NOWHERE``.

    ``causes``: indices of the events that it rests on beside the one before it at its node; the first is the one
    to tell: of what arrives or is lost, its sending.  ``source`` and ``target`` are of the message that it is
    about.  ``label`` names the message, timer or fault in a word or two, ``detail`` says it in full.  ``cut``:
    whether a partition is in force from here on (of partitions and their ends).
    """

    node: str
    time: int
    kind: Kind
    label: str
    detail: str = ""
    causes: tuple[int, ...] = ()
    source: str = NOWHERE
    target: str = NOWHERE
    remarks: tuple[str, ...] = ()
    changes: tuple[Change, ...] = ()
    cut: bool = False

    @property
    def title(self) -> str:
        """Return what happens in a few words, without where."""
        match self.kind:
            case Kind.SEND:
                return f"send {self.label} to {self.target or 'nobody'}"
            case Kind.RECEIVE:
                return f"receive {self.label} from {self.source or 'outside'}"
            case Kind.LOST | Kind.DUPLICATE | Kind.TAKEN:
                return f"{self.kind.value}: {self.label} from {self.source or 'outside'} to {self.target}"
            case Kind.TIMER | Kind.VIOLATION:
                return f"{self.kind.value}: {self.label}"
            case _:
                return self.label


@dataclass(frozen=True)
class State:
    """The variables by name, each with its value at each node where it is known, after what ``action`` says.

    Mappings are shared between states that do not differ in them.
    """

    time: int
    action: str
    variables: Mapping[str, Mapping[str, Document]]
    #: The nodes that are up; None where that is not known.
    up: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Trace:
    """An execution: ``title`` names what was executed, ``nodes`` are in the order in which to show them.

    ``violations`` say what is wrong with it, each in a sentence; none with one in which nothing is.
    """

    title: str
    unit: Unit
    nodes: tuple[str, ...]
    events: tuple[Event, ...] = field(repr=False)
    states: tuple[State, ...] = field(repr=False)
    faults: tuple[str, ...] = ()
    violations: tuple[str, ...] = ()

    @property
    def ends(self) -> dict[int, tuple[int, ...]]:
        """Return by sending the events in which its message ends: arrivals, or its loss; none on its way."""
        found: dict[int, list[int]] = {k: [] for k, e in enumerate(self.events) if e.kind is Kind.SEND}
        for index, event in enumerate(self.events):
            if event.kind in (Kind.RECEIVE, Kind.LOST, Kind.TAKEN):
                found[event.causes[0]].append(index)
        return {send: tuple(ends) for send, ends in found.items()}
