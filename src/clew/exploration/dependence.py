"""Which events can trade places.

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
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from clew.simulation.events import Heal, Partition, Restart, Start, Stop, WaitQuiescence
from clew.simulation.pool import OUTSIDE, Envelope, Link
from clew.simulation.world import CodeBlock, Happened, WaitCondition

#: What an event can read or change: its kind, and its names.
Thing = tuple[str | int, ...]

EVERYTHING: Thing = ("everything",)


class Footprint(NamedTuple):
    """What an event read and what it changed."""

    changes: frozenset[Thing]
    reads: frozenset[Thing]

    @property
    def is_global(self) -> bool:
        return EVERYTHING in self.changes


def independent(a: Footprint, b: Footprint) -> bool:
    """Whether events with these footprints can trade places when they are next to each other."""
    return (
        a.changes.isdisjoint(b.changes)
        and a.changes.isdisjoint(b.reads)
        and a.reads.isdisjoint(b.changes)
        and not (a.is_global or b.is_global)
    )


def commute(first: Happened, second: Happened) -> bool:
    """Whether two events that were recorded next to each other can trade places.

    A partition or heal is taken to change every link that it names, and a heal of all to have to do with
    everything: what was blocked at the time is not in the record.
    """
    if Heal() in (first.what, second.what):
        return False
    return independent(footprint(first, _links(first)), footprint(second, _links(second)))


def footprint(happened: Happened, links: Iterable[Link] = ()) -> Footprint:
    """What an event read and changed; ``links`` are those that it blocked or freed."""
    what = happened.what
    changes: set[Thing] = {("message", e.source, e.nth) for e in happened.sent}
    reads: set[Thing] = {("up", e.target) for e in happened.sent}
    if isinstance(what, Envelope):
        _of_envelope(what, happened.fate, changes, reads)
    else:
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
    if fate == "duplicate":
        changes.add(("outside",) if envelope.source == OUTSIDE else ("node", envelope.source))


def _links(happened: Happened) -> Iterable[Link]:
    match happened.what:
        case Partition(source, target, one_way):
            return [(source, target)] if one_way else [(source, target), (target, source)]
        case Heal(source, target):
            return [(source, target), (target, source)]
    return []
