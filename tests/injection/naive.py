"""Faults injected into tables, said a second time: nothing here is Clew's but the names of faults.

An execution is a queue of what is due, by time and then by the order in which it got there.  Times are in
milliseconds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations

from injection.tables import MOST_HOPS, NAMES, Table

#: ("loss" | "duplicate", (source, target, kind, nth)), ("crash", node, after), ("restart", node, after, length),
#: ("partition", group, first, until).
NaiveFault = tuple[object, ...]

END = 300


@dataclass
class Item:
    due: int
    order: int
    target: str
    kind: str
    hops: int
    name: tuple[str, str, str, int] | None = None
    sent: int = 0


class NaiveRun:
    """``possible``: the faults that could be added to this run, as far as it shows them."""

    def __init__(self, table: Table, faults: Iterable[NaiveFault]) -> None:
        self.table = table
        self.faults = set(faults)
        self.queue: list[Item] = []
        self.order = 0
        self.time = 0
        self.state = dict.fromkeys(NAMES, 0)
        self.hops = dict.fromkeys(NAMES, 0)
        self.stored: dict[str, int] = {}
        self.counts = dict.fromkeys(NAMES, 0)
        self.sent: dict[tuple[str, str, str], int] = {}
        self.returning: list[tuple[int, str]] = []
        self.effective: set[NaiveFault] = set()
        self.latest = 0  # when the last fault began
        self.delivered: list[tuple[tuple[str, str, str, int], int]] = []  # names, and when they were sent
        self.moments: list[tuple[str, int, int]] = [(name, 0, 0) for name in NAMES]
        for name in NAMES:
            self.halt(name)
        self.go()

    @property
    def broken(self) -> bool:
        return self.table.is_broken(self.state)

    def go(self) -> None:
        given = list(self.table.given)
        while True:
            due = min(self.queue, key=lambda item: (item.due, item.order), default=None)
            back = min(self.returning, default=None)
            following = min([*([due.due] if due else []), *([back[0]] if back else [])], default=None)
            if given and (following is None or following > given[0][0]):
                at, node, kind = given.pop(0)
                self.time = max(self.time, at)
                self.send("", node, kind, 0)
            elif back is not None and (due is None or back[0] <= due.due) and back[0] <= END:
                self.returning.remove(back)
                self.time = max(self.time, back[0])
                self.start(back[1])
            elif due is not None and due.due <= END:
                self.take(due)
            else:
                return

    def send(self, source: str, target: str, kind: str, hops: int) -> None:
        name = None
        latency = 0 if source == target else self.table.latency[source, target]
        lost = False
        if source and source != target:
            key = (source, target, kind)
            self.sent[key] = self.sent.get(key, 0) + 1
            name = (*key, self.sent[key])
            for fault in self.faults:
                if fault[0] == "partition":
                    _, group, first, until = fault
                    if first <= self.time < until and (source in group) != (target in group):  # type: ignore[operator]
                        lost = True
        if target in self.state:
            self.put(Item(self.time + latency, 0, target, "LOST" if lost else kind, hops, name, self.time))

    def put(self, item: Item) -> None:
        self.order += 1
        item.order = self.order
        self.queue.append(item)

    def take(self, item: Item) -> None:
        self.time = max(self.time, item.due)
        if item.kind == "LOST":
            self.queue.remove(item)
            self.effective |= {f for f in self.faults if f[0] == "partition" and self.cuts(f, item)}
            return
        if item.name is not None and ("loss", item.name) in self.faults:
            self.queue.remove(item)
            self.effective.add(("loss", item.name))
            self.latest = max(self.latest, item.sent)
            return
        if item.name is not None and ("duplicate", item.name) in self.faults - self.effective:
            self.effective.add(("duplicate", item.name))
            self.latest = max(self.latest, item.sent)
            latency = self.table.latency[item.name[0], item.target]
            self.put(Item(self.time + latency, 0, item.target, item.kind, item.hops))
        self.queue.remove(item)
        if item.name is not None:
            self.delivered.append((item.name, item.sent))
        self.count(item.target)
        self.react(item.target, item.kind, item.hops)
        self.halt(item.target)

    @staticmethod
    def cuts(fault: NaiveFault, item: Item) -> bool:
        _, group, first, until = fault
        assert item.name is not None and isinstance(group, tuple)
        inside = isinstance(first, int) and isinstance(until, int) and first <= item.sent < until
        return inside and (item.name[0] in group) != (item.name[1] in group)

    def react(self, node: str, kind: str, hops: int) -> None:
        hops = self.hops[node] if kind == "timer" else hops
        reaction = self.table.reactions[node, self.state[node], kind]
        self.state[node] = reaction.state
        if reaction.stores:
            self.stored[node] = reaction.state
        if hops < MOST_HOPS:
            for target, sort in reaction.sends:
                self.send(node, target, sort, hops + 1)
            if reaction.timer is not None:
                self.hops[node] = hops + 1
                self.queue = [i for i in self.queue if not (i.target == node and i.kind == "timer")]
                self.put(Item(self.time + reaction.timer, 0, node, "timer", 0))

    def count(self, node: str) -> None:
        self.counts[node] += 1
        self.moments.append((node, self.counts[node], self.time))

    def start(self, node: str) -> None:
        if node not in self.state:
            self.state[node] = self.stored.get(node, 0)
            self.hops[node] = 0
        self.count(node)
        self.halt(node)

    def halt(self, node: str) -> None:
        for fault in self.faults - self.effective:
            if fault[0] in ("crash", "restart") and fault[1:3] == (node, self.counts[node]) and node in self.state:
                self.effective.add(fault)
                self.latest = max(self.latest, self.time)
                del self.state[node]
                self.queue = [item for item in self.queue if item.target != node]
                if fault[0] == "restart":
                    assert isinstance(fault[3], int)
                    self.returning.append((self.time + fault[3], node))
                return

    def possible(self, kinds: Iterable[str], within: int, outage: int) -> Iterator[NaiveFault]:
        for kind in kinds:
            if kind in ("loss", "duplicate"):
                yield from ((kind, name) for name, sent in self.delivered if sent <= within)
            elif kind == "crash":
                yield from ((kind, node, nth) for node, nth, time in self.moments if time <= within)
            elif kind == "restart":
                yield from ((kind, node, nth, outage) for node, nth, time in self.moments if time <= within)
            else:
                for name, sent in self.delivered:
                    for size in (1, 2):
                        for group in combinations(NAMES[:-1], size):
                            if sent <= within and (name[0] in group) != (name[1] in group):
                                yield (kind, group, sent, sent + outage)


def is_admissible(faults: Iterable[NaiveFault], most: dict[str, int]) -> bool:
    known = list(faults)
    if any(sum(f[0] == kind for f in known) > number for kind, number in most.items()):
        return False
    for one, other in combinations(known, 2):
        if {one[0], other[0]} <= {"loss", "duplicate"} and one[1] == other[1]:
            return False
        if {one[0], other[0]} <= {"crash", "restart"} and one[1] == other[1]:
            first, second = sorted((one, other), key=lambda f: (f[2], f[0] != "crash"))
            if first[2] == second[2] or first[0] == "crash":
                return False
    return True


def fewest_faults(table: Table, most: dict[str, int], total: int, within: int, outage: int) -> int | None:
    """Return with how few faults the promise can be broken; None if with none of these.

    Every set of as many faults, of all that any run under fewer of them shows to be possible.
    """
    kinds = [kind for kind, number in most.items() if number]
    universe: dict[NaiveFault, None] = {}
    for size in range(total + 1):
        shown: dict[NaiveFault, None] = {}
        for faults in combinations(list(universe), size):
            if not is_admissible(faults, most):
                continue
            run = NaiveRun(table, faults)
            # One that does nothing is no fault: the set without it has been tried.  What is named by the events of
            # a node may begin later in another run.
            if len(run.effective) < size or run.latest > within:
                continue
            if run.broken:
                return size
            shown.update(dict.fromkeys(run.possible(kinds, within, outage)))
        universe |= shown
    return None
