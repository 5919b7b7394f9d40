"""The reference for classes: every schedule of a small scenario, one after the other, and the class of each.

Written without a look at ``clew.exploration``: schedules are enumerated naively, each executed from the beginning,
and the dependence of two events is a list of cases.  Two schedules are of one class when they consist of the same
events and have every two dependent ones in the same order.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from clew.simulation.execution.steps import Act, Step
from clew.simulation.scenario import Scenario
from clew.simulation.world import Wait
from exploration.attempt import Attempt, Label, Limits, Record, outside_of

#: Tells global states apart.
View = Callable[[Mapping[str, Any]], Hashable]


class TooManyError(Exception):
    """More schedules, or states, than the caller wants to wait for."""


@dataclass
class Counted:
    """``schedules`` in all, their ``classes``, the ``violations`` in the ``states`` they pass through.

    ``done``: how many events from outside the schedule with the most of them has.  ``handled``: whether any event
    of any schedule executed code of the user.  ``met``: which of the conditions awaited at the end held.
    """

    schedules: int = 0
    classes: set[Hashable] = field(default_factory=set)
    violations: set[str] = field(default_factory=set)
    states: set[Hashable] = field(default_factory=set)
    done: int = 0
    handled: bool = False
    met: set[int] = field(default_factory=set)

    def look(self, attempt: Attempt, view: View | None) -> None:
        """Take note of the state that an attempt is in."""
        self.violations |= attempt.violations()
        self.done = max(self.done, attempt.done)
        self.handled = self.handled or attempt.handled
        self.met |= attempt.met_at_last()
        if view is not None and not attempt.failed:
            self.states.add(view(attempt.world.nodes))


def brute(
    scenario: Scenario, limits: Limits | None = None, most: int = 100_000, view: View | None = None
) -> Counted:
    """Execute every schedule; ``most`` is a limit on their number."""
    counted = Counted()
    pending: list[tuple[Label, ...]] = [()]
    while pending:
        chosen = pending.pop()
        attempt = Attempt(scenario, limits or Limits())
        for label in chosen:
            attempt.take(label)
        counted.look(attempt, view)
        while possible := list(attempt.possible()):
            pending += [(*chosen, label) for label in possible[1:]]
            chosen = (*chosen, possible[0])
            attempt.take(possible[0])
            counted.look(attempt, view)
        counted.schedules += 1
        counted.classes.add(_class(attempt.records))
        if counted.schedules + len(pending) > most:
            raise TooManyError
    return counted


def class_of(scenario: Scenario, limits: Limits, steps: Sequence[Step]) -> Hashable:
    """Return the class of a schedule that was found otherwise."""
    attempt = Attempt(scenario, limits)
    for label in _labels(scenario, steps):
        assert label in list(attempt.possible())
        attempt.take(label)
    assert not list(attempt.possible())
    return _class(attempt.records)


def _labels(scenario: Scenario, steps: Sequence[Step]) -> Iterator[Label]:
    outside, done = outside_of(scenario), 0
    for step in steps:
        if isinstance(step, Act):
            yield ("timer" if step.timer else step.do.value, step.source, step.nth)
        elif not isinstance(step, Wait) or outside[done][1] is None:
            yield ("outside", "", done)
            done += 1


def dependent(a: Record, b: Record) -> bool:
    """Whether two events of a schedule, a before b, must keep their order."""
    if a.everything or b.everything or (a.external and b.external):
        return True
    if a.node and a.node == b.node:
        return True
    if not b.external and b.label[1:] in a.sent:
        return True
    return _one_way(a, b) or _one_way(b, a)


def _one_way(a: Record, b: Record) -> bool:
    if a.lifecycle and (a.node in b.sent_to or (b.of is not None and not b.node and b.of[1] == a.node)):
        return True
    if b.of is not None and (b.of in a.links or (b.of == a.of and a.label[0] in ("lose", "duplicate"))):
        return True
    if a.label[0] == "duplicate":
        source = a.label[1]
        if b.label[0] == "duplicate" and b.label[1] == source:
            return True
        return b.node == source if source else b.external
    return False


def _class(records: list[Record]) -> Hashable:
    # A message can be duplicated more than once: the how many-th time belongs to the name of such an event.
    names = [(r.label, sum(s.label == r.label for s in records[:i])) for i, r in enumerate(records)]
    pairs = [
        (names[j], names[i]) for i, b in enumerate(records) for j, a in enumerate(records[:i]) if dependent(a, b)
    ]
    return frozenset(names), frozenset(pairs)
