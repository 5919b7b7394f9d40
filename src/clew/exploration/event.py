"""Events of an explored execution: which of them can trade places, what each was, and what it came after.

An event reads or changes some of these things, and two events are dependent when one changes what the other
reads or changes:

- a *node*: changed by what is delivered to it, its timers, and its start, stop and restart;
- whether a node is *up*: changed by its start, stop and restart; read by whatever sends to it, because what is
  sent to a node that is down is lost;
- a *link*: changed by a loss, a duplicate, and a partition or heal that blocks or frees it; read by a delivery;
- a *message* or timer: changed by the event that sends it and the one that takes it;
- the *outside*, whose events are in a fixed order.

Sending and delivering on the same link commute: one works on the end of the queue, the other on its head.  A
duplicate takes the next number of its sender, so it is dependent on what happens there.  Arbitrary code and
waiting look at everything.

Numbers stand for histories.  Equal ``local`` numbers: the same event at its node after the same events there, so
what it did is the same, too.  Equal ``whole`` numbers: the same event after the same events anywhere, in the same
order as far as that matters.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from clew.simulation.events import Heal, Partition, Restart, Start, Stop, WaitQuiescence
from clew.simulation.execution.steps import Step
from clew.simulation.pool import OUTSIDE, Envelope, Link
from clew.simulation.process import Failure
from clew.simulation.world import CodeBlock, External, Happened, WaitCondition

#: What an event can read or change: its kind, and its names.
Thing = tuple[str | int, ...]

#: No name of a thing stands for all of them in a set, so ``independent`` asks for this one by itself.
EVERYTHING: Thing = ("everything",)


class Footprint(NamedTuple):
    """What an event read and what it changed."""

    changes: frozenset[Thing]
    reads: frozenset[Thing]

    @property
    def is_global(self) -> bool:
        return EVERYTHING in self.changes


def independent(a: Footprint, b: Footprint) -> bool:
    """Tell whether events with these footprints can trade places when they are next to each other."""
    return (
        a.changes.isdisjoint(b.changes)
        and a.changes.isdisjoint(b.reads)
        and a.reads.isdisjoint(b.changes)
        and not (a.is_global or b.is_global)
    )


def commute(first: Happened, second: Happened) -> bool:
    """Tell whether two events that were recorded next to each other can trade places.

    A partition or heal is taken to change every link that it names, and a heal of all to have to do with
    everything: what was blocked at the time is not in the record.
    """
    # Which links it frees depends on what was blocked then, and that is not in the record.
    if Heal() in (first.what, second.what):
        return False
    return independent(footprint(first, _links(first)), footprint(second, _links(second)))


def footprint(happened: Happened, links: Iterable[Link] = ()) -> Footprint:
    """Return what an event read and changed; ``links`` are those that it blocked or freed."""
    what = happened.what
    changes: set[Thing] = {("message", e.source, e.nth) for e in happened.sent}
    # Whether a message gets on its way depends on whether its target is up when it is sent.
    reads: set[Thing] = {("up", e.target) for e in happened.sent}
    if isinstance(what, Envelope):
        _of_envelope(what, happened.fate, changes, reads)
    else:
        # Events from outside keep their order among each other.
        changes.add(("outside",))
        changes.update(("link", *link) for link in links)
        if isinstance(what, Start | Stop | Restart):
            changes |= {("node", what.node), ("up", what.node)}
        elif isinstance(what, CodeBlock | WaitCondition | WaitQuiescence):
            changes.add(EVERYTHING)
    return Footprint(frozenset(changes), frozenset(reads))


def _of_envelope(envelope: Envelope, fate: str, changes: set[Thing], reads: set[Thing]) -> None:
    link: Thing = ("link", envelope.source, envelope.target)
    changes.add(("message", envelope.source, envelope.nth))
    if fate == "deliver":
        changes.add(("node", envelope.target))
        if not envelope.timer:
            reads.add(link)
        return
    changes.add(link)
    reads.add(("up", envelope.target))
    # The copy takes the next number of its sender, which names all that the sender sends after it.
    if fate == "duplicate":
        changes.add(("outside",) if envelope.source == OUTSIDE else ("node", envelope.source))


def _links(happened: Happened) -> Iterable[Link]:
    match happened.what:
        case Partition(source, target, one_way):
            return [(source, target)] if one_way else [(source, target), (target, source)]
        case Heal(source, target):
            return [(source, target), (target, source)]
    return []


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
        """Return the duplicate of the same message before this one."""
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
        """Tell whether this event happens after the other in every execution of the same class (or is it)."""
        return self.clock[other.chain] >= other.nth


def steps_of(events: Sequence[Event]) -> tuple[Step, ...]:
    """Return the schedule that these events are."""
    return tuple(step for e in events for step in (e.gate, e.step) if step is not None)
