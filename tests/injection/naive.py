"""Faults injected into tables, said a second time: nothing here is Clew's, but the description of a system.

An execution is a list of what is due, by time and then by the order in which it got there; a message behind others
on its link (FIFO) gets there when these have gone.  Which faults there are, and when a set of them is one that
counts, is said here as the documentation has it, and not as the product finds them: all sets of all faults that
any execution shows to be possible are tried.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from itertools import combinations
from random import Random
from typing import Any

from injection.systems import END, KINDS, MOST_HOPS, System

#: ("loss" | "duplicate", (source, target, kind, nth)), ("crash", node, after), ("restart", node, after, length),
#: ("partition", group, first, until).
NaiveFault = tuple[Any, ...]

SINGULAR = {
    "losses": "loss",
    "crashes": "crash",
    "restarts": "restart",
    "partitions": "partition",
    "duplicates": "duplicate",
}


def drawn(text: str) -> float:
    """Return the number that belongs to a text."""
    return int.from_bytes(blake2b(text.encode(), digest_size=7).digest(), "big") / 2**56


@dataclass
class Item:
    due: int
    source: str
    target: str
    kind: str
    hops: int
    sent: int
    timer: bool = False
    latency: int = 0
    name: tuple[str, str, str, int] | None = None
    partitions: tuple[NaiveFault, ...] = ()
    order: int = 0


class NaiveRun:
    """``effective``: the faults that did something; ``began``: when the last of them did; ``broken``: by what."""

    def __init__(self, system: System, faults: Iterable[NaiveFault] = ()) -> None:
        self.system = system
        self.faults = set(faults)
        self.cutting = [fault for fault in self.faults if fault[0] == "partition"]
        self.ready: list[Item] = []
        self.behind: dict[tuple[str, str], list[Item]] = {}
        self.latest_on: dict[tuple[str, str], int] = {}
        self.orders = 0
        self.time = 0
        self.state: dict[str, int] = {}
        self.hops: dict[str, int] = {}
        self.stored: dict[str, int] = {}
        self.counts = dict.fromkeys(system.names, 0)
        self.numbers: dict[str, int] = {}
        self.ranks: dict[tuple[str, str, str], int] = {}
        self.down: dict[str, tuple[float, bool]] = {}  # by a fault: until when, and whether it is to be up then
        self.returns = 0
        self.returning: list[tuple[int, int, str]] = []
        self.effective: set[NaiveFault] = set()
        self.began = 0
        self.named: list[tuple[tuple[str, str, str, int], int]] = []
        self.moments: list[tuple[str, int, int]] = []
        self.broken: str | None = None
        self.vacuous = False
        self.arrivals = 0
        self.outside: list[Any] = [*system.given, *range(system.drawn), ("quiet",)]
        self.waiting: tuple[Any, ...] | None = None
        self.since = 0
        self.go()

    # -- the whole run

    def go(self) -> None:
        for name in self.system.running:
            self.state[name], self.hops[name] = 0, 0
        for name in self.system.running:
            self.react(name, "start", 0)
        self.moments += [(name, 0, 0) for name in self.system.running]
        self.settle(self.system.running)
        while self.broken is None and self.step():
            pass
        if self.broken is None:
            self.vacuous = not self.system.is_promised(self.state)
            if not self.vacuous and self.system.breaks_promise(self.state):
                self.broken = "promise"

    def settle(self, touched: Iterable[str]) -> None:
        """After an event: what must never be is looked for, and nodes stop that are to stop now."""
        self.look()
        for name in list(touched):
            if self.broken is None and self.halt(name):
                self.look()

    def look(self) -> None:
        if self.broken is None and self.system.breaks_never(self.state):
            self.broken = "never"

    def step(self) -> bool:
        event = self.next_outside()
        if event is not None:
            self.do(event)
            return True
        due = min(self.ready, key=lambda item: (item.due, item.order), default=None)
        back = min(self.returning, default=None)
        if back is not None and (due is None or back[0] <= due.due) and back[0] <= END:
            self.returning.remove(back)
            self.time = max(self.time, back[0])
            _, wanted = self.down.pop(back[2])
            if wanted:
                self.start(back[2])
            return True
        if due is None or due.due > END:
            return False
        self.take(due)
        return True

    # -- from outside

    def next_outside(self) -> tuple[Any, ...] | None:
        while self.outside:
            if self.waiting is not None and not self.has_waited():
                return None
            event = self.outside[0]
            if isinstance(event, int):
                if not self.comes(END * (event + 1) // (self.system.drawn + 1)):
                    return None
                self.outside.pop(0)
                return self.make(event)
            self.outside.pop(0)
            self.waiting = event if event[0] in ("elapse", "until", "quiet") else None
            if self.waiting is None:
                return tuple(event)
            self.since = self.time
        return None

    def make(self, number: int) -> tuple[Any, ...] | None:
        random = Random(f"0/outside/{number}")
        random.choices(["the only maker"], [1])
        node, kind = random.choice(self.system.names), random.choice((*KINDS, ""))
        return ("send", node, kind) if kind else None

    def has_waited(self) -> bool:
        assert self.waiting is not None
        if self.waiting[0] == "elapse":
            return self.comes(self.since + self.waiting[1])
        if self.waiting[0] == "until":
            return bool(self.state.get(self.waiting[1]) == self.waiting[2])
        return not self.ready and not self.returning

    def comes(self, time: int) -> bool:
        times = [*(item.due for item in self.ready), *(back[0] for back in self.returning)]
        if time > END or any(due <= time for due in times):
            return False
        self.time = max(self.time, time)
        return True

    def do(self, event: tuple[Any, ...]) -> None:
        what, name = event[:2]
        if what == "send":
            self.send("", name, event[2], 0)
            self.settle(())
        elif what in ("start", "restart"):
            if name in self.down:
                self.down[name] = self.down[name][0], True
                return
            if what == "restart":
                self.stop(name)
            self.start(name)
        elif what == "stop":
            if name in self.down:
                self.down[name] = self.down[name][0], False
            self.stop(name)
            self.settle(())
        else:
            if name in self.state:
                if what == "bounce":
                    self.stop(name)
                    self.begin(name)
                else:
                    self.react(name, "poke", 0)
            self.touch(list(self.state))

    # -- nodes

    def start(self, name: str) -> None:
        if name not in self.state:
            self.begin(name)
        self.touch([name])

    def begin(self, name: str) -> None:
        self.state[name], self.hops[name] = self.stored.get(name, 0), 0
        self.react(name, "start", 0)

    def touch(self, names: list[str]) -> None:
        for name in names:
            self.counts[name] += 1
            self.moments.append((name, self.counts[name], self.time))
        self.settle(names)

    def stop(self, name: str) -> None:
        self.state.pop(name, None)
        self.ready = [item for item in self.ready if item.target != name]
        self.behind = {link: items for link, items in self.behind.items() if link[1] != name}

    def halt(self, name: str) -> bool:
        for fault in self.faults - self.effective:
            if fault[0] in ("crash", "restart") and fault[1:3] == (name, self.counts[name]) and name in self.state:
                self.effective.add(fault)
                self.began = max(self.began, self.time)
                self.stop(name)
                self.down[name] = math.inf, True
                if fault[0] == "restart":
                    self.returns += 1
                    self.returning.append((self.time + fault[3], self.returns, name))
                return True
        return False

    def react(self, name: str, event: str, hops: int) -> None:
        reaction = self.system.reactions[name, self.state[name], event]
        self.state[name] = reaction.state
        if reaction.raises:
            self.broken = "raised"
            return
        if reaction.stores:
            self.stored[name] = reaction.state
        if hops < MOST_HOPS:
            for target, kind in reaction.sends:
                self.send(name, target, kind, hops + 1)
            for timer, after in reaction.timers:
                if after is not None:
                    self.hops[name] = hops + 1
                    self.set(name, timer, after)
                else:
                    self.cancel(name, timer)

    # -- messages and timers

    def set(self, name: str, timer: str, after: int) -> None:
        self.cancel(name, timer)
        self.count(name)
        speed = self.system.clocks.get(name)
        if speed is None:
            drift = self.system.drift
            speed = 1.0 - drift + 2 * drift * drawn(f"0/clock/{name}") if drift else 1.0
        wait = math.ceil(after / 1_000_000 * 1_000_000 / speed)
        self.put(Item(self.time + wait, name, name, timer, 0, self.time, timer=True))

    def cancel(self, name: str, timer: str) -> None:
        self.ready = [i for i in self.ready if not (i.timer and i.target == name and i.kind == timer)]

    def count(self, source: str) -> int:
        self.numbers[source] = self.numbers.get(source, 0) + 1
        return self.numbers[source]

    def send(self, source: str, target: str, kind: str, hops: int) -> None:
        latency = self.latency(source, target, self.count(source))
        item = Item(self.time + latency, source, target, kind, hops, self.time, latency=latency)
        if source not in ("", target):
            key = (source, target, kind)
            self.ranks[key] = self.ranks.get(key, 0) + 1
            item.name = (*key, self.ranks[key])
            item.partitions = tuple(fault for fault in self.cutting if cuts(fault, source, target, self.time))
            self.named.append((item.name, self.time))
        self.post(item)

    def latency(self, source: str, target: str, number: int) -> int:
        usual = 0 if source == target else self.system.latency
        given = self.system.links.get((source, target), usual)
        if not isinstance(given, tuple):
            return given
        least, most = given[0] / 1_000_000, given[1] / 1_000_000
        return round((least + (most - least) * drawn(f"0/{source}/{target}/{number}")) * 1_000_000)

    def post(self, item: Item) -> None:
        if item.target not in self.state:
            return
        link = (item.source, item.target)
        if self.system.fifo and item.source:
            item.due = self.latest_on[link] = max(item.due, self.latest_on.get(link, 0))
            if any(not i.timer and (i.source, i.target) == link for i in self.ready):
                self.behind.setdefault(link, []).append(item)
                return
        self.put(item)

    def put(self, item: Item) -> None:
        self.orders += 1
        item.order = self.orders
        self.ready.append(item)

    def remove(self, item: Item) -> None:
        self.ready.remove(item)
        link = (item.source, item.target)
        if not item.timer and self.behind.get(link):
            self.put(self.behind[link].pop(0))

    def take(self, item: Item) -> None:
        self.time = max(self.time, item.due)
        loss, copy = ("loss", item.name), ("duplicate", item.name)
        if item.partitions:
            self.effective |= set(item.partitions)
            self.began = max(self.began, *(fault[2] for fault in item.partitions))
        elif loss in self.faults:
            self.strike(loss, item)
        if item.partitions or loss in self.faults:
            self.remove(item)
            self.settle(())
            return
        if item.name is not None and copy in self.faults:
            self.strike(copy, item)
            due = self.time + item.latency
            self.post(Item(due, item.source, item.target, item.kind, item.hops, item.sent, latency=item.latency))
        self.remove(item)
        self.arrivals += 1
        self.react(item.target, item.kind, self.hops[item.target] if item.timer else item.hops)
        self.touch([item.target])

    def strike(self, fault: NaiveFault, item: Item) -> None:
        self.effective.add(fault)
        self.began = max(self.began, item.sent)

    # -- faults

    def counts_as_faults(self) -> bool:
        """Tell whether every fault did something and began in time, partitions with a message across them."""
        return (
            self.effective == self.faults
            and self.began <= self.system.within
            and all(
                any(sent == first and (name[0] in group) != (name[1] in group) for name, sent in self.named)
                for _, group, first, _ in self.cutting
            )
        )

    def possible(self) -> Iterator[NaiveFault]:
        """Yield the faults that this execution shows to be possible."""
        within, outages = self.system.within, self.system.outages
        for kind in self.system.most:
            match SINGULAR[kind]:
                case "loss" | "duplicate" as one:
                    yield from ((one, name) for name, sent in self.named if sent <= within)
                case "crash":
                    yield from (("crash", node, nth) for node, nth, time in self.moments if time <= within)
                case "restart":
                    for node, nth, time in self.moments:
                        yield from (("restart", node, nth, length) for length in outages if time <= within)
                case _:
                    for first in {sent for _, sent in self.named if sent <= within}:
                        for group in groups(self.system.names):
                            yield from (("partition", group, first, first + length) for length in outages)


def cuts(fault: NaiveFault, source: str, target: str, time: int) -> bool:
    _, group, first, until = fault
    inside: bool = first <= time < until and (source in group) != (target in group)
    return inside


def groups(names: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield every way to cut the nodes in two, by the half without the last one."""
    for size in range(1, len(names)):
        yield from combinations(names[:-1], size)


