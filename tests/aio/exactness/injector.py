"""Executions of asyncio programs under faults, said a second time: nothing of ``clew.injection`` is in it.

It drives a world of the simulation itself: of what is on its way, what is due first comes first, and of that what
was put on its way first.  Messages are named here again, from what they are: datagrams are counted by link,
packets of a connection by the connection, and the packets of requests by what they say of themselves.  Which
faults there are, and when a set of them counts, is said as the documentation has it: all sets of all faults that
any execution shows to be possible are executed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from clew.aio.packets import Connect, Datagram, Segment
from clew.simulation.events import Start, Stop
from clew.simulation.pool import Envelope
from clew.simulation.scenario import Scenario
from clew.simulation.timing import Clock
from clew.simulation.world import World

Name = tuple[str, str, str, int]
#: ("loss" | "duplicate", name), ("crash", node, after), ("restart", node, after, length), ("partition", group,
#: first, until).
SimpleFault = tuple[Any, ...]

SINGULAR = {
    "losses": "loss",
    "crashes": "crash",
    "restarts": "restart",
    "partitions": "partition",
    "duplicates": "duplicate",
}


@dataclass(frozen=True)
class Limits:
    """At most so many of each kind, ``total`` in all; times in microseconds."""

    most: dict[str, int]
    total: int
    within: int
    outages: tuple[int, ...]
    unit: str
    client: str = "client"


class SimpleClock(Clock):
    """A copy takes as long as its original, and what is sent later as long as if there were no copy."""

    def __init__(self, scenario: Scenario) -> None:
        assert scenario.time is not None
        super().__init__(scenario.time, 0)
        self.copies: dict[str, list[int]] = {}
        self.original: int | None = None

    def post(self, envelope: Envelope, now: int) -> None:
        number = envelope.nth if self.original is None else self.original
        number -= sum(each < number for each in self.copies.get(envelope.source, ()))
        if self.original is not None:
            self.copies.setdefault(envelope.source, []).append(envelope.nth)
        envelope.due = now + self.draw_latency(envelope.source, envelope.target, number)


class SimpleWorld(World):
    """Writes down what is sent, in order, and gives it names."""

    def __init__(self, scenario: Scenario, unit: str) -> None:
        self.unit = unit
        self.order: dict[Envelope, int] = {}
        self.names: dict[Envelope, Name] = {}
        self.sent_at: dict[Envelope, int] = {}
        self.counts: dict[tuple[str, ...], int] = {}
        self.connections: dict[tuple[str, int], Name] = {}
        self.copying = False
        self.steady = SimpleClock(scenario)
        running = tuple(scenario.running)
        super().__init__(scenario.nodes, fifo=False, seed=0, running=running, clock=self.steady)

    def _envelope(self, source: str, target: str, payload: Any, timer: bool, time: float) -> Envelope:
        envelope = super()._envelope(source, target, payload, timer, time)
        self.order[envelope] = len(self.order)
        if not timer and source != target and not self.copying:
            self.names[envelope] = self.name(source, target, payload)
            self.sent_at[envelope] = self.ticks
        return envelope

    def count(self, *key: str) -> int:
        self.counts[key] = self.counts.get(key, 0) + 1
        return self.counts[key]

    def name(self, source: str, target: str, packet: Any) -> Name:
        if isinstance(packet, Datagram) or self.unit == "segment":
            kind = type(packet).__name__
            return source, target, kind, self.count(source, target, kind)
        assert isinstance(packet, Segment)
        key = (packet.opener, packet.number)
        if isinstance(packet, Connect) and key not in self.connections:
            self.connections[key] = (source, target, "connection", self.count(source, target))
        if self.unit == "request" and packet.unit is not None and packet.unit[2] in ("request", "reply"):
            source, target, kind, nth = packet.unit
            return source, target, kind, nth
        return self.connections[key]


class SimpleRun:
    """``effective``: the faults that did something; ``began``: when the last of them did."""

    def __init__(self, scenario: Scenario, limits: Limits, faults: Iterable[SimpleFault] = ()) -> None:
        self.scenario, self.limits = scenario, limits
        self.faults = set(faults)
        self.effective: set[SimpleFault] = set()
        self.began = 0
        self.counts: dict[str, int] = {}
        self.moments: list[tuple[str, int, int]] = []
        self.returning: list[tuple[int, int, str]] = []
        self.copied: set[Name] = set()
        self.world = SimpleWorld(scenario, limits.unit)
        assert scenario.time is not None
        self.end = round(scenario.time.until * 1_000_000)
        self.broken = self.scenario.look(self.world)
        self.moments += [(name, 0, 0) for name in self.world.nodes if name != limits.client]
        for name in tuple(self.world.nodes):
            self.halt(name)
        while self.broken is None and self.step():
            pass
        self.vacuous = self.broken is None and not self.scenario.promises_anything(self.world)

    def step(self) -> bool:
        world = self.world
        due = min(world.pool, key=lambda each: (each.due, world.order[each]), default=None)
        back = min(self.returning, default=None)
        if back is not None and (due is None or back[0] <= due.due) and back[0] <= self.end:
            self.returning.remove(back)
            world.elapse(back[0])
            world.inject(Start(back[2]))
            self.touch(back[2])
            return True
        if due is None or due.due > self.end or world.failure is not None:
            return False
        self.take(due)
        return True

    def take(self, envelope: Envelope) -> None:
        world, name = self.world, self.world.names.get(envelope)
        if name is not None:
            sent = world.sent_at[envelope]
            cutting = [f for f in self.faults if f[0] == "partition" and cuts(f, *name[:2], sent)]
            if cutting:
                self.effective |= set(cutting)
                self.began = max(self.began, *(fault[2] for fault in cutting))
            if cutting or ("loss", name) in self.faults:
                if not cutting:
                    self.strike(("loss", name), name)
                world.lose(envelope)
                self.look()
                return
            if ("duplicate", name) in self.faults and name not in self.copied:
                self.copied.add(name)
                self.strike(("duplicate", name), name)
                world.copying, world.steady.original = True, envelope.nth
                world.duplicate(envelope)
                world.copying, world.steady.original = False, None
                return
        world.deliver(envelope)
        self.touch(envelope.target)

    def strike(self, fault: SimpleFault, name: Name) -> None:
        self.effective.add(fault)
        first = min(time for each, time in self.world.sent_at.items() if self.world.names[each] == name)
        self.began = max(self.began, first)

    def look(self) -> None:
        if self.broken is None:
            self.broken = self.scenario.look(self.world)

    def touch(self, name: str) -> None:
        self.counts[name] = self.counts.get(name, 0) + 1
        if name != self.limits.client:
            self.moments.append((name, self.counts[name], self.world.ticks))
        self.look()
        self.halt(name)

    def halt(self, name: str) -> None:
        for fault in self.faults - self.effective:
            is_it = fault[0] in ("crash", "restart") and fault[1:3] == (name, self.counts.get(name, 0))
            if is_it and name in self.world.processes and self.broken is None:
                self.effective.add(fault)
                self.began = max(self.began, self.world.ticks)
                self.world.inject(Stop(name))
                if fault[0] == "restart":
                    self.returning.append((self.world.ticks + fault[3], len(self.effective), name))
                self.look()

    # -- faults

    def counts_as_faults(self) -> bool:
        """Tell whether every fault did something and began in time, partitions with a message across them."""
        named = [(self.world.names[each], time) for each, time in self.world.sent_at.items()]
        return (
            self.effective == self.faults
            and self.began <= self.limits.within
            and all(
                any(sent == fault[2] and (name[0] in fault[1]) != (name[1] in fault[1]) for name, sent in named)
                for fault in self.faults
                if fault[0] == "partition"
            )
        )

    def possible(self) -> Iterator[SimpleFault]:
        """Yield the faults that this execution shows to be possible."""
        within, outages, world = self.limits.within, self.limits.outages, self.world
        firsts: dict[Name, int] = {}
        for each, sent in world.sent_at.items():
            firsts.setdefault(world.names[each], sent)
        for kind, most in self.limits.most.items():
            if not most:
                continue
            match SINGULAR[kind]:
                case "loss":
                    yield from (("loss", name) for name, sent in firsts.items() if sent <= within)
                case "duplicate":
                    alone = [n for n in firsts if n[2] == "Datagram" or self.limits.unit == "segment"]
                    yield from (("duplicate", name) for name in alone if firsts[name] <= within)
                case "crash":
                    yield from (("crash", node, nth) for node, nth, time in self.moments if time <= within)
                case "restart":
                    for node, nth, time in self.moments:
                        yield from (("restart", node, nth, length) for length in outages if time <= within)
                case _:
                    for first in sorted({sent for sent in world.sent_at.values() if sent <= within}):
                        for group in halves(tuple(world.count_lives())):
                            yield from (("partition", group, first, first + length) for length in outages)


def cuts(fault: SimpleFault, source: str, target: str, time: int) -> bool:
    _, group, first, until = fault
    inside: bool = first <= time < until and (source in group) != (target in group)
    return inside


def halves(names: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield every way to cut the nodes in two, by the half without the last one."""
    for size in range(1, len(names)):
        yield from combinations(names[:-1], size)


