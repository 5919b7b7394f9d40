"""What a step costs when little is new: views over many rows, lattices, an ordered report server, a NameNode.

``python -m benchmarks.bloom_maintain`` prints the costs.  Seconds are those of the processor, the median of
several steps.  The bars: a row that is inserted, deleted or replaced beside 100,000 costs at most 10 times as much
as beside 100, with every kind of view and lattice; clicks at an ordered report server (Figures 4.9 and 4.10 of the
thesis) cost the same however many came before; and a NameNode with 20,000 files answers every request in 2 ms, the
first one included, with the paths of all files as a recursive view.
"""

from __future__ import annotations

import gc
import statistics
import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

from benchmarks.bars import Bar
from benchmarks.blazes_servers import Variant, Workload, clicks_of, network
from benchmarks.effort import Effort, say
from clew.bloom import agg, bloom, interface, lbag, lmap, lmax, lpset, lset, scratch, table
from clew.bloom.runtime.node import Node
from clew.coordination import Sequencer

FEW, MANY = 100, 100_000
#: How many times as much a step may cost beside many rows as beside few.
RATIO = 10.0
#: Bytes of what is kept, for each byte of the table that it is derived from.
MEMORY_RATIO = 5.0
CLICKS = (1_000, 16_000)
#: How many times as much each click may cost after sixteen times as many.
CLICK_RATIO = 1.5
FILES = (20_000, 100_000)
READ_SECONDS = 0.002
_STEPS = 15

# -- views -------------------------------------------------------------------------------------------------------


class _Views(Node):
    """Half of the rows of ``log`` have one of ``other`` with their number."""

    log = table("number", "who")
    other = table("number", "who")
    out = scratch("a", "b")


# Bloom's rules are comparisons.
# ruff: noqa: B015
class Group(_Views):
    @bloom
    def rules(self) -> None:
        self.out <= self.log.group(["who"], agg.count())


class Largest(_Views):
    @bloom
    def rules(self) -> None:
        self.out <= self.log.group(["who"], agg.max("number"))


class ArgMax(_Views):
    @bloom
    def rules(self) -> None:
        self.out <= self.log.argmax(["who"], "number")


class NotIn(_Views):
    @bloom
    def rules(self) -> None:
        self.out <= self.log.notin(self.other, number="number")


class ScratchView(_Views):
    @bloom
    def rules(self) -> None:
        self.out <= self.log(lambda r: (r.who, r.number))


class ScratchJoin(_Views):
    @bloom
    def rules(self) -> None:
        self.temp.some <= self.log.filter(lambda r: r.number >= 0)
        self.out <= (self.temp.some * self.other).pairs(lambda p, q: (p.number, q.who), number="number")


class Outer(_Views):
    @bloom
    def rules(self) -> None:
        self.out <= (self.log * self.other).outer(lambda p, q: (p.number, q.who), number="number")


class FlatMap(_Views):
    @bloom
    def rules(self) -> None:
        self.out <= self.log.flat_map(lambda r: [(r.number, 1), (r.number, 2)])