def is_admissible(system: System, faults: Iterable[NaiveFault]) -> bool:
    known = list(faults)
    for kind, number in system.most.items():
        if sum(fault[0] == SINGULAR[kind] for fault in known) > number:
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
class Naive:
    """``fewest``: with how few faults something breaks, None if with none; ``singles``: those that count alone."""

    fewest: int | None
    singles: frozenset[NaiveFault]
    sets: int
    base: NaiveRun


class TooManyError(Exception):
    """More sets than anybody wants to wait for."""


def try_all(system: System, *, most_sets: int = 400) -> Naive:
    """Execute under every set of as many faults, of all that any run under fewer of them shows to be possible."""
    base = NaiveRun(system)
    if base.broken:
        return Naive(0, frozenset(), 1, base)
    universe: dict[NaiveFault, None] = dict.fromkeys(base.possible())
    singles: set[NaiveFault] = set()
    number = 1
    for size in range(1, system.total + 1):
        shown: dict[NaiveFault, None] = {}
        if number + math.comb(len(universe), size) > most_sets:
            raise TooManyError
        for faults in combinations(list(universe), size):
            if not is_admissible(system, faults):
                continue
            number += 1
            run = NaiveRun(system, faults)
            if not run.counts_as_faults():
                continue
            if size == 1:
                singles |= set(faults)
            if run.broken:
                return Naive(size, frozenset(singles), number, base)
            shown.update(dict.fromkeys(run.possible()))
        universe |= shown
    return Naive(None, frozenset(singles), number, base)
