"""Exchange events from outside: another one that was recorded may do what several of the remaining ones do.

Delta debugging only leaves out.  It keeps whichever events it comes to first, two deposits of 50 where a single
one of 100 was recorded, too, or a stop and a start where there was a restart.  So each remaining event is
exchanged for each that was left out; so is each message that nodes pass on, for one that comes to the same node
from outside.  What ends in the violation then is reduced once more.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from clew.minimization.deltas import externals_of
from clew.minimization.reduction import ReducedTrial
from clew.minimization.search import Candidate, Search
from clew.minimization.searching.search import Plain
from clew.minimization.trial import (
    Item,
    Match,
    Schedule,
    ScheduledAct,
    Target,
    from_plain,
    plain,
)
from clew.simulation.events import Send
from clew.simulation.execution.steps import Act, Do
from clew.simulation.pool import OUTSIDE
from clew.simulation.scenario import Scenario
from clew.simulation.values import canonical
from clew.simulation.world import CodeBlock, External

#: So many events that were left out are tried, unlike ones first: recordings may have hundreds.
_MOST = 40


def exchange_externals(search: Search, target: Target, schedule: Schedule, most: int) -> Schedule:
    """Return the schedule after all exchanges that make it shorter; so many may fail in a row at most."""
    best = schedule
    while True:
        success = search.first(_Exchanges(best, _list_exchanges(target, best)[:most]))
        if success is None:
            return best
        best = success.schedule


class Exchange(NamedTuple):
    """What goes, an event from outside or the delivery of a message; what comes, and the delivery of that."""

    old: Item
    new: int
    delivery: Act | None


def _list_exchanges(target: Target, schedule: Schedule) -> list[Exchange]:
    used = externals_of(schedule)
    found: list[Exchange] = []
    for new in find_spare(target, used):
        delivery = describe_delivery(target, new)
        # A message that nodes pass on, to a leader that they know, can come to it directly as well.
        relayed: list[Item] = [
            item
            for item in schedule
            if not isinstance(item, int)
            and delivery is not None
            and item.act.source != OUTSIDE
            and (item.act.target, item.act.timer, item.act.kind) == (delivery.target, False, delivery.kind)
        ]
        found += [Exchange(old, new, delivery) for old in [*used, *relayed]]
    return found


def find_spare(target: Target, used: Sequence[int]) -> list[int]:
    """Return events that the schedule does not use: no two that are equal, and unlike ones first."""
    taken = set(used)
    unlike: dict[str, int] = {}
    others: dict[str, int] = {}
    for number, event in enumerate(target.externals):
        if number in taken:
            continue
        # A fingerprint is what matters of a message, as far as the scenario knows.
        if unlike.setdefault(_describe_kind(target.scenario, event), number) != number:
            others.setdefault(_describe_fully(event), number)
    return [*unlike.values(), *others.values()][:_MOST]


def _describe_kind(scenario: Scenario, event: External) -> str:
    if isinstance(event, Send):
        return f"{event.node} {type(event.message).__qualname__} {scenario.fingerprint_of(event.message)}"
    return _describe_fully(event)


def _describe_fully(event: External) -> str:
    return f"block {event.name}" if isinstance(event, CodeBlock) else canonical(event)


def describe_delivery(target: Target, external: int) -> Act | None:
    """Return the delivery of a message from outside; None of any other event, which has none."""
    event = target.externals[external]
    if not isinstance(event, Send):
        return None
    kind = type(event.message).__qualname__
    mark = target.scenario.fingerprint_of(event.message)
    return Act(Do.DELIVER, OUTSIDE, 0, event.node, False, kind, mark)


def apply_exchange(items: Sequence[Item], exchange: Exchange) -> list[Item]:
    """Return the schedule with the new event in the place of the old one."""
    old, new, delivery = exchange
    if isinstance(old, int):
        return _exchange_external(items, old, new, delivery)
    assert delivery is not None, "only a message takes the place of a message"
    place = items.index(old)
    return [*items[:place], new, ScheduledAct(delivery, old.name, new), *items[place + 1 :]]


def _exchange_external(items: Sequence[Item], old: int, new: int, delivery: Act | None) -> list[Item]:
    exchanged: list[Item] = []
    waiting = delivery is not None
    for item in items:
        if item == old:
            exchanged.append(new)
        elif isinstance(item, int) or item.origin != old or item.act.source != OUTSIDE:
            exchanged.append(item)
        elif delivery is not None:
            # Delivered where the old one was.
            exchanged.append(ScheduledAct(delivery._replace(do=item.act.do), item.name, new))
            waiting = False
    if waiting and delivery is not None:
        # The old one was no message, so that nothing says when the new one arrives: at once.
        place = exchanged.index(new) + 1
        names = (item if isinstance(item, int) else item.name for item in items)
        exchanged.insert(place, ScheduledAct(delivery, max(names) + new + 1, new))
    return exchanged


class _Exchanges:
    """The schedule after each of some exchanges."""

    def __init__(self, schedule: Schedule, exchanges: list[Exchange]) -> None:
        self._schedule = schedule
        self._exchanges = exchanges

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpack_exchanges, (plain(self._schedule), self._exchanges)

    def __len__(self) -> int:
        return len(self._exchanges)

    def at(self, place: int) -> Candidate:
        items = apply_exchange(self._schedule, self._exchanges[place])
        return ReducedTrial(items, self._schedule, Match.CAUSE)


def _unpack_exchanges(items: Plain, exchanges: list[Exchange]) -> _Exchanges:
    return _Exchanges(from_plain(items), exchanges)