class Accum(_Views):
    """Groups of ten: a group has all of its values in a row, which is made anew."""

    @bloom
    def rules(self) -> None:
        self.temp.tens <= self.log.map(lambda r: (r.number // 10, r.number)).rename("ten", "number")
        self.out <= self.temp.tens.group(["ten"], agg.accum("number"))


class Choose(_Views):
    @bloom
    def rules(self) -> None:
        self.out <= self.log.group(["who"], agg.choose("number"))


VIEWS = (
    *(Group, Largest, Choose, Accum, ArgMax, NotIn, Outer),
    *(ScratchView, FlatMap, ScratchJoin),
)


class Set(_Views):
    value = lset()

    @bloom
    def rules(self) -> None:
        self.value <= self.log.project("number")
        self.out <= self.value.elements("number").map(lambda r: (r.number, 0))


class NumberSet(_Views):
    value = lpset()

    @bloom
    def rules(self) -> None:
        self.value <= self.log.project("number")
        self.out <= self.value.sum().gt_eq(0).when_true(self.log)


class Bag(_Views):
    value = lbag()

    @bloom
    def rules(self) -> None:
        self.value <= self.log.project("number")
        self.out <= self.value.elements()


class MapOfMaxima(_Views):
    value = lmap(lmax)

    @bloom
    def rules(self) -> None:
        self.value <= self.log
        self.out <= self.value.elements()


LATTICES = (Set, NumberSet, Bag, MapOfMaxima)


@dataclass(frozen=True)
class View:
    """Seconds of a step beside few rows and beside many: with a row that is new, gone, or replaced by another.

    ``kept`` and ``table``: bytes of the view and of what it rests on.
    """

    name: str
    steps: dict[str, tuple[float, float]]
    kept: int
    table: int


def measure_views(repetitions: int) -> Iterator[View]:
    plain = _bytes_of(_Views)
    for view in (*VIEWS, *LATTICES):
        found = [[_seconds_of_steps(view, rows) for _ in range(repetitions)] for rows in (FEW, MANY)]
        few, many = ({what: min(each[what] for each in runs) for what in runs[0]} for runs in found)
        yield View(view.__name__, {w: (few[w], many[w]) for w in few}, _bytes_of(view) - plain, plain)


def _filled(kind: type[_Views], rows: int) -> _Views:
    node = kind()
    node.log.insert(*((number, number % 50) for number in range(rows)))
    node.other.insert(*((number, number % 7) for number in range(0, rows, 2)))
    node.tick()
    return node


def _seconds_of_steps(kind: type[_Views], rows: int) -> dict[str, float]:
    node = _filled(kind, rows)
    node.tick()

    def insert(number: int) -> None:
        node.log.insert((rows + number, number % 50))

    def delete(number: int) -> None:
        node.machine.delete("log", [(number, number % 50)])

    def replace(number: int) -> None:
        delete(rows - 1 - number)
        node.log.insert((rows - 1 - number, 50))

    return {ask.__name__: _median(node, ask) for ask in (insert, delete, replace)}


def _median(node: Node, ask: Callable[[int], object]) -> float:
    seconds = []
    for number in range(_STEPS):
        ask(number)
        seconds.append(_seconds(node.tick))
    return statistics.median(seconds)


def _bytes_of(kind: type[_Views]) -> int:
    gc.collect()
    tracemalloc.start()
    node = _filled(kind, MANY // 10)
    gc.collect()
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    del node
    return held


def _seconds(run: Callable[[], object]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start


# -- an ordered report server ------------------------------------------------------------------------------------


def measure_clicks(clicks: int) -> float:
    """Return the seconds for each click, from the ad server over the sequencer to the log of a report server."""
    kind = network(Variant.ORDERED)
    nodes: dict[str, Any] = {name: kind(name) for name in ("ads", "report")} | {
        "order": Sequencer("order", ["report"])
    }
    nodes["ads"].reporters.insert(("report",))
    nodes["report"].order.sequencer.insert(("order",))
    work = Workload(records=clicks)
    waiting = clicks_of(Variant.ORDERED, 1, work)
    seconds = 0.0
    for start in range(0, clicks, work.batch):
        nodes["ads"].clicks.insert(*waiting[start : start + work.batch])
        seconds += _seconds(lambda: _settle(nodes))
    if len(nodes["report"].report.log) != clicks:
        raise AssertionError("clicks are missing in the log")
    return seconds / clicks


def _settle(nodes: dict[str, Any]) -> None:
    """Step until nothing waits; messages arrive at once."""
    while any(node.machine.pending for node in nodes.values()):
        for node in nodes.values():
            for channel, row in node.tick().sent if node.machine.pending else ():
                target = nodes.get(node.program.destination(channel, row))
                if target is not None:
                    target.machine.deliver(channel, row)


# -- a NameNode --------------------------------------------------------------------------------------------------


class NameNode(Node):
    """The metadata of a file system: every request looks up a path, and paths follow from parents and names."""

    file = table("number", val=["parent", "name", "is_dir"])
    path = scratch("path", "number")
    exists = interface.input("request", "path")
    list_dir = interface.input("request", "path")
    answer = interface.output("request", "name")

    @bloom
    def paths(self) -> None:
        self.path <= self.file(lambda f: ("", f.number) if f.parent == -1 else None)
        self.path <= (self.path * self.file).pairs(lambda p, f: (p.path + "/" + f.name, f.number), number="parent")

    @bloom
    def requests(self) -> None:
        self.answer <= (self.exists * self.path).pairs(lambda e, p: (e.request, p.number), path="path")
        self.temp.listed <= (self.list_dir * self.path).pairs(lambda e, p: (e.request, p.number), path="path")
        self.answer <= (self.temp.listed.rename("request", "number") * self.file).pairs(
            lambda d, f: (d.request, f.name), number="parent"
        )


@dataclass(frozen=True)
class Cost:
    """Seconds of a step: the median of several, and the most."""

    usual: float
    most: float

    @classmethod
    def of(cls, seconds: Sequence[float]) -> Self:
        return cls(statistics.median(seconds), max(seconds))

    def __str__(self) -> str:
        return f"{self.usual * 1e3:.3f} ms (at most {self.most * 1e3:.3f})"


@dataclass(frozen=True)
class Requests:
    """What steps cost: the first one, requests that read, and those that change files and directories.

    ``rename_folder`` moves 100 files or more; ``rename_half`` about half of all.
    """

    first: Cost
    exists: Cost
    list_dir: Cost
    create: Cost
    rename: Cost
    remove: Cost
    rename_folder: Cost
    rename_half: Cost


def measure_requests(files: int) -> Requests:
    """Directories of 100 files, ten of them in each other directory."""
    node = NameNode()
    folders = max(12, files // 100)
    rows: list[tuple[Any, ...]] = [(0, -1, "", True)]
    rows += [(k, (k - 1) // 10, f"d{k}", True) for k in range(1, folders)]
    rows += [(k, k % folders, f"f{k}", False) for k in range(folders, files)]
    node.file.insert(*rows)
    first = _seconds(node.tick)
    if len(node.path) != files:
        raise AssertionError("files without a path")

    def rename(number: int, name: str) -> None:
        _, parent, _, is_dir = old = rows[number]
        node.machine.delete("file", [old])
        rows[number] = (number, parent, name, is_dir)
        node.file.insert(rows[number])

    return Requests(
        Cost.of([first]),
        _request(node, lambda k: node.exists.insert((k, "/d1/d11"))),
        _request(node, lambda k: node.list_dir.insert((k, "/d1"))),
        _request(node, lambda k: node.file.insert((files + k, 1, f"new{k}", False)), answered=False),
        _request(node, lambda k: rename(folders + k, f"other{k}"), answered=False),
        _request(node, lambda k: node.machine.delete("file", [rows[files - 1 - k]]), answered=False),
        _request(node, lambda k: rename(folders - 1, f"moved{k}"), answered=False),
        _request(node, lambda k: rename(1, f"half{k}"), answered=False),
    )


def _request(node: NameNode, ask: Callable[[int], object], *, answered: bool = True) -> Cost:
    seconds = []
    for number in range(_STEPS):
        ask(number)
        seconds.append(_seconds(node.tick))
        if answered and not len(node.answer):
            raise AssertionError("no answer")
    return Cost.of(seconds)


# -- bars --------------------------------------------------------------------------------------------------------


def bars(effort: Effort) -> Iterator[Bar]:
    say("bloom: one new row beside many")
    for view in measure_views(effort.repetitions):
        for what, (few, many) in view.steps.items():
            yield Bar(
                f"bloom: a step with one row beside {MANY}, beside {FEW}: {view.name}, {what}",
                f"{many / few:.1f} times ({many * 1e6:.0f} µs / {few * 1e6:.0f} µs)",
                f"{RATIO:g} times",
                many / few <= RATIO,
            )
        share = view.kept / view.table
        yield Bar(
            f"bloom: memory of what is kept, beside its tables: {view.name}",
            f"{share:.1f} times ({view.kept / 1e6:.1f} MB / {view.table / 1e6:.1f} MB)",
            f"{MEMORY_RATIO:g} times",
            share <= MEMORY_RATIO,
        )
    say("bloom: clicks in order")
    few, many = (min(measure_clicks(clicks) for _ in range(effort.repetitions)) for clicks in CLICKS)
    yield Bar(
        f"bloom: a click at an ordered report server, of {CLICKS[1]} beside of {CLICKS[0]}",
        f"{many / few:.2f} times ({many * 1e6:.0f} µs / {few * 1e6:.0f} µs)",
        f"{CLICK_RATIO:g} times",
        many / few <= CLICK_RATIO,
    )
    for files in FILES:
        say(f"bloom: requests to a NameNode of {files} files")
        found = measure_requests(files)
        others = ("first", "create", "rename", "remove", "rename_folder", "rename_half")
        told = ", ".join(f"{name.replace('_', ' ')} {getattr(found, name)}" for name in others)
        for name, cost in (("exists", found.exists), ("list", found.list_dir)):
            yield Bar(
                f"bloom: {name} at a NameNode of {files} files",
                f"{cost}; {told}" if name == "exists" else f"{cost}",
                f"{READ_SECONDS * 1e3:g} ms",
                cost.most <= READ_SECONDS,
            )


def main() -> int:
    from benchmarks.effort import FULL

    met = True
    for bar in bars(FULL):
        met &= bar.passed
        say(f"{bar.name}: {bar.measured}, limit {bar.limit}: {'PASS' if bar.passed else 'FAIL'}")
    return 0 if met else 1


if __name__ == "__main__":
    raise SystemExit(main())
