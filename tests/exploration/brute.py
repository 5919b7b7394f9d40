"""The reference: every schedule of a small scenario, one after the other, and the class of each.

Written without a look at ``clew.exploration``: schedules are enumerated naively, each executed from the beginning,
and the dependence of two events is a list of cases.  Two schedules are of one class when they consist of the same
events and have every two dependent ones in the same order.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field

from clew.simulation.events import (
    CodeBlock,
    External,
    Heal,
    Partition,
    Restart,
    Start,
    Stop,
    Wait,
    WaitCondition,
    WaitQuiescence,
)
from clew.simulation.pool import Envelope
from clew.simulation.scenario import Scenario
from clew.simulation.steps import Act, Step
from clew.simulation.world import World

Label = tuple[str, str, int]
Link = tuple[str, str]


class TooManyError(Exception):
    """More schedules than the caller wants to wait for."""


@dataclass(frozen=True)
class Limits:
    timers: int = 2
    losses: int = 0
    duplicates: int = 0


@dataclass(frozen=True)
class Record:
    """An event of a schedule; ``links`` are those it blocked or freed, ``of`` the link of its message."""

    label: Label
    node: str = ""
    of: Link | None = None
    external: bool = False
    lifecycle: bool = False
    everything: bool = False
    sent: frozenset[tuple[str, int]] = frozenset()
    sent_to: frozenset[str] = frozenset()
    links: frozenset[Link] = frozenset()


@dataclass
class Counted:
    """``schedules`` in all, their ``classes``, and the ``violations`` in the states they pass through."""

    schedules: int = 0
    classes: set[Hashable] = field(default_factory=set)
    violations: set[str] = field(default_factory=set)


def brute(scenario: Scenario, limits: Limits | None = None, most: int = 100_000) -> Counted:
    """Execute every schedule; ``most`` is a limit on their number."""
    counted = Counted()
    pending: list[tuple[Label, ...]] = [()]
    while pending:
        chosen = pending.pop()
        attempt = _Attempt(scenario, limits or Limits())
        for label in chosen:
            attempt.take(label)
        counted.violations |= attempt.violations()
        while possible := list(attempt.possible()):
            pending += [(*chosen, label) for label in possible[1:]]
            chosen = (*chosen, possible[0])
            attempt.take(possible[0])
            counted.violations |= attempt.violations()
        counted.schedules += 1
        counted.classes.add(_class(attempt.records))
        if counted.schedules + len(pending) > most:
            raise TooManyError
    return counted


def class_of(scenario: Scenario, limits: Limits, steps: Sequence[Step]) -> Hashable:
    """The class of a schedule that was found otherwise."""
    attempt = _Attempt(scenario, limits)
    for label in _labels(steps):
        assert label in list(attempt.possible())
        attempt.take(label)
    assert not list(attempt.possible())
    return _class(attempt.records)


def _labels(steps: Sequence[Step]) -> Iterator[Label]:
    outside = 0
    for step, following in zip(steps, (*steps[1:], None), strict=True):
        if isinstance(step, Act):
            yield ("timer" if step.timer else step.do.value, step.source, step.nth)
        elif not isinstance(step, Wait) or (following is not None and isinstance(following, Wait)):
            yield ("outside", "", outside)
            outside += 1


class _Attempt:
    """One schedule while it is executed."""

    def __init__(self, scenario: Scenario, limits: Limits) -> None:
        self.world: World = scenario.world(recording=True)
        self.records: list[Record] = []
        self.failed_before_last = False
        self._scenario = scenario
        self._limits = limits
        self._outside = _outside(scenario)
        self._done = 0
        self._used: dict[tuple[str, Hashable], int] = {}
        self._held: set[Link] = set()

    def possible(self) -> Iterator[Label]:
        for envelope in self.world.pool.messages:
            name, link = (envelope.source, envelope.nth), (envelope.source, envelope.target)
            yield ("deliver", *name)
            if self._scenario.loss and self._used.get(("lose", link), 0) < self._limits.losses:
                yield ("lose", *name)
            if (
                self._scenario.duplication
                and self._used.get(("duplicate", link), 0) < self._limits.duplicates
                and ("duplicated", name) not in self._used
            ):
                yield ("duplicate", *name)
        for timer in self.world.pool.timers:
            if self._used.get(("timer", timer.target), 0) < self._limits.timers:
                yield ("timer", timer.source, timer.nth)
        if self._done < len(self._outside) and self._may_go_on(self._outside[self._done][0]):
            yield ("outside", "", self._done)

    def _may_go_on(self, gate: External | None) -> bool:
        if isinstance(gate, WaitQuiescence):
            return not self.world.pool.messages
        return gate.condition(self.world) if isinstance(gate, WaitCondition) else True

    def violations(self) -> set[str]:
        """What is broken now; after an exception nothing else counts."""
        broken = None if self.failed_before_last else self._scenario.look(self.world)
        return set() if broken is None else {self._scenario.same(broken, self.world)}

    def take(self, label: Label) -> None:
        if self.world.failure is not None:
            self.failed_before_last = True
        if label[0] == "outside":
            self._take_outside(label)
            return
        (envelope,) = (
            e for e in (*self.world.pool.messages, *self.world.pool.timers) if (e.source, e.nth) == label[1:]
        )
        link = (envelope.source, envelope.target)
        if label[0] in ("deliver", "timer"):
            self.world.deliver(envelope)
            self._use("timer", envelope.target, label[0] == "timer")
            self._record(label, node=envelope.target, of=None if envelope.timer else link)
        elif label[0] == "lose":
            self.world.lose(envelope)
            self._use("lose", link)
            self._record(label, of=link)
        else:
            self.world.duplicate(envelope)
            self._use("duplicate", link)
            self._use("duplicated", label[1:])
            self._record(label, of=link)

    def _use(self, what: str, where: Hashable, times: int = 1) -> None:
        self._used[what, where] = self._used.get((what, where), 0) + times

    def _take_outside(self, label: Label) -> None:
        gate, event = self._outside[self._done]
        self._done += 1
        everything = gate is not None or isinstance(event, CodeBlock)
        if event is None:
            self.records.append(Record(label, external=True, everything=True))
            return
        before = set(self._held)
        if isinstance(event, Partition):
            self._held.add((event.source, event.target))
            if not event.one_way:
                self._held.add((event.target, event.source))
        elif isinstance(event, Heal):
            both = {(event.source, event.target), (event.target, event.source)}
            self._held -= both if event.source else before
        self.world.inject(event)
        lifecycle = isinstance(event, Start | Stop | Restart)
        node = event.node if isinstance(event, Start | Stop | Restart) else ""
        links = frozenset(before ^ self._held)
        self._record(label, node=node, external=True, lifecycle=lifecycle, everything=everything, links=links)

    def _record(
        self,
        label: Label,
        *,
        node: str = "",
        of: Link | None = None,
        external: bool = False,
        lifecycle: bool = False,
        everything: bool = False,
        links: frozenset[Link] = frozenset(),
    ) -> None:
        assert self.world.history is not None
        sent: tuple[Envelope, ...] = self.world.history[-1].sent
        self.records.append(
            Record(
                label,
                node,
                of,
                external,
                lifecycle,
                everything,
                frozenset((e.source, e.nth) for e in sent),
                frozenset(e.target for e in sent),
                links,
            )
        )


def _outside(scenario: Scenario) -> list[tuple[External | None, External | None]]:
    """Each event from outside with what it waits for; several waits in a row are passed one after the other."""
    events = [*scenario.before, *scenario.after]
    while events and isinstance(events[-1], Wait):
        events.pop()
    outside: list[tuple[External | None, External | None]] = []
    for index, event in enumerate(events):
        waits = isinstance(event, Wait)
        if waits and isinstance(events[index + 1], Wait):
            outside.append((event, None))
        elif not waits:
            previous = events[index - 1] if index else None
            outside.append((previous if isinstance(previous, Wait) else None, event))
    return outside


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
    pairs = [(a.label, b.label) for i, b in enumerate(records) for a in records[:i] if dependent(a, b)]
    return frozenset(r.label for r in records), frozenset(pairs)