def is_admissible(limits: Limits, faults: Iterable[SimpleFault]) -> bool:
    known = list(faults)
    if any(sum(f[0] == SINGULAR[kind] for f in known) > most for kind, most in limits.most.items()):
        return False
    for one, other in combinations(known, 2):
        if {one[0], other[0]} <= {"loss", "duplicate"} and one[1] == other[1]:
            return False
        if {one[0], other[0]} <= {"crash", "restart"} and one[1] == other[1]:
            first, second = sorted((one, other), key=lambda fault: fault[2])
            if first[2] == second[2] or first[0] == "crash":
                return False
    return True


@dataclass(frozen=True)
class Simple:
    """``fewest``: with how few faults something breaks, None if with none; ``breaking``: such a set."""

    fewest: int | None
    breaking: tuple[SimpleFault, ...]
    singles: frozenset[SimpleFault]
    sets: int
    base: SimpleRun


class TooManyError(Exception):
    """More sets than anybody wants to wait for."""


def try_all(scenario: Scenario, limits: Limits, *, most_sets: int) -> Simple:
    """Execute under every set of as many faults, of all that any run under fewer of them shows to be possible."""
    base = SimpleRun(scenario, limits)
    if base.broken:
        return Simple(0, (), frozenset(), 1, base)
    universe: dict[SimpleFault, None] = dict.fromkeys(base.possible())
    singles: set[SimpleFault] = set()
    number = 1
    for size in range(1, limits.total + 1):
        shown: dict[SimpleFault, None] = {}
        if number + math.comb(len(universe), size) > most_sets:
            raise TooManyError
        for faults in combinations(list(universe), size):
            if not is_admissible(limits, faults):
                continue
            number += 1
            run = SimpleRun(scenario, limits, faults)
            if not run.counts_as_faults():
                continue
            if size == 1:
                singles |= set(faults)
            if run.broken:
                return Simple(size, faults, frozenset(singles), number, base)
            shown.update(dict.fromkeys(run.possible()))
        universe |= shown
    return Simple(None, (), frozenset(singles), number, base)
