"""One schedule of a scenario while it is executed, step by step, for the references.

Written without a look at ``clew.exploration``: what can happen next is read off the pool of the world.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass

from clew.simulation.events import Heal, Partition, Restart, Start, Stop, WaitQuiescence
from clew.simulation.pool import Envelope
from clew.simulation.scenario import Scenario
from clew.simulation.world import CodeBlock, External, Wait, WaitCondition, World

Label = tuple[str, str, int]
Link = tuple[str, str]


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


class Attempt:
    """``done`` counts the events from outside; ``handled`` tells whether any event executed code of the user."""

    def __init__(self, scenario: Scenario, limits: Limits) -> None:
        self.world: World = scenario.world(recording=True)
        self.records: list[Record] = []
        self.failed_before_last = False
        self.done = 0
        self.handled = False
        self.outside = outside_of(scenario)
        self._scenario = scenario
        self._limits = limits
        self._used: dict[tuple[str, Hashable], int] = {}
        self._held: set[Link] = set()

    # -- looking -------------------------------------------------------------------------------------------------

    def possible(self) -> Iterator[Label]:
        """Yield what can happen next."""
        for envelope in self.world.pool.messages:
            name, link = (envelope.source, envelope.nth), (envelope.source, envelope.target)
            yield ("deliver", *name)
            if envelope.source == envelope.target:
                continue  # no network is between a node and itself
            if self._scenario.loss and self._used.get(("lose", link), 0) < self._limits.losses:
                yield ("lose", *name)
            if self._scenario.duplication and self._used.get(("duplicate", link), 0) < self._limits.duplicates:
                yield ("duplicate", *name)
        for timer in self.world.pool.timers:
            if self._used.get(("timer", timer.target), 0) < self._limits.timers:
                yield ("timer", timer.source, timer.nth)
        if self.done < len(self.outside) and self._may_go_on(self.outside[self.done][0]):
            yield ("outside", "", self.done)

    def _may_go_on(self, gate: External | None) -> bool:
        if isinstance(gate, WaitQuiescence):
            return not self.world.pool.messages
        return gate.condition(self.world) if isinstance(gate, WaitCondition) else True

    @property
    def failed(self) -> bool:
        """Whether a handler raised so far."""
        return self.failed_before_last or self.world.failure is not None

    def violations(self) -> set[str]:
        """Return what is broken now; after an exception nothing else counts."""
        broken = None if self.failed_before_last else self._scenario.look(self.world)
        return set() if broken is None else {self._scenario.same(broken, self.world)}

    def met_at_last(self) -> set[int]:
        """Return which conditions awaited at the end hold now, when nothing more comes from outside."""
        if self.failed or self.done < len(self.outside):
            return set()
        waits = enumerate(waits_at_last(self._scenario))
        return {place for place, wait in waits if wait.condition(self.world)}

    def situation(self, nodes: Hashable) -> Hashable:
        """Return all that decides what can follow; ``nodes`` stands for everything that the nodes remember."""
        world = self.world
        on_their_way = frozenset((e.source, e.nth, e.target, e.timer, e.time, repr(e.payload)) for e in world.pool)
        held = frozenset(link for link in _all_links(self._scenario) if world.pool.is_held(*link))
        used = frozenset((what, count) for what, count in self._used.items() if count)
        clocks = tuple((name, process.now) for name, process in world.processes.items())
        sent = frozenset(world._sent.items())
        return nodes, on_their_way, held, used, clocks, sent, self.done, self.failed_before_last, world.failure

    # -- doing ---------------------------------------------------------------------------------------------------

    def take(self, label: Label) -> None:
        """Let one thing happen."""
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
            self.handled = True
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
            self._record(label, of=link)

    def _use(self, what: str, where: Hashable, times: int = 1) -> None:
        self._used[what, where] = self._used.get((what, where), 0) + times

    def _take_outside(self, label: Label) -> None:
        gate, event = self.outside[self.done]
        self.done += 1
        everything = gate is not None or isinstance(event, CodeBlock)
        if event is None:
            self.records.append(Record(label, external=True, everything=True))
            return
        self.handled = self.handled or isinstance(event, Start | Restart | CodeBlock)
        before = set(self._held)
        if isinstance(event, Partition):
            self._held.add((event.source, event.target))
            if not event.one_way:
                self._held.add((event.target, event.source))
        elif isinstance(event, Heal):
            both = {(event.source, event.target), (event.target, event.source)}
            self._held -= both if event.source else before
        self.world.inject(event)
        if isinstance(event, CodeBlock):  # it may have blocked or freed links by itself
            self._held = {link for link in _all_links(self._scenario) if self.world.pool.is_held(*link)}
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


def outside_of(scenario: Scenario) -> list[tuple[External | None, External | None]]:
    """Pair each event from outside with what it waits for; several waits in a row are passed one by one."""
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


def waits_at_last(scenario: Scenario) -> list[WaitCondition]:
    """Return the conditions that are awaited when nothing more comes from outside."""
    events = [*scenario.before, *scenario.after]
    waits = [isinstance(event, Wait) for event in events]
    last = events[max((i + 1 for i, wait in enumerate(waits) if not wait), default=0) :]
    return [event for event in last if isinstance(event, WaitCondition)]


def _all_links(scenario: Scenario) -> list[Link]:
    return [(source, target) for source in ("", *scenario.nodes) for target in scenario.nodes]
