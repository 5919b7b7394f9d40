"""What a step costs when little is new: views over many rows, an ordered report server, the paths of a NameNode.

``python -m benchmarks.bloom_maintain`` prints the costs.  Seconds are those of the processor, the least of several
steps.  The bars: one new row beside 100,000 costs at most 10 times as much as beside 100, with every kind of view;
clicks at an ordered report server (Figures 4.9 and 4.10 of the thesis) cost the same however many came before; and
a NameNode with 20,000 files answers a request in 2 ms, with the paths of all files as a recursive view.
"""

from __future__ import annotations

import gc
import time
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from benchmarks.bars import Bar
from benchmarks.blazes_servers import Variant, Workload, clicks_of, network
from benchmarks.effort import Effort, say
from clew.bloom import agg, bloom, interface, scratch, table
from clew.bloom.runtime.node import Node
from clew.coordination import Sequencer

FEW, MANY = 100, 100_000
#: How many times as much a step may cost beside many rows as beside few.
RATIO = 10.0
#: Bytes of what is kept, for each byte of the table that it is derived from.
MEMORY_RATIO = 5.0
CLICKS = (1_000, 4_000)
#: How many times as much each click may cost after four times as many.
CLICK_RATIO = 1.5
FILES = 20_000
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


VIEWS = (Group, Largest, ArgMax, NotIn, ScratchView, ScratchJoin)


@dataclass(frozen=True)
class View:
    """Seconds of a step with one new row.  ``kept`` and ``table``: bytes of the view and of what it rests on."""

    name: str
    few: float
    many: float
    kept: int
    table: int


def measure_views(repetitions: int) -> Iterator[View]:
    for view in VIEWS:
        few, many = (min(_one_row_more(view, rows) for _ in range(repetitions)) for rows in (FEW, MANY))
        plain, viewed = (_bytes_of(kind) for kind in (_Views, view))
        yield View(view.__name__, few, many, viewed - plain, plain)


def _filled(kind: type[_Views], rows: int) -> _Views:
    node = kind()
    node.log.insert(*((number, number % 50) for number in range(rows)))
    node.other.insert(*((number, number % 7) for number in range(0, rows, 2)))
    node.tick()
    return node


def _one_row_more(kind: type[_Views], rows: int) -> float:
    node, seconds = _filled(kind, rows), []
    for number in range(rows, rows + _STEPS):
        node.log.insert((number, number % 50))
        seconds.append(_seconds(node.tick))
    return min(seconds)


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
class Requests:
    """Seconds of a step: the first one, requests that read, a new file, and a directory that is removed."""

    first: float
    exists: float
    list_dir: float
    create: float
    remove: float


def measure_requests(files: int) -> Requests:
    """Directories of 100 files, ten of them in each other directory."""
    node = NameNode()
    folders = max(1, files // 100)
    rows: list[tuple[Any, ...]] = [(0, -1, "", True)]
    rows += [(k, (k - 1) // 10, f"d{k}", True) for k in range(1, folders)]
    rows += [(k, k % folders, f"f{k}", False) for k in range(folders, files)]
    node.file.insert(*rows)
    first = _seconds(node.tick)
    if len(node.path) != files:
        raise AssertionError("files without a path")
    return Requests(
        first,
        _request(node, lambda k: node.exists.insert((k, "/d1/d11"))),
        _request(node, lambda k: node.list_dir.insert((k, "/d1"))),
        _request(node, lambda k: node.file.insert((files + k, 1, f"new{k}", False)), answered=False),
        _request(node, lambda k: node.machine.delete("file", [rows[folders - 1 - k]]), answered=False),
    )


def _request(node: NameNode, ask: Callable[[int], object], *, answered: bool = True) -> float:
    seconds = []
    for number in range(_STEPS):
        ask(number)
        seconds.append(_seconds(node.tick))
        if answered and not len(node.answer):
            raise AssertionError("no answer")
    return min(seconds)


# -- bars --------------------------------------------------------------------------------------------------------


def bars(effort: Effort) -> Iterator[Bar]:
    say("bloom: one new row beside many")
    for view in measure_views(effort.repetitions):
        ratio = view.many / view.few
        yield Bar(
            f"bloom: a step with one new row beside {MANY}, beside {FEW}: {view.name}",
            f"{ratio:.1f} times ({view.many * 1e6:.0f} µs / {view.few * 1e6:.0f} µs)",
            f"{RATIO:g} times",
            ratio <= RATIO,
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
    say("bloom: requests to a NameNode")
    found = measure_requests(FILES)
    for what, seconds in (("exists", found.exists), ("list", found.list_dir)):
        yield Bar(
            f"bloom: {what} at a NameNode of {FILES} files",
            f"{seconds * 1e3:.3f} ms (create {found.create * 1e3:.3f} ms, remove {found.remove * 1e3:.3f} ms)",
            f"{READ_SECONDS * 1e3:g} ms",
            seconds <= READ_SECONDS,
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
