"""What it costs to count what rules do, and to trace them: the same steps with and without, in processor time.

``python -m benchmarks.bloom_tracing`` prints the ratios; the bar is 2, and twice the rows.
"""

from __future__ import annotations

import gc
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from benchmarks.effort import say
from clew.bloom import Bloom, bloom, channel, interface, scratch, table, trace
from clew.bloom.runtime.tap import observing
from clew.bloom.tracing.recording import Recorder, Task, file_of_class

STEPS = 1_000
#: How many times as long steps may take, and how many times as many rows there may be.
BAR = 2.0
_REPETITIONS = 5


class Server(Bloom):
    """Keeps the latest values, and answers with them."""

    put = interface.input("client", "key", "value")
    get = interface.input("client", "key")
    answer = channel("@to", "key", "value")
    kept = table("key", val=["value"])
    found = scratch("client", "key", "value")

    @bloom
    def rules(self) -> None:
        self.kept <+ self.put(lambda p: (p.key, p.value))  # noqa: B015  # a rule
        self.kept <- (self.kept * self.put).lefts(key="key")  # noqa: B015
        self.found <= (self.get * self.kept).pairs(lambda g, k: (g.client, k.key, k.value), key="key")  # noqa: B015
        self.answer <~ self.found  # noqa: B015


class Paths(Bloom):
    """Which nodes of a growing chain can be reached from which."""

    link = table("src", "dst")
    path = table("src", "dst")

    @bloom
    def rules(self) -> None:
        self.path <= self.link  # noqa: B015
        self.path <= (self.link * self.path).pairs(lambda a, b: (a.src, b.dst), dst="src")  # noqa: B015


def serve(steps: int) -> Bloom:
    """Put and get values, ten of each a step."""
    server = Server()
    for number in range(steps):
        server.put.insert(*(("client", (10 * number + k) % 500, number) for k in range(10)))
        server.get.insert(*(("client", (10 * number + k) % 500) for k in range(10)))
        server.tick()
    return server


def extend(steps: int) -> Bloom:
    """Make a chain longer by a link a step."""
    paths = Paths()
    for number in range(steps // 4):
        paths.link.insert((number, number + 1))
        paths.tick()
    return paths


WORKLOADS: dict[str, tuple[type[Bloom], Callable[[int], Bloom]]] = {
    "a server": (Server, serve),
    "paths of a chain": (Paths, extend),
}


@dataclass(frozen=True)
class Measured:
    """How many times as long steps take, and how many times as many rows a node holds.

    ``counted``: what ``clew cover`` does; ``traced``: a record of each row of all rules.
    """

    workload: str
    seconds: float
    counted: float
    traced: float
    rows: float


def measure(workload: str, steps: int = STEPS, repetitions: int = _REPETITIONS) -> Measured:
    cls, work = WORKLOADS[workload]
    with tempfile.TemporaryDirectory() as folder:
        ways: list[Callable[[], AbstractContextManager[object]]] = [
            nullcontext,
            lambda: _counting(cls, Path(folder)),
            lambda: trace(cls),
        ]
        # By turns: what else the machine does is the same for all of them, as far as can be.
        times = [[_seconds(way, lambda: work(steps)) for way in ways] for _ in range(repetitions)]
        plain, counted, traced = (min(each) for each in zip(*times, strict=True))
        with _counting(cls, Path(folder)):
            node = work(steps)
    rows = _rows(node) / _own_rows(node)
    return Measured(workload, plain, counted / plain, traced / plain, rows)


@contextmanager
def _counting(cls: type[Bloom], folder: Path) -> Iterator[None]:
    file = file_of_class(cls)
    assert file is not None, "it is in this file"
    with observing(Recorder(Task(str(folder), file, cls.__qualname__))):
        yield


def _seconds(way: Callable[[], AbstractContextManager[object]], work: Callable[[], object]) -> float:
    gc.collect()
    with way():
        begun = time.process_time()
        work()
        return time.process_time() - begun


def _rows(node: Bloom) -> int:
    """Count the rows that a node holds at the end, those of its traces included."""
    return sum(len(store.rows) for store in node.machine._stores.values())


def _own_rows(node: Bloom) -> int:
    """Count the rows that it would hold if nobody traced it."""
    return sum(len(node.machine.rows(collection.name)) for collection in node.program.collections)


def main() -> None:
    """Print the ratios."""
    for workload in WORKLOADS:
        found = measure(workload)
        say(
            f"{workload}: {found.seconds:.2f} s; counted {found.counted:.2f} times,"
            f" traced {found.traced:.2f} times, {found.rows:.2f} times the rows"
        )


if __name__ == "__main__":
    main()
