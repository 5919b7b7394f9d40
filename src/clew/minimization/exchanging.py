"""Exchange events from outside: another one that was recorded may do what several of the remaining ones do.

Delta debugging only leaves out.  It keeps whichever events it comes to first, two deposits of 50 where a single
one of 100 was recorded, too, or a stop and a start where there was a restart.  So each remaining event is
exchanged for each that was left out, and what ends in the violation then is reduced once more.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from clew.minimization.deltas import externals_of
from clew.minimization.reduction import ReducedTrial
from clew.minimization.search import Candidate, Search
from clew.minimization.trial import (
    Item,
    Match,
    Plain,
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


def exchange_externals(search: Search, target: Target, schedule: Schedule) -> Schedule:
    """Return the schedule after all exchanges that make it shorter."""
    best = schedule
    while True:
        used = externals_of(best)
        pairs = [(old, new) for new in find_spare(target, used) for old in used]
        success = search.first(
            _Exchanges(best, [(old, new, describe_delivery(target, new)) for old, new in pairs])
        )
        if success is None:
            return best
        best = success.schedule


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


def exchange(items: Sequence[Item], old: int, new: int, delivery: Act | None) -> list[Item]:
    """Return the schedule with one event from outside in the place of another, and delivered where that was."""
    exchanged: list[Item] = []
    waiting = delivery is not None
    for item in items:
        if item == old:
            exchanged.append(new)
        elif isinstance(item, int) or item.origin != old or item.act.source != OUTSIDE:
            exchanged.append(item)
        elif delivery is not None:
            exchanged.append(ScheduledAct(delivery._replace(do=item.act.do), item.name, new))
            waiting = False
    if waiting and delivery is not None:
        # The old one was no message, so that nothing says when the new one arrives: at once.
        place = exchanged.index(new) + 1
        names = (item if isinstance(item, int) else item.name for item in items)
        exchanged.insert(place, ScheduledAct(delivery, max(names) + new + 1, new))
    return exchanged


class _Exchanges:
    """The schedule after each of some exchanges: the old event, the new one, and the delivery of that."""

    def __init__(self, schedule: Schedule, pairs: list[tuple[int, int, Act | None]]) -> None:
        self._schedule = schedule
        self._pairs = pairs

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpack_exchanges, (plain(self._schedule), self._pairs)

    def __len__(self) -> int:
        return len(self._pairs)

    def at(self, place: int) -> Candidate:
        old, new, delivery = self._pairs[place]
        return ReducedTrial(exchange(self._schedule, old, new, delivery), self._schedule, Match.CAUSE)


def _unpack_exchanges(items: Plain, pairs: list[tuple[int, int, Act | None]]) -> _Exchanges:
    return _Exchanges(from_plain(items), pairs)
